// Kernels by way of a loop tree: every op that has a place in one, interpreted with all accesses checked and compared
// with its meaning; groups of rows likewise.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "kir/passes/passes.h"
#include "lower/tree/lower_tree.h"
#include "schedule/scheduler.h"
#include "support/kir_interpreter.h"
#include "support/norm_cases.h"
#include "unit/lower/lowered_case.h"

namespace plait {
namespace {

using test::LoweredCase;
using test::small_target;

TEST(LowerTree, BoundariesOfEveryOp) {
  for (const test::OpCase& c : test::op_cases())
    for (int lanes : {1, 4}) {
      const LoweredCase lowered(c, "f32", small_target(1), {.tree_lanes = lanes});
      for (int64_t a : {0, 1, 3})
        for (int64_t b : {1, 4})
          for (int64_t n : {0, 1, 4, 9}) lowered.check({{"a", a}, {"b", b}, {"c", n}, {"d", n % 3}});
    }
}

TEST(LowerTree, NarrowTypes) {
  for (const test::OpCase& c : test::op_cases())
    for (const char* dtype : {"bf16", "i8"})
      if (c.takes(*parse_dtype(dtype)))
        LoweredCase(c, dtype, small_target(1), {.tree_lanes = 4}).check({{"a", 2}, {"b", 3}, {"c", 5}, {"d", 2}});
}

// The one segment of a case, with the schedule that a small CPU gets for rows of up to `n`.
std::unique_ptr<Fusion> norm_segment(const test::NormCase& c, const std::string& dtype, int lanes, int64_t n) {
  ParseOptions parse;
  parse.set["T"] = dtype;
  parse.set["W"] = dtype == "f64" ? "f64" : "f32";
  auto fusion = parse_fusion(c.text, parse);
  sym::Guards guards({{"a", 2}, {"b", 3}, {"n", n}}, {{}});
  const Problem problem{*fusion, fusion->segments.at(0), &guards};
  fusion->segments[0].schedule = choose_schedule(problem, small_target(lanes), fusion->segments[0].schedule);
  return fusion;
}

TEST(LowerTree, RowsTouchWhatTheyMayTouch) {
  for (const test::NormCase& c : test::norm_cases("parts = 2"))
    for (int64_t n : {0, 1, 2, 15, 16, 17, 33, 70}) {
      const auto fusion = norm_segment(c, "f32", 4, n);
      const Segment& s = fusion->segments[0];
      const auto group = scheduled_group({*fusion, s});
      ASSERT_TRUE(group.has_value());
      const LoweredKernel k = lower_tree(*group, fusion->pool());
      const sym::Environment env = {{"a", 2}, {"b", 3}, {"n", n}};
      test::Values values = test::small_values(*fusion, env);
      std::vector<std::vector<double>> buffers;
      for (const TensorView* t : s.inputs) buffers.push_back(values.at(t));
      buffers.resize(s.inputs.size() + s.outputs.size());
      std::vector<int64_t> integers;
      for (sym::Expr e : k.arguments) integers.push_back(sym::evaluate(e, env));
      EXPECT_NO_THROW(test::interpret(k.kernel, buffers, integers)) << c.name << ", n = " << n << "\n"
                                                                    << kir::print(k.kernel);
    }
}

// Three passes over a row: what they read and keep.
TEST(LowerTree, SoftmaxIsThreePassesAndOneBuffer) {
  const auto cases = test::norm_cases("keep = 4096");
  const auto fusion = norm_segment(cases[0], "f32", 4, 1000);
  const auto group = scheduled_group({*fusion, fusion->segments[0]});
  std::string tree;
  const LoweredKernel k = emit_tree(*group, fusion->pool(), {}, &tree);
  kir::verify(k.kernel);
  const std::string text = kir::print(k.kernel);
  const auto count = [](const std::string& in, const std::string& what) {
    int n = 0;
    for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(text, "on lanes"), 3) << text;
  EXPECT_EQ(count(text, "alloc"), 1) << text;
  EXPECT_EQ(count(text, "load %x"), 2) << text;
  EXPECT_EQ(count(text, "exp("), 1) << text;
  EXPECT_EQ(count(text, "load %e"), 1) << text;
  EXPECT_EQ(count(tree, "alloc"), 1) << tree;
}

}  // namespace
}  // namespace plait
