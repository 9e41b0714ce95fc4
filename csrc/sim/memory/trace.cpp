#include "sim/memory/trace.h"

#include <algorithm>

#include "base/error.h"

namespace plait::sim {

void Clock::raise(int stream, uint64_t sequence) {
  if (static_cast<size_t>(stream) >= done_.size()) done_.resize(stream + 1, 0);
  done_[stream] = std::max(done_[stream], sequence);
}

void Clock::join(const Clock& other) {
  if (other.done_.size() > done_.size()) done_.resize(other.done_.size(), 0);
  for (size_t i = 0; i < other.done_.size(); ++i) done_[i] = std::max(done_[i], other.done_[i]);
}

bool Clock::includes(const Clock& other) const {
  for (size_t i = 0; i < other.done_.size(); ++i)
    if (other.done_[i] > of(static_cast<int>(i))) return false;
  return true;
}

Trace::Trace() : orders_(1, Order{}), names_(1) { name_numbers_[""] = 0; }

uint32_t Trace::intern(std::string name) {
  const auto [at, added] = name_numbers_.emplace(name, static_cast<uint32_t>(names_.size()));
  if (added) names_.push_back(std::move(name));
  return at->second;
}

Actor Trace::begin(Operation operation, Clock before, int device) {
  PLAIT_CHECK(orders_.size() < size_t(1) << 27, "too many operations");
  Actor actor{static_cast<OperationId>(orders_.size()), operation.stream, operation.sequence, device,
              std::move(before)};
  orders_.push_back({operation.sequence, operation.stream, intern(std::move(operation.name)),
                     intern(std::move(operation.stream_name))});
  return actor;
}

Operation Trace::operation(OperationId id) const {
  const Order& order = orders_.at(id);
  return {names_[order.name], order.stream, order.sequence, names_[order.stream_name]};
}

std::string Trace::describe(OperationId id) const {
  if (id == kBeforeAll) return "an operation before all others";
  const Operation it = operation(id);
  const std::string stream = it.stream_name.empty() ? fmt::format("{}", it.stream) : it.stream_name;
  return fmt::format("`{}` (operation {} on stream {})", it.name, it.sequence, stream);
}

namespace {

OperationId operation_of(Access32 access) { return (access & ~kSetFlag) >> 4; }

}  // namespace

OperationId Trace::conflict(Access32 accesses, const Actor& actor, unsigned byte_mask) const {
  if ((accesses & byte_mask) == 0) return kBeforeAll;
  const OperationId single = operation_of(accesses);
  if ((accesses & kSetFlag) == 0) return ordered(single, actor) ? kBeforeAll : single;
  for (Access32 each : sets_[single])
    if ((each & byte_mask) != 0 && !ordered(operation_of(each), actor)) return operation_of(each);
  return kBeforeAll;
}

Access32 Trace::with(Access32 accesses, const Actor& actor, unsigned byte_mask) {
  std::vector<Access32> kept;
  const auto keep = [&](Access32 access) {
    if (operation_of(access) == actor.id)
      byte_mask |= access & 15;
    else if (!ordered(operation_of(access), actor))
      kept.push_back(access);
  };
  if ((accesses & kSetFlag) != 0) {
    for (Access32 each : sets_[operation_of(accesses)]) keep(each);
  } else if (accesses != 0) {
    keep(accesses);
  }
  const Access32 own = pack_access(actor.id, byte_mask);
  if (kept.empty()) return own;
  kept.push_back(own);
  std::sort(kept.begin(), kept.end());
  Access32 mask = 0;
  for (Access32 each : kept) mask |= each & 15;
  const auto [at, added] = set_numbers_.emplace(kept, static_cast<uint32_t>(sets_.size()));
  if (added) sets_.push_back(std::move(kept));
  PLAIT_CHECK(at->second < 1u << 27, "too many sets of accesses");
  return kSetFlag | at->second << 4 | mask;
}

}  // namespace plait::sim
