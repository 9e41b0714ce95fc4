// Tensors from nothing: constants, counters, random numbers.
#include <algorithm>
#include <cmath>

#include "reference/elements.h"
#include "reference/evaluator.h"
#include "scalar/constant.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

// A number that every backend rounds to the dtype once; a narrow one by way of f32, or not at all.
void set_rounded(Array& out, int64_t i, int64_t value, bool radius) {
  if (!is_float(out.dtype)) return set_integer(out, i, value);
  if (!is_narrow(out.dtype)) {
    out.value[i] = Constant::from_int64(out.dtype, value).to_double();
    return;
  }
  const auto exact = static_cast<double>(value), wide = round_to(DType::f32, exact);
  const Settled settled = settle(out.dtype, exact, {std::min(exact, wide), std::max(exact, wide)}, 0);
  set_float(out, i, {settled.value, radius ? settled.radius : 0}, false);
}

// Calls fn(i, global linear index) for the elements of a tensor or of a piece of one.
template <class Random, class Fn>
void for_each_number(const Random& op, const Array& out, const Context& context, Fn&& fn) {
  const std::vector<int64_t> global = op.global.empty() ? out.shape : context.shape(op.global);
  const std::vector<int64_t> start =
      op.start.empty() ? std::vector<int64_t>(out.shape.size()) : context.shape(op.start);
  const std::vector<int64_t> strides = row_major_strides(global);
  int64_t first = 0;
  for (size_t d = 0; d < start.size(); ++d) first += start[d] * strides[d];
  walk(strided(out.shape, strides), [&](int64_t i, int64_t at, int64_t) { fn(i, static_cast<uint64_t>(first + at)); });
}

uint64_t seed_of(const TensorView* seed, const Operands& operands) {
  return static_cast<uint64_t>(operands.at(seed).integers[0]);
}

}  // namespace

Array evaluate_full(const Full& op, const Context& context) {
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  std::ranges::fill(out.value, op.value.to_double());
  if (is_wide_integer(out.dtype)) std::ranges::fill(out.integers, op.value.to_int64());
  return out;
}

Array evaluate_iota(const Iota& op, const Context& context) {
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  const int64_t start = context.shape({op.start})[0];
  std::vector<int64_t> along(out.shape.size(), 0);
  along[op.dim] = 1;
  walk(strided(out.shape, along),
       [&](int64_t i, int64_t at, int64_t) { set_rounded(out, i, start + at, context.options.radius); });
  return out;
}

Array evaluate_size(const Size& op, const Context& context) {
  Array out = make_array(op.out()->dtype, {});
  set_rounded(out, 0, context.shape({op.value})[0], context.options.radius);
  return out;
}

Array evaluate_uniform(const Uniform& op, const Operands& operands, const Context& context) {
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  const uint64_t seed = seed_of(op.seed, operands);
  const auto offset = static_cast<uint64_t>(random_offset(context.fusion, op));
  for_each_number(op, out, context, [&](int64_t i, uint64_t at) { out.value[i] = uniform_f32(seed, at, offset); });
  return out;
}

// Bound of a backend in f32: docs/numerics.md.
Array evaluate_normal(const Normal& op, const Operands& operands, const Context& context) {
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  const uint64_t seed = seed_of(op.seed, operands);
  const auto offset = static_cast<uint64_t>(random_offset(context.fusion, op));
  for_each_number(op, out, context, [&](int64_t i, uint64_t at) {
    const PolarPoint point = normal_point(seed, at, offset);
    const double value = point.number(at % 2);
    const double own = unit_roundoff(DType::f32) * (16 * point.radius + 4 * std::abs(value));
    set_float(out, i, {value, context.options.radius ? own : 0}, false);
  });
  return out;
}

}  // namespace plait::reference
