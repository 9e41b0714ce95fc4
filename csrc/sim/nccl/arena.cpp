#include "sim/nccl/arena.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace plait::sim::nccl {

std::shared_ptr<Arena> Arena::make() {
  std::shared_ptr<Arena> arena(new Arena);
  arena->file_ = memfd_create("plait_sim_nccl", MFD_CLOEXEC);
  if (arena->file_ < 0 || ftruncate(arena->file_, static_cast<off_t>(kBytes)) != 0) return nullptr;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena->file_, 0);
  if (memory == MAP_FAILED) return nullptr;
  arena->memory_ = static_cast<std::byte*>(memory);
  return arena;
}

std::shared_ptr<Arena> Arena::open(int pid, int file) {
  const int opened = ::open(fmt::format("/proc/{}/fd/{}", pid, file).c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return nullptr;
  void* memory = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, opened, 0);
  close(opened);
  if (memory == MAP_FAILED) return nullptr;
  std::shared_ptr<Arena> arena(new Arena);
  arena->memory_ = static_cast<std::byte*>(memory);
  return arena;
}

Arena::~Arena() {
  if (memory_ != nullptr) munmap(memory_, kBytes);
  if (file_ >= 0) close(file_);
}

std::optional<uint64_t> Arena::take(uint64_t bytes, std::function<bool()> used) {
  while (!blocks_.empty() && blocks_.front().used()) blocks_.pop_front();
  bytes = std::max<uint64_t>(64, (bytes + 63) / 64 * 64);
  if (bytes > kBytes) return std::nullopt;
  uint64_t begin = 0;
  if (!blocks_.empty()) {
    // Free are [last end, first begin) after a wrap, else [last end, kBytes) and [0, first begin).
    const uint64_t first = blocks_.front().begin, last = blocks_.back().end;
    const bool wrapped = last <= first;
    begin = wrapped || bytes <= kBytes - last ? last : 0;
    const uint64_t room = begin < first ? first - begin : kBytes - begin;
    if (bytes > room || (begin < first && bytes == room)) return std::nullopt;
  }
  blocks_.push_back({begin, begin + bytes, std::move(used)});
  return begin;
}

}  // namespace plait::sim::nccl
