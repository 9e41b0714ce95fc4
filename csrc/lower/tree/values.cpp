// Values of elementwise ops, and what is read and written. The rounding rules are those of lower/values.cpp: narrow
// floats are rounded where they enter a discontinuous op or where rounding is strict, types that are always rounded
// wherever they are read.
#include <algorithm>

#include "axes/operand_read.h"
#include "base/error.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

kir::Value TreeEmitter::convert(Value in, DType to) {
  if (in.dtype == to) return in;
  auto stmt = std::make_unique<kir::Convert>();
  stmt->out = fresh(to);
  stmt->in = in;
  return put(std::move(stmt));
}

kir::Value TreeEmitter::round(Value in, DType to) {
  auto stmt = std::make_unique<kir::Round>();
  stmt->out = fresh(in.dtype);
  stmt->in = in;
  stmt->to = to;
  return put(std::move(stmt));
}

kir::Value TreeEmitter::literal(Constant constant) {
  const DType wide = compute_type(constant.dtype);
  auto stmt = std::make_unique<kir::Literal>();
  stmt->constant = wide == constant.dtype ? constant : Constant::from_double(wide, constant.to_double());
  stmt->out = fresh(wide);
  return put(std::move(stmt));
}

kir::Value TreeEmitter::apply(Pointwise function, std::vector<Value> in) {
  std::vector<DType> types;
  for (const Value& v : in) types.push_back(v.dtype);
  auto stmt = std::make_unique<kir::Compute>();
  stmt->out = fresh(result_type(function, types));
  stmt->function = function;
  stmt->in = std::move(in);
  return put(std::move(stmt));
}

kir::Value TreeEmitter::coordinate(sym::Expr index) {
  auto stmt = std::make_unique<kir::Coordinate>();
  stmt->out = fresh(DType::i64);
  stmt->index = index;
  return put(std::move(stmt));
}

kir::Value TreeEmitter::variable(Constant initial) {
  auto stmt = std::make_unique<kir::Variable>();
  stmt->out = fresh(initial.dtype);
  stmt->initial = initial;
  return put(std::move(stmt));
}

void TreeEmitter::assign(Value variable, Value in) {
  auto stmt = std::make_unique<kir::Assign>();
  stmt->variable = variable;
  stmt->in = in;
  add(std::move(stmt));
}

namespace {

// Whether a cast to a narrow float rounds at once: f32 does not hold all numbers of f64. Integers go by way of f32.
bool rounds_at_once(DType from, DType to) { return is_narrow(to) && from == DType::f64; }

}  // namespace

// A float as an integer of 8 or 16 bits: what is beyond the type's ends becomes them.
kir::Value TreeEmitter::saturate(Value in, DType to) {
  const auto limit = [&](Pointwise function, Value v, double bound) {
    return apply(function, {v, literal(Constant::from_double(v.dtype, bound))});
  };
  const Value v = limit(Pointwise::min, convert(in, compute_type(to)), max_finite(to));
  return is_unsigned(to) ? v : limit(Pointwise::max, v, least_finite(to));
}

kir::Value TreeEmitter::cast(const PointwiseOp& op) {
  const DType from = op.in[0]->dtype, to = *op.to, wide = compute_type(to);
  const Value v = operand(op, 0, is_narrow(from) && is_discontinuous(op.function, 0, from, to));
  if (rounds_at_once(from, to)) return convert(round(convert(v, DType::f64), to), wide);
  if (is_float(from) && is_integer(to) && is_always_rounded(to)) return saturate(v, to);
  return convert(v, wide);
}

kir::Value TreeEmitter::pointwise(const PointwiseOp& op) {
  std::vector<DType> types;
  for (const TensorView* t : op.in) types.push_back(t->dtype);
  const DType type = computation_type(op.function, types);
  auto stmt = std::make_unique<kir::Compute>();
  for (size_t i = 0; i < op.in.size(); ++i) {
    const DType own = op.in[i]->dtype;
    Value v =
        operand(op, i, is_narrow(own) && is_discontinuous(op.function, static_cast<int>(i), own, op.out()->dtype));
    if (op.function != Pointwise::where || i > 0) v = convert(v, type);
    stmt->in.push_back(v);
  }
  stmt->function = op.function;
  stmt->out = fresh(compute_type(op.out()->dtype));
  return put(std::move(stmt));
}

