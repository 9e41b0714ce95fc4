#include "comm/comm_call.h"

#include <fmt/core.h>

#include <algorithm>

namespace plait {

bool CommCall::operator==(const CommCall& other) const {
  return kind == other.kind && reduce == other.reduce && pieces.dtype == other.pieces.dtype &&
         pieces.outer == other.pieces.outer && pieces.inner == other.pieces.inner &&
         std::equal(pieces.counts.begin(), pieces.counts.end(), other.pieces.counts.begin(), other.pieces.counts.end());
}

int64_t CommCall::bytes() const {
  return pieces.outer * pieces.total() * pieces.inner * int64_t(size_of(pieces.dtype));
}

std::string describe(const CommCall& call) {
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
  const int64_t unit = call.pieces.outer * call.pieces.inner * int64_t(size_of(call.pieces.dtype));
  const int64_t total = call.pieces.total();
  CommTraffic out;
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
