#pragma once
// `plait fmt`: the canonical layout of a file.
#include <string>
#include <string_view>

namespace plait {

// format_text() (ir/format.h) of a fusion or a program. UserError with `file`:line:column where it does not parse.
std::string format_source(std::string_view text, const std::string& file = "<text>");

}  // namespace plait
