#include "shard/merge_parts.h"

#include <algorithm>

#include "base/error.h"
#include "build/composer.h"

namespace plait {

namespace {

using Finals = std::vector<std::unique_ptr<Op>>;

class PartMerger : building::Composer {
 public:
  PartMerger(Fusion& fusion, const PartedDims& parted, const std::string& prefix)
      : Composer(fusion, prefix), all_(parted), parted_(parted.dims.front()) {}

  // Means and variances become those of all (Chan, Golub, LeVeque 1979), weighed by shares so that no sum is larger
  // than what it is the mean of, and from the first member on, so that equal means are the mean. Members without
  // elements have neither; the first has some, if any has.
  template <class T>
  std::pair<TensorView*, TensorView*> mean_and_var(const T& op) {
    const DType type = accumulation_type(op.in->dtype);
    sym::Expr others = extent(1);  // elements of a row that stand beside each of the dims
    for (int64_t d : op.dims)
      if (!is_parted(d)) others = others * op.in->extent(size_t(d));
    sym::Expr all = others;
    for (const PartedDim& dim : all_.dims) all = all * dim.extent;
    auto local = std::make_unique<VarMean>();
    local->in = cast(op.in, type);
    local->dims = op.dims;
    local->correction = 0;
    local->keepdim = op.keepdim;
    const std::vector<TensorView*> parts = emit_all(std::move(local));
    auto both = std::make_unique<Cat>();
    both->in = {unsqueeze(parts[0], {0}), unsqueeze(parts[1], {0})};
    TensorView* states = all_.gather(emit(std::move(both)), "_states");
    TensorView *means = part_of(states, 0), *variances = part_of(states, 1);
    TensorView* of_members = cast(counts_of_members(means->rank()), type);
    TensorView* counts = mul(of_members, size(others, type));
    TensorView* has = pointwise(Pointwise::gt, counts, 0);
    TensorView* weights = div(counts, size(sym::max(all, 1), type));
    TensorView* first = slice(means, 0, 0);
    TensorView* further = mul(pointwise(Pointwise::sub, {means, first}), weights);
    TensorView* of_first = squeeze(first, {0});
    TensorView* mean = add(of_first, sum(where(has, further, 0.0), {0}, false));
    TensorView* apart = pointwise(Pointwise::sub, {means, mean});
    TensorView* spread = mul(weights, add(variances, mul(apart, apart)));
    TensorView* total = sum(where(has, spread, 0.0), {0}, false);
    TensorView* var = div(total, size(sym::min(all, 1), type));
    if (op.correction == 0) return {mean, var};
    TensorView* population = size(all, type);
    return {mean, mul(var, div(population, size(sym::max(all - op.correction, 0), type)))};
  }
  Finals merged(const Var& op) { return finals({mean_and_var(op).second}, {op.in->dtype}); }
  Finals merged(const VarMean& op) {
    const auto [mean, var] = mean_and_var(op);
    return finals({mean, var}, {op.in->dtype, op.in->dtype});
  }

  // The first member that has the extremum; its position counts the elements of those before.
  template <class Local>
  std::pair<TensorView*, TensorView*> extremum(TensorView* in, const std::vector<int64_t>& dims, bool keepdim) {
    const bool most = Local::kKind == OpKind::MaxWithArgmax;
    auto local = std::make_unique<Local>();
    local->in = in;
    local->dims = dims;
    local->keepdim = keepdim;
    const std::vector<TensorView*> parts = emit_all(std::move(local));
    TensorView *values = all_.gather(parts[0], "_values"), *places = all_.gather(parts[1], "_places");
    TensorView* member = reduce(most ? Reduction::argmax : Reduction::argmin, values, {0}, true);
    auto pick = std::make_unique<Gather>();
    pick->in = places;
    pick->index = member;
    pick->bounds = Bounds::assume;
    sym::Expr inner = extent(1);
    for (int64_t d : dims)
      if (d != parted_.dim) inner = inner * in->extent(size_t(d));
    TensorView* before = whole(Pointwise::mul, piece_of(parted_, member, false).start, inner);
    TensorView* place = squeeze(add(emit(std::move(pick)), before), {0});
    return {reduce(most ? Reduction::amax : Reduction::amin, values, {0}, false), place};
  }
  template <class T>
  Finals merged_extremum(const T& op) {
    const auto [value, place] = extremum<T>(op.in, op.dims, op.keepdim);
    return finals({value, place}, {op.in->dtype, DType::i64});
  }
  Finals merged(const MaxWithArgmax& op) { return merged_extremum(op); }
  Finals merged(const MinWithArgmin& op) { return merged_extremum(op); }
  Finals merged(const Reduce& op) {
    if (op.function == Reduction::argmax)
      return finals({extremum<MaxWithArgmax>(op.in, op.dims, op.keepdim).second}, {DType::i64});
    if (op.function == Reduction::argmin)
      return finals({extremum<MinWithArgmin>(op.in, op.dims, op.keepdim).second}, {DType::i64});
    TensorView* parts = all_.gather(reduce(op.function, op.in, op.dims, op.keepdim), "_parts");
    return finals({reduce(op.function, parts, {0}, false)}, {op.in->dtype});
  }

