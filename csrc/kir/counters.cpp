#include "kir/counters.h"

#include <fmt/format.h>

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

void move_buffers(Block& body, uint32_t from) {
  for (auto& stmt : body) {
    for (uint32_t* buffer : buffers_of(*stmt))
      if (*buffer >= from) ++*buffer;
    if (Block* inner = body_of(*stmt)) move_buffers(*inner, from);
  }
}

}  // namespace

uint32_t add_counter(Kernel& kernel, const std::string& name, sym::Expr words) {
  const auto behind = std::ranges::find_if(kernel.buffers, &Buffer::is_local);
  const auto place = static_cast<uint32_t>(behind - kernel.buffers.begin());
  for (Phase& phase : kernel.phases) move_buffers(phase.body, place);
  Buffer counter{name, DType::u32, words, false, false, Space::counter};
  for (int tries = 1; std::ranges::count(kernel.buffers, counter.name, &Buffer::name) > 0;)
    counter.name = fmt::format("{}_{}", name, ++tries);
  kernel.buffers.insert(behind, std::move(counter));
  return place;
}

}  // namespace plait::kir
