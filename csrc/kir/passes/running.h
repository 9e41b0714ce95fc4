#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// A serial loop of a CPU that carries sums, products, greatest or least elements from one iteration to the next becomes
// vectors: a loop on lanes computes what goes into each, Running combines them, a loop on lanes does with the results
// what the loop did. Stack buffers lie between the three. Where only the first elements may be there, the loop stays
// for fewer than all. Wants: a loop over a power of two from kRunningGroup to kMostRunning, with nothing within but
// statements, or one condition around all of them; each variable from outside that it assigns is combined once with
// what does not depend on any of them, assigned at once, and read behind that, in any order with the same
// result but for rounding: integers, extremes, sums in f64 of what is narrower. A sum that nobody reads in the loop is
// a reduction, whose order is its own. Ensures: the same values, sums and products in the order of Running. Why here:
// loops and conditions are as emitted, and loops on lanes are loops still.
void running(Kernel& kernel);

inline constexpr int64_t kMostRunning = 64;

}  // namespace plait::kir
