// Contractions on GPUs: panels of both operands in shared memory, tiles of sums in registers, with what is elementwise
// behind. Around the sizes of tiles and panels, with operands that lie in every way, on both simulated GPUs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "session/devices.h"
#include "support/contraction_cases.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::contraction_text;
using testing::ContractionCase;
using testing::expect_one_kernel;
using testing::Extents;
using testing::kContractions;
using testing::run_case;
using testing::stage_text;

CaseOptions on_blocks(const std::string& device = "sim:sm_80") {
  CaseOptions how;
  how.device = device;
  how.options.contractions = "own";
  how.options.poison = true;
  return how;
}

class ContractionBlocks : public ::testing::TestWithParam<ContractionCase> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, ContractionBlocks, ::testing::ValuesIn(kContractions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ContractionBlocks, AgreeWithTheReferenceInOneKernel) {
  const char* dtypes[] = {"f32", "f64", "bf16", "f16"};
  int number = 0;
  for (const Extents& z : {Extents{24, 8, 8}, {64, 64, 16}, {65, 63, 9}, {33, 70, 31}, {129, 130, 40}, {25, 9, 257}}) {
    const char* dtype = dtypes[number++ % 4];
    expect_one_kernel(GetParam(), dtype, z, on_blocks(number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a"));
  }
}

TEST_P(ContractionBlocks, AreTheSameBitsAgain) {
  const std::string text = contraction_text(GetParam(), "f32", {70, 65, 33});
  const auto one = testing::bits_of(run_case(text, on_blocks()).outputs);
  EXPECT_TRUE(testing::bits_of(run_case(text, on_blocks("sim:sm_90a")).outputs) == one);
}

// Copies run ahead of the sums; of bf16 and f16 the sums are `mma`, wherever operands lie, with tiles that no matrix
// fills.
TEST_P(ContractionBlocks, CopyAheadAndMultiplyMatrices) {
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    const std::string text = stage_text("kir", contraction_text(GetParam(), dtype, {72, 80, 72}), on_blocks());
    const bool narrow = std::string(dtype) != "f32";
    EXPECT_NE(text.find("copy_async"), std::string::npos) << dtype << "\n" << text;
    EXPECT_EQ(text.find("load_matrix") != std::string::npos, narrow) << dtype << "\n" << text;
    EXPECT_EQ(text.find(" fma(") == std::string::npos, narrow) << dtype << "\n" << text;
  }
  const std::pair<const char*, Extents> kRuns[] = {
      {"bf16", {150, 140, 72}}, {"f16", {64, 24, 33}}, {"bf16", {130, 8, 96}}};
  for (const auto& [dtype, z] : kRuns) {
    const CaseResult result = run_case(contraction_text(GetParam(), dtype, z), on_blocks());
    EXPECT_TRUE(result.ok) << dtype << " " << z.m << ", " << z.n << ", " << z.k << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1);
  }
}

TEST(ContractionBlocksOf, IntegersAndLongSums) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* dtype : {"i32", "i64"}) {
    const CaseResult result = run_case(contraction_text(kContractions[0], dtype, {40, 30, 50}), on_blocks());
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_EQ(result.report.launches, 1) << dtype;
  }
  const CaseResult result = run_case(contraction_text(kContractions[1], "f32", {30, 20, 2048}), on_blocks());
  EXPECT_TRUE(result.ok) << result.message;
}

// 128 rows and columns to a block.
TEST(ContractionBlocksOf, LargeTiles) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const int which : {0, 1, 2, 8, 9}) {
    const CaseResult result = run_case(contraction_text(kContractions[which], "f32", {150, 140, 20}), on_blocks());
    EXPECT_TRUE(result.ok) << kContractions[which].name << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << kContractions[which].name;
  }
}

