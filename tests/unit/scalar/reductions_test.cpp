// The algebra of reductions against the plain meaning of each: any order of elements, merged in any tree.
#include "scalar/reductions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "scalar/reduction_formulas.h"

namespace plait {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity(), kNone = std::numeric_limits<double>::quiet_NaN();

// Numbers in double; positions and truths are numbers too.
struct Doubles {
  struct Value {
    double number = 0;
    DType dtype = DType::f64;
  };
  Value apply(Pointwise function, const std::vector<Value>& in) {
    std::vector<double> numbers;
    std::vector<DType> types;
    for (const Value& v : in) {
      numbers.push_back(v.number);
      types.push_back(v.dtype);
    }
    const DType to = result_type(function, types);
    if (is_float(types.back())) return {evaluate(function, numbers), to};
    std::vector<int64_t> integers;
    for (double n : numbers) integers.push_back(static_cast<int64_t>(n));
    return {static_cast<double>(evaluate_int(function, integers, types.back())), to};
  }
  Value literal(Constant constant, const Value&) { return {constant.to_double(), constant.dtype}; }
  DType dtype_of(const Value& value) { return value.dtype; }
};
using Numbers = std::vector<Doubles::Value>;

struct Algebra {
  Combine combine;
  DType type;  // of an element
  Doubles builder;
  ReductionFormulas<Doubles> formulas{builder};

  explicit Algebra(Combine c, DType t = DType::f64) : combine(c), type(t) {}

  Numbers nothing() {
    Numbers out;
    for (const Constant& c : identity(combine, state_types(combine, type))) out.push_back({c.to_double(), c.dtype});
    return out;
  }
  Numbers with(const Numbers& state, double x, size_t position) {
    const DType dtype = state_types(combine, type)[0];
    Numbers in{{x, dtype}};
    if (has_position(combine)) in.push_back({static_cast<double>(position), DType::i64});
    return formulas.accumulate(combine, state, in);
  }
  // The elements of a random tree: cut in two, some of the parts empty, or one after another.
  Numbers tree(const std::vector<double>& x, std::vector<size_t> places, std::mt19937& random) {
    if (places.size() < 2 || random() % 4 == 0) {
      Numbers out = nothing();
      for (size_t place : places) out = with(out, x[place], place);
      return out;
    }
    const auto cut = places.begin() + static_cast<std::ptrdiff_t>(random() % (places.size() + 1));
    const Numbers a = tree(x, {places.begin(), cut}, random), b = tree(x, {cut, places.end()}, random);
    return formulas.merge(combine, a, b);
  }
};

bool is_nan_before(const std::vector<double>& x, size_t end) {
  return std::any_of(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(end), [](double v) { return std::isnan(v); });
}

// What the states stand for, straight from the elements.
std::vector<double> meaning(Combine combine, const std::vector<double>& x) {
  const double n = static_cast<double>(x.size());
  const bool nan = is_nan_before(x, x.size());
  const auto best = [&](bool greatest) {
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) return i;
      if (greatest ? x[i] > x[at] : x[i] < x[at]) at = i;
    }
    return at;
  };
  const auto sum = [&](auto&& term) {
    long double total = 0;
    for (double v : x) total += term(v);
    return static_cast<double>(total);
  };
  const auto plain = [](double v) { return static_cast<long double>(v); };
  switch (combine) {
    case Combine::sum:
      return {sum(plain)};
    case Combine::product: {
      long double total = 1;
      for (double v : x) total *= v;
      return {static_cast<double>(total)};
    }
    case Combine::greatest:
      return {x.empty() ? -kEndless : x[best(true)]};
    case Combine::least:
      return {x.empty() ? kEndless : x[best(false)]};
    case Combine::first_greatest:
      return {x.empty() ? -kEndless : x[best(true)], static_cast<double>(best(true))};
    case Combine::first_least:
      return {x.empty() ? kEndless : x[best(false)], static_cast<double>(best(false))};
    case Combine::any:
      return {sum(plain) > 0 ? 1.0 : 0.0};
    case Combine::all:
      return {sum(plain) == n ? 1.0 : 0.0};
    case Combine::variance: {
      const double mean = x.empty() ? 0 : sum(plain) / n;
      return {sum([&](double v) { return (v - static_cast<long double>(mean)) * (v - mean); }) / n, mean};
    }
    case Combine::log_sum_exp: {
      if (x.empty()) return {-kEndless};
      const double most = nan ? kNone : *std::max_element(x.begin(), x.end());
      if (std::isinf(most)) return {most};
      return {most + std::log(sum([&](double v) { return std::exp(static_cast<long double>(v) - most); }))};
    }
  }
  return {};
}

