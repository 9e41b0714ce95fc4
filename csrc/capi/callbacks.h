#pragma once
// What an embedder lends by C callbacks, as the interfaces that runs take.
#include <map>
#include <memory>
#include <vector>

#include "capi/plait_c.h"
#include "comm/communicator.h"
#include "device/device.h"

namespace plait {

// Memory from the caller. The caller's struct is copied; its `user` must outlive all memory.
class CallbackAllocator : public Allocator {
 public:
  explicit CallbackAllocator(const plait_allocator& callbacks) : callbacks_(callbacks) {}
  std::shared_ptr<Memory> allocate(size_t bytes) override { return allocate_on(bytes, nullptr); }
  // UserError: no memory, or memory that is not aligned.
  std::shared_ptr<Memory> allocate_on(size_t bytes, Stream* stream) override;

 private:
  plait_allocator callbacks_;
};

// The collectives of the caller's job; this process holds one rank. Views that are not one piece per member are packed.
class CallbackCommunicators : public Communicators, private Bootstrap {
 public:
  // `device`: of the memory that collectives move. UserError: a callback is null, or rank and size do not fit.
  CallbackCommunicators(const plait_comms& callbacks, Device& device);
  ~CallbackCommunicators() override;
  Communicator& team(std::span<const int64_t> ranks) override;
  CommTraffic traffic() const override { return traffic_; }
  void reset_traffic() override { traffic_ = {}; }
  Bootstrap* bootstrap() override { return this; }
  void abort(std::string_view why) override;

  // CommError with the caller's words where `status` is not 0.
  void require(int status, const char* call) const;
  const plait_comms& callbacks() const { return callbacks_; }
  Device& device() const { return device_; }
  void count(const CommTraffic& more);

 private:
  int64_t rank() const override { return callbacks_.rank; }
  int64_t size() const override { return callbacks_.size; }
  std::vector<std::string> all_gather(std::string_view mine) override;
  std::vector<std::string> all_gather_among(std::span<const int64_t> ranks, std::string_view mine) override;

  plait_comms callbacks_;
  Device& device_;
  CommTraffic traffic_;
  std::map<std::vector<int64_t>, std::unique_ptr<Communicator>> teams_;
};

}  // namespace plait
