#pragma once
// The programs of docs/examples.
#include <string>

namespace plait::testing {

// Text of docs/examples/NAME.plait. InternalError where there is no such file.
std::string example(const std::string& name);

}  // namespace plait::testing
