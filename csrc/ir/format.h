#pragma once
// The canonical layout of the text of a fusion or a program.
#include <string>
#include <string_view>

namespace plait {

// The text with other blanks and line breaks: two blanks for each level, one statement a line, comments behind code two
// blanks away, at most one empty line in a row. Words and comments are the same in the same order. What print() gives
// stays as it is. Requires a text that parses; takes time linear in its size. A list that begins on the line below its
// bracket has an item on each line; lines break where they did if the statement would pass kFormatColumns.
std::string format_text(std::string_view text);

inline constexpr size_t kFormatColumns = 120;

}  // namespace plait
