#include "backend/cpu/code_pool.h"

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

}  // namespace plait
