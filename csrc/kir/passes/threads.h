#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Wants: threads loops, all of one extent. Leaves: a thread_x loop in the innermost block_* loop, around all that
// stands there. A threads loop is its body, once per thread; what stands outside of them is computed by each thread,
// and stored by the first one. A state into which threads loops accumulate is one per thread, and its Fold goes over
// all of them; what goes into it outside of threads loops goes into that of the first thread. Kernels without are not
// changed.
void threads(Kernel& kernel);

}  // namespace plait::kir
