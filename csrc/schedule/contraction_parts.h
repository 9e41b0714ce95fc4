#pragma once
// What the files of the contraction scheduler share.
#include <algorithm>
#include <span>

#include "schedule/scheduler.h"

namespace plait::contractions {

// The one contraction among the ops; null where there is none, or more.
inline Op* contraction_of(std::span<Op* const> ops) {
  const auto is = [](const Op* op) { return property(op->kind) == OpProperty::contraction; };
  return std::ranges::count_if(ops, is) == 1 ? *std::ranges::find_if(ops, is) : nullptr;
}

// Operands [..., rows, sum] and [..., sum, columns], or of linear [columns, sum].
struct Parts {
  TensorView *left, *right, *out;
  bool linear;
};
inline Parts parts_of(const Op& op) {
  if (const auto* linear = as<Linear>(op)) return {linear->x, linear->w, op.out(), true};
  const auto* matmul = as<Matmul>(op);
  return {matmul->a, matmul->b, op.out(), false};
}

inline sym::Expr summed(const Parts& parts) { return parts.left->shape().back(); }
// All rows of the result: of a matrix, or of all matrices of a stack.
inline sym::Expr rows_of(const Parts& parts) {
  const std::vector<sym::Expr>& shape = parts.out->shape();
  sym::Expr out = parts.out->fusion->pool().constant(1);
  for (size_t d = 0; d + 1 < shape.size(); ++d) out = out * shape[d];
  return out;
}
// Of the operand that is not a few vectors.
inline sym::Expr elements_of_matrix(const Parts& parts) {
  const sym::Expr columns = parts.out->shape().back();
  return summed(parts) * (columns.constant() == 1 ? rows_of(parts) : columns);
}
// Leading dims of the result that are a stack of matrices.
inline size_t stacks(const Parts& parts) { return parts.linear ? 0 : parts.out->rank() - 2; }

// Whether a dim is the one whose elements lie side by side in memory, where moves and what is elementwise among the ops
// say so; what others make is row-major.
bool is_dense(std::span<Op* const> ops, const TensorView& tensor, int dim);

// A copy of an operand that the contraction reads in its place, through moves of its own.
TensorView* packed(Fusion& graph, Op& contraction, TensorView* operand, const char* name);
// The result lies in registers: what the fusion gives is a copy of it.
void store_result(Fusion& graph, TensorView& result);

// GPUs (contraction_gpu.cpp): the numbers that are left open, the loops, and why there are none for numbers.
schedules::Contraction numbers_of_blocks(const Problem& problem, const Target& target, schedules::Contraction out);
std::optional<std::string> blocks_refuse(const Problem& problem, const Target& target,
                                         const schedules::Contraction& numbers);
void schedule_blocks(ScheduledGroup& group, const schedules::Contraction& numbers);

// CPUs, few rows (contraction_few.cpp). Rows that are a symbol and pay; whether the right operand is one vector;
// whether the terms of the sum lie side by side in the matrix, so that lanes run along them; then as for GPUs.
inline constexpr int64_t kMostFewSymbolic = 4;
bool is_vector(const Parts& parts);
bool sums_along(std::span<Op* const> ops, const Parts& parts);
schedules::Contraction numbers_of_few(const Problem& problem, const Target& target, schedules::Contraction out);
std::optional<std::string> few_refuse(const Problem& problem, const Target& target,
                                      const schedules::Contraction& numbers);
void schedule_few(ScheduledGroup& group, const schedules::Contraction& numbers);

}  // namespace plait::contractions
