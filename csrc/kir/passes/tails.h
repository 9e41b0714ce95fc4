#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Takes conditions `affine < bound` that cut vectors out of the way of whole vectors. Of a serial loop around loops of
// kind lanes or marked `unroll`, the iterations in which the conditions hold for all inner iterations run first,
// without them; one tail follows, where anything is left, with what is left as the bound: `lane < rest`. Loops marked
// `unroll` run one by one in a tail, so that theirs is whole vectors and one cut vector again; those that only fill
// registers of their own run whole (tail_rows.h). A loop whose body does
// nothing but under such a condition ends where it does. Where no serial loop is around (the tasks of a phase stay one
// loop), the vectors stand twice, under the condition that they are whole and under its opposite, unless what is
// left is whole vectors. A loop in which threads of a block wait for each other stays as it is. Conditions that end
// neither the loop nor its work (where a part of a cat is read) stay: `vectorize` asks them per vector.
// Requires: what verify() checks. Ensures: the same stores; conditions that are left over are those of tails, and those
// that are not affine with constant steps, which `vectorize` knows how to guard. Running it again changes nothing more
// than conditions it left. Why here: behind `begins`, while a loop still is one loop and its conditions stand as
// they were emitted; `unroll` and `vectorize` then see bodies without conditions.
void tails(Kernel& kernel);

}  // namespace plait::kir
