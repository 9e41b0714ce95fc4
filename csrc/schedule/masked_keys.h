#pragma once
// Keys that masks leave out of attention: causal ones and windows.
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

}  // namespace plait
