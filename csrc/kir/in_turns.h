#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Two phases of a GPU's kernel, one behind the other, become one launch where both have the same blocks and threads,
// and a block of the later one reads, of what the earlier one writes, only what blocks in front of it in block_x, alike
// in their other numbers, wrote to workspaces: proven of every such load by a condition or loop around it. Each block
// does the work of the earlier phase, waits for those (Await), and does that of the later one. Ensures: the same
// values. Requires: no phase is beside another one. Why here: statements are final, and phases are known to be
// launches.
void run_in_turns(Kernel& kernel);

}  // namespace plait::kir
