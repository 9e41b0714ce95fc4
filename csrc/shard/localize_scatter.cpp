// Scatters of which each rank has some of the updates: the operand counts once.
#include <limits>

#include "build/composer.h"
#include "shard/localizer.h"

namespace plait {

namespace {

// What changes nothing that it is combined with: of sums -0, which -0 stays beside.
Constant neutral(ReduceOp reduce, DType type) {
  const bool floats = is_float(type);
  const double inf = std::numeric_limits<double>::infinity();
  switch (reduce) {
    case ReduceOp::sum:
      return floats ? Constant::from_double(type, -0.0) : Constant::from_int64(type, 0);
    case ReduceOp::prod:
      return floats ? Constant::from_double(type, 1) : Constant::from_int64(type, 1);
    default:
      PLAIT_CHECK(reduce != ReduceOp::logsumexp, "no scatter has a pending {}", name(reduce));
      break;
  }
  if (floats) return Constant::from_double(type, reduce == ReduceOp::max ? -inf : inf);
  const auto bits = 8 * size_of(type);
  const uint64_t all = ~uint64_t{0} >> (64 - bits), sign = is_unsigned(type) ? 0 : uint64_t{1} << (bits - 1);
  return {type, reduce == ReduceOp::max ? sign : all ^ sign};
}

bool is_filled(const TensorView& t, const Constant& value) {
  const auto* full = t.definition ? as<Full>(*t.definition) : nullptr;
  return full && full->value.to_double() == value.to_double();
}

}  // namespace

bool Localizer::starts_from_parts(const Op& op) const {
  return op.kind == OpKind::Scatter && !effective(*op.out()).partial.empty();
}

void Localizer::add_scatter(const Scatter& op, std::unique_ptr<Op> local) {
  const Layout result = effective(*op.out());
  const ReduceOp reduce = result.partial.begin()->second;
  const Constant none = neutral(reduce, op.in->dtype);
  auto& scatter = static_cast<Scatter&>(*local);
  std::set<int> shared;  // axes over which ranks have the operand alike
  for (const auto& [axis, each] : result.partial)
    if (!effective(*op.in).partial.contains(axis)) shared.insert(axis);
  scatter.in = padded(op, scatter.in, none, shared);
  const bool counts = reduce == ReduceOp::sum || reduce == ReduceOp::prod;
  if (counts && !shared.empty() && !is_filled(*scatter.in, none)) scatter.in = of_first(op, scatter.in, none, shared);
  add(std::move(local), op.results);
}

TensorView* Localizer::padded(const Scatter& op, TensorView* in, const Constant& none, std::set<int>& shared) {
  const Layout has = effective(*op.in), result = effective(*op.out());
  if (has.dims == result.dims) return in;
  auto pad = std::make_unique<Pad>();
  pad->in = in, pad->value = none.to_double();
  for (size_t d = 0; d < op.in->rank(); ++d) {
    const bool piece = has.dims[d] != result.dims[d];
    const sym::Expr low = piece ? first_index(*op.in, has, d) : out_->pool().constant(0);
    pad->low.push_back(low);
    pad->high.push_back(piece ? import(op.in->extent(d)) - low - in->extent(d) : low);
    for (const Piece& p : has.dims[d].pieces) shared.erase(p.mesh_axis);
  }
  return between(std::move(pad), op.out()->name + "_start", local_shape(*op.out()));
}

TensorView* Localizer::of_first(const Scatter& op, TensorView* in, const Constant& none, const std::set<int>& axes) {
  building::Composer c(*out_, free_prefix(op.out()->name));
  sym::Expr others = out_->pool().constant(0);
  for (int axis : axes) others = others + out_->pool().symbol(rank_symbol(out_->mesh(), axis));
  TensorView* first = c.pointwise(Pointwise::eq, {c.size(others, DType::i64), c.constant(int64_t{0}, DType::i64)});
  auto full = std::make_unique<Full>();
  full->value = none;
  return c.pointwise(Pointwise::where, {first, in, c.emit(std::move(full))});
}

}  // namespace plait
