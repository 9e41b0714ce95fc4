#include "sim/memory/shadow.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace plait::sim {

void Shadow::Free::operator()(void* memory) const { std::free(memory); }

namespace {

void* zeroed(size_t bytes) {
  void* memory = std::calloc(bytes + 1, 1);  // untouched pages cost nothing
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

bool bit(const uint8_t* bits, size_t i) { return (bits[i >> 3] >> (i & 7) & 1) != 0; }

}  // namespace

Shadow::Shadow(Trace& trace, size_t bytes, bool track_initialised)
    : trace_(&trace), cells_(static_cast<Cell*>(zeroed((bytes + 3) / 4 * sizeof(Cell)))) {
  if (track_initialised) initialised_.reset(static_cast<uint8_t*>(zeroed((bytes + 7) / 8)));
}

size_t Shadow::search_uninitialised(size_t offset, size_t bytes) const {
  for (size_t i = offset; i < offset + bytes;) {
    if ((i & 7) == 0 && i + 8 <= offset + bytes && initialised_[i >> 3] == 0xff) {
      i += 8;
    } else if (!bit(initialised_.get(), i)) {
      return i;
    } else {
      ++i;
    }
  }
  return kNone;
}

void Shadow::set_initialised(size_t offset, size_t bytes) {
  if (!initialised_) return;
  for (size_t i = offset; i < offset + bytes;) {
    if ((i & 7) == 0 && i + 8 <= offset + bytes) {
      initialised_[i >> 3] = 0xff;
      i += 8;
    } else {
      const size_t end = std::min((i | 7) + 1, offset + bytes);
      initialised_[i >> 3] |= static_cast<uint8_t>(((1u << (end - i)) - 1) << (i & 7));
      i = end;
    }
  }
}

void Shadow::copy_initialised(size_t offset, const Shadow& from, size_t from_offset, size_t bytes) {
  if (!initialised_) return;
  if (!from.initialised_) return set_initialised(offset, bytes);
  const bool aligned = ((offset | from_offset) & 7) == 0;
  for (size_t i = 0; i < bytes;) {
    if (aligned && (i & 7) == 0 && i + 8 <= bytes) {
      initialised_[(offset + i) >> 3] = from.initialised_[(from_offset + i) >> 3];
      i += 8;
      continue;
    }
    const uint8_t mask = static_cast<uint8_t>(1u << ((offset + i) & 7));
    uint8_t& bits = initialised_[(offset + i) >> 3];
    bits = bit(from.initialised_.get(), from_offset + i) ? bits | mask : bits & ~mask;
    ++i;
  }
}

template <bool kWrite>
Shadow::Conflict Shadow::enter_cell(const Actor& actor, Cell& cell, size_t granule, unsigned mask) {
  if (const OperationId other = trace_->conflict(cell.writer, actor, mask)) return {other, true, granule * 4};
  if constexpr (kWrite) {
    if (const OperationId other = trace_->conflict(cell.reader, actor, mask)) return {other, false, granule * 4};
    cell.writer = trace_->with(cell.writer, actor, mask);
    if ((cell.reader & 15 & ~mask) == 0) cell.reader = 0;
  } else {
    cell.reader = trace_->with(cell.reader, actor, mask);
  }
  return {};
}

template <bool kWrite>
Shadow::Conflict Shadow::enter(const Actor& actor, size_t offset, size_t bytes) {
  const size_t end = offset + bytes;
  const Access32 own = pack_access(actor.id, 15);
  // Neighbours mostly have the same history: what was found right for one is right for the next.
  Access32 good_writer = own, good_reader = own, was = own, becomes = own;
  for (size_t at = offset; at < end;) {
    const size_t granule = at >> 2, next = std::min((granule + 1) << 2, end);
    Cell& cell = cells_[granule];
    const unsigned mask = ((1u << (next - at)) - 1) << (at & 3);
    at = next;
    if (mask != 15) {
      if (const Conflict found = enter_cell<kWrite>(actor, cell, granule, mask)) return found;
      continue;
    }
    if (cell.writer != good_writer) {
      if (const OperationId other = trace_->conflict(cell.writer, actor, 15)) return {other, true, granule * 4};
      good_writer = cell.writer;
    }
    if constexpr (kWrite) {
      if (cell.reader != good_reader && cell.reader != 0) {
        if (const OperationId other = trace_->conflict(cell.reader, actor, 15)) return {other, false, granule * 4};
        good_reader = cell.reader;
      }
      cell = {own, 0};  // everything before is ordered before this
    } else if (cell.reader != own) {
      if (cell.reader != was) {
        was = cell.reader;
        becomes = trace_->with(was, actor, 15);
      }
      cell.reader = becomes;
    }
  }
  return {};
}

template Shadow::Conflict Shadow::enter<false>(const Actor&, size_t, size_t);
template Shadow::Conflict Shadow::enter<true>(const Actor&, size_t, size_t);

}  // namespace plait::sim
