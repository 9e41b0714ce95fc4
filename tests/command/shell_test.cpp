#include "command/shell_test.h"

namespace plait::testing {

CommandResult ShellTest::shell(const std::string& line) {
  const std::filesystem::path tree = PLAIT_SOURCE_DIR, build = PLAIT_BINARY_DIR;
  const std::string given = "unset PLAIT_CACHE_MIB; export PLAIT_CACHE_DIR=" + cache() +
                            "; plait=" + (build / "plait").string() +
                            "; mlp=" + (tree / "docs/examples/tp_mlp.plait").string() + "; ";
  return run_words({"/bin/bash", "-c", given + line}, scratch_.path());
}

void ShellTest::expect_says(const std::string& line, const std::string& text, bool says, int exit) {
  const CommandResult result = shell(line);
  const std::string printed = result.out + result.err;
  EXPECT_EQ(result.exit, exit) << line << '\n' << printed;
  EXPECT_EQ(printed.find(text) != std::string::npos, says) << line << '\n' << printed;
}

}  // namespace plait::testing
