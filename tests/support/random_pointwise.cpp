#include "support/random_pointwise.h"

#include "axes/transforms.h"
#include "base/error.h"
#include "build/build.h"
#include "build/ops.h"
#include "schedule/scheduler.h"

namespace plait::test {

namespace {

class Generator {
 public:
  Generator(uint32_t seed, bool narrow) : random_(seed), narrow_(narrow) {}

  RandomCase make() {
    out_.fusion = std::make_unique<Fusion>();
    for (int d = 0; d < 4; ++d) dims_.push_back(dim(d));
    const int rank = pick(4);
    for (int d = 0; d < rank; ++d) domain_.push_back(static_cast<size_t>(pick(4)));
    for (int i = 0, n = 1 + pick(3); i < n; ++i) tensors_.push_back(input(shape(true)));
    for (int i = 0, n = 1 + pick(7); i < n; ++i) step();
    outputs();
    for (const TensorView* t : out_.fusion->inputs()) {
      auto& v = out_.inputs[t];
      for (int64_t i = 0, n = elements(*t, out_.env); i < n; ++i) v.push_back(pick(9) - 4);
      if (t->dtype == DType::u64) v.assign(v.size(), 1234567);
    }
    return std::move(out_);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  DType dtype() { return narrow_ && pick(2) ? DType::bf16 : pick(4) ? DType::f32 : DType::f64; }

  Fusion::Extent dim(int d) {
    if (pick(2)) return Fusion::Extent(1 + pick(9));
    const std::string name = "d" + std::to_string(d);
    const int64_t multiple = int64_t{1} << pick(4);
    const int64_t value = pick(12) == 0 ? 0 : multiple * (1 + pick(multiple > 2 ? 2 : 6));
    sym::SymbolInfo facts;
    facts.lo = value == 0 ? 0 : 2;
    facts.multiple_of = multiple;
    out_.fusion->pool().symbol(name, facts);
    out_.env[name] = value == 1 ? 2 : value;
    return Fusion::Extent(name);
  }

  // The common domain, with dims dropped in front or replaced by 1 where a tensor may broadcast.
  std::vector<Fusion::Extent> shape(bool broadcast) {
    std::vector<Fusion::Extent> out;
    const size_t first = broadcast && pick(2) ? static_cast<size_t>(pick(static_cast<int>(domain_.size()) + 1)) : 0;
    for (size_t d = first; d < domain_.size(); ++d)
      out.push_back(broadcast && pick(5) == 0 ? Fusion::Extent(1) : dims_[domain_[d]]);
    return out;
  }

  TensorView* input(const std::vector<Fusion::Extent>& shape) {
    return out_.fusion->input("x" + std::to_string(names_++), shape, dtype());
  }
  TensorView* any() { return tensors_[static_cast<size_t>(pick(static_cast<int>(tensors_.size())))]; }

  void step() {
    try {
      tensors_.push_back(op());
    } catch (const UserError&) {  // shapes or types that do not fit
    }
  }

  TensorView* op() {
    TensorView *a = any(), *b = any();
    switch (pick(16)) {
      case 0:
        return relu(a);
      case 1:
        return where(lt(a, b), a, any());
      case 2:
        return max(a, b);
      case 3:
        return mul(a, 0.5);
      case 4:
        return cast(a, dtype());
      case 5: {
        const size_t n = static_cast<size_t>(pick(4));
        if (a->rank() == 0) return neg(a);
        TensorView* w =
            out_.fusion->input("w" + std::to_string(names_++), {dims_[n], Fusion::Extent(a->shape().back())}, a->dtype);
        return linear(a, w);
      }
      case 6:
        return matmul(a, pick(2) ? a : b);
      case 7:
        return ge(uniform(), 0.25);
      case 8:
        return combined(a);
      case 9:
        return moved(a, b);
      case 10:
        return counted();
      case 11:
        return looked_up(a, b);
      default:
        return pick(2) ? add(a, b) : sub(a, b);
    }
  }

  int64_t any_dim(const TensorView* t) { return pick(std::max(static_cast<int>(t->rank()), 1)); }

  TensorView* combined(TensorView* a) {
    const Dims dims = {any_dim(a)};
    switch (pick(6)) {
      case 0:
        return amax(a, dims, pick(2) == 0);
      case 1:
        return argmin(a, dims);
      case 2:
        return cumsum(a, dims[0], pick(2) == 0, pick(2) == 0);
      case 3:
        return sum(a);
      default:
        return sum(a, dims, pick(2) == 0);
    }
  }

  TensorView* moved(TensorView* a, TensorView* b) {
    const int64_t d = any_dim(a), rank = static_cast<int64_t>(a->rank());
    std::vector<Fusion::Extent> low(a->rank(), 0), high(a->rank(), 0);
    if (rank > 0) low[static_cast<size_t>(d)] = pick(3), high[static_cast<size_t>(any_dim(a))] = pick(3);
    Dims repeats(a->rank(), 1);
    if (rank > 0) repeats[static_cast<size_t>(d)] = pick(4);
    switch (pick(9)) {
      case 0:
        return transpose(a, d, any_dim(a));
      case 1:
        return flip(a, {d});
      case 2:
        return roll(a, {pick(9) - 4}, {d});
      case 3:
        return pad(a, low, high, pick(5));
      case 4:
        return cat({a, b, a}, d);
      case 5:
        return slice(a, d, pick(3), -1 - pick(2), 1 + pick(3));
      case 6:
        return repeat(a, repeats);
      case 7:
        return reshape(a, {-1});
      default:
        return unsqueeze(a, {pick(static_cast<int>(rank) + 1)});
    }
  }

  TensorView* counted() {
    const auto extents = shape(false);
    if (pick(4) == 0) return size(*out_.fusion, dims_[static_cast<size_t>(pick(4))], DType::f32);
    return iota(*out_.fusion, extents, pick(std::max(static_cast<int>(extents.size()), 1)), pick(2) ? f32 : i64);
  }

  TensorView* looked_up(TensorView* a, TensorView* b) {
    TensorView* index = cast(b, i64);
    switch (pick(3)) {
      case 0:
        return index_select(a, index, any_dim(a));
      case 1:
        return gather(a, index, any_dim(a));
      default:
        return scatter(a, index, cast(b, a->dtype), any_dim(a), static_cast<ScatterUpdate>(pick(5)));
    }
  }

  TensorView* uniform() {
    if (seed_ == nullptr) seed_ = out_.fusion->input("seed", {}, DType::u64);
    auto op = std::make_unique<Uniform>();
    for (const auto& e : shape(false)) op->shape.push_back(e.resolve(*out_.fusion));
    op->seed = seed_;
    op->offset = pick(3);
    TensorView* out = out_.fusion->add_tensor("u", op->shape, DType::f32);
    if (pick(2))  // a piece of something larger
      for (sym::Expr e : op->shape) {
        op->global.push_back(e + 5);
        op->start.push_back(out_.fusion->pool().constant(pick(5)));
      }
    out_.fusion->add_op(std::move(op), out);
    return out;
  }

  void outputs() {
    const std::vector<Op*> ops = out_.fusion->ops();
    if (ops.empty()) {
      out_.fusion->output(neg(tensors_.front()));
      return;
    }
    for (size_t i = 0; i < ops.size(); ++i)
      if (i + 1 == ops.size() || out_.fusion->readers(ops[i]->out()).empty() || pick(4) == 0)
        out_.fusion->output(ops[i]->out());
  }

  std::mt19937 random_;
  bool narrow_;
  RandomCase out_;
  std::vector<Fusion::Extent> dims_;
  std::vector<size_t> domain_;
  std::vector<TensorView*> tensors_;
  TensorView* seed_ = nullptr;
  int names_ = 0;
};

}  // namespace

RandomCase random_case(uint32_t seed, bool narrow) { return Generator(seed, narrow).make(); }

void random_schedule(const Segment& segment, std::mt19937& random) {
  TensorView& t = *reference_tensor(segment);
  const auto pick = [&](size_t n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  clear_schedule(t);
  state_reduction_axes(t);
  for (int i = 0, n = pick(6); i < n; ++i) {
    const std::vector<Axis> loops = loop_axes(t.domain);
    if (loops.empty()) return;
    const int at = pick(loops.size());
    switch (pick(4)) {
      case 0:
        if (at + 1 < static_cast<int>(loops.size()) &&
            (loops[static_cast<size_t>(at)].kind == AxisKind::reduction) ==
                (loops[static_cast<size_t>(at) + 1].kind == AxisKind::reduction))
          merge(t, at);
        break;
      case 1: {
        std::vector<int> order(loops.size());
        for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
        if (pick(2)) std::swap(order[static_cast<size_t>(at)], order[static_cast<size_t>(pick(order.size()))]);
        reorder(t, order);
        break;
      }
      default:
        split(t, at, int64_t{1} + pick(9));
    }
  }
  const std::vector<Axis> loops = loop_axes(t.domain);
  bool lane = false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto extent = loops[i].extent.constant();
    const bool kept = loops[i].kind != AxisKind::reduction;
    if (!kept || !extent || *extent < 2) continue;
    if (!lane && (*extent & (*extent - 1)) == 0 && *extent <= 16 && pick(2)) {
      parallelize(t, static_cast<int>(i), ParallelType::vectorize);
      lane = true;
    } else if (*extent <= 4 && pick(3) == 0) {
      parallelize(t, static_cast<int>(i), ParallelType::unroll);
    }
  }
  if (!loops.empty() && pick(2) && loop_axes(t.domain)[0].parallel == ParallelType::serial)
    parallelize(t, 0, ParallelType::cpu_thread);
}

}  // namespace plait::test
