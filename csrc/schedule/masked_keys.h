#pragma once
// Keys that a causal mask leaves out of attention.
#include "schedule/find_attention.h"

namespace plait {

// An offset of at least 0 such that weights of keys beyond query + offset are 0, or all of their row are NaN, whatever
// the scores are. Nothing where structure does not show one: a choice between scores and -inf by a comparison of
// positions, then a softmax; or between weights and 0.
std::optional<sym::Expr> visible_ahead(const Fusion& graph, const AttentionParts& parts);

// Puts behind a product what the keys that are left out add: NaN where a value beyond query + offset is infinite or
// NaN, since 0 times that is NaN; by keys, a value of a query in front of key - offset. Returns the position of the
// last such value of each column, [..., 1, x], -1 where there is none; by keys, of the first, by the offset
// more, 2^24 where there is none.
TensorView* add_poison(Fusion& graph, const Matmul& product, bool by_keys, sym::Expr offset);

}  // namespace plait
