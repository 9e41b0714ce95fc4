#include "device/occupancy.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace plait {

namespace {

struct Multiprocessor {
  int capability;
  int threads, blocks;
  int64_t shared_kib;
};
constexpr Multiprocessor kMultiprocessors[] = {{75, 1024, 16, 64},   {80, 2048, 32, 164}, {86, 1536, 16, 100},
                                               {87, 1536, 16, 164},  {89, 1536, 24, 100}, {90, 2048, 32, 228},
                                               {120, 1536, 24, 100}, {121, 1536, 24, 100}};
constexpr int kWarp = 32, kParts = 4;                   // schedulers of a multiprocessor, each with its registers
constexpr int kRegisterUnit = 256;                      // that a warp gets
constexpr int64_t kSharedUnit = 128, kReserved = 1024;  // bytes of a block

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

const Multiprocessor& multiprocessor_of(const Target& target) {
  const int capability = target.compute_capability();
  const auto behind = std::find_if(std::begin(kMultiprocessors), std::end(kMultiprocessors),
                                   [&](const Multiprocessor& m) { return m.capability > capability; });
  PLAIT_CHECK(behind != std::begin(kMultiprocessors), "{} is no GPU that is known", target.architecture);
  return *std::prev(behind);
}

}  // namespace

Occupancy occupancy(const Target& target, const BlockNeeds& block) {
  PLAIT_CHECK(block.threads >= 1, "a block of {} threads", block.threads);
  const Multiprocessor& m = multiprocessor_of(target);
  const int warps = (block.threads + kWarp - 1) / kWarp;
  std::pair<int, std::string_view> least = {m.blocks, "blocks"};
  const auto allow = [&](int64_t blocks, std::string_view limit) {
    if (blocks < least.first) least = {static_cast<int>(blocks), limit};
  };
  allow(m.threads / (warps * kWarp), "threads");
  if (block.registers > 0) {
    const int of_warp = round_up(block.registers * kWarp, kRegisterUnit);
    allow(static_cast<int>(target.registers) / kParts / of_warp * kParts / warps, "registers");
  }
  const int64_t shared = (block.shared_bytes + kReserved + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  allow((m.shared_kib << 10) / shared, "shared memory");
  return {least.first, static_cast<double>(least.first * warps * kWarp) / m.threads, least.second};
}

}  // namespace plait
