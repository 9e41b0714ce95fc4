// Ops that move elements: what each dim's positions are in the operand and in the result.
#include <algorithm>

#include "base/error.h"
#include "reference/elements.h"
#include "reference/evaluator.h"
#include "scalar/constant.h"

namespace plait::reference {
namespace {

template <class T>
void copy_part(const std::vector<T>& in, const Walk& from_to, std::vector<T>& out, size_t elements) {
  if (in.empty()) return;
  out.resize(elements);
  walk(from_to, [&](int64_t, int64_t from, int64_t to) { out[to] = in[from]; });
}

// out[b] = in[a] for the offsets of a walk.
void copy(const Array& in, const Walk& from_to, Array& out) {
  const size_t elements = out.value.size();
  copy_part(in.value, from_to, out.value, elements);
  copy_part(in.integers, from_to, out.integers, elements);
  copy_part(in.radius, from_to, out.radius, elements);
  copy_part(in.alternative, from_to, out.alternative, elements);
  copy_part(in.excused, from_to, out.excused, elements);
  copy_part(in.spread, from_to, out.spread, elements);
}

Array result_of(const Op& op, const Context& context) {
  return make_array(op.out()->dtype, context.shape(op.out()->shape()));
}

// The elements in row-major order as another shape.
Array same_order(const Op& op, const Array& in, const Context& context) {
  Array out = in;
  out.shape = context.shape(op.out()->shape());
  PLAIT_CHECK(element_count(out.shape) == out.elements(), "{}: {} elements become {}", describe(op), out.elements(),
              element_count(out.shape));
  return out;
}

// Position of the result's index in dim d of the operand, for operands and results of one rank.
template <class Position>
Array from_positions(const Op& op, const Array& in, const Context& context, Position&& position) {
  Array out = result_of(op, context);
  const auto strides = row_major_strides(in.shape);
  Walk from_to = strided(out.shape, strides, row_major_strides(out.shape));
  for (size_t d = 0; d < out.shape.size(); ++d)
    for (int64_t i = 0; i < out.shape[d]; ++i) {
      const int64_t at = position(d, i);
      PLAIT_CHECK(at >= 0 && at < in.shape[d], "{}: {} of dim {} of {}", describe(op), at, d, in.shape[d]);
      from_to.a[d][i] = at * strides[d];
    }
  copy(in, from_to, out);
  return out;
}

bool names(const std::vector<int64_t>& dims, size_t d) {
  return std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
}

// Whether the bits of a float are those that every backend has, the sign of zero among them: they were given or moved.
bool has_given_bits(const TensorView& tensor) {
  const Op* op = tensor.definition;
  if (!op || property(op->kind) == OpProperty::creation || op->kind == OpKind::Bitcast) return true;
  if (property(op->kind) != OpProperty::movement && op->kind != OpKind::Gather && op->kind != OpKind::IndexSelect)
    return false;
  return std::ranges::all_of(inputs(*op), [](const TensorView* t) { return has_given_bits(*t); });
}

}  // namespace

Array evaluate_permute(const Permute& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  Array out = result_of(op, context);
  const auto strides = row_major_strides(in.shape);
  std::vector<int64_t> from;
  for (int64_t d : op.dims) from.push_back(strides[d]);
  copy(in, strided(out.shape, from, row_major_strides(out.shape)), out);
  return out;
}

Array evaluate_broadcast(const Broadcast& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  Array out = result_of(op, context);
  const auto strides = row_major_strides(in.shape);
  std::vector<int64_t> from(out.shape.size(), 0);
  for (size_t d = 0; d < op.dims.size(); ++d)
    if (in.shape[d] != 1) from[op.dims[d]] = strides[d];
  copy(in, strided(out.shape, from, row_major_strides(out.shape)), out);
  return out;
}

Array evaluate_squeeze(const Squeeze& op, const Operands& operands, const Context& context) {
  return same_order(op, operands.at(op.in), context);
}

Array evaluate_unsqueeze(const Unsqueeze& op, const Operands& operands, const Context& context) {
  return same_order(op, operands.at(op.in), context);
}

Array evaluate_reshape(const Reshape& op, const Operands& operands, const Context& context) {
  return same_order(op, operands.at(op.in), context);
}

Array evaluate_slice(const Slice& op, const Operands& operands, const Context& context) {
  const int64_t start = context.shape({op.start})[0];
  return from_positions(op, operands.at(op.in), context, [&](size_t d, int64_t i) {
    return static_cast<int64_t>(d) == op.dim ? start + i * op.step : i;
  });
}

Array evaluate_flip(const Flip& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  return from_positions(op, in, context,
                        [&](size_t d, int64_t i) { return names(op.dims, d) ? in.shape[d] - 1 - i : i; });
}

Array evaluate_roll(const Roll& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  return from_positions(op, in, context, [&](size_t d, int64_t i) {
    for (size_t k = 0; k < op.dims.size(); ++k)
      if (op.dims[k] == static_cast<int64_t>(d)) {
        const int64_t back = (i - op.shifts[k] % in.shape[d]) % in.shape[d];
        return back < 0 ? back + in.shape[d] : back;
      }
    return i;
  });
}

Array evaluate_repeat(const Repeat& op, const Operands& operands, const Context& context) {
  Array in = operands.at(op.in);
  in.shape.insert(in.shape.begin(), op.repeats.size() - in.shape.size(), 1);
  return from_positions(op, in, context, [&](size_t d, int64_t i) { return i % in.shape[d]; });
}

Array evaluate_pad(const Pad& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  Array out = result_of(op, context);
  const Constant rest = Constant::from_double(out.dtype, op.value);
  std::ranges::fill(out.value, rest.to_double());
  if (!out.integers.empty()) std::ranges::fill(out.integers, rest.to_int64());
  const std::vector<int64_t> low = context.shape(op.low), strides = row_major_strides(out.shape);
  Walk from_to = strided(in.shape, row_major_strides(in.shape), strides);
  for (size_t d = 0; d < low.size(); ++d)
    for (int64_t& to : from_to.b[d]) to += low[d] * strides[d];
  copy(in, from_to, out);
  return out;
}

Array evaluate_cat(const Cat& op, const Operands& operands, const Context& context) {
  Array out = result_of(op, context);
  const auto strides = row_major_strides(out.shape);
  int64_t begin = 0;
  bool spread = true;
  for (const TensorView* t : op.in) {
    const Array& in = operands.at(t);
    Walk from_to = strided(in.shape, row_major_strides(in.shape), strides);
    for (int64_t& to : from_to.b[op.dim]) to += begin * strides[op.dim];
    begin += in.shape[op.dim];
    copy(in, from_to, out);
    spread &= !in.spread.empty() || in.elements() == 0;
  }
  PLAIT_CHECK(begin == out.shape[op.dim], "{}: {} of {}", describe(op), begin, out.shape[op.dim]);
  if (!spread) out.spread.clear();
  return out;
}

Array evaluate_bitcast(const Bitcast& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  Array out = result_of(op, context);
  const bool from_float = is_float(in.dtype), given = !from_float || has_given_bits(*op.in);
  for (int64_t i = 0; i < in.elements(); ++i) {
    const Constant bits =
        from_float ? Constant::from_double(in.dtype, in.value[i]) : Constant::from_int64(in.dtype, in.integer_at(i));
    const Constant result{out.dtype, bits.bits};
    out.value[i] = result.to_double();
    if (!out.integers.empty()) out.integers[i] = result.to_int64();
    // A NaN has many bits, a computed zero two.
    const bool many = in.value[i] != in.value[i] || (in.value[i] == 0 && !given);
    if (context.options.radius && (in.radius_at(i) != 0 || in.excused_at(i) || in.has_alternative(i) || many))
      set_float(out, i, {out.value[i], kInfinity}, true);
  }
  return out;
}

}  // namespace plait::reference
