#include <algorithm>
#include <map>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

namespace {

bool is_cast_to(const Op* op, DType dtype) {
  const auto* p = as<PointwiseOp>(*op);
  return p && p->function == Pointwise::cast && p->to == dtype;
}

bool only_reshards_read(const Fusion& fusion, const TensorView* t) {
  const auto& readers = fusion.readers(t);
  return std::all_of(readers.begin(), readers.end(), [](Op* r) { return r->kind == OpKind::Reshard; });
}

// The same contraction, kept in its accumulation type, as a new tensor.
template <class Contraction>
TensorView* accumulate(Rewriter& rewriter, const Contraction& contraction) {
  auto wide = std::make_unique<Contraction>();
  for_each_field(contraction, [&](auto field, const auto& value) { (*wide).*(field.member) = value; });
  wide->accumulate = true;
  TensorView* out = rewriter.emit(std::move(wide), contraction.out()->name + "_sum");
  out->layout = contraction.out()->layout;
  out->layout_source = LayoutSource::inferred;
  out->reason = "the unrounded %" + contraction.out()->name;
  return out;
}

using Replaced = std::vector<std::pair<TensorView*, TensorView*>>;  // result of a cast -> the unrounded tensor

// Casts to `wide` of the narrow tensor, which read the unrounded one instead. A cast from f8 wants the rounding.
void redirect_casts(const Fusion& fusion, const TensorView* narrow, TensorView* wide, Replaced& replaced) {
  if (is_always_rounded(narrow->dtype)) return;
  for (Op* r : fusion.readers(narrow))
    if (is_cast_to(r, wide->dtype) && r->out()->layout == wide->layout) replaced.emplace_back(r->out(), wide);
}

// A pending contraction travels in its accumulation type and is rounded when it is whole: by option reduce_dtype = f32,
// where it is f8, and where all its pending axes have size 1, so that nothing travels.
class WideReductions {
 public:
  WideReductions(Fusion& fusion, Rewriter& rewriter, const DeviceMesh& mesh, bool all, Replaced& replaced)
      : fusion_(fusion), rewriter_(rewriter), mesh_(mesh), all_(all), replaced_(replaced) {}

  template <class Contraction>
  bool widen(const Contraction& contraction) {
    TensorView* out = contraction.out();
    if (contraction.accumulate || !is_narrow(out->dtype) || out->layout.partial.empty()) return false;
    if (!only_reshards_read(fusion_, out) || fusion_.is_output(out)) return false;
    for (const auto& [axis, reduce] : out->layout.partial)
      if (!all_ && !is_f8(out->dtype) && mesh_.size(axis) > 1) return false;
    wide_[out] = accumulate(rewriter_, contraction);
    return true;
  }
  bool widen(const Reshard& reshard) {
    auto it = wide_.find(reshard.in);
    if (it == wide_.end()) return false;
    auto op = std::make_unique<Reshard>();
    op->in = it->second, op->step = reshard.step, op->team = reshard.team;
    TensorView* out = rewriter_.emit(std::move(op), reshard.out()->name + "_wide");
    out->layout = reshard.out()->layout;
    out->layout_source = LayoutSource::inferred;
    out->reason = reshard.out()->reason;
    bool pending = !out->layout.partial.empty() && only_reshards_read(fusion_, reshard.out());
    if (pending) {
      wide_[reshard.out()] = out;
    } else {
      redirect_casts(fusion_, reshard.out(), out, replaced_);
      rewriter_.cast_as(out, reshard.out());
    }
    return true;
  }

 private:
  Fusion& fusion_;
  Rewriter& rewriter_;
  const DeviceMesh& mesh_;
  bool all_;
  Replaced& replaced_;
  std::map<const TensorView*, TensorView*> wide_;  // narrow pending tensor -> the same in its accumulation type
};

void reduce_wide(Fusion& fusion, const DeviceMesh& mesh, bool all, Replaced& replaced) {
  Rewriter rewriter(fusion);
  WideReductions wide(fusion, rewriter, mesh, all, replaced);
  rewriter.run([&](Op* op) {
    const auto* linear = as<Linear>(*op);
    const auto* matmul = as<Matmul>(*op);
    const auto* reshard = as<Reshard>(*op);
    bool done = linear ? wide.widen(*linear) : matmul ? wide.widen(*matmul) : reshard && wide.widen(*reshard);
    if (!done) rewriter.keep(op);
  });
}

}  // namespace

void widen_contractions(Fusion& fusion, const DeviceMesh& mesh, const Options& options) {
  Replaced replaced;
  reduce_wide(fusion, mesh, options.reduce_dtype == "f32", replaced);
  Rewriter rewriter(fusion);
  auto widen = [&](const auto& contraction) {
    TensorView* out = contraction.out();
    const auto& readers = fusion.readers(out);
    bool pointwise = std::any_of(readers.begin(), readers.end(), [](Op* r) { return r->kind == OpKind::PointwiseOp; });
    if (contraction.accumulate || !is_narrow(out->dtype) || !out->layout.partial.empty() || !pointwise) return false;
    TensorView* sum = accumulate(rewriter, contraction);
    redirect_casts(fusion, out, sum, replaced);
    rewriter.cast_as(sum, out);
    return true;
  };
  rewriter.run([&](Op* op) {
    const auto* linear = as<Linear>(*op);
    const auto* matmul = as<Matmul>(*op);
    bool done = linear ? widen(*linear) : matmul && widen(*matmul);
    if (!done) rewriter.keep(op);
  });
  for (const auto& [from, to] : replaced)
    if (!fusion.is_output(from))
      for (Op* reader : std::vector<Op*>(fusion.readers(from))) replace_input(*reader, from, to);
  remove_dead_code(fusion);
}

}  // namespace plait
