#include "support/examples.h"

#include <fstream>
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

}  // namespace plait::testing
