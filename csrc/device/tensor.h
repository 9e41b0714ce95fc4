#pragma once
// Memory and tensors at run time.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scalar/dtype.h"

namespace plait {

// Alignment, in bytes, of every buffer plait allocates and of every buffer a kernel on a GPU may be given; inputs and
// outputs of a run on the host need that of their elements only.
inline constexpr size_t kBufferAlignment = 64;

// Where memory lies: on the host, or on a GPU by the ordinal that its Device gives it.
struct Location {
  bool host = true;
  int ordinal = 0;
  bool operator==(const Location&) const = default;
};

// A piece of memory with an owner: freed when the last handle goes. Never null; zero bytes are legal.
class Memory {
 public:
  // Wraps a caller's memory; `release` runs when the last handle goes (may be empty).
  Memory(void* data, size_t bytes, std::function<void()> release, Location location = {});
  ~Memory();
  Memory(const Memory&) = delete;
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Location location() const { return location_; }

 private:
  void* data_;
  size_t bytes_;
  std::function<void()> release_;
  Location location_;
};

// Where buffers come from. `allocate` returns kBufferAlignment-aligned memory.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least so many bytes. MemoryError where there are none.
  virtual std::shared_ptr<Memory> allocate(size_t bytes) = 0;
  // Memory that is valid, and freed, in the order of the stream's work. Null: as above.
  virtual std::shared_ptr<Memory> allocate_on(size_t bytes, class Stream* stream) {
    (void)stream;
    return allocate(bytes);
  }
};

// Host memory by aligned operator new; counts what it hands out. Safe to use from several threads at once.
class HostAllocator : public Allocator {
 public:
  // As Allocator::allocate().
  std::shared_ptr<Memory> allocate(size_t bytes) override;
  int64_t allocations() const { return count_; }
  int64_t allocated_bytes() const { return bytes_; }

 private:
  std::atomic<int64_t> count_ = 0, bytes_ = 0;
};

// A dense or strided array. `strides` count elements. What reads or writes elements (from_doubles, contiguous, at,
// to_doubles) is for host memory only.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape, strides;
  std::shared_ptr<Memory> memory;
  size_t byte_offset = 0;

  // Row-major tensor of its own memory; the contents are not initialised.
  static Tensor empty(DType dtype, std::vector<int64_t> shape);
  // Row-major tensor over a caller's memory, which must outlive it and lies where `location` says. UserError: `data` is
  // null, and there are elements.
  static Tensor wrap(DType dtype, std::vector<int64_t> shape, void* data, Location location = {});
  // Row-major tensor with values rounded to dtype (integers exactly).
  static Tensor from_doubles(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values);

  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * size_of(dtype); }
  bool is_contiguous() const;
  bool on_host() const { return !memory || memory->location().host; }
  Tensor contiguous() const;  // itself if row-major without gaps, else a copy
  // Whether the dims lie in memory as `order` says, outermost first: the stride of each is what the dims inside of it
  // span; of those that are flagged in `strided` (by place, empty: none) it is anything not below the next inner one's,
  // or 0. Extents of 1 and tensors without elements lie in every order. Needs no access to the elements.
  bool lies_in(const std::vector<int>& order, const std::vector<bool>& strided = {}) const;
  // A dense tensor in that order: itself if it lies so, else a copy in memory of `allocator`.
  Tensor in_order(const std::vector<int>& order, Allocator& allocator) const;
  // UserError, of what follows too: the tensor has no memory, as one that nothing made.
  void* data() const;
  // Element by row-major linear index, as double. BoundsError: there is none.
  double at(int64_t linear) const;
  std::vector<double> to_doubles() const;
};

// Row-major strides of a shape, in elements.
std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape);
// Product of the extents; overflow past int64 is a UserError.
int64_t element_count(const std::vector<int64_t>& shape);

}  // namespace plait
