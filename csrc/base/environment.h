#pragma once
// The one place that reads environment variables.
#include <optional>
#include <string>

namespace plait {

// Value of an environment variable; nothing where it is not set or empty.
std::optional<std::string> environment(const char* name);

}  // namespace plait
