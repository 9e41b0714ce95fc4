// Parameters that are stored in pieces: how often they are gathered, and what is alive meanwhile.
#include <gtest/gtest.h>

#include "ir/fusion.h"
#include "support/run_case.h"

namespace plait {
namespace {

// Layers of one weight each, forward and then the other way round; each reads its weight rounded, or as it is.
std::string there_and_back(int layers, const std::string& layout, bool rounded) {
  std::string inputs = rounded ? "%x: bf16[8, 128] {0: dp}" : "%x: f32[8, 128] {0: dp}", body, at = "x";
  const std::string weight = rounded ? "v" : "w";
  for (int i = 0; i < layers; ++i) {
    inputs += fmt::format(", param %w{}: f32[128, 128] {}", i, layout);
    if (rounded) body += fmt::format("  %v{0} = cast(%w{0}, to = bf16)\n", i);
    body += fmt::format("  %h{0} = tanh(linear(%{1}, %{2}{0}))\n", i, at, weight);
    at = fmt::format("h{}", i);
  }
  for (int i = layers; i-- > 0; at = fmt::format("g{}", i))
    body += fmt::format("  %g{0} = matmul(%{1}, %{2}{0})\n", i, at, weight);
  return "mesh @m (dp = 4)\nfusion @f on @m (" + inputs + ") -> (%g0 {0: dp}) {\n" + body + "}\n";
}

testing::CaseResult run(const std::string& text, const char* gathered) {
  testing::CaseOptions how;
  how.ranks = 4;
  how.options.gathered = gathered;
  testing::CaseResult out = testing::run_case(text, how);
  EXPECT_TRUE(out.ok) << gathered << ": " << out.message << "\n" << text;
  return out;
}

int64_t gathers(const std::string& text, const char* gathered) { return run(text, gathered).collectives; }

const char* const kStored = "{} stored {0: dp}";

TEST(StoredParameters, AreGatheredAgainForReadersFarBehind) {
  // The last three weights are still there on the way back.
  const std::string text = there_and_back(9, kStored, false);
  EXPECT_EQ(gathers(text, "kept"), 9);
  EXPECT_EQ(gathers(text, "again"), 9 + 6);
}

TEST(StoredParameters, NeedTheMemoryOfAFewLayersOnly) {
  const int64_t weight = 128 * 128 * 4;
  const auto most = [&](int layers, const char* gathered) {
    return run(there_and_back(layers, kStored, false), gathered).report.arena_least;
  };
  EXPECT_GE(most(12, "kept"), 12 * weight);
  EXPECT_LE(most(12, "again"), 12 * weight);
  EXPECT_LE(most(24, "again"), most(12, "again") + weight);
}

// Few rows and small weights: whole ones are cheaper to bring together than activations only where these are many.
TEST(StoredParameters, RoundedInPiecesAreGatheredAgainToo) {
  std::string text = there_and_back(9, "{0: dp}", true);
  for (size_t at; (at = text.find("bf16[8, 128]")) != std::string::npos;) text.replace(at, 12, "bf16[4096, 128]");
  EXPECT_EQ(gathers(text, "kept"), 9);
  EXPECT_EQ(gathers(text, "again"), 9 + 6);
}

TEST(StoredParameters, OfTwoReadersSideBySideAreGatheredOnce) {
  const std::string text =
      "mesh @m (dp = 4)\nfusion @f on @m (%x: f32[8, 128] {0: dp}, param %w: f32[128, 128] {} stored {0: dp}) -> (%y "
      "{0: "
      "dp}) {\n  %y = linear(linear(linear(%x, %w), %w), %w)\n}\n";
  EXPECT_EQ(gathers(text, "again"), 1);
}

}  // namespace
}  // namespace plait
