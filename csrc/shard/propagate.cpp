#include "shard/propagate.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "shard/assign.h"
#include "shard/gather_ranges.h"
#include "shard/normal_form.h"
#include "shard/propagation.h"
#include "shard/reshard_plan.h"
#include "shard/verify_sharding.h"

namespace plait {

namespace {

std::string where(const TensorView& t, const Layout& layout) {
  return fmt::format("%{}: {} {}", t.name, type_text(t), print(layout, t.fusion->mesh()));
}

void check_layout(const TensorView& t, const Layout& layout) {
  const auto& axes = t.fusion->mesh().axes();
  std::set<int> used;
  auto use = [&](int axis) {
    PLAIT_CHECK(axis >= 0 && axis < static_cast<int>(axes.size()), "%{} is sharded over mesh axis {} of {}", t.name,
                axis, axes.size());
    if (!used.insert(axis).second)
      throw UserError(fmt::format("mesh axis `{}` is used twice on %{}", axes[static_cast<size_t>(axis)].name, t.name),
                      where(t, layout), "a mesh axis shards at most one dim of a tensor");
  };
  PLAIT_CHECK(layout.dims.size() == t.rank(), "%{} has {} dims, its layout {}", t.name, t.rank(), layout.dims.size());
  for (const auto& dim : layout.dims)
    for (const Piece& p : dim.pieces) {
      PLAIT_CHECK(p.is_local() ? p.local >= 1 : p.granule >= 1, "%{} has an empty piece", t.name);
      if (!p.is_local()) use(p.mesh_axis);
    }
  for (const auto& [axis, reduce] : layout.partial) use(axis);
}

// Annotations as they came: legal, normalized; what a run takes or gives is pending as a run can part it and put it
// together.
void check_annotations(Fusion& fusion) {
  auto refuse_pending = [&](const TensorView& t, const Layout& layout, std::initializer_list<ReduceOp> taken,
                            const std::string& what, const char* remedy) {
    for (const auto& [axis, reduce] : layout.partial)
      if (std::ranges::find(taken, reduce) == taken.end() || reduce != layout.partial.begin()->second)
        throw UserError(fmt::format("{} %{} is annotated with a pending {}", what, t.name, name(reduce)),
                        where(t, layout), remedy);
  };
  for (TensorView* t : fusion.tensors()) {
    t->layout.normalize();
    check_layout(*t, t->layout);
    if (t->stored) {
      t->stored->normalize();
      check_layout(*t, *t->stored);
      refuse_pending(*t, *t->stored, {}, "the storage of", "annotate its pieces, or {}");
    }
    if (t->layout_source == LayoutSource::annotated || t->stored) put_in_normal_form(*t);
    if (t->stored && *t->stored == t->layout) t->stored.reset();
  }
  for (TensorView* t : fusion.inputs())
    refuse_pending(*t, t->layout, {ReduceOp::sum, ReduceOp::max, ReduceOp::min},
                   t->role == TensorRole::parameter ? "parameter" : "input",
                   "of one given tensor ranks get parts of one sum, max or min; annotate its pieces, or {}");
  for (TensorView* t : fusion.outputs())
    if (t->layout_source == LayoutSource::annotated)
      refuse_pending(*t, t->layout, {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::prod}, "output",
                     "outputs of ranks are put together by one sum, max, min or prod; annotate its pieces, or {}");
}

void check_ops(const Fusion& fusion) {
  for (const Op* op : fusion.ops()) {
    if (property(op->kind) == OpProperty::composite && !is_sharded_whole(op->kind))
      throw UserError(fmt::format("{} is a composite op", text_name(*op)), describe(*op),
                      "run the pass expand before sharding");
    if (op->kind != OpKind::Reshard &&
        (property(op->kind) == OpProperty::communication || property(op->kind) == OpProperty::local_move))
      throw UserError(fmt::format("{} stands in a graph that is to be sharded", text_name(*op)), describe(*op),
                      "shard the graph before it is localized");
  }
}

class Propagator {
 public:
  explicit Propagator(Fusion& fusion) : fusion_(fusion), state_(fusion) {}

