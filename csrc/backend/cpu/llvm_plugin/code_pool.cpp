#include "backend/cpu/llvm_plugin/code_pool.h"

#include <llvm/Support/Memory.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace plait {
namespace {

constexpr size_t kMapping = size_t{4} << 20;

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

CodePool::~CodePool() {
  for (const auto& [begin, bytes] : mappings_) munmap(begin, bytes);
}

std::span<std::byte> CodePool::allocate(size_t bytes) {
  bytes = rounded(std::max<size_t>(bytes, 1), page_size());
  const std::lock_guard lock(mutex_);
  auto room = std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= bytes; });
  if (room == free_.end()) {
    const size_t size = rounded(bytes, kMapping);
    void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return {};
    mappings_[static_cast<std::byte*>(made)] = size;
    room = free_.emplace(static_cast<std::byte*>(made), size).first;
  }
  const auto [begin, size] = *room;
  free_.erase(room);
  if (size > bytes) free_[begin + bytes] = size - bytes;
  return {begin, bytes};
}

bool CodePool::seal(std::span<std::byte> pages) {
  return mprotect(pages.data(), pages.size(), PROT_READ | PROT_EXEC) == 0;
}

void CodePool::release(std::span<std::byte> pages) {
  const std::lock_guard lock(mutex_);
  // What cannot be made writable and empty is not used again.
  if (mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE) != 0) return;
  if (madvise(pages.data(), pages.size(), MADV_DONTNEED) != 0) return;
  const auto mapping = std::prev(mappings_.upper_bound(pages.data()));
  std::byte* begin = pages.data();
  size_t bytes = pages.size();
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + bytes && next->first < mapping->first + mapping->second) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin && before->first >= mapping->first) {
      begin = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  if (bytes < mapping->second || mappings_.size() == 1) {  // one stays for the next kernel
    free_[begin] = bytes;
    return;
  }
  munmap(mapping->first, mapping->second);
  mappings_.erase(mapping);
}

PooledMemory::~PooledMemory() {
  for (const auto& pages : pages_) pool_->release(pages);
}

void PooledMemory::reserveAllocationSpace(uintptr_t code, llvm::Align code_align, uintptr_t constants,
                                          llvm::Align constants_align, uintptr_t data, llvm::Align data_align) {
  const size_t bytes = code + code_align.value() + constants + constants_align.value() + data + data_align.value();
  if (const auto pages = pool_->allocate(bytes); !pages.empty()) {
    pages_.push_back(pages);
    used_ = 0;
  }
}

uint8_t* PooledMemory::take(size_t bytes, size_t align) {
  align = std::max<size_t>(align, 1);
  if (pages_.empty() || rounded(used_, align) + bytes > pages_.back().size()) {
    const auto pages = pool_->allocate(bytes);  // pages suit every alignment of a section
    if (pages.empty()) return nullptr;
    pages_.push_back(pages);
    used_ = 0;
  }
  used_ = rounded(used_, align);
  std::byte* out = pages_.back().data() + used_;
  used_ += bytes;
  return reinterpret_cast<uint8_t*>(out);
}

uint8_t* PooledMemory::allocateCodeSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef) {
  return take(size, align);
}

uint8_t* PooledMemory::allocateDataSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef, bool) {
  return take(size, align);
}

bool PooledMemory::finalizeMemory(std::string* error) {
  for (const auto& pages : pages_) {
    llvm::sys::Memory::InvalidateInstructionCache(pages.data(), pages.size());
    if (CodePool::seal(pages)) continue;
    if (error != nullptr) *error = "the system does not make the pages of a kernel executable";
    return true;
  }
  return false;
}

}  // namespace plait
