#pragma once
// What `plait help` is made of.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait::tool {

struct Example {
  std::string_view command, line, does;
};
// The first of each command stands in the overview.
std::span<const Example> examples();

struct Topic {
  std::string_view name, does;
  std::string (*text)();
};
std::span<const Topic> topics();

// The options of the compiler as a table.
std::string options_text();

// Ops that users write, in the order of their names.
std::vector<std::string> op_words();
// Their names by what they are.
std::string ops_text();
// Signature, meaning and parameters.
std::string op_text(const std::string& name);

// The manual page plait.1.
std::string manual_page();

}  // namespace plait::tool
