#pragma once
// Bugs that are planted to see that tests catch them: edits of what passes leave, and communicators that err.
#include <memory>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "compile/options.h"

namespace plait::testing {

// Wrong results, by name. Of the communicators' own are those that plant_bug() for communicators knows.
const std::vector<std::string_view>& planted_bugs();

// Plants a bug of that list in what is compiled with the options, or an internal error: `internal_error` in the first
// pass, `internal_error_PASS` in the pass of that name, `internal_error_bind` where sizes are bound,
// `internal_error_run` in a run, `internal_error_crash` a signal in the first pass. "": none.
// InternalError: there is none of that name.
void plant_bug(std::string_view bug, CompileOptions& options);

// The communicators with the bug, where it is one of theirs; else themselves.
std::shared_ptr<Communicators> plant_bug(std::string_view bug, std::shared_ptr<Communicators> comms);
bool is_of_communicators(std::string_view bug);

}  // namespace plait::testing
