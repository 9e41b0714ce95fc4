#pragma once
// The structure of attention: scores, a product of matrices; what is elementwise of them, reductions over keys, and a
// product with values.
#include <functional>
#include <optional>
#include <set>

#include "ir/fusion.h"
#include "schedule/refusal.h"

namespace plait {

constexpr int64_t kQueries = 16;            // lanes: whose scores are on the stack at a time, at least
constexpr int64_t kMostFeatures = 256;      // of a head
constexpr int64_t kScoreBytes = 256 << 10;  // of a buffer of scores, each on the stack of a thread
constexpr int64_t kMostStates = 1 << 20;    // of a task that has all of a matrix
constexpr int64_t kWeighed = 256;           // that a sum over queries or keys adds before its part goes into the whole

// Its products of matrices.
struct AttentionParts {
  std::vector<const Matmul*> scores;    // [..., query, key], sums over features
  std::vector<const Matmul*> products;  // of weights, which come of scores, and values
  bool by_keys = false;                 // weights are transposed, products are [..., key, x] and sum over queries
  std::vector<const Matmul*> others;    // beside products by keys: [..., query, x], which sum over keys
};
// `narrow`: of bf16 or f16 (product_of_narrow), else of f32 or f64.
std::optional<AttentionParts> attention_parts(std::span<Op* const> ops, bool narrow = false);

// Whether a product sums over queries: what it weighs by is transposed.
bool is_by_keys(const Matmul& product);
// What a product weighs its values by, [..., query, key].
TensorView* weights_of(const Matmul& product, bool by_keys);
// Elements of the states that a product beside those by keys has in a task: of all queries, in whole tiles.
sym::Expr states_of_all(const Matmul& product);

// A product of matrices of one rank in f32 or f64; null for others.
const Matmul* product_of_matrices(const Op& op);
// One in f32 of operands in bf16 or f16; null for others.
const Matmul* product_of_narrow(const Op& op);
// Whether the op exchanges the last two dims.
bool is_transpose(const Op& op);
// Over the last dim, of one value.
bool reduces_keys(const Op& op);

// Results of the ops, which are in topological order, that come of `first`, with that.
std::set<const TensorView*> coming_of(std::span<Op* const> ops, const TensorView& first);

// Why ops are no attention that loops can be found for; nothing where they may be.
std::optional<Refused> refuse_attention(std::span<Op* const> ops, std::span<TensorView* const> outputs,
                                        bool narrow = false);

// Which products a kernel has, and from how many queries and keys on it pays.
struct AttentionLimits {
  bool narrow = false;  // product_of_narrow
  int64_t queries = 2 * kQueries, keys = 256;
};

// The segment of products, whose weights come of the scores of other matmuls by elementwise ops and reductions over
// keys, and which nobody else reads: its ops, with the elementwise ones behind it, and what is made of
// rows of scores alone, such as their logsumexp. By keys, weights are read through a transpose, but for those of
// products beside, where the batch is large enough for a task of each matrix and the states of one of them are not too
// many. Nothing where there is no such thing. `decide` is asked about sizes.
// `moves`: with the moves in front of its operands, which a kernel reads where they lie.
std::set<const Op*> attention_of(const Fusion& fusion, const std::vector<const Matmul*>& products, bool by_keys,
                                 bool moves, const AttentionLimits& limits,
                                 const std::function<bool(sym::Expr)>& decide);

}  // namespace plait
