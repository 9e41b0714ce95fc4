#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Of a serial loop of a GPU's thread that reads arguments in its own index, several iterations read before any of them
// goes on, so that as much is under way at once: the loads of kAhead iterations, each under the condition of its own (0
// where it does not hold), then what else the iterations do, under theirs. Loops of a few iterations go whole, others
// by so many. Of what a loop reads at most kBytesAhead are under way for a thread. Stay as they are: loops of a known
// number of iterations without conditions, which compilers open and order themselves; loops
// whose iterations read something that is the same for all; loops in which threads meet each
// other or report; loads of what the kernel writes, that run backwards, or whose place is read from memory. Requires:
// what verify() checks. Ensures: the same stores, each iteration's in its turn. Why here: loads are vectors, `hoist`
// moves their places.
void load_ahead(Kernel& kernel);

inline constexpr int64_t kAhead = 4;            // iterations of a loop of any number
inline constexpr int64_t kMostAhead = 8;        // of a loop of at most so many
inline constexpr int64_t kBytesAhead = 64;      // in registers, which a thread has few of
inline constexpr int64_t kMostStatements = 96;  // of an iteration, which stands several times

}  // namespace plait::kir
