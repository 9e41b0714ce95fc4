#include "program/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace plait {
namespace {

int64_t align(int64_t bytes) {
  const int64_t unit = kBufferAlignment;
  return (bytes + unit - 1) / unit * unit;
}

// Most aligned bytes alive at one step.
int64_t most_alive(std::span<const Lifetime> lifetimes, std::span<const int64_t> bytes) {
  int64_t end = 0;
  for (const Lifetime& life : lifetimes) end = std::max(end, life.last + 1);
  std::vector<int64_t> change(size_t(end + 1), 0);
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    if (lifetimes[i].empty()) continue;
    change[lifetimes[i].first] += align(bytes[i]);
    change[lifetimes[i].last + 1] -= align(bytes[i]);
  }
  int64_t alive = 0, most = 0;
  for (int64_t c : change) most = std::max(most, alive += c);
  return most;
}

}  // namespace

std::vector<Lifetime> lifetimes(const Program& program) {
  std::vector<Lifetime> out(program.values.size());
  for (int64_t s = 0; s < int64_t(program.steps.size()); ++s) {
    for (ValueId id : writes(*program.steps[s]))
      if (program.value(id).kind == ProgramValueKind::temporary) out[id.index] = {s, s};
    for (ValueId id : reads(*program.steps[s]))
      if (program.value(id).kind == ProgramValueKind::temporary) out[id.index].last = s;
  }
  return out;
}

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::span<const int64_t> bytes) {
  PLAIT_CHECK(lifetimes.size() == bytes.size(), "{} lifetimes, {} sizes", lifetimes.size(), bytes.size());
  MemoryPlan plan;
  plan.offsets.assign(bytes.size(), 0);
  plan.live_bytes = most_alive(lifetimes, bytes);
  std::vector<size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::erase_if(order, [&](size_t i) { return bytes[i] <= 0 || lifetimes[i].empty(); });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const int64_t size = align(bytes[i]);
    int64_t offset = 0;
    for (size_t other : placed) {
      if (!lifetimes[other].overlaps(lifetimes[i])) continue;
      if (plan.offsets[other] >= offset + size) break;
      offset = std::max(offset, plan.offsets[other] + align(bytes[other]));
    }
    plan.offsets[i] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](int64_t at, size_t other) { return at < plan.offsets[other]; }),
                  i);
  }
  return plan;
}

}  // namespace plait
