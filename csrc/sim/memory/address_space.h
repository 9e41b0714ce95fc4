#pragma once
// Memory of all simulated devices of a process and the host memory that they may reach, with the checks of every
// access.
//
// A device address lies in a range that the process cannot touch, so that host code that dereferences one faults as it
// does on hardware; the bytes are elsewhere. Freed addresses are handed out again as late as possible. The caller makes
// one call at a time.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/cuda/engine.h"
#include "sim/memory/shadow.h"

namespace plait::sim {

// Codes of a Fault: values of CUresult.
inline constexpr int kInvalidValue = 1;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kIllegalInstruction = 715;
inline constexpr int kMisalignedAddress = 716;
inline constexpr int kLaunchFailed = 719;  // what hardware would not notice: races, uninitialised reads

inline constexpr int kHostMemory = -1;  // as the device of a region

// One allocation, live or freed, or one range of host memory registered with the driver.
struct Region {
  uint64_t address = 0;
  size_t bytes = 0;
  int device = kHostMemory;
  uint64_t number = 0;  // counts allocations from 1
  std::string label;    // who made it: "cuMemAllocAsync"
  OperationId allocated_by = kBeforeAll, freed_by = kBeforeAll;
  bool live = true;
  uint8_t* data = nullptr;         // the bytes; null once freed
  std::unique_ptr<Shadow> shadow;  // null once freed
  std::vector<OperationId> users;  // the last operation of each stream that used it
  // Other devices that may reach it (memory of a pool); null: as set_peer_access says.
  std::shared_ptr<const std::set<int>> readers;

  bool contains(uint64_t at, size_t count) const {
    return at >= address && count <= bytes && at - address <= bytes - count;
  }
};

// Something wrong with an access. `code` 0: nothing is.
struct Misuse {
  int code = 0;
  uint64_t address = 0;  // of the byte in question
  std::string text;      // "out of bounds: ...", one line
  explicit operator bool() const { return code != 0; }
};

class AddressSpace {
 public:
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;

  Trace& trace() { return trace_; }

  // A device with `capacity` bytes for allocations, at most half of its range of addresses, which are more so that
  // freed ones need not come again soon. Devices are numbered by the caller, each added once.
  void add_device(int device, size_t capacity, size_t addresses = size_t(64) << 30);
  size_t capacity(int device) const;
  size_t used(int device) const;  // bytes of live allocations, rounded up to kAlignment each
  static constexpr size_t kAlignment = 512;
  // Lets kernels of `device` reach memory of `peer`, or no longer.
  void set_peer_access(int device, int peer, bool enabled);
  bool peer_access(int device, int peer) const;

  // Address of new uninitialised memory, a multiple of kAlignment; 0 where the capacity does not suffice or `bytes` is
  // 0. An access must happen after the operation `by`; with kBeforeAll every access does.
  uint64_t allocate(int device, size_t bytes, OperationId by = kBeforeAll, std::string label = "cuMemAlloc");
  // Frees the allocation that starts at `address`. Fault kInvalidValue where none does, or it is freed already;
  // kLaunchFailed where an operation that used it does not happen before `by` (it is freed all the same).
  void release(uint64_t address, const Actor& by);
  // Host memory becomes reachable for kernels at its own address. Fault kInvalidValue: it overlaps a registered range.
  void register_host(void* memory, size_t bytes, std::string label = "cuMemHostRegister");
  void unregister_host(void* memory, const Actor& by);

  // The allocation or registered range, live or freed, that holds the address; null for anything else. Valid until the
  // next allocate, release, register_host or unregister_host.
  Region* find(uint64_t address);
  // Whether an address belongs to a device's range, be it allocated or not.
  bool is_device_address(uint64_t address) const;
  // The bytes behind an address if the whole range lies in one live region; otherwise null.
  void* host_address(uint64_t address, size_t bytes);
  // The live region that holds an address; null for unregistered host memory and freed addresses.
  const Region* find_live(uint64_t address) { return live_or_null(find(address)); }

  // Checks and enters an access of `bytes` > 0 bytes: bounds, freed memory, order after the allocation and against
  // other accesses, for reads that all bytes were written. A write makes them written. Without `code` all is well.
  Misuse read(const Actor& actor, uint64_t address, size_t bytes);
  Misuse write(const Actor& actor, uint64_t address, size_t bytes);
  // The same for library calls, fills and collectives: throws Fault with the operation's name.
  void check_read(const Actor& actor, uint64_t address, size_t bytes);
  void check_write(const Actor& actor, uint64_t address, size_t bytes);
  // For copies: checks both sides; between device addresses what was never written stays so, and is no fault. An
  // address that no region holds and that is no device's is pageable host memory, unchecked. Moves no bytes. Ranges
  // do not overlap.
  void check_copy(const Actor& actor, uint64_t to, uint64_t from, size_t bytes);
  // The part of the checks that precedes the shadow: null and `misuse` set where the range is not within one live
  // region that the actor may use.
  Region* reach(const Actor& actor, uint64_t address, size_t bytes, bool write, Misuse* misuse);
  // Reads or writes within a region that reach() returned.
  Misuse enter(const Actor& actor, Region& region, uint64_t address, size_t bytes, bool write);

  // The byte that the latest refused read of uninitialised memory lacked.
  uint64_t uninitialised_at() const { return uninitialised_at_; }

  // "allocation 3 (4096 bytes on device 0, cuMemAllocAsync) + 128 bytes"; for an address in none the nearest below.
  std::string describe(uint64_t address);
  // Live allocations of devices, by number.
  std::vector<const Region*> live_allocations() const;
  size_t live_count() const { return live_count_; }

 private:
  struct Device {
    uint64_t base = 0, end = 0;    // the device's addresses
    uint64_t next = 0, limit = 0;  // the free part of them from which allocations are cut
    size_t capacity = 0, used = 0;
    std::deque<uint64_t> freed;  // addresses, oldest first
    std::vector<bool> peers;
  };
  static Region* live_or_null(Region* region) { return region != nullptr && region->live ? region : nullptr; }
  uint64_t place(Device& device, size_t bytes);
  Misuse not_reached(const Actor& actor, uint64_t address, size_t bytes, bool write, Region* region);
  Misuse conflict(const Region& region, uint64_t address, size_t bytes, const Shadow::Conflict& found, bool write);
  [[noreturn]] void refuse(const Actor& actor, const Misuse& misuse) const;
  void check_users(const std::vector<OperationId>& users, const Actor& by, const std::string& what) const;
  Device& device_at(int device);

  Trace trace_;
  std::map<int, Device> devices_;
  std::map<uint64_t, std::unique_ptr<Region>> regions_;  // by address; freed ones stay until their place is needed
  uint64_t allocations_ = 0;
  uint64_t uninitialised_at_ = 0;
  size_t live_count_ = 0;
};

}  // namespace plait::sim
