#include "sim/cuda/pools.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "sim/cuda/streams.h"

namespace plait::sim {
namespace {

constexpr size_t kGrain = AddressSpace::kAlignment;

size_t rounded(size_t bytes) { return (bytes + kGrain - 1) / kGrain * kGrain; }

// All pools of a device, those without a handle any more too.
std::vector<std::shared_ptr<PoolObject>> pools_of(int device) {
  std::vector<std::shared_ptr<PoolObject>> found;
  for (const auto& object : machine().registry.list(ObjectKind::pool, 0)) {
    auto pool = std::static_pointer_cast<PoolObject>(object);
    if (device < 0 || pool->device == device) found.push_back(std::move(pool));
  }
  return found;
}

bool fits(const DeviceState& device, size_t bytes) {
  return device.committed <= device.limit && bytes <= device.limit - device.committed;
}

// Makes room on a device, as the driver does: pools give back what nobody waits for, then queued frees are run.
bool make_room(int ordinal, size_t bytes) {
  const DeviceState& device = machine().devices[ordinal];
  for (;;) {
    if (fits(device, bytes)) return true;
    for (const auto& pool : pools_of(ordinal)) trim(*pool, 0);
    if (fits(device, bytes)) return true;
    if (bytes > device.limit || !machine().scheduler.step()) return false;
  }
}

// A block of the pool that an allocation made now on the stream may use.
bool take_block(PoolObject& pool, size_t bytes, const OpRef& after) {
  const Trace& trace = machine().scheduler.space.trace();
  auto best = pool.free_blocks.end();
  for (auto block = pool.free_blocks.begin(); block != pool.free_blocks.end(); ++block) {
    const OpRef& by = block->freed_by;
    const bool ordered = by == nullptr || machine().scheduler.host_knows_of(*by) ||
                         (after != nullptr && (by == after || trace.ordered(by->actor.id, after->actor)));
    const bool same = by != nullptr && after != nullptr && by->actor.stream == after->actor.stream;
    const bool usable =
        same || (ordered && pool.follow_events) || (by == nullptr) || (by->done() && (pool.opportunistic || ordered));
    if (!usable || block->bytes < bytes) continue;
    if (best == pool.free_blocks.end() || block->bytes < best->bytes) best = block;
  }
  if (best == pool.free_blocks.end()) return false;
  best->bytes -= bytes;
  if (best->bytes == 0) pool.free_blocks.erase(best);
  return true;
}

Allocation& enter(Allocation allocation) {
  allocation.number = ++machine().allocations_made;
  auto& entry = machine().allocations[allocation.address];
  entry = std::move(allocation);
  machine().live_allocations.insert(entry.address);
  return entry;
}

void mark_freed(Allocation& allocation, const char* by) {
  allocation.freed_by = by;
  machine().live_allocations.erase(allocation.address);
}

uint64_t place(const Call& call, int device, size_t bytes, OperationId by) {
  const uint64_t address = machine().scheduler.space.allocate(device, bytes, by, call.name());
  if (address == 0) fail(CUDA_ERROR_OUT_OF_MEMORY);
  return address;
}

}  // namespace

std::shared_ptr<PoolObject> make_pool(int device, const char* by) {
  auto pool = machine().registry.make<PoolObject>(by, 0);
  pool->device = device;
  return pool;
}

Allocation& allocate_now(const Call& call, const ContextObject& context, size_t bytes) {
  const size_t whole = rounded(bytes);
  if (whole < bytes || !make_room(context.device, whole)) fail(CUDA_ERROR_OUT_OF_MEMORY);
  const uint64_t address = place(call, context.device, bytes, kBeforeAll);
  machine().devices[context.device].committed += whole;
  return enter({Allocation::Kind::device, address, bytes, whole, context.handle, 0, context.device});
}

Allocation& allocate_on(const Call& call, StreamObject& stream, const std::shared_ptr<PoolObject>& pool, size_t bytes) {
  const size_t whole = rounded(bytes);
  DeviceState& device = machine().devices[pool->device];
  if (whole < bytes || (pool->max_bytes != 0 && pool->used + whole > pool->max_bytes)) fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (!take_block(*pool, whole, stream.last)) {
    if (!make_room(pool->device, whole)) fail(CUDA_ERROR_OUT_OF_MEMORY);
    pool->reserved += whole;
    device.committed += whole;
  }
  const OpRef op = issue(stream, Task{call.name()});
  uint64_t address = 0;
  try {
    address = place(call, pool->device, bytes, op->actor.id);
  } catch (const ApiError&) {
    pool->free_blocks.push_back({whole, op});
    throw;
  }
  machine().scheduler.space.find(address)->readers = pool->readers;
  pool->used += whole;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  return enter({Allocation::Kind::pooled, address, bytes, whole, stream.owner->handle, 0, pool->device, 0, pool});
}

Allocation& find_allocation(uint64_t address, const char* what) {
  AddressSpace& space = machine().scheduler.space;
  const auto entry = machine().allocations.find(address);
  if (entry == machine().allocations.end()) {
    misuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("{} 0x{:x} is not the start of an allocation: {}", what, address, space.describe(address)));
  }
  Allocation& found = entry->second;
  if (found.freed_by != nullptr) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} 0x{:x} is freed twice: allocation of {} bytes, freed by {} before",
                                                 what, address, found.bytes, found.freed_by));
  }
  return found;
}

