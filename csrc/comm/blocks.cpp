#include "comm/blocks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace plait {
namespace {

CommRange common(const CommRange& a, const CommRange& b) {
  const int64_t start = std::max(a.start, b.start);
  return {start, std::max<int64_t>(0, std::min(a.start + a.count, b.start + b.count) - start)};
}

}  // namespace

CommBlock common(const CommBlock& a, const CommBlock& b) {
  return {common(a.first, b.first), common(a.second, b.second)};
}

int64_t CommBlocks::most_elements() const {
  const auto longest = [](std::span<const CommBlock> all) {
    CommBlock out;
    for (const CommBlock& block : all) {
      out.first.count = std::max(out.first.count, block.first.count);
      out.second.count = std::max(out.second.count, block.second.count);
    }
    return out;
  };
  return elements(common(longest(held), longest(taken)));
}

bool CommBlocks::operator==(const CommBlocks& other) const {
  return dtype == other.dtype && outer == other.outer && middle == other.middle && inner == other.inner &&
         std::ranges::equal(held, other.held) && std::ranges::equal(taken, other.taken);
}

void copy_part(const CommBlocks& blocks, const CommBlock& from, const void* source, const CommBlock& to, void* target,
               const CommBlock& part) {
  const auto unit = int64_t(size_of(blocks.dtype));
  const auto* in = static_cast<const std::byte*>(source);
  auto* out = static_cast<std::byte*>(target);
  copy_part(blocks, from, to, part, [&](const CommRows& rows) {
    for (int64_t r = 0; r < rows.rows; ++r)
      std::memcpy(out + (rows.to + r * rows.to_pitch) * unit, in + (rows.from + r * rows.from_pitch) * unit,
                  size_t(rows.length * unit));
  });
}

void copy_part(Stream& stream, const CommBlocks& blocks, const CommBlock& from, const void* source, const CommBlock& to,
               void* target, const CommBlock& part) {
  const auto unit = int64_t(size_of(blocks.dtype));
  const auto* in = static_cast<const std::byte*>(source);
  auto* out = static_cast<std::byte*>(target);
  copy_part(blocks, from, to, part, [&](const CommRows& rows) {
    stream.copy_rows(out + rows.to * unit, size_t(rows.to_pitch * unit), in + rows.from * unit,
                     size_t(rows.from_pitch * unit), size_t(rows.length * unit), size_t(rows.rows));
  });
}

}  // namespace plait
