// Chains of slices, pads and steps: extents stay short on every way through clones with facts, and what the text could
// not hold is refused when it is made.
#include <gtest/gtest.h>

#include "build/ops.h"
#include "support/refusal.h"
#include "support/round_trip.h"
#include "sym/expr.h"

namespace plait {
namespace {

using Step = TensorView* (*)(TensorView*);
const Step kSteps[] = {
    [](TensorView* x) { return slice(x, 0, 1, -1); },
    [](TensorView* x) { return pad(slice(x, 0, 1, -1), {1}, {1}); },
    [](TensorView* x) { return slice(pad(x, {2}, {0}), 0, -100, {}); },
    [](TensorView* x) { return slice(repeat(x, {2}), 0, {}, {}, 2); },
    [](TensorView* x) { return slice(repeat(x, {2}), 0, 1, -1, 2); },
    [](TensorView* x) { return slice(x, 0, {}, 50); },
};

// The fusion of `count` steps on a dim of the extent, its pool's nodes in `nodes`.
std::unique_ptr<Fusion> chain(const Fusion::Extent& extent, Step step, int count) {
  auto f = std::make_unique<Fusion>(Mesh(), "f");
  TensorView* x = f->input("x", {extent}, f32);
  for (int i = 0; i < count; ++i) x = step(x);
  f->output("y", x);
  return f;
}

TEST(Chains, GrowLinearlyAndRoundTrip) {
  for (size_t k = 0; k < std::size(kSteps); ++k)
    for (const Fusion::Extent& extent : {Fusion::Extent("n"), Fusion::Extent("2*n + m"), Fusion::Extent(1000)}) {
      const auto some = chain(extent, kSteps[k], 50), all = chain(extent, kSteps[k], 200);
      EXPECT_LE(all->pool().size(), 5 * some->pool().size() + 200) << k;
      for (const TensorView* t : all->tensors())
        for (sym::Expr e : t->shape()) ASSERT_LE(sym::print(e).size(), 150) << k;
      verify(*all);
      EXPECT_EQ(test::round_trip_problem(*some), "") << k;
    }
}

// Of a size of its own each: one choice between all of them.
TEST(Chains, OfManySizesRoundTrip) {
  for (int count : {20, 33, 60, 120}) {
    Fusion f(Mesh(), "f");
    TensorView* x = f.input("x", {"n"}, f32);
    for (int i = 0; i < count; ++i) x = slice(x, 0, {}, Fusion::Extent(fmt::format("n{}", i)));
    f.output("y", x);
    EXPECT_EQ(test::round_trip_problem(f), "") << count;
  }
}

TEST(Chains, OfLongNames) {
  const std::string longest(1000, 'x');
  Fusion f(Mesh(), "f");
  TensorView* x = f.input(longest, {"n"}, f32);
  for (int i = 0; i < 3; ++i) x = softmax(x, 0);
  f.output("y", x);
  EXPECT_EQ(test::round_trip_problem(f), "");
  const std::unique_ptr<Fusion> copy = clone(f);
  for (const TensorView* t : copy->tensors()) EXPECT_LE(t->name.size(), longest.size());
  EXPECT_THROW(f.input(longest + "x", {"n"}, f32), UserError);
  EXPECT_THROW(f.output(longest + "x", x), UserError);
  EXPECT_THROW(Fusion(Mesh(), longest + "x"), UserError);
}

// Facts that are stated later change forms: the clone is what its ops say with them.
TEST(Chains, OfStepsTakeFacts) {
  for (int64_t multiple : {1, 2, 3, 4, 8, 100})
    for (int64_t step : {2, 3, 4, 6}) {
      Fusion f(Mesh(), "f");
      TensorView* x = f.input("x", {"n"}, f32);
      for (int i = 0; i < 6; ++i) x = slice(x, 0, i % 2, i % 3 ? -1 : INT64_C(1000), step);
      f.output("y", x);
      CloneOptions facts;
      facts.facts["n"] = {.lo = 2, .hi = 1 << 20, .multiple_of = multiple};
      verify(*clone(f, facts));
    }
}

TEST(Chains, ValuesOfExtents) {
  Fusion f(Mesh(), "f");
  TensorView* x = f.input("x", {"n"}, f32);
  TensorView* y = slice(slice(slice(x, 0, 1, -1, 2), 0, -3, {}), 0, 1, {}, 2);
  for (int64_t n = 0; n < 40; ++n) {
    int64_t e = std::max<int64_t>(n - 2, 0);
    e = (e + 1) / 2;
    e = std::min<int64_t>(e, 3);
    e = std::max<int64_t>(e - 1, 0);
    e = (e + 1) / 2;
    EXPECT_EQ(sym::evaluate(y->extent(0), {{"n", n}}), e) << n;
  }
}

TEST(Chains, WhatTheTextCannotHoldIsRefused) {
  Fusion f(Mesh(), "f");
  TensorView* x = f.input("x", {"n0"}, f32);
  const std::string said = testing::refusal([&] {
    for (int i = 1; i < 1000; ++i) x = cat({x, f.input(fmt::format("x{}", i), {fmt::format("n{}", i)}, f32)}, 0);
  });
  EXPECT_NE(said.find("more than 500 words"), std::string::npos) << said;
  f.output("y", x);
  EXPECT_EQ(test::round_trip_problem(f), "");

  Fusion g(Mesh(), "g");
  TensorView* y = g.input("x", {}, f32);
  const std::string dims = testing::refusal([&] {
    for (int i = 0; i < 100; ++i) y = unsqueeze(y, {0});
  });
  EXPECT_NE(dims.find("a tensor of 65 dims"), std::string::npos) << dims;
  g.output("y", y);
  EXPECT_EQ(test::round_trip_problem(g), "");
  EXPECT_NE(testing::refusal([&] { g.input("z", std::vector<Fusion::Extent>(65, 1), f32); }).find("65 dims"),
            std::string::npos);
}

}  // namespace
}  // namespace plait
