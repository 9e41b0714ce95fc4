#pragma once
// Device memory during one launch: who last wrote each granule of 4 bytes, and who read what the launch may write, so
// that accesses of threads that nothing orders are found in every order in which blocks and warps happen to run.
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/ptx/thread_order.h"

namespace plait::sim::ptx {

// An access of a lane. `strong`: atomics, volatile and relaxed ones, which are no race among each other; `update`: an
// atomic. `constant`: a load that says that nobody writes its memory during the launch; it is compared, and not
// remembered.
struct DeviceAccess {
  uint32_t warp = 0;
  int lane = 0;
  uint32_t statement = 0;
  uint64_t address = 0;
  size_t bytes = 0;
  bool write = false, strong = false, constant = false, update = false;
  Scope scope = Scope::block;
  bool acquires = false, releases = false;
};

// Blocks of a launch are ordered by fences and values alone. Of a granule the last write is known and two reads of
// different threads: races of accesses to other bytes of it, and of readers beyond these, may stay unseen.
class LaunchMemory {
 public:
  // Enters an access; nothing is entered where there is a race. Where the kernel has fences, strong accesses order.
  std::optional<Race> enter(const DeviceAccess& access, ThreadOrder& order);

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

  static bool conflicts(const Mark& mark, const Mark& access, const ThreadOrder& order);
  std::optional<Race> check(const Page& page, size_t granule, const Mark& access, bool write,
                            const ThreadOrder& order) const;
  void add_read(Reads& reads, const Mark& access, const ThreadOrder& order) const;
  Page* page_at(uint64_t number, bool make);
  static Race race(const Mark& mark, bool write);
  void hand_over(const DeviceAccess& access, ThreadOrder& order);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;  // never iterated
  uint64_t last_number_ = ~uint64_t(0);
  Page* last_ = nullptr;
  std::unordered_map<uint64_t, std::shared_ptr<History>> histories_;  // of words that strong accesses name
};

}  // namespace plait::sim::ptx
