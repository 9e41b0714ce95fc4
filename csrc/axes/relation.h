#pragma once
// Relations between classes of axes, and what a step along one means.
//
//   fold  (o, i, w)  |w| = |o||i|   w = o*|i| + i          a merge and an exact split are the same relation
//   cover (o, i, w)  |w| < |o||i|   w = o*|i| + i < |w|    a split that leaves a hole
//   shift (w, o, l)  any extents    o = w + l              pad, slice, cat, halo: reserved, no op makes one yet
#include <cstdint>

namespace plait {

enum class RelationKind : uint8_t { fold, cover, shift };

struct Relation {
  RelationKind kind = RelationKind::fold;
  int outer = -1, inner = -1, whole = -1;  // classes, by any of their members
  bool dead = false;                       // another live relation states the same fact
};

// A step along a relation: `up` gives the whole from both parts, `down` a part from the whole.
enum class Direction : uint8_t { up, down };

// The three questions differ. `covers`: the step reaches every value of its target. `total`: every value of the source
// lands inside the target. `lossy`: it may leave the target's range, so that the use needs a predicate.
constexpr bool covers(RelationKind kind, Direction d) { return kind == RelationKind::fold || d == Direction::up; }
constexpr bool total(RelationKind kind, Direction d) { return kind == RelationKind::fold || d == Direction::down; }
constexpr bool lossy(RelationKind kind, Direction d) { return !total(kind, d); }

}  // namespace plait
