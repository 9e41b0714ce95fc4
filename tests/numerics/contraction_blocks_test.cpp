// Contractions on GPUs: panels of both operands in shared memory, tiles of sums in registers, with what is elementwise
// behind. Around the sizes of tiles and panels, with operands that lie in every way, on both simulated GPUs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "session/devices.h"
#include "support/contraction_cases.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::contraction_text;
using testing::ContractionCase;
using testing::Extents;
using testing::kContractions;
using testing::run_case;

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
    const CaseResult result =
        run_case(contraction_text(GetParam(), dtype, z), on_blocks(number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a"));
    EXPECT_TRUE(result.ok) << dtype << " " << z.m << ", " << z.n << ", " << z.k << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << dtype << " " << z.m << ", " << z.n << ", " << z.k;
    EXPECT_EQ(result.report.library_calls, 0);
  }
}

TEST_P(ContractionBlocks, AreTheSameBitsAgain) {
  const std::string text = contraction_text(GetParam(), "f32", {70, 65, 33});
  const auto one = testing::bits_of(run_case(text, on_blocks()).outputs);
  EXPECT_TRUE(testing::bits_of(run_case(text, on_blocks("sim:sm_90a")).outputs) == one);
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

// No access of shared memory waits for another bank.
TEST(ContractionBlocksOf, BanksDoNotConflict) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const int which : {0, 1, 8, 9}) {
    meter_simulated_gpus(true);
    take_meters();
    const CaseResult result = run_case(contraction_text(kContractions[which], "f32", {128, 128, 16}), on_blocks());
    const std::vector<KernelMeter> meters = take_meters();
    meter_simulated_gpus(false);
    EXPECT_TRUE(result.ok) << result.message;
    ASSERT_EQ(meters.size(), 1u);
    EXPECT_EQ(meters[0].shared_passes, meters[0].least_passes) << kContractions[which].name;
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
                              "(rows = 1, columns = 1, block = 8, width = 8, depth = 8)", "(width = 128, depth = 4)"}) {
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
  EXPECT_NE(why("(width = 64)", "cpu").find("numbers of GPUs"), std::string::npos);
}

}  // namespace
}  // namespace plait
