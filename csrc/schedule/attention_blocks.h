#pragma once
// Attention on GPUs: what a kernel that holds tiles of scores in registers asks of a segment, and its numbers.
#include <set>
#include <vector>

#include "schedule/find_attention.h"
#include "schedule/scheduler.h"

namespace plait {

// A forward attention of bf16 or f16: scores = q k^T; logits, elementwise of them; terms = exp(logits - shift), where
// shift is the greatest logit of a row, or 0 in place of -inf; their sum; a product of weights, which are elementwise
// of the terms and linear in them, with values. `features` are those of queries and keys, `values` those of values.
struct BlockAttention {
  const Matmul *scores = nullptr, *product = nullptr;
  const Reduce *greatest = nullptr, *total = nullptr;
  const TensorView *logits = nullptr, *shift = nullptr, *terms = nullptr, *weights = nullptr;
  Pointwise exponential = Pointwise::exp;
  sym::Expr features, values;
  bool reads_logits = false, reads_weights = false;  // whether they come of elements of tensors beside the scores
  std::optional<sym::Expr> ahead, behind;            // VisibleKeys
};

namespace attention_blocks {

// What a contraction is read for: rows of its left operand, columns of its right one, or rows of values that it sums.
enum class Side : uint8_t { left, right, values };

}  // namespace attention_blocks

// The gradient of one: scores, of queries and keys and of the gradient of its result and values; weights, elementwise
// of them and of rows; products with these, for queries, or, by keys, for keys and values. `features`, `values`: terms
// of the first scores and of the second ones.
struct BlockGradient {
  struct Panel {  // what several contractions read is there once
    const Matmul* of;
    attention_blocks::Side side;
  };
  bool by_keys = false;
  std::vector<const Matmul*> scores, products;
  std::vector<const TensorView*> weights;  // [..., query, key], of each product
  std::vector<Panel> panels;
  std::vector<size_t> score_panels, product_panels;
  std::vector<const TensorView*> rows;    // [..., query, 1], of what is not made of scores
  std::set<const TensorView*> dependent;  // scores, and what is made of them
  sym::Expr features, values;
  bool reads = false;                      // elements of other tensors
  std::optional<sym::Expr> ahead, behind;  // VisibleKeys
};

namespace attention_blocks {

constexpr int64_t kMatrix = 16, kHalf = 8;  // rows, terms and pairs of columns of `mma`; rows of a thread's part
constexpr int64_t kWarp = 32;
constexpr int64_t kAccess = 8;  // elements of 2 bytes that a thread brings at once

// A row of a panel of keys or values, which is turned as a whole.
int64_t panel_row(int64_t features);

// Whether the group's graph weighs without reductions.
bool is_gradient(const Fusion& graph);
// The group's graph is in this form (`schedule`); why it is not.
std::optional<Refused> plan(const Fusion& graph, BlockAttention& out);
std::optional<Refused> plan(const Fusion& graph, BlockGradient& out);
// Elements of a contraction's terms or columns: the number of the schedule that they are below.
int64_t most_elements(const BlockGradient& a, const schedules::Attention& n, const Matmul& m, Side side);
// Whether rows of a block lie in shared memory, since registers do not hold them beside the sums.
bool shares_rows(const BlockGradient& a, const schedules::Attention& n);

// The graph of a segment, changed for `plan`: softmax divides behind its product.
ScheduledGroup schedule(const Problem& problem, const schedules::Attention& numbers);

// Why there are no such kernels of a segment; for a target, its numbers left open or given.
std::optional<Refused> refuse(const Problem& problem);
std::optional<Refused> refuse(const Problem& problem, const Target& target);
// The numbers that are left open. UserError for given ones that do not fit.
schedules::Attention choose(const Problem& problem, const Target& target, const schedules::Attention& given);

}  // namespace attention_blocks
}  // namespace plait
