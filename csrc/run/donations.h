#pragma once
// Which outputs of a program may lie in the memory of inputs that the caller gives up.
#include <cstdint>
#include <vector>

#include "program/program.h"
#include "run/binding.h"

namespace plait {

// By input of the program, the outputs, by position, that may take its memory: of as many bytes on this rank, more than
// none, and first written when all that read the input are done. Not inputs in whose place an output lies, and not such
// outputs.
std::vector<std::vector<size_t>> possible_donations(const Program& program, const RankBinding& binding);

}  // namespace plait
