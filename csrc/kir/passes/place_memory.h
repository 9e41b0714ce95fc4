#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// The elements of a buffer that a thread of a block has as its own: index = at_zero + step * thread, threads counted
// along x and, where the index depends on y, along that as well; at_zero is `all` from one turn of theirs to the next.
struct OwnPlace {
  sym::Expr at_zero;
  int64_t step = 0, all = 0;
};
// Nothing where an index meets elements of several threads. `y`: may be null.
std::optional<OwnPlace> own_place(sym::Expr index, sym::Expr x, int64_t threads_x, sym::Expr y, int64_t threads_y);

// Wants: threads and threads_y loops. Leaves: a stack buffer that comes to life outside of such loops and of which one
// thread meets what another one wrote, or that copies write, lies in shared memory. Others stay for pass `threads`.
void place_memory(Kernel& kernel);

}  // namespace plait::kir
