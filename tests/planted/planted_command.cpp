// The command `plait` with the bug that PLAIT_TEST_BUG names (tests/support/planted_bugs.h); without one, as it is.
#include <cstdlib>

#include "plait_command.h"
#include "support/planted_bugs.h"

int main(int argc, char** argv) {
  const char* bug = std::getenv("PLAIT_TEST_BUG");
  return plait::tool::command(
      argc, argv, [&](plait::CompileOptions& options) { plait::testing::plant_bug(bug ? bug : "", options); });
}
