#include "shard/merge_parts.h"

#include <algorithm>
#include <limits>

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

  // The best of the members, and of those that have it the first place: each counts places of the whole. A member
  // without elements has none.
  template <class Local>
  std::pair<TensorView*, TensorView*> extremum(TensorView* in, const std::vector<int64_t>& dims, bool keepdim) {
    const bool most = Local::kKind == OpKind::MaxWithArgmax;
    auto local = std::make_unique<Local>();
    local->in = in;
    local->dims = dims;
    local->keepdim = keepdim;
    const std::vector<TensorView*> parts = emit_all(std::move(local));
    TensorView* last = constant(INT64_MAX, DType::i64);
    TensorView* place = place_of_whole(parts[1], in, dims);
    TensorView* own = where_any(place, in, last);
    const Ranked found = best(exchanged({parts[0], own}), most, false, last);
    if (own == place) return {found.values, found.places};
    TensorView* none = pointwise(Pointwise::eq, {found.places, last});
    return {found.values, pointwise(Pointwise::where, {none, constant(int64_t{0}, DType::i64), found.places})};
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
  // no part of a scan of f32 leaves its range that the whole stays in.
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
    TensorView* begin = reduce(total, where(earlier(totals->rank(), op.reverse), totals, none), {0}, false);
    return finals({sums ? add(own, begin) : mul(own, begin)}, {floats ? op.in->dtype : DType::i64});
  }
  Finals merged(const CumSum& op) { return merged_scan(op, Reduction::sum, 0); }
  Finals merged(const CumProd& op) { return merged_scan(op, Reduction::prod, 1); }

  Finals merged(const LogCumSumExp& op) {
    auto local = std::make_unique<LogCumSumExp>();
    local->in = cast(op.in, DType::f64);
    local->dim = op.dim;
    auto part = std::make_unique<LogSumExp>();
    part->in = local->in, part->dims = {op.dim}, part->keepdim = true;
    TensorView* own = emit(std::move(local));
    TensorView* totals = all_.gather(emit(std::move(part)), "_totals");
    auto begin = std::make_unique<LogSumExp>();
    begin->in = where(earlier(totals->rank(), false), totals, -std::numeric_limits<double>::infinity());
    begin->dims = {0};
    return finals({pointwise(Pointwise::logaddexp, {own, emit(std::move(begin))})}, {op.in->dtype});
  }

  // The last place of the best that each member has goes to all; what is here is better than that of those before
  // where it is as good. The first member has elements, if any has, and stands in the place of those that are not
  // before.
  template <class T, class Total>
  Finals merged_best(const T& op) {
    constexpr bool kMost = T::kKind == OpKind::CumMax;
    auto local = std::make_unique<T>();
    local->in = op.in;
    local->dim = op.dim;
    std::vector<TensorView*> own = emit_all(std::move(local));
    own[1] = add(own[1], size(parted_.start, DType::i64));
    auto from_end = std::make_unique<Flip>();
    from_end->in = op.in;
    from_end->dims = {op.dim};
    auto total = std::make_unique<Total>();
    total->in = emit(std::move(from_end));
    total->dims = {op.dim};
    total->keepdim = true;
    const std::vector<TensorView*> parts = emit_all(std::move(total));
    TensorView* end = size(parted_.start + op.in->extent(size_t(op.dim)) - 1, DType::i64);
    TensorView* none = constant(int64_t{-1}, DType::i64);
    TensorView* place = where_any(pointwise(Pointwise::sub, {end, parts[1]}), op.in, none);
    Ranked all = exchanged({parts[0], place});
    TensorView* before = earlier(all.values->rank(), false);
    for (TensorView** t : {&all.values, &all.places}) *t = pointwise(Pointwise::where, {before, *t, slice(*t, 0, 0)});
    const Ranked begin = best(all, kMost, true, none);
    TensorView* stays = pointwise(kMost ? Pointwise::ge : Pointwise::le, {own[0], begin.values});
    if (is_float(op.in->dtype))
      stays = pointwise(Pointwise::logical_or, {stays, pointwise(Pointwise::isnan, {own[0]})});
    TensorView* first = pointwise(Pointwise::eq, {size(parted_.rank, DType::i64), constant(int64_t{0}, DType::i64)});
    stays = pointwise(Pointwise::logical_or, {stays, first});
    return finals({pointwise(Pointwise::where, {stays, own[0], begin.values}),
                   pointwise(Pointwise::where, {stays, own[1], begin.places})},
                  {op.in->dtype, DType::i64});
  }
  Finals merged(const CumMax& op) { return merged_best<CumMax, MaxWithArgmax>(op); }
  Finals merged(const CumMin& op) { return merged_best<CumMin, MinWithArgmin>(op); }

  // The first of the first that each member has, in the order of the members: equals stay in the order of the whole.
  Finals merged(const Sort& op) {
    const auto dim = size_t(op.dim);
    const sym::Expr count = op.count.at(0), total = first_of_members(parted_.extent, count, 0);
    const auto first = [&](TensorView* in, sym::Expr of) {
      auto sort = std::make_unique<Sort>();
      sort->in = in;
      sort->dim = op.dim;
      sort->descending = op.descending;
      sort->count = {of};
      return emit_all(std::move(sort));
    };
    const std::vector<TensorView*> parts = first(op.in, sym::min(count, op.in->extent(dim)));
    TensorView* places = add(parts[1], size(parted_.start, DType::i64));
    const auto join = [&](TensorView* t, size_t at, const char* what) { return all_.join(t, at, total, what); };
    const Ranked all = all_.reads_places
                           ? unpacked(join(packed({parts[0], places}), dim + 1, "_parts"), 0, op.in->dtype)
                           : Ranked{join(parts[0], dim, "_values"), join(places, dim, "_places")};
    const std::vector<TensorView*> of_all = first(all.values, count);
    auto pick = std::make_unique<Gather>();
    pick->in = all.places;
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

  // Values and the places they have in the whole dims, i64.
  struct Ranked {
    TensorView *values, *places;
  };
  // [members, ...] of those of all members, by one exchange; of places that nobody reads nothing comes of theirs.
  Ranked exchanged(const Ranked& own) {
    if (!all_.reads_places) return {all_.gather(own.values, "_values"), all_.gather(own.places, "_places")};
    return unpacked(all_.gather(packed(own), "_parts"), 1, own.values->dtype);
  }
  // [lanes, ...] of integers that are as wide as the values: the bits of these, then those of the places, the lowest
  // first.
  TensorView* packed(const Ranked& own) {
    const DType lane = lane_type(own.values->dtype);
    auto all = std::make_unique<Cat>();
    all->in = {unsqueeze(as_bits(own.values, lane), {0})};
    const auto bits = 8 * int64_t(size_of(lane));
    for (int64_t low = 0; low < 64; low += bits) {
      TensorView* part = own.places;
      if (low > 0) part = pointwise(Pointwise::shift_right, {part, constant(low, DType::i64)});
      if (bits < 64) part = pointwise(Pointwise::bitwise_and, {part, constant((int64_t{1} << bits) - 1, DType::i64)});
      all->in.push_back(unsqueeze(cast(part, lane), {0}));
    }
    return emit(std::move(all));
  }
  // What was packed, of lanes along a dim, which goes.
  Ranked unpacked(TensorView* lanes, int64_t dim, DType type) {
    const auto lane = [&](int64_t k) { return squeeze(slice(lanes, dim, k), {dim}); };
    const auto bits = 8 * int64_t(size_of(lanes->dtype));
    TensorView* places = cast(lane(1), DType::i64);
    for (int64_t k = 1; k * bits < 64; ++k) {
      TensorView* high = cast(lane(k + 1), DType::i64);
      places = pointwise(Pointwise::bitwise_or,
                         {places, pointwise(Pointwise::shift_left, {high, constant(k * bits, DType::i64)})});
    }
    return {as_bits(lane(0), type), places};
  }
  static DType lane_type(DType type) {
    switch (size_of(type)) {
      case 1:
        return DType::u8;
      case 2:
        return DType::u16;
      case 4:
        return DType::u32;
      default:
        return DType::i64;
    }
  }
  // A number's bits as another type's.
  TensorView* as_bits(TensorView* t, DType lane) {
    if (t->dtype == DType::boolean || lane == DType::boolean || t->dtype == lane) return cast(t, lane);
    auto op = std::make_unique<Bitcast>();
    op->in = t;
    op->to = lane;
    return emit(std::move(op));
  }

  // Of [members, ...] the greatest, or least, and of members that have it the last place, or the first; NaN is the
  // best. `none` stands in the place of others.
  Ranked best(const Ranked& all, bool most, bool last, TensorView* none) {
    TensorView* value = reduce(most ? Reduction::amax : Reduction::amin, all.values, {0}, true);
    TensorView* has = pointwise(Pointwise::eq, {all.values, value});
    if (is_float(all.values->dtype))
      has = pointwise(Pointwise::logical_or, {has, pointwise(Pointwise::isnan, {all.values})});
    TensorView* places = pointwise(Pointwise::where, {has, all.places, none});
    return {squeeze(value, {0}), reduce(last ? Reduction::amax : Reduction::amin, places, {0}, false)};
  }
  // A row-major place among the dims of this member's piece, as one among those of the whole.
  TensorView* place_of_whole(TensorView* place, TensorView* in, const std::vector<int64_t>& dims) {
    std::vector<int64_t> order = dims;
    if (order.empty())
      for (size_t d = 0; d < in->rank(); ++d) order.push_back(int64_t(d));
    std::ranges::sort(order);
    TensorView* out = nullptr;
    sym::Expr stride = extent(1);
    for (size_t k = order.size(); k-- > 0;) {
      const sym::Expr has = in->extent(size_t(order[k]));
      const auto dim = std::ranges::find(all_.dims, order[k], &PartedDim::dim);
      TensorView* at = k == 0 ? place : whole(Pointwise::remainder, place, has);
      if (dim != all_.dims.end()) at = add(at, size(dim->start, DType::i64));
      at = whole(Pointwise::mul, at, stride);
      out = out ? add(out, at) : at;
      if (k > 0) place = whole(Pointwise::floor_divide, place, has);
      stride = stride * (dim == all_.dims.end() ? has : dim->extent);
    }
    return out;
  }
  // The places, where this member has any elements.
  TensorView* where_any(TensorView* places, TensorView* in, TensorView* none) {
    sym::Expr elements = extent(1);
    for (const PartedDim& dim : all_.dims) elements = elements * in->extent(size_t(dim.dim));
    if (sym::proven(sym::ge(elements, 1))) return places;
    TensorView* empty = pointwise(Pointwise::eq, {size(elements, DType::i64), constant(int64_t{0}, DType::i64)});
    return pointwise(Pointwise::where, {empty, none, places});
  }
  // Which members come before this one, or behind it, as [members, 1, ...].
  TensorView* earlier(size_t rank, bool reverse) {
    return pointwise(reverse ? Pointwise::gt : Pointwise::lt, {members(rank), size(parted_.rank, DType::i64)});
  }
  // How many elements all members give of a dim that is cut from the cut number `from` on, each `count` at most.
  sym::Expr first_of_members(sym::Expr all, sym::Expr count, size_t from) {
    if (from == parted_.cuts.size()) return sym::min(count, all);
    const PartedDim::Cut& cut = parted_.cuts[from];
    const sym::Expr chunk = sym::chunk(all, cut.parts, extent(0), cut.granule);
    const sym::Expr full = sym::floordiv(all, sym::max(chunk, 1));
    return full * first_of_members(chunk, count, from + 1) + first_of_members(all - full * chunk, count, from + 1);
  }

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
                   [&](const LogCumSumExp&) { return rows * bytes(DType::f64); },
                   [&](const CumMax&) { return rows * with_place; },
                   [&](const CumMin&) { return rows * with_place; },
                   [&](const Op& o) -> sym::Expr { PLAIT_CHECK(false, "{} is not merged from parts", describe(o)); },
               });
}

bool merges_dims(const Op& op) { return op.kind != OpKind::Sort && !is_scan(op.kind); }

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