  void run(bool by_cost) {
    pin_inputs();
    to_fixed_point();
    if (by_cost) {
      choose_layouts(state_);
      to_fixed_point();
    }
    for (const Op* op : fusion_.ops()) finish(*op);
  }

 private:
  void to_fixed_point() {
    size_t rounds = 1;
    for (TensorView* t : fusion_.tensors()) rounds += t->rank();
    do {
      PLAIT_CHECK(rounds-- > 0, "propagation in @{} has no fixed point", fusion_.name());
      forward();
    } while (backward());
  }

  void pin_inputs() {
    for (TensorView* t : fusion_.inputs()) {
      if (t->layout_source == LayoutSource::annotated) {
        if (t->reason.empty()) t->reason = "annotated";
        continue;
      }
      t->layout = Layout::replicated(t->rank());
      t->layout_source = LayoutSource::inferred;
      t->reason = "not annotated: replicated";
    }
  }

  void forward() {
    for (const Op* op : fusion_.ops()) {
      std::optional<Assignment> given;
      for (size_t r = 0; r < op->results.size(); ++r) {
        TensorView& t = *op->results[r];
        if (state_.pinned(t)) {
          t.layout_source = t.layout_source == LayoutSource::open ? LayoutSource::inferred : t.layout_source;
          continue;
        }
        if (!given) given = state_.assignment(*op);
        t.layout = given->results[r];
        if (state_.is_output(t)) t.layout.partial.clear();
        t.layout_source = LayoutSource::inferred;
      }
    }
  }

  // Adds hints of readers, last tensor first, so that a hint travels up a chain in one round. False: nothing new.
  bool backward() {
    bool changed = false;
    for (size_t i = fusion_.ops().size(); i-- > 0;) {
      for (const TensorView* t : fusion_.ops()[i]->results) changed |= ask_readers(*t);
      if (joins_parts(*fusion_.ops()[i])) changed |= prefer_parts(*as<Cat>(*fusion_.ops()[i]));
    }
    return changed;
  }

  // The result of a cat has the pieces of its operands side by side where no more of its readers, and of those behind
  // them, want something else than where it is cut as they are: that would be an exchange.
  bool prefer_parts(const Cat& op) {
    TensorView& t = *op.out();
    const auto dim = static_cast<size_t>(op.dim);
    const std::vector<Piece> pieces = t.layout.dims[dim].pieces;
    if (state_.pinned(t) || pieces.empty() || pieces.front().is_local()) return false;
    for (const TensorView* in : op.in)
      if (in->layout.dims[dim].pieces != pieces) return false;
    Layout parts = t.layout;
    parts.dims[dim].pieces = in_parts(pieces, op.in.size());
    Propagation::Region region = state_.follow({{&t, parts}}, kMostFollowed);
    size_t then = 0, now = 0;
    for (const auto& [reader, a] : region.ops) then += unmet_in(*reader, a);
    Propagation::swap(region);
    for (const auto& [reader, a] : region.ops) now += unmet_in(*reader, state_.assignment(*reader));
    if (!region.whole || then > now) return false;
    const auto& readers = state_.readers(t);
    state_.hint(t).layout.dims[dim].pieces = parts.dims[dim].pieces;
    state_.hint(t).readers[dim] = readers.empty() ? &op : readers.front();
    return true;
  }
  static constexpr size_t kMostFollowed = 64;  // ops

  // Operands of the op, and results that are pinned, which have to be moved.
  size_t unmet_in(const Op& op, const Assignment& a) const {
    size_t out = 0;
    const std::vector<TensorView*> in = inputs(op);
    for (size_t k = 0; k < in.size(); ++k)  // what is whole is sliced where it lies
      out += !in[k]->layout.is_replicated() && a.operands[k] != in[k]->layout;
    for (size_t r = 0; r < op.results.size(); ++r)
      out += state_.pinned(*op.results[r]) && a.results[r] != op.results[r]->layout;
    return out;
  }

