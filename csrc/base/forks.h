#pragma once
// What a process that was forked (without exec) has lost: the threads of its parent, and what they would have done.
#include <cstdint>

namespace plait {

// How many forks lie between the process that loaded plait and this one. Threads that were started at another count are
// not here, and what waited for them must not be waited for, nor destroyed.
uint64_t fork_count();

// Whether one of those forks found GNU OpenMP loaded: its teams may have lost their threads, and using them would hang.
bool lost_openmp();

// Keeps what belongs to the parent and may here be neither used nor destroyed: threads that are waited for, their
// locks.
void leave_behind(const void* what);

}  // namespace plait
