#pragma once
// Memory of machine code: kernels lie side by side in few mappings, and give their pages back when they are dropped.
#include <cstddef>
#include <map>
#include <mutex>
#include <span>

namespace plait {

// Whole pages of larger mappings. Neighbours with the same rights are one entry in the process's list of mappings.
// Safe to use from several threads at once.
class CodePool {
 public:
  CodePool() = default;
  CodePool(const CodePool&) = delete;
  ~CodePool();  // after all pages were released

  // Pages that can be written, zero, at least `bytes`. Empty: there is no memory.
  std::span<std::byte> allocate(size_t bytes);
  // From now on they can be read and run, and no longer be written. False: the system refuses.
  static bool seal(std::span<std::byte> pages);
  // Nothing of them runs any more. A mapping of which nothing is used goes back to the system.
  void release(std::span<std::byte> pages);

 private:
  std::mutex mutex_;
  std::map<std::byte*, size_t> mappings_, free_;  // by first byte: bytes
};

}  // namespace plait
