// Kernels of GPUs whose threads have several rows, or a place in each piece of a row, so that operands which come again
// are read once: at the boundaries of both, in all widths, chosen and by hand.
#include <gtest/gtest.h>

#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::run_case;

struct RepeatCase {
  const char* name;
  const char* inputs;
  const char* body;
  int along;           // a dim whose rows share operands
  int split;           // where rows begin
  int64_t pieces = 1;  // of a row
};

const RepeatCase kRepeats[] = {
    {"bias", "%x: T[m, n], %w: T[n]", "  %y = mul(add(%x, broadcast(%w, shape = [m, n], dims = [1])), %x)\n", 0, 1},
    {"heads", "%x: T[2, m, 3, n], %w: T[3, n], %v: T[2, 1, 3, 1]", "  %y = add(mul(%x, %w), %v)\n", 1, 3},
    {"batches", "%x: T[m, 2, n], %w: T[2, n]", "  %y = sub(%w, %x)\n", 0, 2},
    {"turned", "%x: T[n, m, 3], %w: T[n]",
     "  %y = add(permute(%x, dims = [1, 2, 0]), broadcast(%w, shape = [m, 3, n], dims = [2]))\n", 0, 2},
    {"padded", "%x: T[m, n], %w: T[n]",
     "  %p = pad(%x, low = [1, 0], high = [2, 0], value = 3)\n  %y = add(%p, broadcast(%w, shape = [m + 3, n], dims = "
     "[1]))\n",
     0, 1},
    {"rope", "%x: T[2, m, 3, 32], %w: T[3, 32], %v: T[3, 32]", "  %y = rope(%x, %w, %v)\n", 1, 3, 2},
    {"halves", "%x: T[m, 32], %w: T[32], %v: T[32]",
     "  %a = slice(%x, dim = 1, start = 16, stop = 32)\n  %b = slice(%x, dim = 1, start = 0, stop = 16)\n"
     "  %r = cat(neg(%a), %b, dim = 1)\n  %y = add(mul(%x, broadcast(%w, shape = [m, 32], dims = [1])), mul(%r, "
     "broadcast(%v, shape = [m, 32], dims = [1])))\n",
     0, 1, 2},
};

std::string text_of(const RepeatCase& c, const std::string& dtype, const std::string& numbers) {
  const std::string head = fmt::format("let T = {}, m = 1, n = 1\nfusion @f ({}) -> (%y) {{\n", dtype, c.inputs);
  const auto fusion = parse_fusion(head + c.body + "}\n");
  std::string names;
  for (const TensorView* t : fusion->inputs()) names += (names.empty() ? "%" : ", %") + t->name;
  return fmt::format("{} segment @s ({}) -> (%y) schedule pointwise({}) {{\n{} }}\n}}\n", head, names, numbers, c.body);
}

void check(const RepeatCase& c, const std::string& dtype, const std::string& device, const std::string& numbers,
           int64_t m, int64_t n) {
  SCOPED_TRACE(fmt::format("{} of {} on {}, {}, m = {}, n = {}", c.name, dtype, device, numbers, m, n));
  CaseOptions how;
  how.device = device;
  how.compare_one_rank = false;
  how.set = {{"m", std::to_string(m)}, {"n", std::to_string(n)}};
  const auto result = run_case(text_of(c, dtype, numbers), how);
  EXPECT_TRUE(result.ok) << result.message;
  ASSERT_EQ(result.report.kernels.size(), 1u);
  EXPECT_NE(result.report.kernels[0].schedule.find(numbers), std::string::npos) << result.report.kernels[0].schedule;
}

class RepeatsOfGpus : public ::testing::TestWithParam<RepeatCase> {};
INSTANTIATE_TEST_SUITE_P(All, RepeatsOfGpus, ::testing::ValuesIn(kRepeats),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RepeatsOfGpus, Boundaries) {
  const RepeatCase& c = GetParam();
  for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
    const bool first = std::string_view(device) == "sim:sm_80";
    for (int each : {2, 8})
      for (int64_t m : {0, 1, 2, 7, 16, 33}) {
        if (!first && m != 7) continue;
        check(c, "f32", device, fmt::format("along = {}, each = {}", c.along, each), m, 40);
        check(c, first ? "bf16" : "f64", device, fmt::format("along = {}, each = {}", c.along, each), m, 37);
      }
    if (c.pieces > 1) check(c, "f32", device, fmt::format("pieces = {}", c.pieces), 5, 1);
  }
}

// Vectors, rows of a block and pieces by hand, with several rows of each thread.
TEST_P(RepeatsOfGpus, NumbersByHand) {
  const RepeatCase& c = GetParam();
  const std::string device = "sim:sm_80";
  if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  const std::string pieces = c.pieces > 1 ? fmt::format("pieces = {}, ", c.pieces) : "";
  for (const char* front :
       {"vector = 1, unroll = 1, split = {}, threads = 4", "vector = 2, unroll = 2, split = {}, threads = 8, rows = 4",
        "vector = 4, unroll = 1, split = {}, threads = 32, rows = 2"}) {
    const std::string numbers =
        fmt::format("{}, {}along = {}, each = 4", fmt::format(fmt::runtime(front), c.split), pieces, c.along);
    check(c, "f32", device, numbers, 9, 36);
    check(c, "bf16", device, numbers, 4, 10);
  }
}

TEST(RepeatsThatDoNotApply, AreRefused) {
  const auto with = [](const RepeatCase& c, const std::string& device, const std::string& numbers) {
    CaseOptions how;
    how.device = device;
    how.compare_one_rank = false;
    how.set = {{"m", "5"}, {"n", "6"}};
    try {
      return run_case(text_of(c, "f32", numbers), how).ok ? std::string("ok") : std::string("wrong");
    } catch (const UserError& e) {
      return e.message();
    }
  };
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const RepeatCase scalar = {"scalar", "%x: T[], %z: T[]", "  %y = add(%x, %z)\n", 0, 0};
  EXPECT_EQ(with(scalar, "sim:sm_80", "along = 0, each = 2"), "along does not apply");
  const RepeatCase plain = {"plain", "%x: T[m, n], %z: T[m, n]", "  %y = add(%x, %z)\n", 0, 1};
  EXPECT_EQ(with(kRepeats[0], "cpu", "along = 0, each = 2"), "along does not apply to CPUs");
  EXPECT_EQ(with(kRepeats[5], "cpu", "pieces = 2"), "pieces does not apply to CPUs");
  EXPECT_EQ(with(kRepeats[0], "sim:sm_80", "along = 0"), "along does not apply");
  EXPECT_EQ(with(kRepeats[0], "sim:sm_80", "each = 2"), "each does not apply");
  EXPECT_EQ(with(kRepeats[0], "sim:sm_80", "along = 1, each = 2"), "along = 1 does not apply");
  EXPECT_EQ(with(kRepeats[0], "sim:sm_80", "pieces = 2"), "pieces = 2 does not apply");
  EXPECT_EQ(with(kRepeats[5], "sim:sm_80", "vector = 8, pieces = 8"), "pieces = 8 does not apply");
  EXPECT_EQ(with(plain, "sim:sm_80", "along = 0, each = 2"), "along does not apply");
  EXPECT_EQ(with(kRepeats[3], "sim:sm_80", "tile = 32, along = 0, each = 2"),
            "a schedule of tiles has no split, block, unroll, pieces, along or each");
}

}  // namespace
}  // namespace plait
