#include <algorithm>
#include <set>

#include "graph/passes.h"

namespace plait {

namespace {

// Whether outputs come of each op, by its place.
std::vector<bool> alive_ops(const Fusion& fusion) {
  std::set<const TensorView*> needed(fusion.outputs().begin(), fusion.outputs().end());
  std::vector<bool> out(fusion.ops().size(), false);
  for (size_t i = fusion.ops().size(); i-- > 0;) {
    const Op& op = *fusion.ops()[i];
    out[i] = std::ranges::any_of(op.results, [&](const TensorView* t) { return needed.contains(t); });
    if (!out[i]) continue;
    for (const TensorView* in : inputs(op)) needed.insert(in);
  }
  return out;
}

std::vector<Op*> ops_that(const Fusion& fusion, bool alive) {
  const std::vector<bool> all = alive_ops(fusion);
  std::vector<Op*> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] == alive) out.push_back(fusion.ops()[i]);
  return out;
}

}  // namespace

std::vector<Op*> dead_ops(const Fusion& fusion) { return ops_that(fusion, false); }

void remove_dead_code(Fusion& fusion) { fusion.set_order(ops_that(fusion, true)); }

}  // namespace plait
