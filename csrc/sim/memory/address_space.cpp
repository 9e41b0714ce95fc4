#include "sim/memory/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/error.h"

namespace plait::sim {
namespace {

constexpr size_t kSmallestGap = 4096, kLargestGap = size_t(16) << 20;  // between allocations
constexpr size_t kFreedRemembered = 1 << 16;

constexpr size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

AddressSpace::AddressSpace() = default;

AddressSpace::~AddressSpace() {
  for (auto& [address, region] : regions_)
    if (region->device != kHostMemory) std::free(region->data);
  for (auto& [number, device] : devices_) munmap(reinterpret_cast<void*>(device.base), device.end - device.base);
}

// ---- Devices.

void AddressSpace::add_device(int number, size_t capacity, size_t addresses) {
  PLAIT_CHECK(number >= 0 && devices_.count(number) == 0, "device {} is there already", number);
  void* range = mmap(nullptr, addresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    throw MissingError("the address range of a simulated device cannot be reserved", fmt::format("device {}", number),
                       "raise the limit of virtual memory (ulimit -v)");
  Device device;
  device.base = device.next = reinterpret_cast<uint64_t>(range);
  device.end = device.limit = device.base + addresses;
  device.next += kSmallestGap;
  device.capacity = std::min(capacity, addresses / 2);
  devices_.emplace(number, std::move(device));
}

AddressSpace::Device& AddressSpace::device_at(int number) {
  const auto at = devices_.find(number);
  PLAIT_CHECK(at != devices_.end(), "there is no device {}", number);
  return at->second;
}

size_t AddressSpace::capacity(int device) const { return devices_.at(device).capacity; }
size_t AddressSpace::used(int device) const { return devices_.at(device).used; }

void AddressSpace::set_peer_access(int device, int peer, bool enabled) {
  std::vector<bool>& peers = device_at(device).peers;
  if (peers.size() <= static_cast<size_t>(peer)) peers.resize(peer + 1, false);
  peers[peer] = enabled;
}

bool AddressSpace::peer_access(int device, int peer) const {
  const std::vector<bool>& peers = devices_.at(device).peers;
  return device == peer || (static_cast<size_t>(peer) < peers.size() && peers[peer]);
}

bool AddressSpace::is_device_address(uint64_t address) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const auto& each) { return address >= each.second.base && address < each.second.end; });
}

// ---- Allocation.

// A place for `bytes`: behind the last one, else in the first gap, else where freed regions are forgotten, oldest
// first. 0: none.
uint64_t AddressSpace::place(Device& device, size_t bytes) {
  const size_t need = round_up(bytes + std::clamp(bytes, kSmallestGap, kLargestGap), kAlignment);
  for (;;) {
    if (device.limit - device.next >= need) {
      device.next += need;
      return device.next - need;
    }
    uint64_t free_from = device.base + kSmallestGap;
    const auto fits = [&](uint64_t until) { return until >= free_from && until - free_from >= need; };
    auto at = regions_.lower_bound(device.base);
    for (; at != regions_.end() && at->first < device.end && !fits(at->first); ++at)
      free_from = round_up(at->first + at->second->bytes + kSmallestGap, kAlignment);
    device.next = free_from;
    device.limit = at != regions_.end() && at->first < device.end ? at->first : device.end;
    if (fits(device.limit)) continue;
    device.limit = device.next;
    if (device.freed.empty()) return 0;
    for (size_t forget = (device.freed.size() + 1) / 2; forget > 0; --forget) {
      regions_.erase(device.freed.front());
      device.freed.pop_front();
    }
  }
}

