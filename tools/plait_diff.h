#pragma once
// The unified diff of a text and its layout.
#include <string>
#include <string_view>

namespace plait::tool {

// As `diff -u` prints it, in linear time, of two texts with the same signs but blanks; empty where they are equal.
std::string unified_diff(const std::string& name, std::string_view before, std::string_view after);

}  // namespace plait::tool
