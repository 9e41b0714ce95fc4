#include "support/fusion_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace plait::testing {

namespace {

// "rows = 5, n = 37"
std::map<std::string, std::string, std::less<>> settings(const std::string& text) {
  std::map<std::string, std::string, std::less<>> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    std::istringstream parts(word);
    std::string name, equals, value;
    parts >> name >> equals >> value;
    if (equals != "=" || value.empty()) throw std::runtime_error("`" + text + "` is no list of sizes");
    out[name] = value;
  }
  return out;
}

}  // namespace

FusionFile read_fusion(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  FusionFile out{file.stem().string(), text.str(), {}};
  std::istringstream lines(out.text);
  for (std::string line; std::getline(lines, line) && line.rfind("# ", 0) == 0;)
    if (line.rfind("# small ", 0) == 0) out.small = settings(line.substr(8));
  if (out.small.empty())
    throw std::runtime_error(fmt::format("{} lacks its line `# small size = number, ...`", file.string()));
  return out;
}

std::vector<FusionFile> read_fusions(const std::filesystem::path& folder) {
  std::vector<FusionFile> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".plait") out.push_back(read_fusion(entry.path()));
  std::sort(out.begin(), out.end(), [](const FusionFile& a, const FusionFile& b) { return a.name < b.name; });
  return out;
}

}  // namespace plait::testing