uint64_t AddressSpace::allocate(int number, size_t bytes, OperationId by, std::string label) {
  Device& device = device_at(number);
  const size_t rounded = round_up(bytes, kAlignment);
  if (bytes == 0 || rounded < bytes || rounded > device.capacity - device.used) return 0;
  auto region = std::make_unique<Region>();
  try {
    region->shadow = std::make_unique<Shadow>(trace_, bytes, true);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  region->data = static_cast<uint8_t*>(std::calloc(rounded, 1));
  const uint64_t address = region->data == nullptr ? 0 : place(device, bytes);
  if (address == 0) {
    std::free(region->data);
    return 0;
  }
  region->address = address;
  region->bytes = bytes;
  region->device = number;
  region->number = ++allocations_;
  region->label = std::move(label);
  region->allocated_by = by;
  device.used += rounded;
  ++live_count_;
  regions_.emplace(address, std::move(region));
  return address;
}

void AddressSpace::release(uint64_t address, const Actor& by) {
  const auto at = regions_.find(address);
  if (at == regions_.end() || at->second->device == kHostMemory)
    throw Fault{kInvalidValue,
                fmt::format("{} frees {}, where no allocation starts", trace_.describe(by.id), describe(address))};
  Region& region = *at->second;
  if (!region.live)
    throw Fault{kInvalidValue, fmt::format("{} frees {}, which {} has freed", trace_.describe(by.id), describe(address),
                                           trace_.describe(region.freed_by))};
  Device& device = device_at(region.device);
  device.used -= round_up(region.bytes, kAlignment);
  --live_count_;
  region.live = false;
  region.freed_by = by.id;
  region.shadow.reset();
  std::free(region.data);
  region.data = nullptr;
  const std::vector<OperationId> users = std::move(region.users);
  const std::string what = describe(address);
  device.freed.push_back(address);
  if (device.freed.size() > kFreedRemembered) {
    regions_.erase(device.freed.front());
    device.freed.pop_front();
  }
  check_users(users, by, what);
}

void AddressSpace::check_users(const std::vector<OperationId>& users, const Actor& by, const std::string& what) const {
  for (OperationId user : users)
    if (!trace_.ordered(user, by))
      throw Fault{kLaunchFailed, fmt::format("not ordered: {} frees {}, which {} uses; nothing orders the use before",
                                             trace_.describe(by.id), what, trace_.describe(user))};
}

void AddressSpace::register_host(void* memory, size_t bytes, std::string label) {
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  auto after = regions_.lower_bound(address);
  const bool overlaps_next = after != regions_.end() && after->first < address + bytes;
  const bool overlaps_last = after != regions_.begin() && std::prev(after)->second->contains(address, 1);
  if (memory == nullptr || bytes == 0 || is_device_address(address) || overlaps_next || overlaps_last)
    throw Fault{kInvalidValue,
                fmt::format("{} of {} bytes that are empty, a device's or registered already", label, bytes)};
  auto region = std::make_unique<Region>();
  region->address = address;
  region->bytes = bytes;
  region->label = std::move(label);
  region->data = static_cast<uint8_t*>(memory);
  region->shadow = std::make_unique<Shadow>(trace_, bytes, false);
  region->number = ++allocations_;
  regions_.emplace(address, std::move(region));
}

void AddressSpace::unregister_host(void* memory, const Actor& by) {
  const auto at = regions_.find(reinterpret_cast<uint64_t>(memory));
  if (at == regions_.end() || at->second->device != kHostMemory)
    throw Fault{kInvalidValue, "unregisters host memory that is not the start of a registered range"};
  const std::vector<OperationId> users = std::move(at->second->users);
  const std::string what = describe(at->first);
  regions_.erase(at);
  check_users(users, by, what);
}

// ---- Look-up.

Region* AddressSpace::find(uint64_t address) {
  auto at = regions_.upper_bound(address);
  if (at == regions_.begin()) return nullptr;
  Region& region = *std::prev(at)->second;
  return region.contains(address, 1) ? &region : nullptr;
}

void* AddressSpace::host_address(uint64_t address, size_t bytes) {
  const Region* region = find_live(address);
  return region != nullptr && region->contains(address, bytes) ? region->data + (address - region->address) : nullptr;
}

std::string AddressSpace::describe(uint64_t address) {
  const auto text = [&](const Region& region) {
    const bool below = address < region.address;
    const uint64_t distance = below ? region.address - address : address - region.address;
    const std::string place = region.device == kHostMemory ? "host" : fmt::format("device {}", region.device);
    return fmt::format("{} {} {} {} of {} bytes ({}, {})",
                       region.device == kHostMemory ? "registered memory" : "allocation", region.number,
                       below ? '-' : '+', distance, region.bytes, region.label, place);
  };
  if (const Region* region = find(address)) return text(*region);
  const bool device = is_device_address(address);
  const Region* nearest = nullptr;
  uint64_t best = device ? ~uint64_t(0) : kSmallestGap;
  auto above = regions_.upper_bound(address);
  const auto offer = [&](const Region& region) {
    const uint64_t distance =
        address < region.address ? region.address - address : address - (region.address + region.bytes - 1);
    if (distance >= best || device != (region.device != kHostMemory)) return;
    best = distance;
    nearest = &region;
  };
  if (above != regions_.begin()) offer(*std::prev(above)->second);
  if (above != regions_.end()) offer(*above->second);
  if (nearest != nullptr) return text(*nearest);
  return fmt::format("address 0x{:x}, {}", address,
                     device ? "in no allocation" : "no device memory and no registered host memory");
}

std::vector<const Region*> AddressSpace::live_allocations() const {
  std::vector<const Region*> out;
  for (const auto& [address, region] : regions_)
    if (region->live && region->device != kHostMemory) out.push_back(region.get());
  std::sort(out.begin(), out.end(), [](const Region* a, const Region* b) { return a->number < b->number; });
  return out;
}

}  // namespace plait::sim
