#include <algorithm>

#include "build/compose.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

void number_random_ops(Fusion& fusion) {
  int64_t ordinal = 0;
  for (Op* op : fusion.ops()) {
    std::optional<int64_t>* offset = counter_offset(*op);
    if (!offset) continue;
    if (!*offset) *offset = ordinal;
    ++ordinal;
  }
}

namespace {

// An op with several results computes all of them in one pass: worth it where more than one is read, or where no other
// ops say one of them.
bool is_half_read(const Op& op, const Fusion& fusion) {
  const auto read = [&](const TensorView* t) { return fusion.is_output(t) || !fusion.readers(t).empty(); };
  return op.results.size() > 1 && can_compose(op.kind) && std::count_if(op.results.begin(), op.results.end(), read) < 2;
}

}  // namespace

void expand(Fusion& fusion, bool for_sharding) {
  widen_scatters(fusion);
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    const bool composite = property(op->kind) == OpProperty::composite;
    const bool stays = !composite ? !is_half_read(*op, fusion) : for_sharding && is_sharded_whole(op->kind);
    if (stays) return rewriter.keep(op);
    rewriter.replace([&] { compose_as(fusion, *op); });
  });
}

}  // namespace plait
