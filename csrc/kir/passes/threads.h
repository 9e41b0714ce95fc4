#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Wants: threads and threads_y loops, all of a kind of one extent. Leaves: a thread_y and, within, a thread_x loop in
// the innermost block_* loop, around all that stands there. A threads loop is its body, once per thread; what stands
// outside of those of a kind is computed by each thread, and stored by the first one of that dim. A state into which
// threads loops accumulate is one per thread, and its Fold outside of them goes over their dim; what goes into it
// outside of threads loops goes into that of the first thread. A condition that differs between threads, around a Fold
// of all of them or a Prefix, goes to the statements that touch memory. A stack buffer that threads loops meet is each
// thread's own, of the elements that its iterations meet, which must be no other thread's. Of other memory the schedule
// says that threads meet no element of each other. Fewer threads than a warp are filled up where they fold. Kernels
// without are not changed.
void threads(Kernel& kernel);

}  // namespace plait::kir
