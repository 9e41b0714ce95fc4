// Groups that exceed what a kernel may hold are cut where little is live.
#include "segment/cut_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "build/build.h"
#include "segment/segment.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::run_case;

std::string name(const char* letter, int i) { return letter + std::to_string(i); }

// Ops, outputs and inputs of the largest segments.
struct Largest {
  size_t ops = 0, outputs = 0, inputs = 0;
};
Largest largest(const Fusion& f) {
  Largest out;
  for (const Segment& s : f.segments) {
    out.ops = std::max(out.ops, s.ops.size());
    out.outputs = std::max(out.outputs, s.outputs.size());
    out.inputs = std::max(out.inputs, s.inputs.size());
  }
  return out;
}

void cut(Fusion& f, const SegmentOptions& options = {}) {
  segment(f, options);
  verify(f);
}

TEST(CutGroups, ChainsHaveKernelsOfBoundedSize) {
  Fusion f;
  TensorView* t = f.input("x", {"n"}, f32);
  for (int i = 0; i < 2000; ++i) t = sin(t);
  f.output("y", t);
  cut(f);
  EXPECT_EQ(f.segments.size(), 16u);  // 2000 / 128
  EXPECT_LE(largest(f).ops, 128u);
  EXPECT_EQ(largest(f).outputs, 1u);
  EXPECT_EQ(largest(f).inputs, 1u);
}

TEST(CutGroups, WideGraphsToo) {
  Fusion out;
  TensorView* x = out.input("x", {"n"}, f32);
  for (int i = 0; i < 1000; ++i) out.output(name("y", i), mul(x, i + 2));
  cut(out);
  EXPECT_EQ(out.segments.size(), 32u);  // 1000 / 32
  EXPECT_LE(largest(out).outputs, 32u);

  Fusion in;
  TensorView* t = in.input("x", {"n"}, f32);
  for (int i = 0; i < 1000; ++i) t = add(t, in.input(name("x", i), {"n"}, f32));
  in.output("y", t);
  cut(in);
  EXPECT_LE(largest(in).inputs, 128u);
  EXPECT_EQ(largest(in).outputs, 1u);
  EXPECT_LE(in.segments.size(), 9u);
}

TEST(CutGroups, ValuesThatLiveLongAreWritten) {
  Fusion f;
  std::vector<TensorView*> made = {f.input("x", {"n"}, f32)};
  for (int i = 0; i < 300; ++i) made.push_back(sin(made.back()));
  TensorView* t = made.back();
  for (size_t i = made.size() - 1; i-- > 0;) t = add(t, made[i]);
  f.output("y", t);
  cut(f);
  EXPECT_LE(largest(f).ops, 128u);
  EXPECT_LE(largest(f).outputs, 32u);
  EXPECT_LE(largest(f).inputs, 128u);
}

TEST(CutGroups, RandomNumbersAndLongScalars) {
  Fusion f;
  TensorView *t = f.input("x", {"n"}, f32), *seed = f.input("seed", {}, u64), *s = f.input("s", {}, f32);
  for (int i = 0; i < 300; ++i) t = add(t, uniform(seed, {"n"}));
  for (int i = 0; i < 300; ++i) s = sin(s);  // no kernel computes all of these again
  f.output("y", mul(t, s));
  cut(f);
  EXPECT_LE(largest(f).ops, 128u);
}

// Blocks of ten ops that hold three values inside and give one.
TEST(CutGroups, CutsAreWhereLittleIsLive) {
  Fusion f;
  TensorView* t = f.input("x", {"n"}, f32);
  for (int i = 0; i < 100; ++i) {
    TensorView *a = sin(t), *b = cos(t), *c = exp(t);
    t = add(add(mul(sin(a), b), mul(cos(b), c)), neg(c));
  }
  f.output("y", t);
  cut(f);
  EXPECT_GE(f.segments.size(), 8u);
  EXPECT_EQ(largest(f).outputs, 1u);
  EXPECT_EQ(largest(f).inputs, 1u);
}

// A row that many parts of a long chain read is computed once, by a kernel of its own domain.
TEST(CutGroups, ValuesOfAnotherDomainGetTheirOwnKernel) {
  Fusion f;
  TensorView *t = f.input("x", {"n", "h"}, f32), *row = exp(neg(f.input("b", {"h"}, f32)));
  for (int i = 0; i < 300; ++i) t = i % 2 ? add(t, row) : sin(t);
  f.output("y", t);
  cut(f);
  ASSERT_GE(f.segments.size(), 3u);
  EXPECT_EQ(f.segments[0].outputs, std::vector<TensorView*>{row});
  EXPECT_EQ(f.segments[0].ops.size(), 2u);
}

TEST(CutGroups, LimitsAreOptions) {
  const auto kernels = [](const KernelLimits& limits) {
    Fusion f;
    TensorView* t = f.input("x", {"n"}, f32);
    for (int i = 0; i < 500; ++i) t = sin(t);
    f.output("y", t);
    SegmentOptions options;
    options.limits = limits;
    cut(f, options);
    return f.segments.size();
  };
  EXPECT_EQ(kernels({0, 0, 0, 0}), 1u);
  EXPECT_EQ(kernels({10, 0, 0, 0}), 50u);
  EXPECT_EQ(kernels({0, 1, 1, 1}), 1u);
  Options options;
  set_option(options, "kernel_statements", "7");
  EXPECT_EQ(kernel_limits(options).statements, 7);
}

// A file's segments of a graph that is cut: larger than the limits, and smaller.
TEST(CutGroups, SegmentsOfAFileAreObeyed) {
  const auto chain = [](int begin, int end) {
    std::string out;
    for (int i = begin; i < end; ++i) out += fmt::format("    %t{} = sin(%{})\n", i, i == 0 ? "x" : name("t", i - 1));
    return out;
  };
  const std::string text = "fusion @f (%x: f32[40]) -> (%t179) {\n  segment @a (%x) -> (%t149) {\n" + chain(0, 150) +
                           "  }\n  segment @b (%t149) -> (%t179) {\n" + chain(150, 180) + "  }\n}\n";
  const auto result = run_case(text, {});
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.kernels, 2);
}

// The smallest kernels compute what the largest do.
TEST(CutGroups, ResultsAreRightWhereverItIsCut) {
  const std::string text = R"(
let n = 37, h = 24
mesh @m (tp = t)
fusion @f on @m (%x: f32[n, h], param %w: f32[h, h] {0: tp}, %b: f32[h], %seed: u64[]) -> (%y, %z, %d) {
  %r = exp(%b)
  %q = softmax(%x, dim = 1)
  %p = linear(%q, %w, %b)
  %g = gelu(%p)
  %s = silu(%x)
  %a = add(%g, %r)
  %c = mul(%a, %s)
  %d = dropout(%c, p = 0.2, seed = %seed)
  %e = sub(%d, %r)
  %z = tanh(%e)
  %k = add(%z, %s)
  %y = mul(%k, %g)
}
)";
  for (int64_t ranks : {1, 2})
    for (int64_t statements : {1, 2, 3, 5})
      for (int64_t outputs : {1, 2}) {
        CaseOptions options;
        options.ranks = ranks;
        options.options.kernel_statements = statements;
        options.options.kernel_outputs = outputs;
        options.options.kernel_live = 2;
        options.options.kernel_inputs = 2;
        const auto result = run_case(text, options);
        EXPECT_TRUE(result.ok) << ranks << " ranks, " << statements << " statements: " << result.message;
      }
}

}  // namespace
}  // namespace plait