// Rounded to its type where every narrow tensor is a rounding point.
kir::Value TreeEmitter::rounded(const PointwiseOp& op) {
  const bool casts = op.function == Pointwise::cast;
  const Value v = casts ? cast(op) : pointwise(op);
  const DType out = op.out()->dtype;
  const bool already = casts && rounds_at_once(op.in[0]->dtype, out);
  return is_narrow(out) && options_.strict_rounding && !already ? round(v, out) : v;
}

namespace {

kir::Value not_placed(const Op& op) { PLAIT_CHECK(false, "{} has no place in a loop tree", describe(op)); }

}  // namespace

kir::Value TreeEmitter::compute(const Op& op) {
  return visit(op, overloaded{
                       [&](const PointwiseOp& o) { return rounded(o); },
                       [&](const Full& o) { return literal(o.value); },
                       [&](const Iota& o) { return iota(o); },
                       [&](const Size& o) { return size(o); },
                       [&](const Uniform& o) { return random(o, random_index(o)); },
                       [&](const Normal& o) { return normal(o); },
                       [&](const Permute& o) { return operand(o, 0); },
                       [&](const Broadcast& o) { return operand(o, 0); },
                       [&](const Squeeze& o) { return operand(o, 0); },
                       [&](const Unsqueeze& o) { return operand(o, 0); },
                       [&](const Reshape& o) { return moved(o); },
                       [&](const Slice& o) { return moved(o); },
                       [&](const Pad& o) { return moved(o); },
                       [&](const Cat& o) { return moved(o); },
                       [&](const Flip& o) { return moved(o); },
                       [&](const Roll& o) { return moved(o); },
                       [&](const Repeat& o) { return moved(o); },
                       [&](const Gather& o) { return looked_up(o); },
                       [&](const IndexSelect& o) { return looked_up(o); },
                       [](const Bitcast& o) { return not_placed(o); },
                       [&](const Scatter& o) { return placed_one(o); },
                       [](const Linear& o) { return not_placed(o); },
                       [](const Matmul& o) { return not_placed(o); },
                       [](const Reduce& o) { return not_placed(o); },
                       [](const Var& o) { return not_placed(o); },
                       [](const VarMean& o) { return not_placed(o); },
                       [](const MaxWithArgmax& o) { return not_placed(o); },
                       [](const MinWithArgmin& o) { return not_placed(o); },
                       []<class T>(const T& o)
                         requires(is_scan(T::kKind))
                                 { return not_placed(o); },
                                 [](const Sort& o) { return not_placed(o); },
                                 []<class T>(const T& o)
                                   requires(property(T::kKind) == OpProperty::composite ||
                                            property(T::kKind) == OpProperty::communication ||
                                            property(T::kKind) == OpProperty::local_move)
                       { return not_placed(o); },
                       });
}

kir::Value TreeEmitter::operand(const Op& op, size_t i, bool round_narrow) {
  const TensorView& t = *inputs(op)[i];
  return by_coordinates(op, t) ? read_at(op, i, operand_at(op, i), round_narrow)
                               : rounded(t, read(op, i), round_narrow);
}

// As its dtype demands of a value that comes from no memory.
kir::Value TreeEmitter::rounded(const TensorView& t, Value v, bool round_narrow) {
  if (is_narrow(t.dtype) && options_.strict_rounding) return v;
  return round_narrow || is_always_rounded(t.dtype) ? round(v, t.dtype) : v;
}

// What the kernel places, as it is kept: of its tensor's computation type.
kir::Value TreeEmitter::read(const Op& op, size_t i) {
  const TensorView& t = *inputs(op)[i];
  if (held_inputs_.contains(&t)) return values_.at(&t).value;
  const PlacedOperand& at = placed_operand(op, i);
  const PlacedOp& maker = placed(*t.definition);
  const Home home = tree_.home(t);
  const auto known = values_.find(&t);
  const bool here = home == Home::value || (home == Home::buffer && at.buffer == maker.index);
  if (here && known != values_.end()) return known->second.value;
  if (home == Home::logical) return load_at(t, at.at);
  if (home == Home::buffer) {
    sym::Expr index = first_of_task(*t.definition);
    for (size_t d = 0; d < at.buffer.size(); ++d) index = index * maker.dims[d] + at.buffer[d];
    if (const PanelLayout* panel = panel_of(t)) index = panel->place(index);
    return load(locals_.at(&t), index);
  }
  if (const auto kept = cross_.find(&t); kept != cross_.end()) return load(kept->second, element(tree_.cross.at(&t)));
  if (const auto scan = whole_.find(t.definition); kind_of(*t.definition).form == Form::scan && scan != whole_.end()) {
    const auto& results = t.definition->results;
    return scan->second[1][static_cast<size_t>(std::find(results.begin(), results.end(), &t) - results.begin())];
  }
  PLAIT_CHECK(home == Home::value && kind_of(*t.definition).form != Form::sum,
              "{} reads %{} outside of the guards that it is computed in", describe(op), t.name);
  return compute(*t.definition);  // in other guards of the same iteration
}

