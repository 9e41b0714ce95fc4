#pragma once
// Host memory that runs take and give back again and again: a new page costs ten times the writing of it.
#include <chrono>
#include <functional>
#include <memory>

#include "device/tensor.h"

namespace plait {

// What a pool has from the system, and how often it needed to ask for more.
struct MemoryCounts {
  int64_t held_bytes = 0, in_use_bytes = 0;  // from the system; of these with callers, by what they take up
  int64_t hits = 0, misses = 0;              // allocations from memory that came back, and from the system
  bool operator==(const MemoryCounts&) const = default;
};
// What a pool keeps, and who helps it.
struct MemoryPoolOptions {
  using Piece = void (*)(const void* context, int64_t begin, int64_t end);  // touches begin .. end - 1

  size_t kept_bytes = size_t(-1);                                 // of freed blocks; the oldest go first
  std::chrono::nanoseconds kept_time = std::chrono::seconds(30);  // looked at when blocks come and go
  // Calls piece(context, begin, end) for parts of 0 .. extent - 1, on several threads; empty: all at once.
  std::function<void(int64_t extent, Piece piece, const void* context)> parallel{};
  std::function<std::chrono::steady_clock::time_point()> clock{};  // empty: the machine's
};

// Blocks are rounded up by at most an eighth, and go to the next caller of that size, the latest freed first. From 2
// MiB on they are aligned to it, on huge pages where the machine gives them, and touched before they are handed out.
// Steady use calls malloc for nothing. Safe from several threads at once and across forks: both processes go on with
// what they have. Memory may outlive the pool. MemoryError: the system has no more.
class MemoryPool : public Allocator {
 public:
  explicit MemoryPool(MemoryPoolOptions options = {});
  ~MemoryPool() override;
  std::shared_ptr<Memory> allocate(size_t bytes) override;  // on 64 bytes at least
  MemoryCounts counts() const;
  void trim();  // gives back to the system what nobody uses

 private:
  struct Block;
  struct State;
  template <class T>
  struct Handles;
  std::shared_ptr<State> state_;
};

}  // namespace plait