void expect_near(double want, double got, double scale, const std::string& what) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << ": " << got;
  } else if (std::isinf(want) || want == got) {
    EXPECT_EQ(want, got) << what;
  } else {
    EXPECT_NEAR(want, got, 1e-12 * scale) << what;
  }
}

void expect_meaning(Combine combine, const std::vector<double>& x, std::mt19937& random) {
  Algebra algebra(combine, combine == Combine::any || combine == Combine::all ? DType::boolean : DType::f64);
  std::vector<size_t> places(x.size());
  std::iota(places.begin(), places.end(), size_t{0});
  double scale = 1;
  for (double v : x)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v) * std::abs(v));
  if (combine == Combine::product) scale = std::max(scale, std::abs(meaning(combine, x)[0]));
  const std::vector<double> want = meaning(combine, x);
  for (int round = 0; round < 20; ++round) {
    const Numbers got = algebra.formulas.finish(combine, algebra.tree(x, places, random));
    ASSERT_EQ(got.size(), want.size());
    std::string what(name(combine));
    for (double v : x) what += " " + std::to_string(v);
    const bool finite = std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
    const size_t count = combine == Combine::variance && !finite ? 1 : want.size();  // no mean then
    for (size_t i = 0; i < count; ++i) expect_near(want[i], got[i].number, scale * double(x.size() + 1), what);
    std::shuffle(places.begin(), places.end(), random);
  }
}

std::vector<Combine> all_combines() {
  std::vector<Combine> out;
  for (int i = 0; i < kCombineCount; ++i) out.push_back(Combine(i));
  return out;
}

TEST(Reductions, NamesAndStates) {
  for (Combine c : all_combines()) {
    EXPECT_EQ(parse_combine(name(c)), c);
    for (DType t : {DType::f32, DType::f64, DType::bf16}) {
      const std::vector<DType> types = state_types(c, t);
      EXPECT_EQ(int(types.size()), state_size(c));
      EXPECT_TRUE(is_state(c, types)) << name(c);
    }
  }
  EXPECT_EQ(parse_combine("mean"), std::nullopt);
  EXPECT_EQ(state_types(Combine::sum, DType::i8), std::vector{DType::i64});
  EXPECT_EQ(state_types(Combine::greatest, DType::i8), std::vector{DType::i32});
  EXPECT_EQ(state_types(Combine::greatest, DType::boolean), std::vector{DType::i64});
  EXPECT_EQ(state_types(Combine::first_least, DType::f16), (std::vector{DType::f32, DType::i64}));
  EXPECT_TRUE(is_state(Combine::sum, {DType::f64}));
  EXPECT_FALSE(is_state(Combine::sum, {DType::bf16}));
  EXPECT_FALSE(is_state(Combine::sum, {DType::boolean}));
  EXPECT_FALSE(is_state(Combine::variance, {DType::f32, DType::f32}));
  EXPECT_FALSE(is_state(Combine::variance, {DType::f32, DType::f32, DType::f64}));
  EXPECT_FALSE(is_state(Combine::log_sum_exp, {DType::i32, DType::i32}));
  EXPECT_FALSE(is_state(Combine::first_greatest, {DType::f32, DType::i32}));
}

TEST(Reductions, IdentitiesBeginTheOrderOfTheElement) {
  const auto of = [](Combine c, DType element) { return identity(c, state_types(c, element), element)[0].to_double(); };
  EXPECT_EQ(of(Combine::greatest, DType::f8e4m3), -kEndless);
  EXPECT_EQ(of(Combine::least, DType::f32), kEndless);
  EXPECT_EQ(of(Combine::greatest, DType::i8), -128);
  EXPECT_EQ(of(Combine::least, DType::i8), 127);
  EXPECT_EQ(of(Combine::greatest, DType::u16), 0);
  EXPECT_EQ(of(Combine::least, DType::u16), 65535);
  EXPECT_EQ(of(Combine::greatest, DType::boolean), 0);
  EXPECT_EQ(of(Combine::least, DType::boolean), 1);
  EXPECT_EQ(of(Combine::greatest, DType::i64), -0x1p63);
  EXPECT_EQ(identity(Combine::greatest, {DType::i32})[0].to_int64(), INT32_MIN);
  EXPECT_EQ(of(Combine::product, DType::f32), 1);
  EXPECT_EQ(of(Combine::all, DType::boolean), 1);
  EXPECT_EQ(of(Combine::log_sum_exp, DType::f32), -kEndless);
}

