#include "support/examples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/error.h"

namespace plait::testing {

std::string example(const std::string& name) {
  const std::string path = fmt::format("{}/docs/examples/{}.plait", PLAIT_SOURCE_DIR, name);
  std::ifstream in(path, std::ios::binary);
  PLAIT_CHECK(in.good(), "{} cannot be read", path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<ShardedExample> sharded_examples() {
  std::vector<ShardedExample> out;
  const std::regex header("# ranks (\\d+), collectives (\\d+), bytes (\\d+)\n");
  for (const auto& entry : std::filesystem::directory_iterator(PLAIT_SOURCE_DIR "/docs/examples/sharded")) {
    const std::string name = entry.path().stem(), text = example("sharded/" + name);
    std::smatch found;
    PLAIT_CHECK(std::regex_search(text, found, header), "{} says not what it moves", name);
    out.push_back({name, text, std::stoll(found[1]), std::stoll(found[2]), std::stoll(found[3])});
  }
  std::ranges::sort(out, {}, &ShardedExample::name);
  return out;
}

}  // namespace plait::testing
