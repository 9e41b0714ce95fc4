#pragma once
// The fusions of tests/fusions.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace plait::testing {

struct FusionFile {
  std::string name, text;
  std::map<std::string, std::string, std::less<>> small;  // sizes of its line `# small rows = 5, n = 37`
};

// Throws std::runtime_error where the file lacks that line.
FusionFile read_fusion(const std::filesystem::path& file);
// All of the folder, by name.
std::vector<FusionFile> read_fusions(const std::filesystem::path& folder);

}  // namespace plait::testing
