#pragma once
#include <cstdint>
#include <span>

namespace plait {

// How a library without per-rank counts carries out an uneven all-gather or reduce-scatter: one broadcast (or reduce)
// per piece, in a group; or one even collective of pieces padded to the longest, with copies before and after.
enum class UnevenWay : uint8_t { by_cost, grouped, padded };

// Estimated microseconds of both ways for pieces of these bytes among as many GPUs. `packed`: rows are packed in any
// case (an outer extent above 1), so that the copies of padding cost nothing more. The constants stand in the .cpp.
struct UnevenCost {
  double grouped_us = 0, padded_us = 0;
};
UnevenCost uneven_cost(std::span<const int64_t> piece_bytes, bool packed);

// `asked`, or the cheaper one; the same on every member.
UnevenWay choose_uneven(UnevenWay asked, std::span<const int64_t> piece_bytes, bool packed);

}  // namespace plait
