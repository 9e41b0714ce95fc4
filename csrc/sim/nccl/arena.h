#pragma once
// Memory in which a member leaves what others read, mapped by all of them. It has no name, so nothing is left behind by
// a process that dies, and it stays while any process maps it.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

namespace plait::sim::nccl {

class Arena {
 public:
  static constexpr uint64_t kBytes = uint64_t{1} << 33;  // of addresses; memory is what is used

  static std::shared_ptr<Arena> make();  // null and errno set where the system cannot
  // The arena that a process holds under a file descriptor; null and errno set where it is gone.
  static std::shared_ptr<Arena> open(int pid, int file);
  ~Arena();
  Arena(const Arena&) = delete;

  int file() const { return file_; }
  std::byte* at(uint64_t offset) const { return memory_ + offset; }

  // Owner's side. A block stays until `used` says that nobody needs it; blocks are given back in the order they were
  // taken. Nothing: no room now.
  std::optional<uint64_t> take(uint64_t bytes, std::function<bool()> used);

 private:
  Arena() = default;
  struct Block {
    uint64_t begin, end;
    std::function<bool()> used;
  };
  int file_ = -1;
  std::byte* memory_ = nullptr;
  std::deque<Block> blocks_;
};

}  // namespace plait::sim::nccl
