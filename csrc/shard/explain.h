#pragma once
// What sharding decided, for people (`plait explain FILE --shard`).
#include <string>

#include "ir/fusion.h"

namespace plait {

// A table of tensor, type, layout and reason, of all but those that reshards make; after insert_reshards also one line
// per step of a reshard: the layout that it makes, the bytes of the global tensor that it is about, and its cause (the
// op that asked, who won a conflict), and one per op that ranks merge from parts, with the bytes that each gives. Ends
// with the number of collectives. Extents at their `let` defaults where they have some, else as text.
std::string explain_sharding(const Fusion& fusion);

}  // namespace plait
