#include "run/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"

namespace plait {
namespace {

constexpr int kTries = 8;            // orders of buffers, of each rule
constexpr size_t kMostTried = 1000;  // buffers: a plan takes the square of their number

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

// In that order each at the lowest offset where it fits, or `tight` in the smallest gap.
MemoryPlan place(std::span<const size_t> order, bool tight, std::span<const Lifetime> lifetimes,
                 std::span<const int64_t> bytes) {
  MemoryPlan plan;
  plan.offsets.assign(bytes.size(), 0);
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const int64_t size = align(bytes[i]);
    int64_t offset = 0, best = -1, smallest = INT64_MAX;
    for (size_t other : placed) {
      if (!lifetimes[other].overlaps(lifetimes[i])) continue;
      const int64_t gap = plan.offsets[other] - offset;
      if (gap >= size && gap < smallest) best = offset, smallest = gap;
      if (best >= 0 && !tight) break;
      offset = std::max(offset, plan.offsets[other] + align(bytes[other]));
    }
    if (best >= 0) offset = best;
    plan.offsets[i] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](int64_t at, size_t other) { return at < plan.offsets[other]; }),
                  i);
  }
  return plan;
}

// Puts buffers that reach past `most` in front; false where none does.
bool bring_forward(std::vector<size_t>& order, const MemoryPlan& plan, std::span<const int64_t> bytes, int64_t most) {
  const auto fits = [&](size_t i) { return plan.offsets[i] + align(bytes[i]) <= most; };
  return std::stable_partition(order.begin(), order.end(), [&](size_t i) { return !fits(i); }) != order.begin();
}

}  // namespace

std::vector<Lifetime> lifetimes(const Program& program) {
  const HappensBefore order(program);
  std::vector<Lifetime> out(program.values.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (ValueId id : writes(*program.steps[s]))
      if (program.value(id).kind == ProgramValueKind::temporary)
        out[id.index] = {int64_t(s), int64_t(s), order.begin(s), order.end(s)};
    for (ValueId id : reads(*program.steps[s])) {
      if (program.value(id).kind != ProgramValueKind::temporary) continue;
      out[id.index].last = int64_t(s);
      join(out[id.index].end, order.end(s));
    }
  }
  return out;
}

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::span<const int64_t> bytes) {
  PLAIT_CHECK(lifetimes.size() == bytes.size(), "{} lifetimes, {} sizes", lifetimes.size(), bytes.size());
  std::vector<size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::erase_if(order, [&](size_t i) { return bytes[i] <= 0 || lifetimes[i].empty(); });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  const int64_t most = most_alive(lifetimes, bytes);
  std::optional<MemoryPlan> least;
  for (const bool tight : {false, true}) {
    std::vector<size_t> tried = order;
    for (int i = 0; i < kTries; ++i) {
      MemoryPlan plan = place(tried, tight, lifetimes, bytes);
      const bool again = bring_forward(tried, plan, bytes, most);
      if (!least || plan.arena_bytes < least->arena_bytes) least = std::move(plan);
      if (!again || order.size() > kMostTried) break;
    }
    if (least->arena_bytes <= most || order.size() > kMostTried) break;
  }
  least->live_bytes = most;
  return *std::move(least);
}

std::pair<int64_t, int64_t> shared_while_alive(const MemoryPlan& plan, std::span<const Lifetime> lifetimes,
                                               std::span<const int64_t> bytes) {
  std::vector<int64_t> placed;  // by offset
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > 0 && !lifetimes[i].empty()) placed.push_back(int64_t(i));
  std::stable_sort(placed.begin(), placed.end(),
                   [&](int64_t a, int64_t b) { return plan.offsets[a] < plan.offsets[b]; });
  for (size_t i = 0; i < placed.size(); ++i) {
    const int64_t a = placed[i], end = plan.offsets[a] + bytes[a];
    if (end > plan.arena_bytes) return {a, a};
    for (size_t j = i + 1; j < placed.size() && plan.offsets[placed[j]] < end; ++j)
      if (lifetimes[a].overlaps(lifetimes[placed[j]])) return {a, placed[j]};
  }
  return {-1, -1};
}

}  // namespace plait
