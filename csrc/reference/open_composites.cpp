// Composites mean what the ops say that they are made of.
#include "build/compose.h"
#include "reference/evaluator.h"

namespace plait::reference {
namespace {

// Offsets are those of the fusion as it is written.
void number_random_ops(Fusion& fusion) {
  for (Op* op : fusion.ops())
    if (std::optional<int64_t>* offset = counter_offset(*op); offset && !*offset) *offset = random_offset(fusion, *op);
}

}  // namespace

bool has_composites(const Fusion& fusion) {
  for (const Op* op : fusion.ops())
    if (is_composite(op->kind)) return true;
  return false;
}

std::unique_ptr<Fusion> open_composites(const Fusion& fusion) {
  auto out = clone(fusion);
  out->segments.clear();
  number_random_ops(*out);
  const std::vector<Op*> written = out->ops();
  std::vector<Op*> order;
  for (Op* op : written) {
    if (!is_composite(op->kind)) {
      order.push_back(op);
      continue;
    }
    const size_t before = out->ops().size();
    compose_as(*out, *op);
    order.insert(order.end(), out->ops().begin() + static_cast<int64_t>(before), out->ops().end());
  }
  out->set_order(std::move(order));
  return out;
}

}  // namespace plait::reference
