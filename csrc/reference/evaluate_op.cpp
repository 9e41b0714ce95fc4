// Ops other than pointwise ones and products, and what ops share.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "reference/evaluator.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

uint64_t seed_of(const Array& seed) { return static_cast<uint64_t>(seed.integers[0]); }

Array evaluate_full(const Full& op, const Context& context) {
  Array out = make_array(op.out->dtype, context.shape(op.out->shape()));
  std::ranges::fill(out.value, op.value.to_double());
  if (is_wide_integer(out.dtype)) std::ranges::fill(out.integers, op.value.to_int64());
  return out;
}

// Numbers of the global indices that the piece [start, start + shape) holds.
Array evaluate_uniform(const Uniform& op, const Operands& operands, const Context& context) {
  Array out = make_array(op.out->dtype, context.shape(op.out->shape()));
  const uint64_t seed = seed_of(operands.at(op.seed));
  const auto offset = static_cast<uint64_t>(random_offset(context.fusion, op));
  const std::vector<int64_t> global = op.global.empty() ? out.shape : context.shape(op.global);
  const std::vector<int64_t> start =
      op.start.empty() ? std::vector<int64_t>(out.shape.size()) : context.shape(op.start);
  const std::vector<int64_t> strides = row_major_strides(global);
  for (int64_t i = 0; i < out.elements(); ++i) {
    int64_t linear = 0;
    for (int64_t d = static_cast<int64_t>(out.shape.size()) - 1, rest = i; d >= 0; --d) {
      linear += (start[d] + rest % out.shape[d]) * strides[d];
      rest /= out.shape[d];
    }
    out.value[i] = uniform_f32(seed, static_cast<uint64_t>(linear), offset);
  }
  return out;
}

Array evaluate_dropout(const Dropout& op, const Operands& operands, const Context& context) {
  const Array& x = operands.at(op.x);
  Array out = make_array(x.dtype, x.shape);
  out.excused = x.excused;
  if (context.options.radius) out.radius.assign(out.value.size(), 0.0);
  const uint64_t seed = seed_of(operands.at(op.seed));
  const auto offset = static_cast<uint64_t>(random_offset(context.fusion, op));
  const DType compute = compute_type(x.dtype);
  const double scale = 1 / (1 - op.p);
  const bool scale_rounds = round_to(compute, scale) != scale;
  for (int64_t i = 0; i < out.elements(); ++i) {
    const bool keep = uniform_f32(seed, static_cast<uint64_t>(i), offset) >= op.p;
    const double value = keep ? x.value[i] * scale : 0;
    if (!keep && !out.excused.empty()) out.excused[i] = 0;
    double own = 0;
    Interval range = Interval::point(value);
    if (keep && context.options.radius) {
      const Interval in[] = {to_interval(x.value[i], x.radius_at(i)), Interval::point(scale)};
      range = interval(Pointwise::mul, in);
      const double far = std::max(std::abs(range.lo), std::abs(range.hi)), args[] = {far / scale, scale};
      own = own_error(Pointwise::mul, compute, args, far);
      // In f64 the scale here is a rounded one too.
      if (scale_rounds || compute == DType::f64) own += std::isfinite(far) ? 2 * unit_roundoff(compute) * far : 0;
    }
    const Settled settled = settle(out.dtype, value, range, own);
    out.value[i] = settled.value;
    if (context.options.radius) out.radius[i] = settled.radius;
    if (std::isinf(settled.radius)) {
      if (out.excused.empty()) out.excused.assign(out.value.size(), 0);
      out.excused[i] = 1;
    }
  }
  return out;
}

// The values are the same; a pending sum of a narrow dtype is rounded where it becomes whole.
Array evaluate_reshard(const Reshard& op, const Operands& operands, const Context& context) {
  Array out = operands.at(op.in);
  const auto& before = op.in->layout.partial;
  if (before == op.out->layout.partial || !context.options.radius || out.radius.empty()) return out;
  for (int64_t i = 0; i < out.elements(); ++i) {
    const double value = out.value[i], radius = out.radius[i];
    if (radius != 0 && std::isfinite(radius))
      out.radius[i] = settle(out.dtype, value, {value - radius, value + radius}, 0).radius;
  }
  return out;
}

