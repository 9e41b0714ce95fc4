#pragma once
// Lines of the shell in which the command is used, in a folder of their own.
#include <gtest/gtest.h>

#include "command/run_command.h"

namespace plait::testing {

// $plait is the command, $mlp a program of two kernels; kernels are kept in the folder `cache` beside the lines.
class ShellTest : public ::testing::Test {
 protected:
  CommandResult shell(const std::string& line);
  std::string cache() const { return scratch_ / "cache"; }
  // Of what is printed, on both ways.
  void expect_says(const std::string& line, const std::string& text, bool says = true, int exit = 0);
  void expect_refuses(const std::string& line, const std::string& text) { expect_says(line, text, true, 1); }

  ScratchFolder scratch_;
};

}  // namespace plait::testing
