#include <algorithm>
#include <set>

#include "graph/passes.h"

namespace plait {

void remove_dead_code(Fusion& fusion) {
  std::set<const TensorView*> needed(fusion.outputs().begin(), fusion.outputs().end());
  std::vector<Op*> order;
  for (size_t i = fusion.ops().size(); i-- > 0;) {
    Op* op = fusion.ops()[i];
    if (std::none_of(op->results.begin(), op->results.end(), [&](const TensorView* t) { return needed.count(t); }))
      continue;
    for (const TensorView* in : inputs(*op)) needed.insert(in);
    order.push_back(op);
  }
  std::reverse(order.begin(), order.end());
  fusion.set_order(std::move(order));
}

}  // namespace plait
