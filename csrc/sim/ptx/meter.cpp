#include "sim/ptx/meter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace plait::sim::ptx {
namespace {

constexpr uint64_t kSector = 32;
constexpr int kBanks = 32;
constexpr uint64_t kBank = 4;  // bytes

}  // namespace

void Meter::device(const uint64_t* at, uint32_t lanes, size_t bytes, bool write) {
  std::array<uint64_t, size_t{kLanes} * 2> touched;  // an aligned element of up to 64 bytes
  size_t count = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const uint64_t first = at[std::countr_zero(rest)] / kSector;
    const uint64_t last = (at[std::countr_zero(rest)] + bytes - 1) / kSector;
    for (uint64_t sector = first; sector <= last && count < touched.size(); ++sector) touched[count++] = sector;
  }
  std::sort(touched.begin(), touched.begin() + static_cast<ptrdiff_t>(count));
  const auto end = std::unique(touched.begin(), touched.begin() + static_cast<ptrdiff_t>(count));
  counts_.requests += 1;
  counts_.sectors += static_cast<uint64_t>(end - touched.begin());
  for (auto sector = touched.begin(); sector != end; ++sector)
    counts_.least_sectors += (write ? written_ : read_).insert(*sector).second;
}

// Lanes of more than a word go in groups that have 128 bytes together. Each bank gives one word in a pass, to all lanes
// that want it.
void Meter::shared(const uint64_t* at, uint32_t lanes, size_t bytes) {
  const int together = kLanes / static_cast<int>(std::clamp<size_t>(bytes / kBank, 1, kLanes));
  counts_.shared_requests += 1;
  for (int first = 0; first < kLanes; first += together) {
    std::array<std::set<uint64_t>, kBanks> words;
    bool any = false;
    for (int lane = first; lane < first + together; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      any = true;
      for (uint64_t word = at[lane] / kBank; word <= (at[lane] + bytes - 1) / kBank; ++word)
        words[word % kBanks].insert(word);
    }
    size_t passes = 0;
    for (const auto& bank : words) passes = std::max(passes, bank.size());
    counts_.shared_passes += passes;
    counts_.least_passes += any ? 1 : 0;
  }
}

}  // namespace plait::sim::ptx
