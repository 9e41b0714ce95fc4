#include "codegen/cuda/helpers.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "codegen/device_files.h"

namespace plait::codegen::cuda {
namespace {

constexpr std::string_view kNeeds = "// needs ";

std::string_view file_text(std::string_view name) {
  for (const DeviceFile& file : kDeviceFiles)
    if (file.name.substr(0, file.name.rfind('.')) == name) return file.text;
  PLAIT_CHECK(false, "no device file is named {}", name);
  return {};
}

// Splits off the first line `// needs a b`, if there is one.
std::vector<std::string_view> split_needs(std::string_view& text) {
  std::vector<std::string_view> needs;
  if (text.substr(0, kNeeds.size()) != kNeeds) return needs;
  std::string_view line = text.substr(kNeeds.size(), text.find('\n') - kNeeds.size());
  text.remove_prefix(text.find('\n') + 1);
  while (!line.empty()) {
    const size_t space = std::min(line.find(' '), line.size());
    needs.push_back(line.substr(0, space));
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  return needs;
}

void append(std::string_view name, std::set<std::string, std::less<>>& done, std::string& out) {
  if (!done.emplace(name).second) return;
  std::string_view text = file_text(name);
  for (std::string_view needed : split_needs(text)) append(needed, done, out);
  out.append(text).append("\n");
}

}  // namespace

void Helpers::need(std::string_view name) {
  file_text(name);
  names_.emplace(name);
}

std::string Helpers::text() const {
  std::string out;
  std::set<std::string, std::less<>> done;
  for (const std::string& name : names_) append(name, done, out);
  return out;
}

}  // namespace plait::codegen::cuda
