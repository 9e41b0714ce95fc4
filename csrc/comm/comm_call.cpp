#include "comm/comm_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace plait {

bool CommCall::operator==(const CommCall& other) const {
  return kind == other.kind && reduce == other.reduce && pieces.dtype == other.pieces.dtype &&
         pieces.outer == other.pieces.outer && pieces.inner == other.pieces.inner && blocks == other.blocks &&
         std::equal(pieces.counts.begin(), pieces.counts.end(), other.pieces.counts.begin(), other.pieces.counts.end());
}

std::string describe_exchange(DType dtype, std::span<const int64_t> elements) {
  std::string counts;
  for (int64_t count : elements) counts += fmt::format("{}{}", counts.empty() ? "" : ", ", count);
  return fmt::format("{}({}, members take {} elements)", name(Collective::all_to_all), name(dtype), counts);
}

namespace {

std::string describe(const CommBlocks& blocks) {
  int64_t first = 0, second = 0;
  for (const CommBlock& block : blocks.held) {
    first = std::max(first, block.first.start + block.first.count);
    second = std::max(second, block.second.start + block.second.count);
  }
  std::vector<int64_t> elements;
  for (const CommBlock& block : blocks.taken) elements.push_back(blocks.elements(block));
  std::string text = describe_exchange(blocks.dtype, elements);
  text.pop_back();
  return text + fmt::format(" of {} x {} x {} x {} x {})", blocks.outer, first, blocks.middle, second, blocks.inner);
}

// What a member takes and does not hold.
int64_t missing(const CommBlocks& blocks, size_t position) {
  const CommBlock& taken = blocks.taken[position];
  return blocks.elements(taken) - blocks.elements(common(taken, blocks.held[position]));
}

}  // namespace

std::string describe(const CommCall& call) {
  if (info(call.kind).exchanges()) return describe(call.blocks);
  std::string text = fmt::format("{}({}, ", name(call.kind), name(call.pieces.dtype));
  if (info(call.kind).reduces) text += fmt::format("{}, ", name(call.reduce));
  if (!info(call.kind).has_pieces()) return text + fmt::format("{} elements)", call.pieces.total());
  std::string counts;
  for (int64_t count : call.pieces.counts) counts += fmt::format("{}{}", counts.empty() ? "" : ", ", count);
  return text + fmt::format("{} x [{}] x {})", call.pieces.outer, counts, call.pieces.inner);
}

std::string rank_list(std::span<const int64_t> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  return text;
}

CommTraffic member_traffic(const CommCall& call, int64_t size, int64_t position) {
  CommTraffic out;
  if (info(call.kind).exchanges()) {
    const auto bytes = int64_t(size_of(call.blocks.dtype));
    out.wire_bytes = missing(call.blocks, size_t(position)) * bytes;
    for (size_t p = 0; position == 0 && p < size_t(size); ++p) out.wire_bytes_min += missing(call.blocks, p) * bytes;
    return out;
  }
  const int64_t unit = call.pieces.outer * call.pieces.inner * int64_t(size_of(call.pieces.dtype));
  const int64_t total = call.pieces.total();
  if (position == 0) out.wire_bytes_min = least_wire_bytes(call.kind, size, total * unit);
  const auto taken = [&](const CollectiveInfo& of, int64_t own) { return of.reduces ? (size - 1) * own : total - own; };
  if (info(call.kind).has_pieces()) {
    out.wire_bytes = taken(info(call.kind), call.pieces.counts[size_t(position)]) * unit;
    return out;
  }
  const int64_t chunk = (total + size - 1) / size, start = std::min(total, position * chunk);
  const int64_t own = std::min(chunk, total - start);
  out.wire_bytes = (taken(info(Collective::reduce_scatter), own) + taken(info(Collective::all_gather), own)) * unit;
  return out;
}

}  // namespace plait
