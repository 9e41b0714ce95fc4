#pragma once
// Pass over a program: gathers of what is there from the start begin before they are needed.
//
// Requires: a program without records and waits. Ensures: of collectives that read inputs, or what such collectives
// made, each stands in front of the first reader of the one before it, so that it is under way while that one's readers
// run; at most one is ahead. All other steps keep their order. Here, before assign_streams: an order of the list is one
// that all ranks share.
#include "program/program.h"

namespace plait {

void prefetch(Program& program);

// Whether a step is a collective all of whose operands are `early`; what it makes then is, too. Inputs are to begin
// with.
bool is_early(const Step& step, const std::vector<bool>& early);
std::vector<bool> inputs_are_early(const Program& program);

}  // namespace plait
