// Lines of the PTX and CUDA texts, and where in them a statement stands.
#include "base/error.h"
#include "sim/ptx/text.h"

namespace plait::sim::ptx {

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

namespace {

constexpr std::string_view kSourceMark = "//cuda ";  // FILE|LINE

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The text of a line; empty where it is not known.
std::string_view cuda_line(const TextModule& module, const Location& place) {
  const auto file = module.files.find(place.file);
  auto lines = file == module.files.end() ? module.cuda_lines.end() : module.cuda_lines.find(file->second);
  if (lines == module.cuda_lines.end() && module.files.size() <= 1) lines = module.cuda_lines.find("");
  if (lines == module.cuda_lines.end() || place.line < 1) return {};
  const size_t index = static_cast<size_t>(place.line) - 1;
  return index < lines->second.size() ? trimmed(lines->second[index]) : std::string_view();
}

std::string describe_place(const TextModule& module, int index) {
  const Location& it = module.locations[index];
  const auto file = module.files.find(it.file);
  std::string out = fmt::format("CUDA line {}", it.line);
  if (module.files.size() > 1 && file != module.files.end()) out += fmt::format(" of {}", file->second);
  if (const std::string_view text = cuda_line(module, it); !text.empty()) out += fmt::format(": `{}`", text);
  return out;
}

}  // namespace

void find_cuda_lines(std::string_view cuda_text, TextModule& module) {
  for (const std::string& line : module.lines) {
    const size_t bar = line.find('|');
    if (line.compare(0, kSourceMark.size(), kSourceMark) != 0 || bar == line.npos) continue;
    module.cuda_lines[line.substr(kSourceMark.size(), bar - kSourceMark.size())].push_back(line.substr(bar + 1));
  }
  if (!cuda_text.empty()) module.cuda_lines[""] = split_lines(cuda_text);
}

std::string describe(const TextModule& module, const Statement& statement) {
  std::string out = fmt::format("PTX line {}: `{}`", statement.line, trimmed(module.lines[statement.line - 1]));
  std::string places;
  for (int at = statement.location; at >= 0; at = module.locations[at].parent) {
    if (module.locations[at].line == 0) continue;
    const std::string place = describe_place(module, at);
    places = places.empty() ? place : place + ", inlined " + places;
  }
  return places.empty() ? out : out + "\n  " + places;
}

}  // namespace plait::sim::ptx

namespace plait::sim {

std::string with_source(std::string_view ptx, std::string_view cuda_text, std::string_view file) {
  while (!ptx.empty() && ptx.back() == '\0') ptx.remove_suffix(1);
  std::string out(ptx);
  if (!out.empty() && out.back() != '\n') out += '\n';
  for (const std::string& line : ptx::split_lines(cuda_text))
    out += fmt::format("{}{}|{}\n", ptx::kSourceMark, file, line);
  return out;
}

}  // namespace plait::sim