kir::Value TreeEmitter::load(uint32_t buffer, sym::Expr index) {
  auto stmt = std::make_unique<kir::Load>();
  stmt->buffer = buffer;
  stmt->out = fresh(compute_type(kernel_.buffers[buffer].dtype));
  stmt->index = index;
  return put(std::move(stmt));
}

kir::Value TreeEmitter::load_at(const TensorView& tensor, const Coordinates& at) {
  const auto local = locals_.find(&tensor);
  return load(local != locals_.end() ? local->second : arguments_.at(&tensor), memory_offset(tensor, at));
}

void TreeEmitter::store(uint32_t buffer, sym::Expr index, Value in) {
  auto stmt = std::make_unique<kir::Store>();
  stmt->buffer = buffer;
  stmt->index = index;
  stmt->in = in;
  add(std::move(stmt));
}

// A result to where its readers find it.
void TreeEmitter::deliver(const Op& op, const TensorView& result, Value value) {
  const PlacedOp& at = placed(op);
  const Home home = tree_.home(result);
  const bool unread = home != Home::memory && !locals_.contains(&result);
  switch (unread ? Home::value : home) {
    case Home::value:
      break;
    case Home::buffer:
      store(locals_.at(&result), place_in_buffer(op, result), value);
      break;
    case Home::logical:
      store(locals_.at(&result), memory_offset(result, at.own), value);
      break;
    case Home::memory:
      store(arguments_.at(&result), memory_offset(result, at.own), value);
      break;
  }
  if (const auto kept = cross_.find(&result); kept != cross_.end())
    store(kept->second, element(tree_.cross.at(&result)), value);
  values_.insert_or_assign(&result, Known{value, frames_.size() - 1});
}

// Where this iteration writes a result whose home is a buffer.
sym::Expr TreeEmitter::place_in_buffer(const Op& op, const TensorView& result) const {
  const PlacedOp& at = placed(op);
  sym::Expr index = number(0);
  for (size_t d = 0; d < at.index.size(); ++d) index = index * at.dims[d] + at.index[d];
  const PanelLayout* panel = panel_of(result);
  return panel != nullptr ? panel->place(index) : index;
}

sym::Expr TreeEmitter::memory_offset(const TensorView& tensor, const Coordinates& at) {
  sym::Expr offset = number(0), stride = number(1);
  const std::vector<int>& order = tensor.domain.allocation;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = static_cast<size_t>(order[i]);
    offset = offset + at[d] * stride;
    stride = stride * extents_(tensor.extent(d));
  }
  return offset;
}

kir::Value TreeEmitter::computed_at(const Op& op, const Coordinates& at, const AxisGroup& axes, LoopTree& tree,
                                    const std::function<Value(const TensorView&, const Coordinates&)>& value_of) {
  PlacedOp placed;
  placed.op = &op;
  placed.own = at;
  const auto extent = [&](sym::Expr e) { return extents_(e); };
  const std::vector<TensorView*> operands = inputs(op);
  std::vector<Value> made;
  for (size_t i = 0; i < operands.size(); ++i) {
    placed.operands.push_back(operand_read(axes, op, i, {at, placed.reduced}, extent));
    made.push_back(is_input(*operands[i]) ? Value() : value_of(*operands[i], placed.operands[i].at));
  }
  tree.ops[&op] = placed;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (is_input(*operands[i])) continue;
    if (const Op* made_by = operands[i]->definition) tree.ops[made_by].op = made_by;
    values_.insert_or_assign(operands[i], Known{made[i], frames_.size() - 1});
  }
  return compute(op);
}

}  // namespace plait::lowering
