#include "kir/passes/place_memory.h"

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
      const For* inner_y = threads && loop->loop != LoopKind::threads ? loop : y;
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

}  // namespace plait::kir
