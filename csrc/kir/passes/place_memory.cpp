#include "kir/passes/place_memory.h"

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

class Placer {
  using Own = std::pair<int64_t, int64_t>;

 public:
  explicit Placer(Kernel& kernel) : kernel_(kernel) {}

  void run(const Block& body) {
    block(body, nullptr, nullptr);
    for (uint32_t buffer : shared_) kernel_.buffers[buffer].space = Space::shared;
  }

 private:
  // `x`, `y`: the threads loops around.
  void block(const Block& body, const For* x, const For* y) {
    for (const auto& stmt : body) {
      const For* loop = as<For>(*stmt);
      const bool threads = loop != nullptr && is_threads(loop->loop);
      const For* inner_x = threads && loop->loop == LoopKind::threads ? loop : x;
      const For* inner_y = threads && loop->loop == LoopKind::threads_y ? loop : y;
      if (const Block* inner = body_of(*stmt)) block(*inner, inner_x, inner_y);
      if (const Alloc* alloc = as<Alloc>(*stmt); alloc != nullptr && x == nullptr && y == nullptr)
        outside_.insert(alloc->buffer);
      if (const Load* load = as<Load>(*stmt)) meet(load->buffer, load->index, x, y);
      if (const Store* store = as<Store>(*stmt)) meet(store->buffer, store->index, x, y);
      if (const CopyAsync* copy = as<CopyAsync>(*stmt)) shared_.insert(copy->to);
    }
  }

  void meet(uint32_t buffer, sym::Expr index, const For* x, const For* y) {
    if (kernel_.buffers[buffer].space != Space::stack || !outside_.contains(buffer) || x == nullptr) return;
    const auto extent = [](const For* loop) { return loop == nullptr ? 1 : loop->extent.value(); };
    const auto own = own_place(index, x->var, extent(x), y == nullptr ? sym::Expr() : y->var, extent(y));
    const Own now = own ? Own(own->step, own->all) : Own();
    if (!own || own_.emplace(buffer, now).first->second != now) shared_.insert(buffer);
  }

  Kernel& kernel_;
  std::set<uint32_t> outside_;   // buffers that live outside of threads loops
  std::map<uint32_t, Own> own_;  // elements side by side that a thread has, and those that all have
  std::set<uint32_t> shared_;
};

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
  return (sync != nullptr && sync->scope == SyncScope::block) || stmt.kind == StmtKind::LastBlock;
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

std::optional<OwnPlace> own_place(sym::Expr index, sym::Expr x, int64_t threads_x, sym::Expr y, int64_t threads_y) {
  const auto of_x = slope_in(index, x);
  if (!of_x || of_x->step <= 0) return std::nullopt;
  OwnPlace out{of_x->at_zero, of_x->step, of_x->step * threads_x};
  if (y && depends_on(index, y)) {
    const auto of_y = slope_in(out.at_zero, y);
    if (!of_y || of_y->step != out.all) return std::nullopt;
    out.at_zero = of_y->at_zero;
    out.all *= threads_y;
  }
  if (!sym::proven(sym::lt(sym::mod(out.at_zero, out.all), out.step))) return std::nullopt;
  return out;
}

void place_memory(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (const Phase& phase : kernel.phases) Placer(kernel).run(phase.body);
}

void synchronise(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (Phase& phase : kernel.phases) Synchroniser(kernel).block(phase.body);
}

}  // namespace plait::kir
