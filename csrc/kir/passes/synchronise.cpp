#include "kir/passes/synchronise.h"

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// Shared buffers that statements load and store; whether some are written by copies that are to be waited for.
struct Uses {
  std::set<uint32_t> loads, stores;
  bool copies = false;
  void add(const Uses& other) {
    loads.insert(other.loads.begin(), other.loads.end());
    stores.insert(other.stores.begin(), other.stores.end());
    copies |= other.copies;
  }
};

bool meet(const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
  return std::ranges::any_of(a, [&](uint32_t buffer) { return b.contains(buffer); });
}
// What writes a buffer twice without a reader between writes other elements: they are filled once.
bool conflict(const Uses& a, const Uses& b) { return meet(a.stores, b.loads) || meet(a.loads, b.stores); }

bool brings_together(const Stmt& stmt) {
  const Sync* sync = as<Sync>(stmt);
  return (sync != nullptr && sync->scope == SyncScope::block) || stmt.kind == StmtKind::LastBlock ||
         stmt.kind == StmtKind::Await;
}

class Synchroniser {
 public:
  explicit Synchroniser(const Kernel& kernel) : kernel_(kernel) {}

  // What all threads of a block come to.
  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      const For* loop = as<For>(*stmt);
      Block* body = body_of(*stmt);
      if (const Wait* wait = as<Wait>(*stmt); wait != nullptr && wait->left == 0) pending_.copies = false;
      if (brings_together(*stmt)) {
        wait_for_copies(out);
        pending_ = {};
      }
      if (body != nullptr && (loop == nullptr || !is_threads(loop->loop))) {
        const bool serial = loop != nullptr && loop->loop == LoopKind::serial;
        if (serial && conflict(pending_, at_first(*body))) synchronise(out);  // once, not in each iteration
        const Uses before = pending_;
        block(*body);
        if (serial && conflict(pending_, at_first(*body))) synchronise(*body);
        pending_.add(before);
      } else {
        const Uses now = uses_of(*stmt);
        if (conflict(pending_, now)) synchronise(out);
        pending_.add(now);
      }
      out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

 private:
  void wait_for_copies(Block& out) const {
    if (!pending_.copies) return;
    out.push_back(std::make_unique<Commit>());
    out.push_back(std::make_unique<Wait>());
  }
  void synchronise(Block& out) {
    wait_for_copies(out);
    out.push_back(std::make_unique<Sync>());
    pending_ = {};
  }

  Uses uses_of(const Stmt& stmt) const {
    Uses out;
    const auto is_shared = [&](uint32_t buffer) { return kernel_.buffers[buffer].space == Space::shared; };
    if (const Load* s = as<Load>(stmt); s != nullptr && is_shared(s->buffer)) out.loads.insert(s->buffer);
    if (const Store* s = as<Store>(stmt); s != nullptr && is_shared(s->buffer)) out.stores.insert(s->buffer);
    if (const CopyAsync* s = as<CopyAsync>(stmt)) {
      out.stores.insert(s->to);
      out.copies = true;
    }
    if (const Block* body = body_of(stmt))
      for (const auto& inner : *body) out.add(uses_of(*inner));
    return out;
  }

  // What a body meets in front of a Sync.
  Uses at_first(const Block& body) const {
    Uses out;
    for (const auto& stmt : body) {
      if (brings_together(*stmt)) break;
      out.add(uses_of(*stmt));
    }
    return out;
  }

  const Kernel& kernel_;
  Uses pending_;  // since the last Sync
};

}  // namespace

void synchronise(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (Phase& phase : kernel.phases) Synchroniser(kernel).block(phase.body);
}

}  // namespace plait::kir
