// The unified diff of a text and its layout.
#include "plait_diff.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace plait::tool {

namespace {

constexpr size_t kContext = 3;  // lines around a change

// With their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

size_t signs_of(std::string_view line) {
  return size_t(std::count_if(line.begin(), line.end(), [](char c) { return c != ' ' && c > '\r'; }));
}

struct DiffLine {
  char mark;  // ' ', '-' or '+'
  std::string_view text;
};

// Both texts, line by line. Where they have had as many signs they are at the same word: from there to the next such
// place the lines are equal, or all replaced.
std::vector<DiffLine> merge_lines(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::vector<DiffLine> out;
  for (size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    if (i < a.size() && k < b.size() && a[i] == b[k]) {
      out.push_back({' ', a[i]});
      ++i, ++k;
      continue;
    }
    size_t left = 0, right = 0;  // signs
    do {
      const bool blank = k < b.size() && left == right && signs_of(b[k]) == 0;
      if (i < a.size() && left <= right && !blank) {
        left += signs_of(a[i]);
        out.push_back({'-', a[i++]});
      } else {
        right += signs_of(b[k]);
        out.push_back({'+', b[k++]});
      }
    } while (left != right);
  }
  const auto changed = [](const DiffLine& line) { return line.mark != ' '; };
  for (auto begin = out.begin(); (begin = std::find_if(begin, out.end(), changed)) != out.end();) {
    const auto end = std::find_if_not(begin, out.end(), changed);
    std::stable_partition(begin, end, [](const DiffLine& line) { return line.mark == '-'; });
    begin = end;
  }
  return out;
}

void add_line(std::string& out, const DiffLine& line) {
  out += line.mark;
  out += line.text;
  if (!line.text.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range_text(size_t begin, size_t count) {
  const size_t first = count == 0 ? begin : begin + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

}  // namespace

std::string unified_diff(const std::string& name, std::string_view before, std::string_view after) {
  const std::vector<DiffLine> lines = merge_lines(before, after);
  std::string out;
  size_t at = 0, old_line = 0, new_line = 0;  // lines of each text before `at`
  const auto changed = [&](const DiffLine& line) { return line.mark != ' '; };
  for (;;) {
    const size_t change = size_t(std::find_if(lines.begin() + long(at), lines.end(), changed) - lines.begin());
    if (change == lines.size()) break;
    const size_t begin = change - std::min(change - at, kContext);
    old_line += begin - at, new_line += begin - at;
    size_t last = change;  // of this hunk's changes
    for (size_t i = change; i < lines.size() && i <= last + 2 * kContext; ++i)
      if (changed(lines[i])) last = i;
    const size_t end = std::min(lines.size(), last + 1 + kContext);
    const auto first = lines.begin() + long(begin), behind = lines.begin() + long(end);
    const size_t old_count = size_t(std::count_if(first, behind, [](const auto& l) { return l.mark != '+'; }));
    const size_t new_count = size_t(std::count_if(first, behind, [](const auto& l) { return l.mark != '-'; }));
    if (out.empty()) out = fmt::format("--- {}\n+++ {}\n", name, name);
    out += fmt::format("@@ -{} +{} @@\n", range_text(old_line, old_count), range_text(new_line, new_count));
    for (auto line = first; line != behind; ++line) add_line(out, *line);
    old_line += old_count, new_line += new_count;
    at = end;
  }
  return out;
}

}  // namespace plait::tool
