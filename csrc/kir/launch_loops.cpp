#include "kir/launch_loops.h"

#include <algorithm>

#include "kir/shared_memory.h"
#include "kir/statements.h"

namespace plait::kir {

std::optional<LaunchLoops> launch_loops(const Kernel& kernel, const Block& phase) {
  LaunchLoops out;
  out.body = &phase;
  while (out.body->size() == 1) {
    const For* loop = as<For>(*out.body->front());
    if (loop == nullptr || loop->loop < LoopKind::block_x) break;
    if (loop->loop == LoopKind::cluster) return std::nullopt;
    const bool of_blocks = loop->loop < LoopKind::thread_x;
    if (of_blocks && !out.threads.empty()) return std::nullopt;
    (of_blocks ? out.blocks : out.threads).push_back(loop);
    out.body = &loop->body;
  }
  bool has_last = false;
  const auto walk = [&](const auto& self, const Block& body) -> bool {
    for (const auto& stmt : body) {
      const For* loop = as<For>(*stmt);
      if (loop != nullptr && loop->loop >= LoopKind::block_x) return false;
      if (stmt->kind == StmtKind::Await) return false;
      has_last |= stmt->kind == StmtKind::LastBlock;
      const Block* inner = body_of(*stmt);
      if (inner != nullptr && !self(self, *inner)) return false;
    }
    return true;
  };
  if (out.threads.empty() || !walk(walk, *out.body)) return std::nullopt;
  out.shared = shared_bytes(kernel, *out.body);
  if (has_last) out.shared += kLastBlockBytes;
  return out;
}

bool have_same_threads(const LaunchLoops& a, const LaunchLoops& b) {
  return std::equal(a.threads.begin(), a.threads.end(), b.threads.begin(), b.threads.end(),
                    [](const For* x, const For* y) {
                      return x->loop == y->loop && x->extent.is_constant() && x->extent == y->extent;
                    });
}

}  // namespace plait::kir
