#pragma once
// The state behind the driver API: what handles stand for, devices, allocations. One per process, under one lock.
#include <set>
#include <thread>

#include "sim/cuda/devices.h"
#include "sim/cuda/findings.h"
#include "sim/cuda/objects.h"
#include "sim/cuda/scheduler.h"
#include "sim/ptx/ptx.h"

namespace plait::sim {

struct Capture;     // capture.h
struct NodeObject;  // graphs.h

struct StreamObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::stream;
  std::shared_ptr<ContextObject> owner;
  Lane lane;
  unsigned flags = 0;
  int priority = 0;
  bool legacy = false, per_thread = false;
  OpRef last;                                         // the latest work; null: none yet
  std::shared_ptr<Capture> capture;                   // null: none
  std::vector<std::shared_ptr<NodeObject>> frontier;  // of the capture: what the next node depends on
  bool blocking() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct EventObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::event;
  std::shared_ptr<ContextObject> owner;
  unsigned flags = 0;
  OpRef record;                                       // the latest one; null: never recorded
  std::shared_ptr<Capture> capture;                   // the latest record was captured
  std::vector<std::shared_ptr<NodeObject>> captured;  // what it stands for there
};

struct ContextObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::context;
  int device = 0;
  bool primary = false;
  unsigned flags = 0;
  CUresult error = CUDA_SUCCESS;  // of the fault that lost it; every later call returns it
  std::shared_ptr<StreamObject> legacy;
  std::map<std::thread::id, std::shared_ptr<StreamObject>> per_thread;
  std::vector<std::weak_ptr<StreamObject>> streams;  // made in it
  std::vector<OpRef> orphans;  // last work of blocking streams that were destroyed; the legacy stream waits for it
  std::set<int> peers;         // devices whose memory was made accessible
  Clock issued;                // all work so far
  bool alive = true;
};

// Memory that a pool holds and no allocation uses. Addresses are always new ones; the blocks are what the capacity of
// the device is counted by.
struct FreeBlock {
  size_t bytes = 0;
  OpRef freed_by;  // null: by the host
};

struct PoolObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::pool;
  int device = 0;
  bool is_default = false;
  size_t reserved = 0, used = 0, reserved_high = 0, used_high = 0, max_bytes = 0;
  uint64_t release_threshold = 0;
  int follow_events = 1, opportunistic = 1, internal_dependencies = 1;
  std::shared_ptr<std::set<int>> readers = std::make_shared<std::set<int>>();  // devices given access
  std::vector<FreeBlock> free_blocks;
};

// One allocation of the API, live or freed.
struct Allocation {
  enum class Kind : uint8_t { device, pooled, host, registered };
  Kind kind = Kind::device;
  uint64_t address = 0;
  size_t bytes = 0, rounded = 0;
  uint64_t context = 0, number = 0;
  int device = 0;
  unsigned flags = 0;
  std::shared_ptr<PoolObject> pool;
  const char* freed_by = nullptr;  // the call; null: live
  void* storage = nullptr;         // host memory that we own
};

struct DeviceState {
  const Architecture* architecture = nullptr;
  std::shared_ptr<ContextObject> primary;  // null: not active
  int users = 0;                           // retains of the primary context
  unsigned flags = 0;                      // for the next primary context
  size_t limit = 0, committed = 0;         // bytes; committed: allocations and what pools hold
  std::shared_ptr<PoolObject> default_pool, current_pool;
};

// What metered launches of a kernel counted.
struct KernelMeter {
  uint64_t launches = 0;
  LaunchCounts counts;
  // Of the launch with the most threads in a block.
  uint64_t blocks = 0, threads = 0, shared_bytes = 0, bytes_in_flight = 0;
  void add(const Launch& launch, const KernelInfo& kernel, const LaunchCounts& counts);
};

class Machine {
 public:
  std::recursive_mutex lock;
  Scheduler scheduler{lock};
  Registry registry;
  Findings findings;
  bool initialised = false;
  std::vector<DeviceState> devices;
  std::map<uint64_t, Allocation> allocations;  // by address; freed ones stay until their address is used again
  std::set<uint64_t> live_allocations;         // addresses
  std::vector<std::weak_ptr<Capture>> captures;
  uint64_t launches = 0, copies = 0, allocations_made = 0, captures_made = 0;
  const char* (*code_edit)(const char*) = nullptr;  // see plait_sim_set_code_edit
  bool metered = false;                             // whether launches count their accesses
  std::map<std::string, KernelMeter> meters;        // by kernel

  // Work of the context is dropped and all calls on it return `code` from now on; the text is a finding and what
  // cuGetErrorString says of the code.
  void lose(ContextObject& context, CUresult code, std::string text);
  // A remark that reports of work of that lane end with: why what looks like an order is none.
  void note(const std::string& lane, std::string text) { notes_[lane] = std::move(text); }
  // Clocks of contexts and remarks about orders, which are of no use once all that was issued is known to be done.
  void forget_clocks();
  // The text of the last fault with this code; null: there was none.
  const char* fault_text(CUresult code) const { return code == fault_code_ ? fault_text_ : nullptr; }

 private:
  CUresult fault_code_ = CUDA_SUCCESS;
  const char* fault_text_ = nullptr;
  std::map<std::string, std::string> notes_;
};

Machine& machine();

// What one thread of the host has set.
struct ThreadState {
  std::vector<std::shared_ptr<ContextObject>> contexts;  // the last one is current; null entries are "none"
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};
ThreadState& thread_state();

extern thread_local bool in_host_function;

// One call of the API: takes the lock, refuses what no call may do, turns failures into results and findings.
template <class Body>
CUresult api_call(const char* name, Body body, bool needs_init = true);

}  // namespace plait::sim

#include "sim/cuda/call.h"
