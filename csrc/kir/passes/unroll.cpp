#include "kir/passes/unroll.h"

#include <algorithm>

#include "base/error.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

constexpr int64_t kMostWork = 256;  // of all copies of a row of a square

int64_t work(const Block& block) {
  int64_t out = 0;
  for (const auto& stmt : block) {
    const Compute* compute = as<Compute>(*stmt);
    const CostClass cost = compute != nullptr ? info(compute->function).cost : CostClass::simple;
    out += cost == CostClass::simple ? 1 : cost == CostClass::division ? 4 : 16;
    if (const Block* body = body_of(*stmt)) out += work(*body);
  }
  return out;
}

// Rows of as many lanes as there are rows, which are much code each.
bool is_large_square(const Kernel& kernel, const For& loop) {
  const auto row = [&](const auto& stmt) {
    const For* lanes = as<For>(*stmt);
    return lanes != nullptr && lanes->loop == LoopKind::lanes && lanes->extent == loop.extent;
  };
  return kernel.target == TargetKind::cpu && std::any_of(loop.body.begin(), loop.body.end(), row) &&
         work(loop.body) * loop.extent.constant().value_or(0) > kMostWork;
}

class Unroll {
 public:
  explicit Unroll(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  // Inner loops first: a body is copied when it is as it stays.
  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      const For* loop = as<For>(*stmt);
      if (loop != nullptr && loop->unroll && !is_large_square(kernel_, *loop))
        copies(*loop, out);
      else
        out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

 private:
  void copies(const For& loop, Block& out) {
    const auto extent = loop.extent.constant();
    PLAIT_CHECK(extent && *extent <= kMostCopies, "kernel {}: loop {} of extent {} cannot be unrolled", kernel_.name,
                loop.var.symbol_name(), sym::print(loop.extent));
    for (int64_t i = 0; i < *extent; ++i) {
      Copier copier(editor_);
      copier.new_buffers = i > 0;
      copier.symbols[loop.var.symbol_name()] = kernel_.pool->constant(i);
      copier.copy(loop.body, out);
    }
  }

  Kernel& kernel_;
  Editor editor_;
};

}  // namespace

void unroll(Kernel& kernel) {
  Unroll pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
