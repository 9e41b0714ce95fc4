// Checks of accesses.
#include <algorithm>

#include "base/error.h"
#include "sim/memory/address_space.h"

namespace plait::sim {
namespace {

const char* verb(bool write) { return write ? "writes" : "reads"; }

// The last operation of every stream that used a region is enough: it is after all before it on its stream.
void note_user(Region& region, const Actor& actor, const Trace& trace) {
  std::vector<OperationId>& users = region.users;
  if (!users.empty() && users.back() == actor.id) return;
  const auto same =
      std::find_if(users.begin(), users.end(), [&](OperationId id) { return trace.stream_of(id) == actor.stream; });
  if (same != users.end()) users.erase(same);
  users.push_back(actor.id);
}

}  // namespace

Misuse AddressSpace::not_reached(const Actor& actor, uint64_t address, size_t bytes, bool write, Region* region) {
  const std::string what = fmt::format("{} {} bytes at {}", verb(write), bytes, describe(address));
  if (region == nullptr || !region->contains(address, bytes))
    return {kIllegalAddress, address, "out of bounds: " + what};
  if (!region->live)
    return {kIllegalAddress, address,
            fmt::format("use after free: {}, freed by {}", what, trace_.describe(region->freed_by))};
  if (!trace_.ordered(region->allocated_by, actor))
    return {kLaunchFailed, address,
            fmt::format("not ordered: {}, not ordered after its allocation by {}", what,
                        trace_.describe(region->allocated_by))};
  return {kIllegalAddress, address,
          fmt::format("no peer access: device {} {}, and may not reach device {}", actor.device, what, region->device)};
}

Region* AddressSpace::reach(const Actor& actor, uint64_t address, size_t bytes, bool write, Misuse* misuse) {
  Region* region = find(address);
  const bool peer = region != nullptr && actor.device >= 0 && region->device >= 0 && actor.device != region->device;
  const auto allowed = [&] {
    return region->readers == nullptr ? peer_access(actor.device, region->device)
                                      : region->readers->count(actor.device) > 0;
  };
  if (region == nullptr || !region->contains(address, bytes) || !region->live ||
      !trace_.ordered(region->allocated_by, actor) || (peer && !allowed())) {
    *misuse = not_reached(actor, address, bytes, write, region);
    return nullptr;
  }
  note_user(*region, actor, trace_);
  return region;
}

Misuse AddressSpace::conflict(const Region& region, uint64_t address, size_t bytes, const Shadow::Conflict& found,
                              bool write) {
  const uint64_t at = std::max(region.address + found.offset, address);
  return {kLaunchFailed, at,
          fmt::format("not ordered: {} {} bytes at {}, which {} {}; nothing orders one after the other", verb(write),
                      bytes, describe(at), trace_.describe(found.other), verb(found.other_writes))};
}

Misuse AddressSpace::enter(const Actor& actor, Region& region, uint64_t address, size_t bytes, bool write) {
  const size_t offset = address - region.address;
  Shadow& shadow = *region.shadow;
  if (!write) {
    const size_t missing = shadow.first_uninitialised(offset, bytes);
    if (missing != Shadow::kNone) uninitialised_at_ = region.address + missing;
    if (missing != Shadow::kNone)
      return {kLaunchFailed, region.address + missing,
              fmt::format("uninitialised: reads {} bytes at {}, of which the byte at + {} was never written", bytes,
                          describe(address), missing)};
  }
  const Shadow::Conflict found = write ? shadow.write(actor, offset, bytes) : shadow.read(actor, offset, bytes);
  if (found) return conflict(region, address, bytes, found, write);
  if (write) shadow.set_initialised(offset, bytes);
  return {};
}

Misuse AddressSpace::read(const Actor& actor, uint64_t address, size_t bytes) {
  Misuse misuse;
  Region* region = reach(actor, address, bytes, false, &misuse);
  return region == nullptr ? misuse : enter(actor, *region, address, bytes, false);
}

Misuse AddressSpace::write(const Actor& actor, uint64_t address, size_t bytes) {
  Misuse misuse;
  Region* region = reach(actor, address, bytes, true, &misuse);
  return region == nullptr ? misuse : enter(actor, *region, address, bytes, true);
}

void AddressSpace::refuse(const Actor& actor, const Misuse& misuse) const {
  throw Fault{misuse.code, fmt::format("{}: {}", trace_.describe(actor.id), misuse.text)};
}

void AddressSpace::check_read(const Actor& actor, uint64_t address, size_t bytes) {
  if (bytes == 0) return;
  if (const Misuse misuse = read(actor, address, bytes)) refuse(actor, misuse);
}

void AddressSpace::check_write(const Actor& actor, uint64_t address, size_t bytes) {
  if (bytes == 0) return;
  if (const Misuse misuse = write(actor, address, bytes)) refuse(actor, misuse);
}

void AddressSpace::check_copy(const Actor& actor, uint64_t to, uint64_t from, size_t bytes) {
  if (bytes == 0) return;
  const auto known = [&](uint64_t address) { return find(address) != nullptr || is_device_address(address); };
  const bool to_known = known(to), from_known = known(from);
  Misuse misuse;
  Region* source = from_known ? reach(actor, from, bytes, false, &misuse) : nullptr;
  if (from_known && source == nullptr) refuse(actor, misuse);
  Region* target = to_known ? reach(actor, to, bytes, true, &misuse) : nullptr;
  if (to_known && target == nullptr) refuse(actor, misuse);
  const bool within = source != nullptr && target != nullptr && target->device >= 0;
  if (source != nullptr && !within) {
    misuse = enter(actor, *source, from, bytes, false);
  } else if (source != nullptr) {
    const Shadow::Conflict found = source->shadow->read(actor, from - source->address, bytes);
    if (found) misuse = conflict(*source, from, bytes, found, false);
  }
  if (misuse) refuse(actor, misuse);
  if (target == nullptr) return;
  misuse = enter(actor, *target, to, bytes, true);
  if (misuse) refuse(actor, misuse);
  if (within) target->shadow->copy_initialised(to - target->address, *source->shadow, from - source->address, bytes);
}

}  // namespace plait::sim