  // What a scan begins with: the totals of the members before, or behind where it runs from the end. Of floats in f64:
  // no part of a scan of f32 leaves its range that the whole stays in. (Of f64 itself the dim is whole.)
  template <class T>
  Finals merged_scan(const T& op, Reduction total, double none) {
    const bool floats = is_float(op.in->dtype);
    TensorView* in = floats ? cast(op.in, DType::f64) : op.in;
    auto local = std::make_unique<T>();
    local->in = in;
    local->dim = op.dim;
    local->exclusive = op.exclusive;
    local->reverse = op.reverse;
    TensorView* own = emit(std::move(local));
    TensorView* part = reduce(total, in, {op.dim}, true);
    const bool sums = total == Reduction::sum;
    TensorView* totals = all_.gather(part, "_totals");
    TensorView* earlier = pointwise(op.reverse ? Pointwise::gt : Pointwise::lt,
                                    {members(totals->rank()), size(parted_.rank, DType::i64)});
    TensorView* begin = reduce(total, where(earlier, totals, none), {0}, false);
    return finals({sums ? add(own, begin) : mul(own, begin)}, {floats ? op.in->dtype : DType::i64});
  }
  Finals merged(const CumSum& op) { return merged_scan(op, Reduction::sum, 0); }
  Finals merged(const CumProd& op) { return merged_scan(op, Reduction::prod, 1); }

  // The first of the first that each member has, in the order of the members: equals stay in the order of the whole.
  Finals merged(const Sort& op) {
    PLAIT_CHECK(parted_.cuts.size() == 1, "{} is merged over one axis", describe(op));
    const auto dim = size_t(op.dim);
    const PartedDim::Cut& cut = parted_.cuts[0];
    const sym::Expr chunk = sym::chunk(parted_.extent, cut.parts, extent(0), cut.granule);
    const sym::Expr count = op.count.at(0), full = sym::floordiv(parted_.extent, sym::max(chunk, 1));
    const sym::Expr total = full * sym::min(count, chunk) + sym::min(count, parted_.extent - full * chunk);
    const auto first = [&](TensorView* in, sym::Expr of) {
      auto sort = std::make_unique<Sort>();
      sort->in = in;
      sort->dim = op.dim;
      sort->descending = op.descending;
      sort->count = {of};
      return emit_all(std::move(sort));
    };
    const std::vector<TensorView*> parts = first(op.in, sym::min(count, op.in->extent(dim)));
    TensorView* before = size(parted_.start, DType::i64);
    TensorView *values = all_.join(parts[0], total, "_values"),
               *places = all_.join(add(parts[1], before), total, "_places");
    const std::vector<TensorView*> of_all = first(values, count);
    auto pick = std::make_unique<Gather>();
    pick->in = places;
    pick->index = of_all[1];
    pick->dim = op.dim;
    pick->bounds = Bounds::assume;
    return finals({of_all[0], emit(std::move(pick))}, {op.in->dtype, DType::i64});
  }

  Finals merged(const Op& op) { PLAIT_CHECK(false, "{} is not merged from parts", describe(op)); }

 private:
  TensorView* add(TensorView* a, TensorView* b) { return pointwise(Pointwise::add, {a, b}); }
  TensorView* mul(TensorView* a, TensorView* b) { return pointwise(Pointwise::mul, {a, b}); }
  TensorView* div(TensorView* a, TensorView* b) { return pointwise(Pointwise::div, {a, b}); }

