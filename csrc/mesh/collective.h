#pragma once
// The collectives: one description for ops, reshard plans, steps of programs, communicators and costs.
#include <cstdint>
#include <string_view>

namespace plait {

// What the members of a team do together; meaning: mesh/collectives.def.
enum class Collective : uint8_t {
#define X(name, ...) name,
#include "mesh/collectives.def"
#undef X
};
// All of them, in the order of the enum.
inline constexpr Collective kCollectives[] = {
#define X(name, ...) Collective::name,
#include "mesh/collectives.def"
#undef X
};

// What a member holds of a tensor: all of it, or its piece along one dim.
enum class Held : uint8_t { whole, piece };

// A row of the table of collectives.
struct CollectiveInfo {
  std::string_view name;  // as ops and steps are written: `all_reduce`
  Held takes, gives;      // a member holds all of the tensor, or its piece along one dim
  bool reduces;           // values of the members become one
  int64_t gathers;        // least bytes on the wire, in those of an all-gather
  // It moves pieces along one dim, of which members may have different counts.
  constexpr bool has_pieces() const { return takes == Held::piece || gives == Held::piece; }
  // Members give each other parts of their pieces.
  constexpr bool exchanges() const { return takes == Held::piece && gives == Held::piece; }
};

// The row of a collective.
constexpr CollectiveInfo info(Collective collective) {
  switch (collective) {
#define X(name, takes, gives, reduces, gathers) \
  case Collective::name:                        \
    return {#name, Held::takes, Held::gives, reduces, gathers};
#include "mesh/collectives.def"
#undef X
  }
  __builtin_unreachable();
}

// Its word in the text.
constexpr std::string_view name(Collective collective) { return info(collective).name; }

// Bytes that a team of `members` takes from each other at least, for a whole tensor of `bytes`.
constexpr int64_t least_wire_bytes(Collective collective, int64_t members, int64_t bytes) {
  const int64_t all = info(collective).gathers * (members - 1) * bytes;
  return info(collective).exchanges() ? all / members : all;
}

}  // namespace plait
