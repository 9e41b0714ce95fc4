// Work that may take over a second tells so on a terminal: compilations, also of one kernel and for GPUs, checks.
#include "base/progress.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "api/check_program.h"
#include "api/tune.h"
#include "reference/draw_inputs.h"
#include "support/on_terminal.h"
#include "support/run_case.h"

namespace plait {
namespace {

using ::testing::HasSubstr;
using testing::on_terminal;

constexpr const char* kTwoKernels =
    "fusion @two (%x: f32[40, 300]) -> (%y, %z) {\n  %y = softmax(%x, dim = 1)\n"
    "  %z = sum(exp(%y), dims = [0])\n}\n";
constexpr const char* kOneKernel = "fusion @one (%x: f32[40, 300]) -> (%y) {\n  %y = softmax(%x, dim = 1)\n}\n";

class ProgressOf : public ::testing::Test {
 protected:
  void SetUp() override { setenv("TERM", "xterm", 1); }
  void TearDown() override { show_progress(false); }

  // Of work on such a program, which is compiled anew, as if each of its steps took long.
  static std::string shown(const char* text, const char* device, bool check = false) {
    const auto fusion = parse_fusion(text);
    CompileOptions options{.device = device};
    options.options.disk_cache = false;
    const auto drawn = reference::draw_inputs(*fusion, {});
    const Tensors inputs{drawn.begin(), drawn.end()};
    return on_terminal([&](int file) {
      using std::chrono::milliseconds;
      if (!check) show_progress(true, {file, milliseconds(0), milliseconds(1)});
      Compiled program = compile(*fusion, options);
      const Tensors outputs = program.run(inputs);
      show_progress(true, {file, milliseconds(0), milliseconds(1)});
      if (check) check_program(*fusion, options, program, inputs, outputs);
      show_progress(false);
    });
  }
};

TEST_F(ProgressOf, KernelsOnTheCpu) {
  if (const auto why = testing::why_no_device("cpu"); !why.empty()) GTEST_SKIP() << why;
  const std::string text = shown(kTwoKernels, "cpu");
  EXPECT_THAT(text, HasSubstr("\rcompiling @two: 1 of 2 kernels\x1b[K"));
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
  EXPECT_THAT(shown(kOneKernel, "cpu"), HasSubstr("\rcompiling @one\x1b[K"));
}

TEST_F(ProgressOf, KernelsOnGpus) {
  if (const auto why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  EXPECT_THAT(shown(kTwoKernels, "sim:sm_80"), HasSubstr("\rcompiling @two: 2 kernels\x1b[K"));
  EXPECT_THAT(shown(kOneKernel, "sim:sm_80"), HasSubstr("\rcompiling @one: 1 kernel\x1b[K"));
}

TEST_F(ProgressOf, Checks) {
  const std::string text =
      shown("fusion @wide (%x: f32[1000, 2000]) -> (%y) {\n  %y = tan(%x)\n}\n", "reference", true);
  EXPECT_THAT(text, HasSubstr("\rchecking @wide\x1b[K"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("compiling")));
}

TEST(TextOf, ATuning) {
  EXPECT_EQ(text_of({.generation = 2, .program = 3, .programs = 16, .compiles = true, .seconds = 4.6}, 60),
            "generation 2: compiling 4 of 16, 5 of 60 s");
  EXPECT_EQ(text_of({.programs = 1}, 0.4), "generation 1: measuring 1 of 1, 0 of 0 s");
}

}  // namespace
}  // namespace plait
