#pragma once
#include <string>

#include "kir/kernel.h"

namespace plait::kir {

// What breaks an invariant of a statement that moves lanes (a Half, Transpose, Running or Shuffle) on a target; empty:
// nothing, and for statements of other kinds. Half has half its operand's lanes. Transpose belongs to target cpu,
// yields as many values as its operands, of one dtype and no fewer, have lanes, with a lane for each of those. Running
// belongs to target cpu, combines (combine_of) what has the dtype and lanes of the result with one lane of that dtype.
// Shuffle belongs to target cuda, takes one lane, by a power of two below kWarp.
std::string lanes_problem(const Stmt& stmt, TargetKind target);

}  // namespace plait::kir
