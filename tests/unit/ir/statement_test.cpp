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
  TensorView* y = parse_statement(f, "%y: f32[b, 6] {} = gelu(%h, approx = tanh)  # pinned")[0];
  f.output("y", y);
  verify(f);
  EXPECT_TRUE(equal(f, *whole)) << print(f);
}

TEST(Statement, AnUnnamedResultIsNamedAfterItsOp) {
  Fusion f;
  parse_input(f, "%x: f32[3]");
  EXPECT_EQ(parse_statement(f, "exp(%x)")[0]->name, "exp");
  EXPECT_EQ(parse_statement(f, " exp( %exp ) ")[0]->name, "exp_1");
  EXPECT_EQ(parse_statement(f, "softmax(%exp_1, dim = -1)")[0]->name, "softmax");
}

TEST(Statement, OfARefusedLineNothingStays) {
  Fusion f(Mesh("m", {{"tp", 2, ""}}), "f");
  parse_input(f, "%x: f32[3]");
  const std::string before = print(f);
  for (const char* line : {"",
                           "# only a comment",
                           "%y",
                           "%y = ",
                           "%y = nothing(%x)",
                           "%y = exp(%x",
                           "%y = exp(%x) junk",
                           "%y: f32[4] = exp(%x)",
                           "%x = exp(%x)",
                           "%y = exp(%z)",
                           "%y = exp(%y)",
                           "exp(%x) exp(%x)",
                           "segment @s (%x) -> (%y) { %y = exp(%x) }",
                           "%y: f32[3] {0: dp} = exp(%x)",
                           "%y: f32[3] loops (split(5, 2)) = exp(%x)",
                           "%y = exp(%x), %z = exp(%x)",
                           "%m, %v = exp(%x)",
                           "%m = var_mean(%x)",
                           "%m, %m = var_mean(%x)",
                           "%m, %x = var_mean(%x)",
                           "_ %m = var_mean(%x)",
                           "%m, = var_mean(%x)",
                           "%m, %v: f32[3] = var_mean(%x)",
                           "%m, %v, _ = var_mean(%x)"}) {
    EXPECT_NE(refusal([&] { parse_statement(f, line); }), "not refused") << line;
    EXPECT_EQ(print(f), before) << line;
  }
  for (const char* line : {"", "%x: f32[3]", "%w f32[3]", "%w: f33[3]", "%w: f32[-1]", "%w: f32[3] {1: tp}",
                           "%w: f32[3] {0: dp}", "%w: f32[3] stored {0: pt}", "%w: f32[3], %v: f32[3]"}) {
    EXPECT_NE(refusal([&] { parse_input(f, line); }), "not refused") << line;
    EXPECT_EQ(print(f), before) << line;
  }
  EXPECT_EQ(parse_statement(f, "%y = exp(%x)")[0]->name, "y");
  EXPECT_EQ(parse_input(f, "%w: f32[3] {0: tp}")->name, "w");
  f.output("y", f.find("y"));
  verify(f);
}

TEST(Statement, SeveralResults) {
  Fusion f;
  parse_input(f, "%x: f32[3, n]");
  const auto unnamed = parse_statement(f, "var_mean(%x, dims = [1])");
  ASSERT_EQ(unnamed.size(), 2u);
  EXPECT_EQ(unnamed[0]->name + " " + unnamed[1]->name, "mean var");
  const auto named = parse_statement(f, "%m: f32[3], %v = var_mean(%x, dims = [1])");
  EXPECT_EQ(named[0]->name + " " + named[1]->name, "m v");
  EXPECT_EQ(named[0]->definition, named[1]->definition);
  f.output("m", named[0]);
  f.output("y", parse_statement(f, "%y = add(%m, %v)")[0]);
  verify(f);
  const std::string text = print(f);
  EXPECT_NE(text.find("%m: f32[3], %v: f32[3] = var_mean(%x, dims = [1], correction = 1)"), std::string::npos) << text;
  EXPECT_NE(text.find("  _, _ = var_mean(%x, dims = [1], correction = 1)"), std::string::npos) << text;
  const auto again = parse_fusion(text);
  verify(*again);
  EXPECT_EQ(print(*again), text);
  EXPECT_TRUE(equal(*again, f));
  EXPECT_TRUE(equal(*clone(f), f));
}

// What is neither read nor an output has no name in the text; what is read keeps its own.
TEST(Statement, UnreadResultsAreUnnamed) {
  const auto f = parse_fusion(
      "fusion @f (%x: f32[4, 6]) -> (%a, %r) {\n  %a, _, %c = split(%x, sizes = [1, 2, 3], dim = 1)\n"
      "  _, _, %r = layer_norm(%c, statistics = true)\n}\n");
  verify(*f);
  EXPECT_NE(print(*f).find("%a: f32[4, 1], _, %c: f32[4, 3] = split("), std::string::npos) << print(*f);
  EXPECT_TRUE(equal(*parse_fusion(print(*f)), *f));
  EXPECT_EQ(f->tensors().size(), 7u);
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
