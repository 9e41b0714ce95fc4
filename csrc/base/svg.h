#pragma once
// Words of pictures in SVG.
#include <string>
#include <string_view>

namespace plait {

// For text and attributes.
std::string svg_escaped(std::string_view text);
// So much of a text as fits in `most` letters (at least 3); all of it is its title. `more`: attributes, with a blank in
// front.
std::string svg_text(int x, int y, const std::string& text, size_t most, const char* more = "");

}  // namespace plait
