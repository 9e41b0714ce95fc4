#pragma once
// Words and tables for people.
#include <cstdint>
#include <string>
#include <vector>

namespace plait {

// Lines of cells with aligned columns, two blanks between them.
std::string table(const std::vector<std::vector<std::string>>& rows);

// `512 B`, `1.5 KiB`, `96 MiB`: three digits.
std::string bytes_text(int64_t bytes);

}  // namespace plait
