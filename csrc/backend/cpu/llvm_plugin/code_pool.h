#pragma once
// Memory of machine code: kernels lie side by side in few mappings, and give their pages back when they are dropped.
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <llvm/ExecutionEngine/RuntimeDyld.h>

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

// Sections of one object, in pages of a pool until it is destroyed. Objects have no data that code writes.
class PooledMemory : public llvm::RuntimeDyld::MemoryManager {
 public:
  explicit PooledMemory(std::shared_ptr<CodePool> pool) : pool_(std::move(pool)) {}
  ~PooledMemory() override;

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code, llvm::Align code_align, uintptr_t constants, llvm::Align constants_align,
                              uintptr_t data, llvm::Align data_align) override;
  uint8_t* allocateCodeSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name) override;
  uint8_t* allocateDataSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name,
                               bool read_only) override;
  // Kernels throw nothing and are never unwound.
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}
  bool finalizeMemory(std::string* error) override;  // true: it failed

 private:
  uint8_t* take(size_t bytes, size_t align);

  std::shared_ptr<CodePool> pool_;
  std::vector<std::span<std::byte>> pages_;  // the last one has room
  size_t used_ = 0;                          // of the last one
};

}  // namespace plait
