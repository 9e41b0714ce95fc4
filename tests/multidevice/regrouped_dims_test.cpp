// Reshapes of dims that ranks hold pieces of, and granules that cut alike: what moves, and that the numbers are those
// of one rank.
#include <gtest/gtest.h>

#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseResult;
using testing::run_on_ranks;
using testing::why_no_device;

// %x in a layout, reshaped and worked on; on 2 x 2 ranks `a`, `b`.
struct Regrouping {
  const char *x, *shape;
  int64_t collectives;
};
const Regrouping kRegroupings[] = {
    // One dim becomes several, and several one.
    {"f32[32, 8, 16] {1: [a, b]}", "[32, 2, 4, 16]", 0},
    {"f32[32, 8, 16] {1: [b, a]}", "[32, 2, 4, 16]", 0},
    {"f32[2, 8, 16] {0: a, 1: b}", "[16, 16]", 0},
    {"f32[8, 12, 5] {0: a, 1: b}", "[96, 5]", 0},
    {"f32[8, 12, 5] {1: b}", "[96, 5]", 0},
    {"f32[8, 12, 5] {0: b, 1: a}", "[4, 2, 12, 5]", 0},
    {"f32[6, 12] {0: [local 3, a], 1: b}", "[3, 2, 4, 3]", 0},
    {"f32[24, 5] {0: [local 3, a]}", "[3, 8, 5]", 0},
    {"f32[24, 5] {0: [local 3, a, local 2, b]}", "[3, 2, 2, 2, 5]", 0},
    {"f32[4, 4, 4] {0: a, 2: b}", "[64]", 0},
    {"f32[4, 4, 4] {0: a, 2: b}", "[16, 4]", 0},
    {"f32[4, 6, 4] {1: a, 2: b}", "[4, 3, 8]", 2},
    {"f32[64] {0: [a, local 8, b]}", "[4, 4, 4]", 0},
    // Granules that cut as the dims of the other side do, or do not.
    {"f32[5, 128] {1: [a, b]}", "[5, 8, 16]", 0},
    {"f32[5, 128] {1: [a granule 16, b granule 16]}", "[5, 8, 16]", 0},
    {"f32[5, 112] {1: [a granule 16, b granule 16]}", "[5, 7, 16]", 0},
    {"f32[5, 112] {1: [a, b]}", "[5, 7, 16]", 1},
    {"f32[5, 96] {1: [a, b]}", "[5, 3, 32]", 1},
    {"f32[5, 96] {1: [a granule 32, b]}", "[5, 3, 32]", 1},
    // Of several lengths the outer pieces stay, the inner ones are gathered.
    {"f32[7, 4, 3] {0: a, 1: b}", "[28, 3]", 1},
    {"f32[3, 4, 3] {0: a, 1: b}", "[12, 3]", 1},
    {"f32[1, 4, 3] {0: a, 1: b}", "[4, 3]", 1},
    {"f32[0, 4, 3] {0: a, 1: b}", "[0, 3]", -1},
    {"f32[2, 3, 3] {0: a, 1: b}", "[6, 3]", 0},
    {"f32[2, 1, 3] {0: a, 1: b}", "[2, 3]", -1},
};

std::string text_of(const Regrouping& c, bool behind) {
  return fmt::format(
      "mesh @m (a = 2, b = 2)\nfusion @f on @m (%x: {}) -> (%y) {{\n  %r = reshape({}, shape = {})\n  %y = {}\n}}\n",
      c.x, behind ? "%x" : "exp(%x)", c.shape, behind ? "mul(exp(%r), %r)" : "neg(%r)");
}

TEST(RegroupedDims, StayWherePiecesAreThoseOfTheOtherSide) {
  for (const Regrouping& c : kRegroupings)
    for (const bool behind : {false, true}) {
      const std::string text = text_of(c, behind);
      const CaseResult result = run_on_ranks(text, "cpu", 4, behind ? "local:threads" : "local");
      EXPECT_TRUE(result.ok) << text << result.message;
      if (c.collectives >= 0) {
        EXPECT_EQ(result.collectives, c.collectives) << text;
      }
    }
}

TEST(RegroupedDims, OnSimulatedGpus) {
  if (auto why = why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (size_t i = 0; i < std::size(kRegroupings); i += 3 * testing::kStride) {
    const std::string text = text_of(kRegroupings[i], true);
    const CaseResult result = run_on_ranks(text, "sim:sm_80", 4);
    EXPECT_TRUE(result.ok) << text << result.message;
  }
}

// What a result is asked to have goes through a reshape to where it is made.
TEST(RegroupedDims, ArePiecesThatAReaderAsksFor) {
  for (const auto& [shape, other, layout] : {std::tuple("64, 3", "8, 8, 3", "0: a, 1: b"),
                                             {"8, 8, 3", "64, 3", "0: [a, local 4, b]"},
                                             {"24, 2", "3, 8, 2", "1: [b, a]"}}) {
    const std::string text = fmt::format(
        "mesh @m (a = 2, b = 2)\nfusion @f on @m (%x: f32[{1}] {{{2}}}) -> (%y {{{2}}}) {{\n"
        "  %i = cast(iota(shape = [{0}], dim = 0), to = f32)\n  %y = add(reshape(%i, shape = [{1}]), %x)\n}}\n",
        shape, other, layout);
    const CaseResult result = run_on_ranks(text, "cpu", 4);
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.collectives, 0) << text;
  }
}

// Texts of a layout that cut alike move nothing, in whatever place.
TEST(Granules, ThatCutAlikeAreOneLayout) {
  for (const auto& [x, y, collectives] : {std::tuple("{0: a granule 4}", "{0: a}", 0),
                                          {"{0: a}", "{0: a granule 16}", 0},
                                          {"{0: [a, b]}", "{0: [a granule 16, b granule 8]}", 0},
                                          {"{0: [a granule 8, b]}", "{0: [a granule 2, b granule 4]}", 0},
                                          {"{0: [local 2, a granule 8]}", "{0: [local 2, a]}", 0},
                                          {"{0: a granule 32}", "{0: a granule 40}", 0},  // all is the first one's
                                          {"{0: a granule 32}", "{0: a}", 1}})
    for (const bool written : {false, true}) {
      const std::string text = fmt::format(
          "mesh @m (a = 2, b = 2)\nfusion @f on @m (%x: f32[32, 3] {0}, %z: f32[32, 3] {1}) -> (%y{2}) {{\n"
          "  %s = add(%x, %z)\n  {3}\n}}\n",
          x, y, written ? "" : fmt::format(" {}", y),
          written ? fmt::format("%y: f32[32, 3] {} = reshard(%s)", y) : "%y = neg(%s)");
      const CaseResult result = run_on_ranks(text, "cpu", 4);
      EXPECT_TRUE(result.ok) << text << result.message;
      EXPECT_EQ(result.collectives > 0, collectives > 0) << text;
    }
}

}  // namespace
}  // namespace plait
