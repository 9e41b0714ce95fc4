#pragma once
// A compiled program on one screen (`plait explain FILE`).
#include <string>

#include "plait.h"

namespace plait {

// Most steps that are listed; a line says how many more there are.
inline constexpr size_t kMostListedSteps = 24;

// What goes in and out, where it runs, counts, bytes beside the least, memory; a line for each step that works, with
// the ops that it computes; why there are not fewer, by reason. Numbers of rank 0 with the sizes of the last run.
// UserError: nothing is compiled.
std::string overview(const Compiled& compiled);

}  // namespace plait