TEST(Reductions, AnyTreeOfAnyOrderMeansTheSame) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (Combine c : all_combines()) {
    const bool truth = c == Combine::any || c == Combine::all;
    for (size_t n : {0, 1, 2, 3, 7, 20, 65}) {
      std::vector<double> x(n);
      for (double& v : x) v = truth ? double(random() % 8 != 0) : normal(random);
      if (c == Combine::variance && n == 0) continue;  // 0 / 0
      expect_meaning(c, x, random);
      if (!truth)
        for (double& v : x) v = double(random() % 3);  // ties
      expect_meaning(c, x, random);
    }
  }
}

TEST(Reductions, NanAndInfinities) {
  std::mt19937 random(8);
  const std::vector<std::vector<double>> rows = {{kNone},
                                                 {1, kNone, 2, kNone},
                                                 {kEndless, 1, 2},
                                                 {-kEndless, -kEndless},
                                                 {-kEndless, 1},
                                                 {kEndless, -kEndless},
                                                 {kEndless, kNone, kEndless},
                                                 {-kEndless},
                                                 {kEndless, kEndless, 0},
                                                 {0.0, -0.0},
                                                 {-0.0, 0.0, -0.0}};
  for (Combine c : all_combines()) {
    if (c == Combine::any || c == Combine::all) continue;
    for (const auto& x : rows) expect_meaning(c, x, random);
  }
}

// The sum of exp(x - greatest) that softmax divides by: a row with +inf has none.
TEST(Reductions, ExponentialsOfAnInfiniteRowAreNoNumber) {
  Algebra algebra(Combine::log_sum_exp);
  Numbers state = algebra.nothing();
  for (double x : {1.0, kEndless, 2.0}) state = algebra.with(state, x, 0);
  EXPECT_TRUE(std::isnan(state[1].number));
  EXPECT_TRUE(std::isnan(algebra.formulas.merge(Combine::log_sum_exp, algebra.nothing(), state)[1].number));
}

TEST(Reductions, VarianceOfLargeMeansKeepsItsDigits) {
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  std::vector<double> x(1000), small(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (small[i] = normal(random)) + 1e6;
  Algebra algebra(Combine::variance);
  std::vector<size_t> places(x.size());
  std::iota(places.begin(), places.end(), size_t{0});
  const Numbers got = algebra.formulas.finish(Combine::variance, algebra.tree(x, places, random), 1);
  EXPECT_NEAR(got[0].number, meaning(Combine::variance, small)[0] * 1000 / 999, 1e-8);
}

TEST(Reductions, CorrectionsBeyondTheCountDivideByNothing) {
  Algebra algebra(Combine::variance);
  const Numbers one = algebra.with(algebra.nothing(), 3, 0);
  EXPECT_TRUE(std::isnan(algebra.formulas.finish(Combine::variance, one, 1)[0].number));
  EXPECT_TRUE(std::isnan(algebra.formulas.finish(Combine::variance, one, 2)[0].number));
}

TEST(Reductions, IntegersWrapAndKeepTheirOrder) {
  for (Combine c : {Combine::sum, Combine::greatest, Combine::least, Combine::first_greatest, Combine::first_least}) {
    Algebra algebra(c, DType::i32);
    Numbers state = algebra.nothing();
    const double x[] = {3, -7, 9, 9, -7};
    for (size_t i = 0; i < 5; ++i) state = algebra.with(state, x[i], i);
    const double want = c == Combine::sum ? 7 : c == Combine::greatest || c == Combine::first_greatest ? 9 : -7;
    EXPECT_EQ(state[0].number, want) << name(c);
    if (has_position(c)) {
      EXPECT_EQ(state[1].number, c == Combine::first_greatest ? 2 : 1);
    }
  }
}

}  // namespace
}  // namespace plait
