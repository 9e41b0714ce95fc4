#pragma once
#include "schedule/find_attention.h"

namespace plait {

// A product whose weights are a softmax divides what it gives instead, so that rows need not be there before it.
// Between the two may stand factors, dropout and, where `casts`, casts to other floats.
// Factors are numbers up to kMostFactor and its reciprocal; what else is asked of casts, attention_blocks does.
constexpr double kMostFactor = 0x1p20;
void divide_behind(Fusion& graph, const Matmul& product, bool casts = false);

// What a row is, or is in where(eq(row, -inf), 0, row).
const TensorView* row_in_shift(const TensorView& shift);
// Whether a condition holds for keys drawn at random, of very many not for all.
bool drops_some(const TensorView& condition, sym::Expr keys);

// Takes ops out of the order whose results nobody reads.
void drop_unread(Fusion& graph);

}  // namespace plait
