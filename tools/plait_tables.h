#pragma once
// Tables that help, the manual page and the documents show.
#include <span>
#include <string>
#include <string_view>

namespace plait::tool {

struct ExitCode {
  int code;
  std::string_view brief, means, mends;  // mends: who
};
std::span<const ExitCode> exit_codes();
// All of them in one sentence.
std::string exit_code_line();

struct EnvironmentVariable {
  std::string_view name, does;
};
// Those that plait reads.
std::span<const EnvironmentVariable> environment_variables();

// `text` with indented lines of at most `columns`, the first at `indent` too. Keeps its line breaks.
std::string wrapped(std::string_view text, size_t indent, size_t columns = 100);

}  // namespace plait::tool
