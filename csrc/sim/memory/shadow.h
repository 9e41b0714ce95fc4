#pragma once
// What is known about the bytes of one region: which were ever written, and by whom each 4-byte granule was last
// written and read.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "sim/memory/trace.h"

namespace plait::sim {

// Offsets and sizes are bytes within the region and lie in it.
class Shadow {
 public:
  static constexpr size_t kNone = ~size_t(0);
  struct Conflict {
    OperationId other = kBeforeAll;  // kBeforeAll: no conflict
    bool other_writes = false;
    size_t offset = 0;  // of the granule
    explicit operator bool() const { return other != kBeforeAll; }
  };

  // `track_initialised` is off for host memory, which the host writes unseen. std::bad_alloc.
  Shadow(Trace& trace, size_t bytes, bool track_initialised);

  // Offset of the first byte of a range that was never written, kNone where all were.
  size_t first_uninitialised(size_t offset, size_t bytes) const {
    if (!initialised_) return kNone;
    if (bytes <= 8 && (offset & 7) + bytes <= 8) {  // within one byte of bits
      const unsigned need = ((1u << bytes) - 1) << (offset & 7);
      if ((initialised_[offset >> 3] & need) == need) return kNone;
    }
    return search_uninitialised(offset, bytes);
  }
  void set_initialised(size_t offset, size_t bytes);
  // A copy carries over what was written and what was not.
  void copy_initialised(size_t offset, const Shadow& from, size_t from_offset, size_t bytes);

  // Enters the access of an actor. Returns an access to the same bytes, one of both a write, that does not happen
  // before it; then nothing more is entered.
  Conflict read(const Actor& actor, size_t offset, size_t bytes) { return enter<false>(actor, offset, bytes); }
  Conflict write(const Actor& actor, size_t offset, size_t bytes) { return enter<true>(actor, offset, bytes); }

 private:
  struct Cell {
    Access32 writer, reader;
  };
  struct Free {
    void operator()(void* memory) const;
  };
  template <bool kWrite>
  Conflict enter(const Actor& actor, size_t offset, size_t bytes);
  template <bool kWrite>
  Conflict enter_cell(const Actor& actor, Cell& cell, size_t granule, unsigned byte_mask);
  size_t search_uninitialised(size_t offset, size_t bytes) const;

  Trace* trace_;
  std::unique_ptr<Cell[], Free> cells_;           // lazily zero
  std::unique_ptr<uint8_t[], Free> initialised_;  // a bit per byte, lowest first; null: all are
};

}  // namespace plait::sim
