#pragma once
// Questions about what was compiled, as the C ABI and Python ask them.
#include <string>
#include <vector>

#include "compile/pipeline.h"
#include "plait.h"
#include "segment/boundaries.h"

namespace plait {

// "{0: tp}" of a tensor by name, "{}" where it is not sharded. UserError: there is none of that name.
std::string layout_text(const Fusion& sharded, const std::string& tensor);
// Shape of a rank's piece of an output. UserError: no such output or rank.
const std::vector<int64_t>& local_shape(const Report& report, const std::string& output, int64_t rank);

// "21 launches of 11 kernels, 2 library calls, 1 collective"
std::string counts_text(const Report& report);
// Why the segments of the localized fusion are apart, with the sizes of the last run. UserError: nothing is compiled.
std::vector<Boundary> boundaries_of(const Compiled& compiled);

}  // namespace plait
