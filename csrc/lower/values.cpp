// Values of elementwise ops. Storage types compute in a wider one. A value of f16 or bf16 is rounded to its tensor's
// type where rounding is strict or where it enters a discontinuous op; f8 and integers of 8 and 16 bits are rounded, or
// wrapped, wherever they are read.
#include <algorithm>

#include "base/error.h"
#include "lower/statements.h"

namespace plait::lowering {

kir::Value Statements::convert(kir::Value in, DType to) {
  if (in.dtype == to) return in;
  auto stmt = std::make_unique<kir::Convert>();
  stmt->out = fresh(to, in.lanes);
  stmt->in = in;
  return put(std::move(stmt), level_of(in));
}

kir::Value Statements::round(kir::Value in, DType to) {
  auto stmt = std::make_unique<kir::Round>();
  stmt->out = fresh(in.dtype, in.lanes);
  stmt->in = in;
  stmt->to = to;
  return put(std::move(stmt), level_of(in));
}

Constant widened(Constant constant) {
  const DType wide = compute_type(constant.dtype);
  return wide == constant.dtype ? constant : Constant::from_double(wide, constant.to_double());
}

kir::Value Statements::literal(Constant constant, int lanes) {
  auto stmt = std::make_unique<kir::Literal>();
  stmt->constant = widened(constant);
  stmt->out = fresh(stmt->constant.dtype, lanes);
  return put(std::move(stmt), base_);
}

namespace {

// Whether a cast to a narrow float rounds at once: f32 does not hold all numbers of f64. Integers go by way of f32.
bool rounds_from_f64(DType from, DType to) { return is_narrow(to) && from == DType::f64; }

}  // namespace

// A float as an integer of 8 or 16 bits: what is beyond the type's ends becomes them.
kir::Value Statements::saturate(kir::Value in, DType to) {
  const auto limit = [&](Pointwise function, kir::Value v, double bound) {
    auto stmt = std::make_unique<kir::Compute>();
    stmt->out = fresh(v.dtype, v.lanes);
    stmt->function = function;
    stmt->in = {v, literal(Constant::from_double(v.dtype, bound), v.lanes)};
    return put(std::move(stmt), level_of(v));
  };
  const kir::Value v = limit(Pointwise::min, convert(in, compute_type(to)), max_finite(to));
  return is_unsigned(to) ? v : limit(Pointwise::max, v, least_finite(to));
}

kir::Value Statements::cast(const PointwiseOp& op, const Replacements& copy, int lanes) {
  const DType from = op.in[0]->dtype, to = *op.to, wide = compute_type(to);
  const bool round_first = is_narrow(from) && is_discontinuous(op.function, 0, from, to);
  kir::Value v = operand(op, 0, copy, lanes, round_first);
  if (rounds_from_f64(from, to)) return convert(round(convert(v, DType::f64), to), wide);
  if (is_float(from) && is_integer(to) && is_always_rounded(to)) return saturate(v, to);
  return convert(v, wide);
}

kir::Value Statements::pointwise(const PointwiseOp& op, const Replacements& copy, int lanes) {
  std::vector<DType> types;
  for (const TensorView* t : op.in) types.push_back(t->dtype);
  const DType type = computation_type(op.function, types);
  auto stmt = std::make_unique<kir::Compute>();
  size_t level = base_;
  for (size_t i = 0; i < op.in.size(); ++i) {
    const bool round_first = is_narrow(op.in[i]->dtype) &&
                             is_discontinuous(op.function, static_cast<int>(i), op.in[i]->dtype, op.out()->dtype);
    kir::Value v = operand(op, i, copy, lanes, round_first);
    if (op.function != Pointwise::where || i > 0) v = convert(v, type);
    level = std::max(level, level_of(v));
    stmt->in.push_back(v);
  }
  stmt->function = op.function;
  stmt->out = fresh(compute_type(op.out()->dtype), lanes);
  return put(std::move(stmt), level);
}

// Rounded to its type where every narrow tensor is a rounding point.
kir::Value Statements::rounded(const PointwiseOp& op, const Replacements& copy, int lanes) {
  const bool casts = op.function == Pointwise::cast;
  const kir::Value v = casts ? cast(op, copy, lanes) : pointwise(op, copy, lanes);
  const DType out = op.out()->dtype;
  const bool already = casts && rounds_from_f64(op.in[0]->dtype, out);
  return is_narrow(out) && state_.options.strict_rounding && !already ? round(v, out) : v;
}

namespace {

// What is combined in loops has its value before anybody reads it.
kir::Value not_computed(const Op& op) { PLAIT_CHECK(false, "{} is not computed before it is read", describe(op)); }

}  // namespace

kir::Value Statements::compute(const Op& op, const Replacements& copy, int lanes) {
  return visit(op, overloaded{
                       [&](const PointwiseOp& o) { return rounded(o, copy, lanes); },
                       [&](const Full& o) { return literal(o.value, lanes); },
                       [&](const Iota& o) { return iota(o, copy, lanes); },
                       [&](const Size& o) { return size(o, lanes); },
                       [&](const Uniform& o) { return uniform(o, copy, lanes); },
                       [&](const Normal& o) { return normal(o, copy, lanes); },
                       [&](const Permute& o) { return operand(o, 0, copy, lanes); },
                       [&](const Broadcast& o) { return operand(o, 0, copy, lanes); },
                       [&](const Squeeze& o) { return operand(o, 0, copy, lanes); },
                       [&](const Unsqueeze& o) { return operand(o, 0, copy, lanes); },
                       [&](const Bitcast& o) { return operand(o, 0, copy, lanes); },
                       [&](const Reshape& o) { return moved(o, copy, lanes); },
                       [&](const Slice& o) { return moved(o, copy, lanes); },
                       [&](const Pad& o) { return moved(o, copy, lanes); },
                       [&](const Cat& o) { return moved(o, copy, lanes); },
                       [&](const Flip& o) { return moved(o, copy, lanes); },
                       [&](const Roll& o) { return moved(o, copy, lanes); },
                       [&](const Repeat& o) { return moved(o, copy, lanes); },
                       [&](const Gather& o) { return looked_up(o, copy, lanes); },
                       [&](const IndexSelect& o) { return looked_up(o, copy, lanes); },
                       [&](const Scatter& o) { return load_at(*o.in, own_coordinates(*o.out(), copy), lanes); },
                       [](const Linear& o) { return not_computed(o); },
                       [](const Matmul& o) { return not_computed(o); },
                       [](const Reduce& o) { return not_computed(o); },
                       [](const Var& o) { return not_computed(o); },
                       [](const VarMean& o) { return not_computed(o); },
                       [](const MaxWithArgmax& o) { return not_computed(o); },
                       [](const MinWithArgmin& o) { return not_computed(o); },
                       []<class T>(const T& o)
                         requires(is_scan(T::kKind))
                                 { return not_computed(o); },
                                 [](const Sort& o) { return not_computed(o); },
                                 []<class T>(const T& o)
                                   requires(property(T::kKind) == OpProperty::composite ||
                                            property(T::kKind) == OpProperty::communication ||
                                            property(T::kKind) == OpProperty::local_move)
                       { return not_computed(o); },
                       });
}

kir::Value Statements::value_of(const TensorView& tensor, const Replacements& copy, int lanes) {
  const Key key = key_of(tensor, own_coordinates(tensor, copy), lanes, false);
  if (const auto it = known_.find(key); it != known_.end()) return it->second.value;
  const kir::Value out = compute(*tensor.definition, copy, lanes);
  known_.emplace(key, Known{out, level_of(out)});
  return out;
}

kir::Value Statements::operand(const Op& op, size_t i, const Replacements& copy, int lanes, bool round_narrow) {
  const Edge& edge = state_.group.edges_of(op)[i];
  if (!state_.group.computes(edge.operand)) return load(edge, read_coordinates(edge, copy), lanes);
  const kir::Value v = value_of(*edge.operand, copy, lanes);
  const DType dtype = edge.operand->dtype;
  const bool done = is_narrow(dtype) && state_.options.strict_rounding;
  if (done || !(round_narrow || is_always_rounded(dtype))) return v;
  const Key key = key_of(*edge.operand, own_coordinates(*edge.operand, copy), lanes, true);
  if (const auto it = known_.find(key); it != known_.end()) return it->second.value;
  const kir::Value rounded = round(v, dtype);
  known_.emplace(key, Known{rounded, level_of(rounded)});
  return rounded;
}

}  // namespace plait::lowering
