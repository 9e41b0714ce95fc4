#pragma once
// Relations between classes of axes, and what a step along one means.
//
//   fold  (o, i, w)  |w| = |o||i|   w = o*|i| + i          a merge and an exact split are the same relation
//   cover (o, i, w)  |w| < |o||i|   w = o*|i| + i < |w|    a split that leaves a hole
//   shift (w, o, l)  any extents    o = w + l              pad, slice, cat, halo
#include <cstdint>

#include "sym/expr.h"

namespace plait {

enum class RelationKind : uint8_t { fold, cover, shift };

// A step along a relation: `up` gives the whole from both parts (from the outer class of a shift), `down` a part from
// the whole.
enum class Direction : uint8_t { up, down };

struct Relation {
  RelationKind kind = RelationKind::fold;
  int outer = -1, inner = -1, whole = -1;  // classes, by any of their members; a shift has no inner
  sym::Expr low = {};                      // of a shift
  bool dead = false;                       // another live relation states the same fact
  // Of a shift, by direction: what its extents prove.
  bool shift_covers[2] = {false, false}, shift_total[2] = {false, false};
};

// The three questions differ. `covers`: the step reaches every value of its target. `total`: every value of the source
// lands inside the target. `lossy`: it may leave the target's range, so that the use needs a predicate.
constexpr bool covers(const Relation& r, Direction d) {
  if (r.kind == RelationKind::shift) return r.shift_covers[static_cast<int>(d)];
  return r.kind == RelationKind::fold || d == Direction::up;
}
constexpr bool total(const Relation& r, Direction d) {
  if (r.kind == RelationKind::shift) return r.shift_total[static_cast<int>(d)];
  return r.kind == RelationKind::fold || d == Direction::down;
}
constexpr bool lossy(const Relation& r, Direction d) { return !total(r, d); }

}  // namespace plait