  // [members, k, ...] at k.
  TensorView* part_of(TensorView* states, int64_t k) { return squeeze(slice(states, 1, k), {1}); }
  TensorView* slice(TensorView* in, int64_t dim, int64_t k) {
    auto op = std::make_unique<Slice>();
    op->in = in;
    op->dim = dim;
    op->start = extent(k);
    op->stop = extent(k + 1);
    return emit(std::move(op));
  }
  bool is_parted(int64_t d) const { return std::ranges::find(all_.dims, d, &PartedDim::dim) != all_.dims.end(); }
  // 0, 1, ... as [members, 1, ...].
  TensorView* members(size_t rank) {
    std::vector<sym::Expr> shape(rank, extent(1));
    for (const PartedDim& dim : all_.dims) shape[0] = shape[0] * dim.members;
    return iota(std::move(shape), 0, DType::i64);
  }
  // Elements of the dims that each has, as [members, 1, ...].
  TensorView* counts_of_members(size_t rank) {
    TensorView* member = members(rank);
    TensorView* out = nullptr;
    for (size_t d = all_.dims.size(); d-- > 0;) {
      const sym::Expr of_dim = all_.dims[d].members;
      TensorView* place = d == 0 ? member : whole(Pointwise::remainder, member, of_dim);
      TensorView* count = piece_of(all_.dims[d], place, true).count;
      out = out ? mul(out, count) : count;
      if (d > 0) member = whole(Pointwise::floor_divide, member, of_dim);
    }
    return out;
  }
  // Where the pieces of members begin that have elements, i64 as the members are, and how many they have.
  struct Piece {
    TensorView *start = nullptr, *count = nullptr;
  };
  Piece piece_of(const PartedDim& dim, TensorView* member, bool counted) {
    const auto& cuts = dim.cuts;
    Piece out;
    sym::Expr further = dim.members;  // members that share a piece of this cut
    for (size_t c = 0; c < cuts.size(); ++c) {
      const sym::Expr granule = extent(cuts[c].granule);
      further = sym::floordiv(further, cuts[c].parts);
      TensorView* place = c == 0 ? member : whole(Pointwise::remainder, member, further * cuts[c].parts);
      place = whole(Pointwise::floor_divide, place, further);
      TensorView* chunk =
          c == 0 ? size(sym::chunk(dim.extent, cuts[c].parts, extent(0), cuts[c].granule), DType::i64)
                 : whole(Pointwise::mul, ceil_divide(ceil_divide(out.count, granule), cuts[c].parts), granule);
      TensorView* start = mul(place, chunk);
      out.start = c == 0 ? start : add(out.start, start);
      if (!counted && c + 1 == cuts.size()) break;
      TensorView* left = pointwise(Pointwise::sub, {c == 0 ? size(dim.extent, DType::i64) : out.count, start});
      out.count =
          pointwise(Pointwise::max, {pointwise(Pointwise::min, {left, chunk}), constant(int64_t{0}, DType::i64)});
    }
    return out;
  }
  TensorView* whole(Pointwise function, TensorView* a, sym::Expr b) {
    return b.constant() == 1 && function != Pointwise::remainder ? a : pointwise(function, {a, size(b, DType::i64)});
  }
  TensorView* ceil_divide(TensorView* a, sym::Expr b) {
    if (b.constant() == 1) return a;
    return whole(Pointwise::floor_divide, add(a, size(b - 1, DType::i64)), b);
  }
  // Casts, of which those that change nothing are none in the end.
  static Finals finals(const std::vector<TensorView*>& values, const std::vector<DType>& types) {
    Finals out;
    for (size_t i = 0; i < values.size(); ++i) {
      auto op = std::make_unique<PointwiseOp>();
      op->function = Pointwise::cast;
      op->in = {values[i]};
      op->to = types[i];
      out.push_back(std::move(op));
    }
    return out;
  }

  const PartedDims& all_;
  const PartedDim& parted_;  // the first of them
};

}  // namespace

sym::Expr exchanged_bytes(const Op& op) {
  const TensorView& in = *inputs(op)[0];
  const auto scan = scan_of(op);
  sym::Expr rows = in.fusion->pool().constant(1);
  if (scan) {
    for (size_t d = 0; d < in.rank(); ++d)
      if (int64_t(d) != scan->dim) rows = rows * in.extent(d);
  } else {
    for (sym::Expr e : op.results[0]->shape()) rows = rows * e;
  }
  const auto bytes = [](DType type) { return int64_t(size_of(type)); };
  const int64_t number = is_float(in.dtype) ? bytes(accumulation_type(in.dtype)) : bytes(DType::i64);
  const int64_t with_place = bytes(in.dtype) + bytes(DType::i64);
  return visit(op,
               overloaded{
                   [&](const Var&) { return rows * (2 * number); },
                   [&](const VarMean&) { return rows * (2 * number); },
                   [&](const MaxWithArgmax&) { return rows * with_place; },
                   [&](const MinWithArgmin&) { return rows * with_place; },
                   [&](const Sort&) { return rows * with_place; },
                   [&](const Reduce& o) { return rows * (finds_index(o.function) ? with_place : bytes(in.dtype)); },
                   [&](const CumSum&) { return rows * bytes(DType::f64); },
                   [&](const CumProd&) { return rows * bytes(DType::f64); },
                   [&](const Op& o) -> sym::Expr { PLAIT_CHECK(false, "{} is not merged from parts", describe(o)); },
               });
}

bool merges_dims(const Op& op) {
  const auto* reduce = as<Reduce>(op);
  return as<Var>(op) || as<VarMean>(op) || (reduce && !finds_index(reduce->function));
}

std::vector<std::unique_ptr<Op>> merge_parts(const Op& op, const PartedDims& parted, const std::string& prefix) {
  PartMerger merger(*inputs(op)[0]->fusion, parted, prefix);
  return visit(op, [&](const auto& node) { return merger.merged(node); });
}

std::unique_ptr<Op> reduction_of_first(TensorView* members, ReduceOp reduce) {
  if (reduce == ReduceOp::logsumexp) {
    auto op = std::make_unique<LogSumExp>();
    op->in = members, op->dims = {0};
    return op;
  }
  const auto function = [&] {
    switch (reduce) {
      case ReduceOp::sum:
        return Reduction::sum;
      case ReduceOp::max:
        return Reduction::amax;
      case ReduceOp::min:
        return Reduction::amin;
      case ReduceOp::prod:
        return Reduction::prod;
      case ReduceOp::logsumexp:
        break;
    }
    __builtin_unreachable();
  };
  auto op = std::make_unique<Reduce>();
  op->in = members, op->function = function(), op->dims = {0};
  return op;
}

}  // namespace plait
