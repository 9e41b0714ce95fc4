#pragma once
// Blocks of a tensor that members hold and take: what an all-to-all moves, and the copies that pack and unpack it.
#include <cstdint>
#include <span>

#include "device/stream.h"
#include "scalar/dtype.h"

namespace plait {

// Elements `start` to `start + count`, that one excluded, of a dim.
struct CommRange {
  int64_t start = 0, count = 0;
  bool operator==(const CommRange&) const = default;
};

// Ranges of two dims.
struct CommBlock {
  CommRange first, second;
  bool operator==(const CommBlock&) const = default;
};

// What is in both; a block without elements where nothing is.
CommBlock common(const CommBlock& a, const CommBlock& b);

// A tensor [outer, first, middle, second, inner]. Member p of the team holds [outer, held[p].first, middle,
// held[p].second, inner] of it, dense and row-major, and takes the same of taken[p]. The blocks that are held are
// disjoint; those that are taken lie in them, and may overlap.
struct CommBlocks {
  DType dtype = DType::f32;
  int64_t outer = 1, middle = 1, inner = 1;
  std::span<const CommBlock> held, taken;  // by position in the team
  // Of the tensor, in a block.
  int64_t elements(const CommBlock& block) const {
    return outer * block.first.count * middle * block.second.count * inner;
  }
  int64_t most_elements() const;  // at least what any member takes from another one
  bool operator==(const CommBlocks& other) const;
};

// One copy of rows, in elements.
struct CommRows {
  int64_t from, from_pitch, to, to_pitch, length, rows;
};

// Calls copy(CommRows) until `part` is copied from memory that is the dense block `from` to memory that is the dense
// block `to`, both of which have it. Packed memory is the dense block `part` itself. One call where one dim of the part
// is whole in both blocks.
template <class Copy>
void copy_part(const CommBlocks& blocks, const CommBlock& from, const CommBlock& to, const CommBlock& part,
               Copy&& copy) {
  if (blocks.elements(part) == 0) return;
  const auto place = [&](const CommBlock& block) {  // of the part, in one row of the outer extent
    const int64_t row = block.second.count * blocks.inner;
    return (part.first.start - block.first.start) * blocks.middle * row +
           (part.second.start - block.second.start) * blocks.inner;
  };
  const int64_t from_row = from.second.count * blocks.inner, to_row = to.second.count * blocks.inner;
  const int64_t from_pitch = from.first.count * blocks.middle * from_row;
  const int64_t to_pitch = to.first.count * blocks.middle * to_row;
  const int64_t length = part.second.count * blocks.inner;
  if (part.second == from.second && part.second == to.second) {
    copy(CommRows{place(from), from_pitch, place(to), to_pitch, part.first.count * blocks.middle * length,
                  blocks.outer});
  } else if (part.first == from.first && part.first == to.first) {
    copy(CommRows{place(from), from_row, place(to), to_row, length, blocks.outer * part.first.count * blocks.middle});
  } else {
    for (int64_t o = 0; o < blocks.outer; ++o)
      copy(CommRows{place(from) + o * from_pitch, from_row, place(to) + o * to_pitch, to_row, length,
                    part.first.count * blocks.middle});
  }
}

// The same in host memory.
void copy_part(const CommBlocks& blocks, const CommBlock& from, const void* source, const CommBlock& to, void* target,
               const CommBlock& part);
// The same, queued on a stream.
void copy_part(Stream& stream, const CommBlocks& blocks, const CommBlock& from, const void* source, const CommBlock& to,
               void* target, const CommBlock& part);

}  // namespace plait
