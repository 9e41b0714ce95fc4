#pragma once
// Device memory during one launch: who last wrote each granule of 4 bytes, and who read what the launch may write, so
// that accesses of threads that nothing orders are found in every order in which blocks and warps happen to run.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/ptx/thread_order.h"

namespace plait::sim::ptx {

// An access of a lane. `strong`: atomics, volatile and relaxed ones, which are no race among each other. `constant`: a
// load that says that nobody writes its memory during the launch; it is compared, and not remembered.
struct DeviceAccess {
  uint32_t warp = 0;
  int lane = 0;
  uint32_t statement = 0;
  uint64_t address = 0;
  size_t bytes = 0;
  bool write = false, strong = false, constant = false;
};

// An earlier access that is not ordered before the one at hand.
struct DeviceRace {
  std::array<uint32_t, 3> block{};
  uint32_t warp = 0;
  int lane = 0;
  uint32_t statement = 0;
  bool write = false;
};

// Blocks run one after the other, and nothing orders those of one launch. Of a granule the last write is known and two
// reads of different threads: races of accesses to other bytes of it, and of readers beyond these, may stay unseen.
class LaunchMemory {
 public:
  // A block begins, at this time of its order.
  void begin(const std::array<uint32_t, 3>& block, uint32_t epoch);
  // Enters an access; nothing is entered where there is a race.
  std::optional<DeviceRace> enter(const DeviceAccess& access, const ThreadOrder& order);

 private:
  static constexpr size_t kGranule = 4, kPage = 1024;  // bytes; granules
  struct Mark {
    Moment moment;  // epoch 0: there was none
    uint32_t statement = 0;
    uint8_t lane = 0, bytes = 0;  // bytes: of the granule
    bool strong = false;
  };
  struct Reads {
    Mark marks[2];
  };
  struct Page {
    std::vector<Mark> writes = std::vector<Mark>(kPage);
    std::vector<Reads> reads;  // empty until there is one
  };

  bool conflicts(const Mark& mark, const Mark& access, const ThreadOrder& order) const;
  std::optional<DeviceRace> check(const Page& page, size_t granule, const Mark& access, bool write,
                                  const ThreadOrder& order) const;
  void add_read(Reads& reads, const Mark& access, const ThreadOrder& order) const;
  Page* page_at(uint64_t number, bool make);
  DeviceRace race(const Mark& mark, bool write) const;

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;  // never iterated
  uint64_t last_number_ = ~uint64_t(0);
  Page* last_ = nullptr;
  struct Begun {
    uint32_t epoch;
    std::array<uint32_t, 3> block;
  };
  std::vector<Begun> blocks_;  // in the order in which they ran
};

}  // namespace plait::sim::ptx
