#pragma once
// Shared memory of a block, which others of its cluster reach too: its bytes, which of them were written, and by whom
// each granule of 4 bytes was last written and read, so that accesses which no barrier orders are found in every order
// in which the warps happen to run.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/ptx/thread_order.h"

namespace plait::sim::ptx {

// An access of a lane. `strong`: atomics, volatile and relaxed ones, which are no race among each other.
struct SharedAccess {
  uint32_t warp = 0;
  int lane = 0;
  uint32_t statement = 0;
  size_t offset = 0, bytes = 0;
  bool write = false, strong = false;
};

class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);

  // For a new block: nothing is written.
  void begin(uint32_t block);
  size_t bytes() const { return bytes_; }
  uint8_t* data() { return data_.data(); }
  // The first byte of a range that nothing wrote, if there is one. The range lies inside.
  std::optional<size_t> first_unwritten(size_t offset, size_t bytes) const;
  // The copy that is under way to any of these bytes, by its number; 0: none is. Ranges of whole words.
  uint32_t in_flight(size_t offset, size_t bytes) const;
  void set_in_flight(size_t offset, size_t bytes, uint32_t copy);
  // Enters an access, whose range lies inside; nothing is entered where there is a race.
  // `order`: of the block that accesses.
  std::optional<Race> enter(const SharedAccess& access, const ThreadOrder& order);
  // The last access of each thread of other blocks; by block, warp and lane.
  struct AccessOfOther {
    Moment moment;
    int lane = 0;
    uint32_t statement = 0;
  };
  const std::map<std::array<uint32_t, 3>, AccessOfOther>& accesses_of_others() const { return of_others_; }

 private:
  // Accesses of lanes of one warp, at one moment and to the same bytes.
  struct Mark {
    Moment moment;
    uint32_t lanes = 0;  // 0: there was none
    uint32_t statement = 0;
    uint8_t bytes = 0;  // of the granule
    bool write = false, strong = false;
  };
  struct Granule {
    Mark written, read;
    uint32_t more = 0;   // where further marks are: 1 + index in more_
    uint32_t block = 0;  // the count of blocks when it was last accessed
  };
  std::optional<Race> check(const Granule& granule, const Mark& access, const ThreadOrder& order) const;
  void add_read(Granule& granule, const Mark& access, const ThreadOrder& order);
  void add_write(Granule& granule, const Mark& access, const ThreadOrder& order);
  std::vector<Mark>& more_of(Granule& granule);
  Granule& granule_at(size_t index);

  size_t bytes_;
  std::vector<uint8_t> data_, written_;
  std::vector<Granule> granules_;
  std::vector<std::vector<Mark>> more_;
  std::vector<uint32_t> in_flight_;  // by granule; empty: none was ever under way
  std::map<std::array<uint32_t, 3>, AccessOfOther> of_others_;
  uint32_t block_ = 0;   // its number in the grid
  uint32_t blocks_ = 0;  // that have begun
};

}  // namespace plait::sim::ptx
