#pragma once
// Why things are where they are, as text: `plait explain`, Program.explain().
#include <string>
#include <string_view>
#include <vector>

#include "plait.h"

namespace plait {

// `overview`: the whole on one screen (api/overview.h); `shard`: layouts, their reasons, what moves; `segments`: what
// became one step, and at each boundary who refused to compute both sides; `schedule`: schedules and kernels; `cache`:
// the facts within which nothing recompiles; `memory`: bytes of the ranks, and what is alive at the peak. All end with
// a line. UserError: nothing is compiled, another word.
std::string explain(const Compiled& compiled, std::string_view what);

// A row for each kernel.
std::string kernel_table(const std::vector<KernelReport>& kernels);

}  // namespace plait
