// What a tensor is whose op and operands are known, and what ops share.
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "reference/elements.h"
#include "reference/evaluator.h"

namespace plait::reference {
namespace {

// The values are the same; a pending sum of a narrow dtype is rounded where it becomes whole.
Array evaluate_reshard(const Reshard& op, const Operands& operands, const Context& context) {
  const auto& before = op.in->layout.partial;
  if (before == op.out()->layout.partial || !context.options.radius) return operands.at(op.in);
  Array out = *Terms(operands.at(op.in));
  if (out.radius.empty()) return out;
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
  out.shape = context.shape(op.out()->shape());
  out.dtype = in.dtype;
  out.value = cut(in.value);
  out.integers = cut(in.integers);
  out.radius = cut(in.radius);
  out.alternative = cut(in.alternative);
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
  const auto it = options.partial.tensors.find(tensor.name);
  return it == options.partial.tensors.end() ? nullptr : &it->second;
}

const Partial* Context::partial_of_contraction(const Op& product) const {
  if (const Partial* own = partial_of(*product.out())) return own;
  const Linear* linear = as<Linear>(product);
  if (!linear || !linear->b) return nullptr;
  const auto it = options.partial.unbiased.find(product.out()->name);
  return it == options.partial.unbiased.end() ? nullptr : &it->second;
}

int64_t random_offset(const Fusion& fusion, const Op& op) {
  int64_t ordinal = 0;
  for (const Op* other : fusion.ops()) {
    if (other == &op) break;
    ordinal += counter_offset(*other) != nullptr;
  }
  return counter_offset(op)->value_or(ordinal);
}

namespace {

// One rule for each kind; those of ops with several results give a list.
std::vector<Array> evaluate_kind(const Op& op, const Operands& operands, const Context& context) {
  const auto rule = overloaded{
      [&](const PointwiseOp& o) { return evaluate_pointwise(o, operands, context); },
      [&](const Full& o) { return evaluate_full(o, context); },
      [&](const Iota& o) { return evaluate_iota(o, context); },
      [&](const Size& o) { return evaluate_size(o, context); },
      [&](const Uniform& o) { return evaluate_uniform(o, operands, context); },
      [&](const Normal& o) { return evaluate_normal(o, operands, context); },
      [&](const Linear& o) { return evaluate_linear(o, operands, context); },
      [&](const Matmul& o) { return evaluate_matmul(o, operands, context); },
      [&](const Reduce& o) { return evaluate_reduce(o, operands, context); },
      [&](const Var& o) { return evaluate_var(o, operands, context); },
      [&](const VarMean& o) { return evaluate_var_mean(o, operands, context); },
      [&](const MaxWithArgmax& o) { return evaluate_with_position(o, operands, context); },
      [&](const MinWithArgmin& o) { return evaluate_with_position(o, operands, context); },
      [&]<class T>(const T& o)
        requires(is_scan(T::kKind))
      { return evaluate_scan(o, operands, context); },
      [&](const Sort& o) { return evaluate_sort(o, operands, context); },
      [&](const Permute& o) { return evaluate_permute(o, operands, context); },
      [&](const Broadcast& o) { return evaluate_broadcast(o, operands, context); },
      [&](const Squeeze& o) { return evaluate_squeeze(o, operands, context); },
      [&](const Unsqueeze& o) { return evaluate_unsqueeze(o, operands, context); },
      [&](const Reshape& o) { return evaluate_reshape(o, operands, context); },
      [&](const Slice& o) { return evaluate_slice(o, operands, context); },
      [&](const Pad& o) { return evaluate_pad(o, operands, context); },
      [&](const Cat& o) { return evaluate_cat(o, operands, context); },
      [&](const Flip& o) { return evaluate_flip(o, operands, context); },
      [&](const Roll& o) { return evaluate_roll(o, operands, context); },
      [&](const Repeat& o) { return evaluate_repeat(o, operands, context); },
      [&](const Bitcast& o) { return evaluate_bitcast(o, operands, context); },
      [&](const Gather& o) { return evaluate_gather(o, operands, context); },
      [&](const IndexSelect& o) { return evaluate_index_select(o, operands, context); },
      [&](const Scatter& o) { return evaluate_scatter(o, operands, context); },
      [&](const Reshard& o) { return evaluate_reshard(o, operands, context); },
      [&](const AllReduce& o) -> Array { needs_ranks(o); },
      [&](const AllGather& o) -> Array { needs_ranks(o); },
      [&](const ReduceScatter& o) -> Array { needs_ranks(o); },
      [&](const AllToAll& o) -> Array { needs_ranks(o); },
      [&](const GatherRange& o) -> Array { needs_ranks(o); },
      [&](const GatherBlock& o) -> Array { needs_ranks(o); },
      [&](const LocalSlice& o) { return evaluate_local_slice(o, operands, context); },
      []<Composite Node>(const Node& o) -> Array { PLAIT_CHECK(false, "{} is not opened", describe(o)); },
      };
  return visit(op, [&](const auto& node) -> std::vector<Array> {
    if constexpr (std::is_same_v<decltype(rule(node)), Array>) {
      std::vector<Array> out;
      out.push_back(rule(node));
      return out;
    } else {
      return rule(node);
    }
  });
}

// Of a bool that is not known there are two possible values.
void settle_bools(Array& out) {
  if (out.dtype != DType::boolean) return;
  for (size_t i = 0; i < out.radius.size(); ++i)
    if (out.radius[i] != 0) {
      out.radius[i] = 0;
      set_possible(out, static_cast<int64_t>(i), {{out.value[i], 0}, 1 - out.value[i]}, true);
    }
}

}  // namespace

std::vector<Array> evaluate_op(const Op& op, const Operands& operands, const Context& context) {
  std::vector<Array> out = evaluate_kind(op, operands, context);
  PLAIT_CHECK(out.size() == op.results.size(), "{} results of {}", out.size(), describe(op));
  for (Array& array : out) settle_bools(array);
  return out;
}

void evaluate_into(const Op& op, Operands& values, const Context& context) {
  std::vector<Array> results = evaluate_op(op, values, context);
  for (size_t i = 0; i < results.size(); ++i) values[op.results[i]] = std::move(results[i]);
}

}  // namespace plait::reference
