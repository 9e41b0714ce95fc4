#include "schedule/attention_numbers.h"

#include <algorithm>
#include <bit>

namespace plait::attention_blocks {

namespace {

constexpr int64_t kCapability = 80;
constexpr int64_t kMostFeatures = 256;
constexpr int64_t kMostShared = 48 << 10;  // bytes of tiles, that any GPU has for a block without asking
constexpr int64_t kMostAsked = 80 << 10;   // with a block's rows; each GPU from sm_80 on gives a block 99 KiB
constexpr int64_t kFewRegisters = 96;      // of a thread in a block of 16 warps, which has 128 in all
constexpr int64_t kMostWarps = 16;
constexpr int64_t kMostAccesses = 64;  // of a thread to a tile

int64_t bytes_of_tiles(const schedules::Attention& n, const Needs& needs) {
  int64_t row = 0;
  for (const int64_t each : needs.rows) row += each;
  return *n.stages * *n.keys * row * 2;
}

// With a block's own rows.
int64_t bytes_of_block(const schedules::Attention& n, const Needs& needs, int64_t block) {
  int64_t row = 0;
  for (const int64_t each : needs.own_rows) row += each;
  return bytes_of_tiles(n, needs) + block * row * 2;
}

}  // namespace

int64_t panel_row(int64_t features) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(features, 32))));
}

// The least number of matrices that holds so many; all that a kernel may have where they are more.
int64_t most_of(const Problem& problem, sym::Expr n) {
  if (const auto known = n.constant()) return std::min(kMostFeatures, (*known + kMatrix - 1) / kMatrix * kMatrix);
  int64_t least = kMatrix, most = kMostFeatures;
  while (least < most) {
    const int64_t half = (least + most) / 2 / kMatrix * kMatrix;
    if (problem.decide(sym::le(sym::import(problem.fusion.pool(), n), half)))
      most = half;
    else
      least = half + kMatrix;
  }
  return most;
}

schedules::Attention complete(const Problem& problem, sym::Expr rows, schedules::Attention out, const NeedsOf& needs) {
  rows = sym::import(problem.fusion.pool(), rows);
  if (!out.queries) out.queries = kMatrix;
  if (!out.stages) out.stages = 2;
  if (!out.keys) {
    out.keys = 64;
    const auto fits = [&] {
      const Needs each = needs(out);
      return bytes_of_tiles(out, each) <= kMostShared && each.registers <= each.most_registers;
    };
    while (*out.keys > kMatrix && !fits()) *out.keys /= 2;
  }
  if (!out.block) {
    const Needs each = needs(out);
    int64_t warps = problem.decide(sym::gt(rows, 64)) ? 8 : problem.decide(sym::gt(rows, 16)) ? 4 : 1;
    if (warps == 8 && each.registers <= kFewRegisters && problem.decide(sym::gt(rows, 512))) warps = 16;
    while (warps > 1 && *out.keys * std::ranges::min(each.rows) < kAccess * kWarp * warps) warps /= 2;
    while (warps > 1 && bytes_of_block(out, each, *out.queries * warps) > kMostAsked) warps /= 2;
    out.block = *out.queries * warps;
  }
  return out;
}

std::optional<std::string> refuse_numbers(const Problem& problem, const Target& target, const schedules::Attention& n,
                                          const Needs& needs) {
  if (n.rows || n.kept) return "rows and kept are numbers of CPUs";
  if (target.compute_capability() < kCapability) return fmt::format("{} has no such mma", target.architecture);
  if (*n.queries % kMatrix != 0) return fmt::format("queries = {} are no multiple of {}", *n.queries, kMatrix);
  if (*n.block % *n.queries != 0) return fmt::format("block = {} is no multiple of queries = {}", *n.block, *n.queries);
  const int64_t warps = *n.block / *n.queries;
  if ((warps & (warps - 1)) != 0 || warps > kMostWarps)
    return fmt::format("{} warps of a block are no power of two up to {}", warps, kMostWarps);
  for (const auto& [size, most] : needs.heads) {
    if (most % kMatrix != 0) return fmt::format("{} elements of a head are no multiple of {}", most, kMatrix);
    if (!problem.decide(sym::le(sym::import(problem.fusion.pool(), size), most)))
      return fmt::format("a head has more than {} elements", most);
  }
  if (needs.registers > needs.most_registers)
    return fmt::format("{} registers of a thread for scores and sums are more than {}", needs.registers,
                       needs.most_registers);
  for (const int64_t row : needs.rows) {
    const int64_t together = kAccess * kWarp * warps;
    if (*n.keys * row % together != 0 || *n.keys * row / together > kMostAccesses)
      return fmt::format("{} threads do not share tiles of {} keys of {} elements", kWarp * warps, *n.keys, row);
  }
  if (const int64_t bytes = bytes_of_tiles(n, needs); bytes > kMostShared)
    return fmt::format("tiles of {} bytes are more than {}", bytes, kMostShared);
  if (const int64_t bytes = bytes_of_block(n, needs, *n.block); bytes > kMostAsked)
    return fmt::format("tiles and rows of {} bytes are more than {}", bytes, kMostAsked);
  return std::nullopt;
}

}  // namespace plait::attention_blocks
