#include "sim/cuda/simulator.h"

#include <algorithm>
#include <utility>

#include "sim/cuda/pools.h"

using namespace plait::sim;

namespace {

constexpr size_t kDefaultMemory = size_t(16) << 30;

void add_device(const Architecture& architecture) {
  Machine& all = machine();
  const int ordinal = static_cast<int>(all.devices.size());
  all.scheduler.space.add_device(ordinal, ~size_t(0));
  DeviceState device;
  device.architecture = &architecture;
  device.limit = kDefaultMemory;
  device.default_pool = device.current_pool = make_pool(ordinal, "the driver");
  device.default_pool->is_default = true;
  all.devices.push_back(std::move(device));
}

}  // namespace

extern "C" {

int plait_sim_add_devices(const char* architecture, int count) {
  std::lock_guard lock(machine().lock);
  const Architecture* const found = architecture == nullptr ? nullptr : find_architecture(architecture);
  if (found == nullptr || count < 0) return -1;
  // Devices of one kind that lie side by side serve all who ask for that many; the last ones may be added to.
  const auto& devices = machine().devices;
  size_t first = 0;
  for (size_t i = 0; i <= devices.size(); ++i) {
    if (i < devices.size() && devices[i].architecture == devices[first].architecture) continue;
    const bool same = first < devices.size() && devices[first].architecture == found;
    if (same && (i - first >= static_cast<size_t>(count) || i == devices.size())) break;
    first = i;
  }
  try {
    while (machine().devices.size() < first + count) add_device(*found);
  } catch (const std::exception& error) {
    machine().findings.add(error.what());
    return -1;
  }
  return static_cast<int>(first);
}

void plait_sim_set_seed(uint64_t seed) {
  std::lock_guard lock(machine().lock);
  machine().scheduler.set_seed(seed);
}

void plait_sim_set_code_edit(const char* (*edit)(const char* ptx)) {
  std::lock_guard lock(machine().lock);
  machine().code_edit = edit;
}

void plait_sim_set_timeout(double seconds) {
  std::lock_guard lock(machine().lock);
  machine().scheduler.set_timeout(seconds);
}

int plait_sim_set_memory(int device, size_t bytes) {
  std::lock_guard lock(machine().lock);
  if (device < 0 || static_cast<size_t>(device) >= machine().devices.size()) return -1;
  machine().devices[device].limit = bytes;
  return 0;
}

const char* plait_sim_take_findings(void) {
  thread_local std::string taken;
  std::lock_guard lock(machine().lock);
  taken = machine().findings.take();
  return taken.c_str();
}

void plait_sim_get_counts(plait_sim_counts* counts) {
  std::lock_guard lock(machine().lock);
  const Machine& all = machine();
  *counts = {};
  for (uint64_t address : all.live_allocations) {
    const Allocation& each = all.allocations.at(address);
    const bool device = each.kind == Allocation::Kind::device || each.kind == Allocation::Kind::pooled;
    if (!device) continue;
    ++counts->allocations;
    counts->allocated_bytes += static_cast<int64_t>(each.bytes);
  }
  for (const auto& stream : all.registry.list(ObjectKind::stream, 0)) {
    counts->streams += !static_cast<StreamObject&>(*stream).per_thread;
  }
  counts->events = static_cast<int64_t>(all.registry.live(ObjectKind::event));
  counts->modules =
      static_cast<int64_t>(all.registry.live(ObjectKind::module) + all.registry.live(ObjectKind::library));
  counts->graphs = static_cast<int64_t>(all.registry.live(ObjectKind::graph) + all.registry.live(ObjectKind::exec));
  counts->launches = static_cast<int64_t>(all.launches);
  counts->copies = static_cast<int64_t>(all.copies);
}

void plait_sim_set_metering(int on) {
  std::lock_guard lock(machine().lock);
  machine().metered = on != 0;
}

size_t plait_sim_take_meters(const plait_sim_meter** meters) {
  thread_local std::map<std::string, KernelMeter> taken;
  thread_local std::vector<plait_sim_meter> out;
  std::lock_guard lock(machine().lock);
  taken = std::exchange(machine().meters, {});
  out.clear();
  for (const auto& [kernel, m] : taken) {
    const MemoryCounts& memory = m.counts.memory;
    out.push_back({kernel.c_str(),
                   m.launches,
                   m.counts.warp_instructions,
                   m.counts.thread_instructions,
                   {},
                   memory.requests,
                   memory.sectors,
                   memory.least_sectors,
                   memory.shared_requests,
                   memory.shared_passes,
                   memory.least_passes,
                   m.blocks,
                   m.threads,
                   m.shared_bytes,
                   m.bytes_in_flight});
    static_assert(std::size(plait_sim_meter{}.kinds) == kInstructionKinds);
    std::copy(m.counts.kinds.begin(), m.counts.kinds.end(), out.back().kinds);
  }
  *meters = out.data();
  return out.size();
}
}
