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

void expand(Fusion& fusion, bool for_sharding) {
  widen_scatters(fusion);
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    const bool stays = property(op->kind) != OpProperty::composite || (for_sharding && is_sharded_whole(op->kind));
    if (stays) return rewriter.keep(op);
    rewriter.replace([&] { compose_as(fusion, *op); });
  });
}

}  // namespace plait