// One step of the sum and less, steps that are no multiple of the stages, sizes that are not known, none at all; panels
// of what is computed or moved; outputs in place of operands; launches that are shared.
TEST(ContractionBlocksOf, EdgesAndNeighbours) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto agrees = [](const std::string& text, const std::map<std::string, std::string, std::less<>>& set = {}) {
    CaseOptions how = on_blocks();
    how.set = set;
    const CaseResult result = run_case(text, how);
    EXPECT_TRUE(result.ok) << text << ": " << result.message;
  };
  for (const char* dtype : {"f32", "bf16", "f64", "i32"}) {
    const std::string symbolic =
        fmt::format("fusion @f (%a: {0}[m, k], %b: {0}[k, n]) -> (%y) {{\n  %y = matmul(%a, %b)\n}}\n", dtype);
    for (const char* k : {"8", "32", "40", "100", "129"})
      agrees(fmt::format("fusion @f (%a: {0}[128, {1}], %b: {0}[{1}, 64]) -> (%y) {{\n  %y = matmul(%a, %b)\n}}\n",
                         dtype, k));
    for (const auto& [m, n, k] : {std::tuple{"24", "8", "8"},
                                  {"70", "33", "90"},
                                  {"1", "1", "1"},
                                  {"0", "9", "8"},
                                  {"30", "0", "8"},
                                  {"30", "9", "0"}})
      agrees("let m = 64, n = 64, k = 64\n" + symbolic, {{"m", m}, {"n", n}, {"k", k}});
  }
  for (const char* right :
       {"exp(%w)", "exp(permute(%v, dims = [1, 0]))", "flip(%w, dims = [0])", "cat(%w, %u, dim = 0)",
        "slice(%q, dim = 1, start = 3, stop = 43)", "pad(%w, low = [2, 0], high = [3, 0], value = 0.5)"})
    for (const char* dtype : {"f32", "bf16"}) {
      const std::string rows = std::string(right).starts_with("cat")   ? "40"
                               : std::string(right).starts_with("pad") ? "25"
                                                                       : "20";
      agrees(fmt::format(
          "fusion @f (%a: {0}[50, {2}], %w: {0}[20, 40], %u: {0}[20, 40], %v: {0}[40, 20], %q: {0}[20, 60]) -> "
          "(%y) {{\n  %o = {1}\n  %y = matmul(%a, %o)\n}}\n",
          dtype, right, rows));
    }
  try {
    agrees(
        "fusion @f (%x: f32[64, 64], %w: f32[64, 64]) -> (%y, %z) {\n"
        "  segment @a (%x, %w) -> (%y) schedule contraction { %y = matmul(%x, %w) }\n"
        "  segment @b (%w, %x) -> (%z) schedule contraction joins @a { %z = matmul(%w, %x) }\n}\n");
    ADD_FAILURE() << "copies run ahead of what a launch writes";
  } catch (const UserError& e) {
    EXPECT_NE(e.message().find("a contraction of a GPU shares no launch"), std::string::npos) << e.message();
  }
}

// No access of shared memory waits for another bank.
TEST(ContractionBlocksOf, BanksDoNotConflict) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const int which : {0, 1, 8, 9})
    for (const char* dtype : {"f32", "bf16"}) {
      meter_simulated_gpus(true);
      take_meters();
      const CaseResult result = run_case(contraction_text(kContractions[which], dtype, {128, 128, 64}), on_blocks());
      const std::vector<KernelMeter> meters = take_meters();
      meter_simulated_gpus(false);
      EXPECT_TRUE(result.ok) << result.message;
      ASSERT_EQ(meters.size(), 1u);
      EXPECT_EQ(meters[0].shared_passes, meters[0].least_passes) << kContractions[which].name << " of " << dtype;
    }
}

TEST(ContractionBlocksOf, NumbersForColumnsWhoseTermsLieSideBySide) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* numbers : {"(rows = 8, columns = 8, block = 64, width = 64, depth = 8)", "(depth = 32, stages = 1)",
                              "(stages = 3)", "(rows = 8, columns = 4, block = 64, width = 32, depth = 16)"})
    for (const char* dtype : {"f32", "f16", "f64"}) {
      const CaseResult result = run_case(
          fmt::format("fusion @f (%a: {0}[70, 33], %w: {0}[50, 33]) -> (%y) {{\n  segment @a (%a, %w) -> (%y) schedule "
                      "contraction{1} {{\n    %p = linear(%a, %w)\n    %y = relu(%p)\n  }}\n}}\n",
                      dtype, std::string(dtype) == "f16" ? "(mma = 0, " + std::string(numbers).substr(1) : numbers),
          on_blocks());
      EXPECT_TRUE(result.ok) << dtype << numbers << ": " << result.message;
    }
}

