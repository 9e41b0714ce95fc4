// Lines of the text form added to a fusion one by one.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/refusal.h"

namespace plait {
namespace {

using testing::refusal;

TEST(Statement, LineByLineIsTheWholeText) {
  const std::string text =
      "let b = 4\nmesh @m (tp = t)\n\nfusion @f on @m (%x: f32[b, 8] {1: tp}, param %w: f32[6, 8] {1: tp}) -> (%y) {\n"
      "  %h = linear(%x, %w)\n  %y: f32[b, 6] {} = gelu(%h, approx = tanh)\n}\n";
  const auto whole = parse_fusion(text);
  Fusion f(Mesh("m", {{"tp", 0, "t"}}), "f");
  f.let("b", 4);
  EXPECT_EQ(parse_input(f, "%x: f32[b, 8] {1: tp}")->name, "x");
  EXPECT_EQ(parse_input(f, "param %w: f32[6, 8] {1: tp}")->role, TensorRole::parameter);
  parse_statement(f, "%h = linear(%x, %w)");
  TensorView* y = parse_statement(f, "%y: f32[b, 6] {} = gelu(%h, approx = tanh)  # pinned");
  f.output("y", y);
  verify(f);
  EXPECT_TRUE(equal(f, *whole)) << print(f);
}

TEST(Statement, AnUnnamedResultIsNamedAfterItsOp) {
  Fusion f;
  parse_input(f, "%x: f32[3]");
  EXPECT_EQ(parse_statement(f, "exp(%x)")->name, "exp");
  EXPECT_EQ(parse_statement(f, " exp( %exp ) ")->name, "exp_1");
  EXPECT_EQ(parse_statement(f, "softmax(%exp_1, dim = -1)")->name, "softmax");
}

TEST(Statement, OfARefusedLineNothingStays) {
  Fusion f(Mesh("m", {{"tp", 2, ""}}), "f");
  parse_input(f, "%x: f32[3]");
  const std::string before = print(f);
  for (const char* line :
       {"", "# only a comment", "%y", "%y = ", "%y = nothing(%x)", "%y = exp(%x", "%y = exp(%x) junk",
        "%y: f32[4] = exp(%x)", "%x = exp(%x)", "%y = exp(%z)", "%y = exp(%y)", "exp(%x) exp(%x)",
        "segment @s (%x) -> (%y) { %y = exp(%x) }", "%y: f32[3] {0: dp} = exp(%x)",
        "%y: f32[3] loops (split(5, 2)) = exp(%x)", "%y = exp(%x), %z = exp(%x)"}) {
    EXPECT_NE(refusal([&] { parse_statement(f, line); }), "not refused") << line;
    EXPECT_EQ(print(f), before) << line;
  }
  for (const char* line : {"", "%x: f32[3]", "%w f32[3]", "%w: f33[3]", "%w: f32[-1]", "%w: f32[3] {1: tp}",
                           "%w: f32[3] {0: dp}", "%w: f32[3] stored {0: tp}", "%w: f32[3], %v: f32[3]"}) {
    EXPECT_NE(refusal([&] { parse_input(f, line); }), "not refused") << line;
    EXPECT_EQ(print(f), before) << line;
  }
  EXPECT_EQ(parse_statement(f, "%y = exp(%x)")->name, "y");
  EXPECT_EQ(parse_input(f, "%w: f32[3] {0: tp}")->name, "w");
  f.output("y", f.find("y"));
  verify(f);
}

TEST(Statement, ErrorsNameTheLinesPlace) {
  Fusion f;
  parse_input(f, "%x: f32[3]");
  const std::string text = refusal([&] { parse_statement(f, "%y = softmaz(%x, dim = 0)", {.file = "line 7"}); });
  EXPECT_NE(text.find("line 7:1:6"), std::string::npos) << text;
  EXPECT_NE(text.find("softmax"), std::string::npos) << text;
}

}  // namespace
}  // namespace plait
