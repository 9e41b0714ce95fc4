#pragma once
// What a CUDA device shares with the streams, memory and code that it hands out: contexts, memory pools, streams.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/driver_library.h"

namespace plait {

// Lets this thread make calls that a capture elsewhere in the process would forbid, such as loading code.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const DriverLibrary& driver) : driver_(driver) {
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~RelaxedCapture() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;

 private:
  const DriverLibrary& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// Ordinals are positions in the list given. Safe to use from several threads at once.
class CudaParts {
 public:
  // `ordinals` are the driver's and exist.
  CudaParts(const DriverLibrary& driver, const std::vector<int>& ordinals);
  ~CudaParts();
  CudaParts(const CudaParts&) = delete;

  const DriverLibrary& driver() const { return driver_; }
  int count() const { return count_; }
  CUdevice device(int ordinal) const { return at(ordinal).device; }
  int driver_ordinal(int ordinal) const { return at(ordinal).driver_ordinal; }
  int attribute(int ordinal, CUdevice_attribute attribute) const;

  // The primary context, retained by the first call, which also opens the way to and from the peers opened before.
  CUcontext context(int ordinal) {
    const CUcontext context = at(ordinal).context.load(std::memory_order_acquire);
    return context != nullptr ? context : open(ordinal);
  }

  bool is_open(int ordinal) const { return at(ordinal).context.load(std::memory_order_acquire) != nullptr; }

  // Memory that is valid in the order of the stream's work and freed in that order; null `own_order`: valid at once,
  // freed when all work of the device is done. Lack of memory gives cached memory back, tries once more, and is a
  // CudaMemoryError.
  CUdeviceptr allocate(int ordinal, size_t bytes, const CUstream* own_order);
  void free(int ordinal, CUdeviceptr address, const CUstream* own_order) noexcept;

  // A stream that is destroyed, when its work is done, with the last of its holders: the one who made it, and memory in
  // its order.
  // Nothing for a caller's stream.
  CUstream make_stream(int ordinal);
  void hold_stream(int ordinal, CUstream stream);
  void release_stream(int ordinal, CUstream stream) noexcept;

  // Scratch memory for library calls of a stream, of the size first asked for, kept until the stream goes (a caller's:
  // until the device goes).
  void* workspace(int ordinal, CUstream stream, size_t bytes);

 private:
  struct StreamUse {
    int holders = 0;  // 0: a caller's stream
    CUdeviceptr workspace = 0;
  };
  struct Ordinal {
    int driver_ordinal = 0;
    CUdevice device = 0;
    std::atomic<CUcontext> context = nullptr;
    bool pools = false;           // whether the device has memory pools
    CUmemoryPool pool = nullptr;  // made by the first allocation; guarded by mutex_
    CUstream inner = nullptr;     // orders memory that has no stream of its own; likewise
    std::map<CUstream, StreamUse> streams;
  };

  Ordinal& at(int ordinal) const;
  CUcontext open(int ordinal);
  void open_peers(Ordinal& one, Ordinal& other);
  CUmemoryPool pool(Ordinal& of);
  CUstream inner_stream(Ordinal& of);
  CUresult try_allocate(Ordinal& of, size_t bytes, const CUstream* own_order, CUdeviceptr* address);
  void give_back_cached(Ordinal& of, bool captured);
  void close(Ordinal& of) noexcept;

  const DriverLibrary& driver_;
  const int count_;
  std::unique_ptr<Ordinal[]> ordinals_;
  std::mutex mutex_;  // guards the opening of contexts and all that is made on first use
};

// Memory of one ordinal, from the pool of the parts.
class CudaAllocator : public Allocator {
 public:
  CudaAllocator(std::shared_ptr<CudaParts> parts, int ordinal) : parts_(std::move(parts)), ordinal_(ordinal) {}
  // Freed when all work of the device is done.
  std::shared_ptr<Memory> allocate(size_t bytes) override { return allocate_on(bytes, nullptr); }
  // A caller's stream must live until the memory is freed.
  std::shared_ptr<Memory> allocate_on(size_t bytes, Stream* stream) override;

 private:
  std::shared_ptr<CudaParts> parts_;
  int ordinal_;
};

}  // namespace plait
