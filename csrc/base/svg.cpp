#include "base/svg.h"

#include <fmt/core.h>

namespace plait {

std::string svg_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_text(int x, int y, const std::string& text, size_t most, const char* more) {
  const bool fits = text.size() <= most;
  const std::string shown = fits ? text : text.substr(0, most - 3) + "...";
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}{}</text>\n", x, y, more, svg_escaped(shown),
                     fits ? "" : "<title>" + svg_escaped(text) + "</title>");
}

}  // namespace plait