template <class T>
std::vector<T> slice(const std::vector<T>& in, int64_t outer, int64_t start, int64_t count, int64_t total,
                     int64_t inner) {
  std::vector<T> out;
  if (in.empty()) return out;
  for (int64_t o = 0; o < outer; ++o)
    out.insert(out.end(), in.begin() + (o * total + start) * inner, in.begin() + (o * total + start + count) * inner);
  return out;
}

Array evaluate_local_slice(const LocalSlice& op, const Operands& operands, const Context& context) {
  const Array& in = operands.at(op.in);
  const auto view = context.shape({op.outer, op.start, op.count, op.total, op.inner});
  const int64_t outer = view[0], start = view[1], count = view[2], total = view[3], inner = view[4];
  PLAIT_CHECK(start + count <= total && element_count({outer, total, inner}) == in.elements(),
              "{}: [{}, {}..+{} of {}, {}] of {} elements", describe(op), outer, start, count, total, inner,
              in.elements());
  const auto cut = [&](const auto& data) { return slice(data, outer, start, count, total, inner); };
  Array out;
  out.shape = context.shape(op.out->shape());
  out.dtype = in.dtype;
  out.value = cut(in.value);
  out.integers = cut(in.integers);
  out.radius = cut(in.radius);
  out.excused = cut(in.excused);
  out.spread = cut(in.spread);
  PLAIT_CHECK(element_count(out.shape) == out.elements(), "{}: {} elements", describe(op), out.elements());
  return out;
}

[[noreturn]] Array needs_ranks(const Op& op) {
  throw InternalError(fmt::format("{} needs the tensors of other ranks", text_name(op)), describe(op),
                      "collectives are steps of a program, not of the evaluator");
}

}  // namespace

std::vector<int64_t> Context::shape(const std::vector<sym::Expr>& extents) const {
  std::vector<int64_t> out;
  for (sym::Expr e : extents) out.push_back(sym::evaluate(e, sizes));
  return out;
}

const Partial* Context::partial_of(const TensorView& tensor) const {
  const auto it = options.partial.find(tensor.name);
  return it == options.partial.end() ? nullptr : &it->second;
}

const Partial* Context::partial_of_product(const Op& product) const {
  if (const Partial* own = partial_of(*product.out)) return own;
  const Linear* linear = as<Linear>(product);
  if (!linear || !linear->b) return nullptr;
  const auto it = options.partial.find(fusion.unique_name(product.out->name + "_product"));
  return it == options.partial.end() ? nullptr : &it->second;
}

int64_t random_offset(const Fusion& fusion, const Op& op) {
  int64_t ordinal = 0;
  for (const Op* other : fusion.ops()) {
    if (other == &op) break;
    ordinal += counter_offset(*other) != nullptr;
  }
  return counter_offset(op)->value_or(ordinal);
}

Array evaluate_op(const Op& op, const Operands& operands, const Context& context) {
  return visit(op, overloaded{
                       [&](const PointwiseOp& o) { return evaluate_pointwise(o, operands, context); },
                       [&](const Full& o) { return evaluate_full(o, context); },
                       [&](const Uniform& o) { return evaluate_uniform(o, operands, context); },
                       [&](const Linear& o) { return evaluate_linear(o, operands, context); },
                       [&](const Matmul& o) { return evaluate_matmul(o, operands, context); },
                       [&](const Dropout& o) { return evaluate_dropout(o, operands, context); },
                       [&](const Reshard& o) { return evaluate_reshard(o, operands, context); },
                       [&](const AllReduce& o) -> Array { needs_ranks(o); },
                       [&](const AllGather& o) -> Array { needs_ranks(o); },
                       [&](const ReduceScatter& o) -> Array { needs_ranks(o); },
                       [&](const LocalSlice& o) { return evaluate_local_slice(o, operands, context); },
                       [](const Op& o) -> Array {
                         throw UserError(fmt::format("the evaluator does not know {}", text_name(o)), describe(o), "");
                       },
                   });
}

}  // namespace plait::reference
