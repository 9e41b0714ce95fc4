// Where narrow values are rounded, and how sizes become arguments.
#include <gtest/gtest.h>

#include "build/build.h"
#include "lower/lower.h"
#include "segment/segment.h"

namespace plait {
namespace {

std::string kernel_text(Fusion& f, bool strict) {
  SegmentOptions options;
  options.target.vector_lanes = 1;
  segment(f, options);
  std::string out;
  for (const Segment& s : f.segments) out += kir::print(lower(f, s, {.strict_rounding = strict}).kernel);
  return out;
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(Rounding, StrictRoundsEveryNarrowTensor) {
  Fusion f;
  TensorView* x = f.input("x", {8}, bf16);
  f.output("y", mul(add(x, x), x));
  EXPECT_EQ(count(kernel_text(f, false), "round"), 0);
  EXPECT_EQ(count(kernel_text(f, true), "round"), 2);
}

TEST(Rounding, DiscontinuousOpsSeeRoundedValues) {
  Fusion f;
  TensorView* x = f.input("x", {8}, bf16);
  TensorView* s = add(x, x);
  f.output("y", where(lt(s, x), s, x));  // x is exact in memory; s is rounded once, for the comparison
  const std::string text = kernel_text(f, false);
  EXPECT_EQ(count(text, "round"), 1);
  Fusion g;
  TensorView* z = g.input("z", {8}, f16);
  g.output("i", cast(mul(z, z), i64));
  EXPECT_EQ(count(kernel_text(g, false), "round"), 1);
}

// f8 is rounded and small integers wrap where they are read, once each; a store does it by itself.
TEST(Rounding, StorageTypesAreBroughtBackWhereverTheyAreRead) {
  for (const DType dtype : {f8e4m3, f8e5m2, i8, i16, u8, u16}) {
    for (const bool strict : {false, true}) {
      Fusion f;
      TensorView *x = f.input("x", {8}, dtype), *s = add(x, x);
      f.output("y", add(mul(s, x), s));
      EXPECT_EQ(count(kernel_text(f, strict), "round"), 2 + (strict && is_float(dtype))) << name(dtype);
    }
  }
  Fusion f;
  TensorView* x = f.input("x", {8}, f32);
  f.output("y", cast(cast(x, f8e4m3), f32));
  EXPECT_EQ(count(kernel_text(f, false), "round"), 1) << "quantization is kept";
  Fusion g;
  TensorView* z = g.input("z", {8}, f32);
  g.output("i", cast(z, i8));
  g.output("u", cast(z, u16));
  const std::string text = kernel_text(g, false);
  EXPECT_EQ(count(text, "min("), 2) << text;
  EXPECT_EQ(count(text, "max("), 1) << text;
}

TEST(Rounding, WideTypesAreNotRounded) {
  Fusion f;
  TensorView* x = f.input("x", {8}, f32);
  f.output("y", where(lt(add(x, x), x), x, neg(x)));
  EXPECT_EQ(count(kernel_text(f, true), "round"), 0);
}

TEST(Arguments, EqualSizesShareOneAndFactsStay) {
  Fusion f;
  sym::SymbolInfo facts;
  facts.lo = 2;
  facts.multiple_of = 16;
  f.pool().symbol("n", facts);
  TensorView *x = f.input("x", {"4*n", "n"}, f32), *y = f.input("y", {"n + 3*n", 1}, f32);
  f.output("z", add(x, y));
  segment(f, {});
  const LoweredKernel k = lower(f, f.segments[0]);
  ASSERT_EQ(k.arguments.size(), 2u);
  EXPECT_EQ(sym::print(k.arguments[0]), "4*n");
  EXPECT_EQ(sym::print(k.arguments[1]), "n");
  EXPECT_EQ(k.kernel.pool->info(k.kernel.integers[0]).multiple_of, 64);
  EXPECT_EQ(k.kernel.pool->info(k.kernel.integers[0]).lo, 64) << "n is at least 16";
  EXPECT_EQ(kir::print(k.kernel).find("active"), std::string::npos) << "rows divide: no tail";
}

}  // namespace
}  // namespace plait
