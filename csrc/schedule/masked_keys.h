#pragma once
// Keys that masks leave out of attention: causal ones and windows.
#include <vector>

#include "schedule/find_attention.h"

namespace plait {

// From query - behind to query + ahead, both at least 0; of a side that is not there, all.
struct VisibleKeys {
  std::optional<sym::Expr> ahead, behind;
};

// Keys outside of which weights are 0, or all of their row are NaN, whatever the scores are. Nothing where structure
// does not show any: a choice between scores and -inf by a comparison of positions, then a softmax; or between weights
// and 0. Each query sees a key.
std::optional<VisibleKeys> visible_keys(const Fusion& graph, const AttentionParts& parts);

// Of an element of scores: keys * key + queries * query + offset.
struct KeyDistance {
  int keys = 0, queries = 0;
  sym::Expr offset;
};
// A comparison of positions holds where all of these are at least 0; none: it is no such comparison. `shape` of scores.
std::vector<KeyDistance> distances_of(const TensorView& condition, const std::vector<sym::Expr>& shape);

}  // namespace plait
