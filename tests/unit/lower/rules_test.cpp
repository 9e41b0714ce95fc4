// Each rule of placement: refused with its name where it is on, and wrong where it is off.
#include <gtest/gtest.h>

#include "axes/transforms.h"
#include "base/error.h"
#include "build/build.h"
#include "build/ops.h"
#include "lower/lower.h"
#include "schedule/scheduler.h"
#include "support/direct_evaluation.h"
#include "support/kir_interpreter.h"

namespace plait {
namespace {

uint32_t off(std::initializer_list<Rule> rules) {
  uint32_t bits = 0;
  for (Rule r : rules) bits |= 1u << static_cast<int>(r);
  return bits;
}

// All ops of the fusion as one segment with these outputs.
Segment one_segment(const Fusion& f, std::vector<TensorView*> outputs) {
  Segment s;
  s.name = "s1";
  s.inputs = f.inputs();
  s.ops = f.ops();
  s.outputs = std::move(outputs);
  return s;
}

// What is wrong with the kernel, or empty.
std::string wrong(const Fusion& f, const Segment& s, const LowerOptions& options) {
  test::Values values;
  for (const TensorView* t : f.inputs())
    for (int64_t i = 0; i < test::elements(*t, {}); ++i) values[t].push_back(static_cast<double>(i * 7 % 11) - 3);
  std::vector<std::vector<double>> buffers;
  for (const TensorView* t : s.inputs) buffers.push_back(values[t]);
  buffers.resize(buffers.size() + s.outputs.size());
  test::evaluate_directly(f, {}, values);
  try {
    const LoweredKernel k = lower(f, s, options);
    test::interpret(k.kernel, buffers, {});
  } catch (const std::exception& error) {
    return error.what();
  }
  for (size_t o = 0; o < s.outputs.size(); ++o)
    if (buffers[s.inputs.size() + o] != values[s.outputs[o]]) return "wrong values";
  return "";
}

void expect_refused(const std::string& reason, const std::string& rule) {
  EXPECT_NE(reason.find("(" + rule + ")"), std::string::npos) << reason;
}

TEST(PlacementRules, V1AndV3AxisTwiceInADomain) {
  Fusion f;
  TensorView* x = f.input("x", {3, 3}, f32);
  TensorView* y = f.output("y", matmul(x, x));
  const Segment s = one_segment(f, {y});
  EXPECT_EQ(wrong(f, s, {}), "");  // the second edge is refused, which costs nothing
  LowerOptions options;
  options.test_unions = false;
  expect_refused(wrong(f, s, options), "V1");
  options.rules_off = off({Rule::v1_independent});
  expect_refused(wrong(f, s, options), "V3");
  options.rules_off = off({Rule::v1_independent, Rule::v3_reduction});
  EXPECT_NE(wrong(f, s, options), "");
}

TEST(PlacementRules, V2AxisThatNoLoopDrives) {
  Fusion f;
  TensorView *x = f.input("x", {3}, f32), *y = f.input("y", {2, 3}, f32);
  TensorView *a = f.output("a", neg(x)), *b = f.output("b", add(x, y));
  (void)b;
  const Segment s = one_segment(f, {a});
  expect_refused(wrong(f, s, {}), "V2");
  LowerOptions options;
  options.rules_off = off({Rule::v2_known});
  EXPECT_NE(wrong(f, s, options), "");
}

TEST(PlacementRules, V3AddedAgain) {
  Fusion f;
  TensorView *x = f.input("x", {3, 1}, f32), *w = f.input("w", {4, 1}, f32);
  TensorView* p = f.output("p", linear(x, w));
  split(*p, 0, 3);
  Fusion g;
  TensorView *gx = g.input("x", {3, 2}, f32), *gw = g.input("w", {4, 2}, f32);
  TensorView* q = g.output("q", linear(gx, gw));
  state_reduction_axes(*q);
  split(*q, 2, 6);  // 1 by 6 with a hole, then 1 by 8 that drives nothing, merged with the 6
  split(*q, 2, 8);
  merge(*q, 3);
  expect_refused(wrong(g, one_segment(g, {q}), {}), "V3");
  LowerOptions options;
  options.rules_off = off({Rule::v3_reduction});
  EXPECT_EQ(wrong(g, one_segment(g, {q}), options), "wrong values");
  EXPECT_EQ(wrong(f, one_segment(f, {p}), {}), "");
}

TEST(PlacementRules, V3OneSumInANest) {
  Fusion f;
  TensorView *x = f.input("x", {3, 5}, f32), *w = f.input("w", {4, 5}, f32), *v = f.input("v", {2, 4}, f32);
  TensorView* y = f.output("y", linear(linear(x, w), v));
  const std::string reason = wrong(f, one_segment(f, {y}), {});
  EXPECT_TRUE(reason.find("(V3)") != std::string::npos || reason.find("(V2)") != std::string::npos) << reason;
}

TEST(PlacementRules, V4ReaderOfOtherCoordinates) {
  Fusion f;
  TensorView *x = f.input("x", {3, 3}, f32), *y = f.input("y", {3, 3}, f32);
  TensorView* t = add(x, y);
  TensorView* p = f.output("p", matmul(t, t));
  const Segment s = one_segment(f, {p});
  const std::string reason = wrong(f, s, {});
  expect_refused(reason, "V4");
  EXPECT_NE(reason.find("two axes of"), std::string::npos) << reason;
  LowerOptions options;
  options.rules_off = off({Rule::v4_readers});
  EXPECT_EQ(wrong(f, s, options), "wrong values");
}

TEST(PlacementRules, V6StoredAgain) {
  Fusion f;
  TensorView *x = f.input("x", {3}, f32), *y = f.input("y", {2, 3}, f32);
  TensorView* a = f.output("a", neg(x));
  TensorView* b = f.output("b", add(a, y));
  const Segment s = one_segment(f, {b, a});
  expect_refused(wrong(f, s, {}), "V6");
  LowerOptions options;
  options.rules_off = off({Rule::v6_once});
  EXPECT_EQ(wrong(f, s, options), "a[0] is stored twice");
}

// What the schedulers do not ask for yet, and the structure carries: ops before and after a sum in its nest.
TEST(PlacementRules, PrologueAndEpilogueOfAProduct) {
  Fusion f;
  TensorView *x = f.input("x", {3, 5}, f32), *y = f.input("y", {5}, f32), *w = f.input("w", {4, 5}, f32);
  TensorView* p = linear(sub(x, y), relu(w));
  TensorView* z = f.output("z", neg(p));
  f.output("p", p);
  EXPECT_EQ(wrong(f, one_segment(f, {p, z}), {}), "");
}

// Lanes along what is summed, in a contraction with ops before and after it too: whole vectors, tails of every length,
// fewer elements than lanes, and vectors in parts.
TEST(LanesOfASum, TailsPartsPrologueAndEpilogue) {
  using T = TensorView*;
  const std::vector<std::function<T(T, T)>> sums = {
      [](T x, T w) { return linear(neg(x), relu(w)); },
      [](T x, T) { return sum(x, {1}); },
      [](T x, T) { return amin(x, {1}); },
      [](T x, T) { return prod(x, {1}); },
      [](T x, T) { return sum(x); },
  };
  for (size_t i = 0; i < sums.size(); ++i)
    for (int64_t n : {2, 3, 4, 5, 7, 8, 9, 16, 33})
      for (const bool parts : {false, true}) {
        Fusion f;
        TensorView *x = f.input("x", {3, n}, f32), *w = f.input("w", {4, n}, f32), *p = sums[i](x, w);
        f.output("p", p);
        std::vector<TensorView*> outputs = {p};
        if (i == 0) outputs.push_back(f.output("z", neg(p)));
        state_reduction_axes(*p);
        int last = static_cast<int>(p->rank() + p->domain.reduction.size()) - 1;
        if (parts) split(*p, last++, 8);
        split(*p, last, 4);
        parallelize(*p, last + 1, ParallelType::vectorize);
        EXPECT_EQ(wrong(f, one_segment(f, outputs), {}), "") << "sum " << i << " of " << n << ", parts " << parts;
        LowerOptions cuda;
        cuda.target = TargetKind::cuda;
        EXPECT_NE(wrong(f, one_segment(f, outputs), cuda).find("belongs to target cpu"), std::string::npos);
      }
}

// No loop carries a running sum over a dim of extent 1: copies and lanes of the other dims are sums of their own.
TEST(RunningSum, CopiesAndLanesOverADimOfOne) {
  for (const bool exclusive : {false, true})
    for (const ParallelType type : {ParallelType::unroll, ParallelType::vectorize, ParallelType::serial}) {
      Fusion f;
      TensorView* x = f.input("x", {4, 1}, f32);
      TensorView* y = f.output("y", cumsum(x, 1, exclusive));
      parallelize(*y, 0, type);
      EXPECT_EQ(wrong(f, one_segment(f, {y}), {}), "") << exclusive << " " << name(type);
    }
}

TEST(LowerErrors, SchedulesThatDoNotLower) {
  Fusion f;
  TensorView *x = f.input("x", {3, 6}, f32), *w = f.input("w", {4, 6}, f32);
  TensorView* p = f.output("p", linear(x, w));
  const Segment s = one_segment(f, {p});
  const auto reason = [&](std::vector<Transform> transforms) {
    p->domain.reduction = reduction_axes(*p->definition);
    p->domain.transforms = std::move(transforms);
    return wrong(f, s, {});
  };
  using Kind = Transform::Kind;
  const auto bind = [](int at, ParallelType type) { return Transform{Kind::parallel, at, {}, {}, type}; };
  const auto order = [](std::vector<int> o) { return Transform{Kind::reorder, 0, {}, o, ParallelType::serial}; };
  EXPECT_EQ(reason({order({1, 0, 2})}), "");
  EXPECT_NE(reason({order({2, 0, 1})}).find("a kept loop stands inside of a summed one"), std::string::npos);
  EXPECT_NE(reason({bind(1, ParallelType::cpu_thread)}).find("bound loop stands inside"), std::string::npos);
  EXPECT_NE(reason({bind(2, ParallelType::thread_x)}).find("a summed axis is thread_x"), std::string::npos);
  EXPECT_NE(reason({bind(2, ParallelType::vectorize)}).find("power of two"), std::string::npos);
  EXPECT_NE(reason({bind(0, ParallelType::vectorize)}).find("power of two"), std::string::npos);
  EXPECT_NE(reason({bind(0, ParallelType::stream)}).find("stream"), std::string::npos);
  EXPECT_EQ(reason({bind(1, ParallelType::vectorize)}), "");
}

}  // namespace
}  // namespace plait
