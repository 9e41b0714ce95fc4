#pragma once
// What lies in the memory of a rank, step by step (`plait explain FILE --memory`).
#include <string>

#include "run/binding.h"

namespace plait {

// Most kinds of ranks, and buffers of each, that are drawn; a line says how many more there are.
inline constexpr size_t kMostDrawnClasses = 4, kMostDrawnBuffers = 2000;

// For ranks that have the same: the bytes of arena, inputs and outputs, the step at which most temporaries are alive,
// and these, the largest first. Errors as of bind_ranks().
std::string explain_memory(const Program& program, RankValues& values);

// SVG that needs nothing else, for light and dark: for each kind of ranks what is alive at every step, and where in the
// arena, with the peak marked and named.
std::string memory_picture(const Program& program, RankValues& values);

}  // namespace plait