  bool ask_readers(const TensorView& t) {
    const auto& readers = state_.readers(t);
    if (state_.pinned(t) || readers.empty()) return false;
    std::vector<Layout> asked;
    for (const Op* op : readers) {
      Assignment a = state_.assignment(*op);
      auto in = inputs(*op);
      for (size_t k = 0; k < in.size(); ++k)
        if (in[k] == &t) asked.push_back(std::move(a.operands[k]));
    }
    bool changed = false;
    for (size_t d = 0; d < t.rank(); ++d) changed |= agree(t, d, asked, readers.front());
    return changed;
  }

  bool agree(const TensorView& t, size_t d, const std::vector<Layout>& asked, const Op* reader) {
    Propagation::Hint& h = state_.hint(t);
    const DimLayout& list = asked.front().dims[d];
    if (list.pieces.empty() || !t.layout.dims[d].pieces.empty() || !h.layout.dims[d].pieces.empty()) return false;
    for (const Layout& layout : asked)
      if (layout.dims[d] != list) return false;
    for (const Piece& p : list.pieces)
      if (!p.is_local() && (t.layout.uses(p.mesh_axis) || h.layout.uses(p.mesh_axis))) return false;
    h.layout.dims[d] = list;
    h.readers[d] = reader;
    return true;
  }

  void finish(const Op& op) {
    Assignment a = state_.assignment(op);
    if (op.kind == OpKind::Reshard) a.results = {as<Reshard>(op)->in->layout};
    for (size_t r = 0; r < op.results.size(); ++r) finish(op, a, r);
  }

  void finish(const Op& op, const Assignment& a, size_t r) {
    TensorView& t = *op.results[r];
    const Layout& given = a.results[r];
    if (!can_reshard(given, t.layout))
      throw UserError(fmt::format("%{} is annotated {}, but {} gives {}", t.name, print(t.layout, fusion_.mesh()),
                                  text_name(op), print(given, fusion_.mesh())),
                      describe(op), "a reduction is pending only where the op leaves it so: drop partial(...)");
    if (t.keeps_layout() || op.kind == OpKind::Reshard) {
      if (t.reason.empty()) t.reason = "annotated";
      return;
    }
    std::vector<std::string> clauses = explain_result(op, a, r);
    for (size_t f = 0; f < a.claims.size(); ++f)
      if (const int dim = a.factors[f].result_dim[r]; dim >= 0 && !given.dims[static_cast<size_t>(dim)].pieces.empty())
        if (auto clause = from_result(op, a.claims[f], dim)) clauses.push_back(std::move(*clause));
    if (!given.partial.empty() && t.layout.partial.empty()) clauses.emplace_back("an output is reduced to whole");
    t.reason = clauses.empty() ? "no operand is sharded" : join(clauses);
  }

  // Where a dim has its pieces from that a result of the op asked for: its reader, or its annotation.
  std::optional<std::string> from_result(const Op& op, const Claim& claim, int dim) {
    if (claim.pieces.empty() || claim.operand >= 0) return std::nullopt;
    const TensorView& asked = *op.results[result_number(claim.operand)];
    if (state_.pinned(asked)) return fmt::format("dim {} from %{}, which is annotated", dim, asked.name);
    const Op* reader = state_.hint(asked).readers.at(static_cast<size_t>(claim.dim));
    return fmt::format("dim {} from consumer %{} through {}", dim, reader->results[0]->name, text_name(*reader));
  }

  Fusion& fusion_;
  Propagation state_;
};

}  // namespace

void propagate(Fusion& fusion, bool by_cost) {
  check_ops(fusion);
  check_annotations(fusion);
  Annotations before = annotations(fusion);
  Propagator(fusion).run(by_cost);
  verify_sharding(fusion, ShardStage::propagated, &before);
}

}  // namespace plait
