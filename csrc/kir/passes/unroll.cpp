#include "kir/passes/unroll.h"

#include "base/error.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

class Unroll {
 public:
  explicit Unroll(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  // Inner loops first: a body is copied when it is as it stays.
  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      const For* loop = as<For>(*stmt);
      if (loop != nullptr && loop->unroll)
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
