#include "comm/uneven_cost.h"

#include <algorithm>
#include <numeric>

namespace plait {
namespace {

// Ring over NVLink with NCCL's low-latency protocol (its own tuning tables), Hopper-class links and memory.
constexpr double kLaunchUs = 6.6;            // an operation, or a group of them
constexpr double kStepUs = 0.6;              // a hop of the ring
constexpr double kLinkBytesPerUs = 200e3;    // of a GPU
constexpr double kCopyUs = 2;                // a copy on a stream
constexpr double kMemoryBytesPerUs = 1.2e6;  // copied within a GPU

}  // namespace

UnevenCost uneven_cost(std::span<const int64_t> piece_bytes, bool packed) {
  const double members = double(piece_bytes.size());
  const double total = double(std::accumulate(piece_bytes.begin(), piece_bytes.end(), int64_t(0)));
  const double longest = double(*std::max_element(piece_bytes.begin(), piece_bytes.end()));
  const double pieces = double(std::count_if(piece_bytes.begin(), piece_bytes.end(), [](int64_t b) { return b > 0; }));
  const double hops = (members - 1) * kStepUs;
  UnevenCost out;
  out.grouped_us = kLaunchUs + pieces * hops + total / kLinkBytesPerUs;
  out.padded_us = kLaunchUs + hops + (members - 1) * longest / kLinkBytesPerUs;
  if (!packed) out.padded_us += (pieces + 1) * kCopyUs + (total + longest) / kMemoryBytesPerUs;
  return out;
}

UnevenWay choose_uneven(UnevenWay asked, std::span<const int64_t> piece_bytes, bool packed) {
  if (asked != UnevenWay::by_cost) return asked;
  const UnevenCost cost = uneven_cost(piece_bytes, packed);
  return cost.padded_us < cost.grouped_us ? UnevenWay::padded : UnevenWay::grouped;
}

}  // namespace plait
