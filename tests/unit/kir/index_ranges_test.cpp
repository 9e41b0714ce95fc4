#include "kir/index_ranges.h"

#include <gtest/gtest.h>

#include "kir/parse.h"

namespace plait::kir {
namespace {

// Of [n0, n1], of n0 pairs of rows of n1, and an integer of which nothing is known.
Kernel kernel(const std::string& words) {
  return parse(
      "kernel @k(%x: f32[n0*n1] read, %y: f32[n0*n1 + 2*n0] write, %p: f32[n0*floordiv(n1 + 31, 32)] workspace; n0, "
      "n1, m, d, e, f, g)"
      " given n0: 1 in 1..2147483647, n1: 1 in 1..2147483647, d: 1 in 1..2147483647, e: 1 in 1..2147483647,"
      " f: 1 in 1..2147483647, g: 1 in 1..2147483647 target cuda" +
      words + R"( {
  for b in 0..floordiv(n0 + 3, 4)*floordiv(n1 + 127, 128) on block_x {
    for t in 0..32 on thread_x {
      %0: f32 = literal 1
      store %y[m] = %0 contiguous
    }
  }
}
)");
}

class Ranges : public ::testing::Test {
 protected:
  sym::Bounds of(const Kernel& k, sym::Expr e) { return IndexRanges(k).of(e); }
  sym::Expr s(const Kernel& k, const char* name) { return k.pool->find_symbol(name); }
};

TEST_F(Ranges, ProductsOfDimsAreNoMoreThanAnArgument) {
  const Kernel k = kernel(" narrow");
  const sym::Expr n0 = s(k, "n0"), n1 = s(k, "n1");
  EXPECT_EQ(of(k, n0 * n1).hi, kMostNarrow);
  EXPECT_EQ(of(k, n0).hi, kMostNarrow / 2);  // %y has two rows of it
  EXPECT_EQ(of(k, n1).hi, kMostNarrow);
  EXPECT_EQ(of(k, n0 * n1 * 3 + 7).hi, 3 * kMostNarrow + 7);
  EXPECT_EQ(of(k, n0 - n1).lo, 1 - kMostNarrow);
  EXPECT_GT(of(k, n0 * n0).hi, kMostNarrow);
}

TEST_F(Ranges, OnlyWhereIndicesAreNarrow) {
  const Kernel k = kernel("");
  EXPECT_GT(of(k, s(k, "n0") * s(k, "n1")).hi, kMostNarrow);
}

TEST_F(Ranges, NumbersOfParts) {
  const Kernel k = kernel(" narrow");
  const sym::Expr n0 = s(k, "n0"), n1 = s(k, "n1");
  EXPECT_LE(of(k, n0 * sym::floordiv(n1 + 31, 32)).hi, kMostNarrow / 32 + kMostNarrow / 2 + 2);
  EXPECT_GE(of(k, n0 * sym::floordiv(n1 + 31, 32)).hi, kMostNarrow / 2);  // where n1 is 1
  EXPECT_LE(of(k, 32 * sym::floordiv(n0 + 31, 32) * sym::floordiv(n1 + 511, 512)).hi, 2 * kMostNarrow);
}

TEST_F(Ranges, BlocksAndThreads) {
  const Kernel k = kernel(" narrow");
  const sym::Expr n1 = s(k, "n1"), b = s(k, "b"), wide = sym::floordiv(n1 + 127, 128);
  EXPECT_EQ(of(k, s(k, "t")).hi, 31);
  EXPECT_LE(of(k, sym::floordiv(b, wide)).hi, kMostNarrow / 8);
  EXPECT_LE(of(k, sym::mod(b, wide)).hi, kMostNarrow / 128);
  EXPECT_LE(of(k, b).hi, INT32_MAX);
}

TEST_F(Ranges, OneOfTwoEqualFactorsIsDivided) {
  const Kernel k = kernel(" narrow");
  const sym::Expr n0 = s(k, "n0");
  const sym::Expr b = k.pool->symbol("square", sym::index_facts(n0 * n0));
  EXPECT_EQ(of(k, sym::floordiv(b, n0)).hi, kMostNarrow / 2 - 1);
  const sym::Expr c = k.pool->symbol("cube", sym::index_facts(n0 * n0 * n0));
  EXPECT_GE(of(k, sym::floordiv(c, n0)).hi, kMostNarrow);
}

TEST_F(Ranges, ProductsBeyondAllNumbers) {
  const Kernel k = kernel(" narrow");
  sym::Expr parts = k.pool->constant(1);
  for (const char* name : {"d", "e", "f", "g"}) parts = parts * sym::floordiv(s(k, name) + 262143, 262144);
  EXPECT_GE(of(k, parts).hi, int64_t{1} << 52);
}

TEST_F(Ranges, NothingIsSaidOfWhatNothingIsKnownOf) {
  const Kernel k = kernel(" narrow");
  const sym::Expr m = s(k, "m");
  EXPECT_EQ(of(k, m).hi, INT64_MAX);  // integers are at least 0
  EXPECT_EQ(of(k, m * 3 + 1).hi, INT64_MAX);
  EXPECT_EQ(of(k, m * -3).lo, INT64_MIN);
  EXPECT_EQ(of(k, sym::floordiv(m, 8)).hi, INT64_MAX / 8);
  EXPECT_EQ(of(k, sym::floordiv(m - 1, 8)).lo, -1);
  EXPECT_EQ(of(k, sym::max(sym::min(m - 4, 9), -2)).hi, 9);
  EXPECT_EQ(of(k, sym::max(sym::min(m - 4, 9), -2)).lo, -2);
}

TEST_F(Ranges, TheTextSaysWhetherIndicesAreNarrow) {
  for (const char* words : {"", " narrow"}) {
    const std::string text = print(kernel(words));
    EXPECT_EQ(text.find(" narrow") != std::string::npos, *words != '\0');
    EXPECT_EQ(print(parse(text)), text);
  }
}

}  // namespace
}  // namespace plait::kir
