#include <algorithm>

#include "graph/passes.h"

namespace plait {

void drop_allocations(Fusion& fusion) {
  for (TensorView* t : fusion.tensors()) {
    std::sort(t->domain.allocation.begin(), t->domain.allocation.end());
    t->domain.strided.clear();
  }
}

}  // namespace plait
