#include "lower/vector_width.h"

#include <gtest/gtest.h>

#include <random>

namespace plait {
namespace {

TEST(LaneForm, Examples) {
  sym::Pool pool;
  const sym::Expr lane = pool.symbol("lane", {0, 7, 1, {}}), i = pool.symbol("i", {0, {}, 1, {}});
  const sym::Expr n = pool.symbol("n", {2, {}, 16, {}});
  const auto form = [&](sym::Expr e) { return lane_form(e, lane, 8); };
  EXPECT_EQ(form(8 * i + lane)->stride, 1);
  EXPECT_EQ(form(8 * i + lane)->divisor, 8);
  EXPECT_EQ(form(i * n)->stride, 0);
  EXPECT_EQ(form(i * n)->divisor, 16);
  EXPECT_EQ(form(2 * lane)->stride, 2);
  EXPECT_EQ(form(sym::mod(8 * i + lane, n))->stride, 1);       // a row of 16s holds whole vectors
  EXPECT_EQ(form(sym::floordiv(8 * i + lane, n))->stride, 0);  // in one row
  EXPECT_FALSE(form(sym::mod(8 * i + lane, 12)).has_value());
  EXPECT_FALSE(form(lane * n).has_value()) << "the stride is no number";
  EXPECT_FALSE(form(lane * lane).has_value());
}

// Random expressions: what is proven holds for every lane.
TEST(LaneForm, NeverProvesWhatIsFalse) {
  std::mt19937 random(5);
  const auto pick = [&](int n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  int proven = 0;
  for (int round = 0; round < 4000; ++round) {
    sym::Pool pool;
    const int lanes = 1 << (1 + pick(3));
    const sym::Expr lane = pool.symbol("lane", {0, lanes - 1, 1, {}});
    const int64_t multiple = int64_t{1} << pick(4);
    const sym::Expr n = pool.symbol("n", {multiple, {}, multiple, {}}), i = pool.symbol("i", {0, {}, 1, {}});
    std::vector<sym::Expr> known = {lane, i, lanes * i + lane, n, pool.constant(pick(9))};
    const auto any = [&] { return known[static_cast<size_t>(pick(static_cast<int>(known.size())))]; };
    for (int step = 0; step < 4; ++step) {
      const sym::Expr divisor = pick(2) ? n : pool.constant(1 + pick(24));
      const int kind = static_cast<int>(pick(4));
      known.push_back(kind == 0   ? any() + any()
                      : kind == 1 ? any() * (1 + pick(8))
                      : kind == 2 ? sym::floordiv(any(), divisor)
                                  : sym::mod(any(), divisor));
    }
    const sym::Expr e = known.back();
    const auto form = lane_form(e, lane, lanes);
    if (!form) continue;
    ++proven;
    for (int64_t iv : {0, 1, 2, 5}) {
      const int64_t nv = multiple * (1 + pick(4));
      const int64_t start = sym::evaluate(e, {{"lane", 0}, {"i", iv}, {"n", nv}});
      if (form->divisor == 0)
        ASSERT_EQ(start, 0) << sym::print(e);
      else
        ASSERT_EQ(start % form->divisor, 0) << sym::print(e);
      for (int64_t l = 0; l < lanes; ++l)
        ASSERT_EQ(sym::evaluate(e, {{"lane", l}, {"i", iv}, {"n", nv}}), start + form->stride * l)
            << sym::print(e) << " lanes " << lanes;
    }
  }
  EXPECT_GT(proven, 2000);
}

}  // namespace
}  // namespace plait
