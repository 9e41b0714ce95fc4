#pragma once
// What the collectives of a program move, for people (`plait explain FILE --shard`).
#include <string>

#include "run/rank_values.h"

namespace plait {

// A row for each collective of the program by its step, with the bytes that a rank takes from others at most, and those
// of all ranks together; the sums; or `no collective`. What the communicators count (CommTraffic).
// Errors as of RankValues::value().
std::string explain_wire(const Program& program, RankValues& values);

}  // namespace plait
