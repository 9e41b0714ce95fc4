#pragma once
// A process of `plait run` as a rank of a job: what it owes its launcher, and faults for tests.
#include <cstdint>
#include <string_view>

namespace plait::tool {

// First thing in main(), before threads: a process that `plait launch` started splits into a keeper, which reports how
// the rank ends, and the rank, which returns from here. Other processes just return. UserError: PLAIT_FAULT cannot be
// read.
void become_rank();

// Goes on as another program; `words`: its name and arguments. UserError: it cannot be started.
[[noreturn]] void become_program(char* const* words);

// Whether enter_step does anything: callers need not make texts else.
bool watches_steps();
// The rank comes to a step of the program, whose text is kept for the launcher; PLAIT_FAULT=RANK:STEP:kill|hang|throw
// acts here, at that step or the first after it. CommError: the fault is a throw.
void enter_step(int64_t rank, int64_t step, std::string_view text);

// The rank has no step of the program before it any more and does this; the launcher sees no hang in it.
void leave_steps(int64_t rank, std::string_view what);

}  // namespace plait::tool