namespace {

// The accounts of an allocation that is freed by an operation, or by the host.
void give_back(Allocation& allocation, const OpRef& by) {
  DeviceState& device = machine().devices[allocation.device];
  if (allocation.pool == nullptr) {
    device.committed -= allocation.rounded;
    return;
  }
  PoolObject& pool = *allocation.pool;
  pool.used -= allocation.rounded;
  pool.free_blocks.push_back({allocation.rounded, by});
}

}  // namespace

void free_now(const Call& call, Allocation& allocation) {
  Scheduler& scheduler = machine().scheduler;
  Actor host = scheduler.host_operation(call.name());
  if (allocation.pool == nullptr) {  // the call waits for what uses the memory; nothing else may rely on that
    if (const auto context = machine().registry.find_live<ContextObject>(reinterpret_cast<void*>(allocation.context))) {
      wait_for_context(call, *context, false);
      host.before.join(context->issued);
    }
  }
  mark_freed(allocation, call.name());
  give_back(allocation, nullptr);
  scheduler.space.release(allocation.address, host);
}

void free_on(const Call& call, StreamObject& stream, Allocation& allocation) {
  mark_freed(allocation, call.name());
  const uint64_t address = allocation.address;
  Task task{call.name(), [address](const Actor& actor) { machine().scheduler.space.release(address, actor); }};
  const bool pooled = allocation.pool != nullptr;
  if (!pooled) {  // counted as free once the work is done
    task.run = [address](const Actor& actor) {
      Machine& all = machine();
      give_back(all.allocations.at(address), nullptr);
      all.scheduler.space.release(address, actor);
    };
  }
  const OpRef op = issue(stream, std::move(task));
  if (pooled) give_back(allocation, op);
}

void drop(Allocation& allocation, const char* by) {
  Scheduler& scheduler = machine().scheduler;
  Actor host = scheduler.host_operation(by);
  for (const auto& object : machine().registry.list(ObjectKind::context, 0)) {
    host.before.join(static_cast<ContextObject&>(*object).issued);
  }
  mark_freed(allocation, by);
  try {
    if (allocation.kind == Allocation::Kind::host || allocation.kind == Allocation::Kind::registered) {
      scheduler.space.unregister_host(reinterpret_cast<void*>(allocation.address), host);
      std::free(allocation.storage);
      return;
    }
    give_back(allocation, nullptr);
    scheduler.space.release(allocation.address, host);
  } catch (const Fault&) {  // freed all the same; the work that used it is lost with its context
  }
}

void trim(PoolObject& pool, size_t keep) {
  DeviceState& device = machine().devices[pool.device];
  auto& blocks = pool.free_blocks;
  for (auto block = blocks.begin(); block != blocks.end() && pool.reserved > keep;) {
    if (block->freed_by != nullptr && !block->freed_by->done()) {
      ++block;
      continue;
    }
    const size_t bytes = std::min(block->bytes, pool.reserved - keep);
    pool.reserved -= bytes;
    device.committed -= bytes;
    block->bytes -= bytes;
    block = block->bytes == 0 ? blocks.erase(block) : block + 1;
  }
}

void after_synchronisation(int device) {
  for (const auto& pool : pools_of(device)) {
    if (pool->reserved > pool->release_threshold) trim(*pool, std::max<size_t>(pool->release_threshold, pool->used));
  }
}

Allocation& enter_host(const Call& call, const ContextObject& context, void* memory, size_t bytes, unsigned flags,
                       bool owned) {
  machine().scheduler.space.register_host(memory, bytes, call.name());
  Allocation entry{owned ? Allocation::Kind::host : Allocation::Kind::registered,
                   reinterpret_cast<uint64_t>(memory),
                   bytes,
                   bytes,
                   context.handle,
                   0,
                   context.device,
                   flags};
  entry.storage = owned ? memory : nullptr;
  return enter(std::move(entry));
}

void leave_host(const Call& call, Allocation& allocation) {
  Scheduler& scheduler = machine().scheduler;
  const Actor host = scheduler.host_operation(call.name());
  // Queued work must not meet memory that is gone.
  for (const auto& object : machine().registry.list(ObjectKind::context, 0)) {
    wait_for_context(call, static_cast<ContextObject&>(*object), false);
  }
  mark_freed(allocation, call.name());
  void* const storage = allocation.storage;
  try {
    scheduler.space.unregister_host(reinterpret_cast<void*>(allocation.address), host);
  } catch (const Fault& fault) {
    std::free(storage);
    machine().findings.add(fmt::format("{}: {}", call.name(), fault.text));
    return;
  }
  std::free(storage);
}

}  // namespace plait::sim