TEST(ContractionBlocksOf, NumbersOfAScheduleAreObeyedOrRefused) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto text = [](const std::string& numbers) {
    return fmt::format(
        "fusion @f (%a: f32[70, 33], %b: f32[33, 50]) -> (%y) {{\n"
        "  segment @a (%a, %b) -> (%y) schedule contraction{} {{\n    %p = matmul(%a, %b)\n    %y = relu(%p)\n  "
        "}}\n}}\n",
        numbers);
  };
  for (const char* numbers : {"", "(rows = 2)", "(rows = 8, columns = 4, block = 64, width = 32, depth = 16)",
                              "(rows = 1, columns = 1, block = 8, width = 8, depth = 8)", "(width = 128, depth = 4)",
                              "(stages = 1)", "(stages = 3, depth = 4)", "(stages = 4)"}) {
    const CaseResult result = run_case(text(numbers), on_blocks());
    EXPECT_TRUE(result.ok) << numbers << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << numbers;
  }
  const auto why = [&](const std::string& numbers, const char* device) -> std::string {
    try {
      run_case(text(numbers), on_blocks(device));
      return "";
    } catch (const UserError& e) {
      return e.message();
    }
  };
  const char* gpu = "sim:sm_80";
  EXPECT_NE(why("(rows = 5, block = 12)", gpu).find("no multiple of rows"), std::string::npos);
  EXPECT_NE(why("(columns = 32, width = 16)", gpu).find("no multiple of columns"), std::string::npos);
  EXPECT_NE(why("(rows = 3, block = 72)", gpu).find("no power of two"), std::string::npos);
  EXPECT_NE(why("(rows = 16, columns = 16, block = 128, width = 128)", gpu).find("sums of a thread"),
            std::string::npos);
  EXPECT_NE(why("(depth = 1)", gpu).find("do not share panels"), std::string::npos);
  EXPECT_NE(why("(block = 512, width = 512, rows = 16, columns = 8, depth = 32)", gpu), "");
  EXPECT_NE(why("(rows = 128, columns = 1, block = 128, width = 32)", gpu).find("rows = 128"), std::string::npos);
  EXPECT_NE(why("(rows = 33, columns = 1, block = 1056, width = 1, depth = 8, stages = 1)", gpu).find("accesses of a"),
            std::string::npos);
  EXPECT_NE(why("(rows = 64)", "cpu").find("rows = 64"), std::string::npos);
  EXPECT_NE(why("(depth = 8)", "cpu").find("numbers of GPUs"), std::string::npos);
  EXPECT_NE(why("(mma = 1)", gpu).find("mma takes bf16 and f16"), std::string::npos);
  const auto narrow = [&](const std::string& numbers) {
    std::string out = text(numbers);
    for (size_t at = out.find("f32"); at != std::string::npos; at = out.find("f32")) out.replace(at, 3, "f16");
    return out;
  };
  for (const char* numbers : {"(mma = 0)", "(mma = 1, rows = 16, columns = 8, block = 32, width = 32, depth = 16)",
                              "(mma = 1, rows = 32, columns = 64, depth = 64)", "(stages = 4)"}) {
    const CaseResult result = run_case(narrow(numbers), on_blocks());
    EXPECT_TRUE(result.ok) << numbers << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << numbers;
  }
  try {
    run_case(narrow("(mma = 1, depth = 8)"), on_blocks());
    ADD_FAILURE() << "8 terms are none for mma";
  } catch (const UserError& e) {
    EXPECT_NE(e.message().find("which mma takes"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace plait
