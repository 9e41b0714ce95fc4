// The comparison: equal passes, every planted error fails, excuses are counted.
#include "reference/check.h"

#include <cmath>

#include "helpers.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

Array array(DType dtype, Values values, Values radius) {
  Array a = from_tensor(Tensor::from_doubles(dtype, {int64_t(values.size())}, values));
  if (dtype == DType::f32 || dtype == DType::f64) a.value = values;
  a.radius = std::move(radius);
  return a;
}

TEST(Compare, ErrorOverBound) {
  const Array want = array(DType::f32, {1, 2, 3}, {0.5, 0.25, 0});
  const CheckResult ok = compare("y", want, f32({3}, {1.25, 2, 3}));
  EXPECT_TRUE(ok.ok);
  EXPECT_EQ(ok.max_error, 0.5);
  EXPECT_EQ(ok.max_abs_error, 0.25);
  const CheckResult bad = compare("y", want, f32({3}, {1.25, 2.5, 3}));
  EXPECT_FALSE(bad.ok);
  EXPECT_EQ(bad.max_error, 2);
  EXPECT_EQ(bad.worst->index, Shape{1});
  EXPECT_EQ(bad.worst->got, 2.5);
  EXPECT_EQ(bad.worst->want, 2);
  EXPECT_EQ(bad.worst->bound, 0.25);
  EXPECT_NE(bad.message.find("%y at [1]"), std::string::npos) << bad.message;
  EXPECT_FALSE(compare("y", want, f32({3}, {1, 2, std::nextafter(3.0f, 4.0f)})).ok);
  EXPECT_FALSE(compare("y", want, f32({3}, {1.25, 2, 3}), {.exact = true}).ok);
}

// Bits must agree in exact mode, so that nothing is left to either side of a discontinuity.
TEST(Compare, NothingIsExcusedInExactMode) {
  Array want = array(DType::boolean, {1, 0, 1, 1, 0}, {1, 1, 1, 1, 1});
  want.excused.assign(5, 1);
  const auto given = [](const Values& values) { return Tensor::from_doubles(DType::boolean, {5}, values); };
  EXPECT_FALSE(compare("y", want, given({1, 0, 1, 1, 0})).ok);
  EXPECT_TRUE(compare("y", want, given({1, 0, 1, 1, 0}), {.exact = true}).ok);
  EXPECT_FALSE(compare("y", want, given({1, 0, 1, 0, 0}), {.exact = true}).ok);
}

TEST(Compare, SpecialValues) {
  const Array want = array(DType::f32, {kNaN, kInfinity, 0.0, 1}, {0, 0, 0, 0.1});
  EXPECT_TRUE(compare("y", want, f32({4}, {kNaN, kInfinity, -0.0, 1})).ok);
  EXPECT_FALSE(compare("y", want, f32({4}, {1, kInfinity, 0, 1})).ok);
  EXPECT_FALSE(compare("y", want, f32({4}, {kNaN, -kInfinity, 0, 1})).ok);
  EXPECT_FALSE(compare("y", want, f32({4}, {kNaN, 3e38, 0, 1})).ok);
  EXPECT_FALSE(compare("y", want, f32({4}, {kNaN, kInfinity, 0, kNaN})).ok);
  EXPECT_FALSE(compare("y", want, f32({4}, {kNaN, kInfinity, 0, kInfinity})).ok);
}

TEST(Compare, TypeShapeAndEmpty) {
  const Array want = array(DType::f32, {1, 2}, {0, 0});
  EXPECT_FALSE(compare("y", want, f32({2, 1}, {1, 2})).ok);
  EXPECT_FALSE(compare("y", want, Tensor::from_doubles(DType::f64, {2}, {1, 2})).ok);
  const CheckResult empty = compare("y", array(DType::f32, {}, {}), f32({0}, {}));
  EXPECT_TRUE(empty.ok);
  EXPECT_EQ(empty.max_error, 0);
}

TEST(Compare, IntegersBeyondDoubles) {
  const auto make = [](int64_t value) {
    Tensor t = Tensor::empty(DType::i64, {1});
    *static_cast<int64_t*>(t.data()) = value;
    return t;
  };
  const Array want = from_tensor(make((int64_t{1} << 60) + 1));
  EXPECT_TRUE(compare("y", want, make((int64_t{1} << 60) + 1)).ok);
  EXPECT_FALSE(compare("y", want, make(int64_t{1} << 60)).ok);
}

TEST(Compare, ExcusesAreLimited) {
  const int64_t n = 1000;
  const auto with_excused = [&](int64_t count) {
    Array want = array(DType::f32, Values(n, 1), Values(n, 0));
    want.excused.assign(n, 0);
    for (int64_t i = 0; i < count; ++i) want.excused[i] = 1, want.radius[i] = kInfinity;
    return want;
  };
  EXPECT_TRUE(compare("y", with_excused(10), f32({n}, Values(n, 1))).ok);
  const CheckResult many = compare("y", with_excused(11), f32({n}, Values(n, 1)));
  EXPECT_FALSE(many.ok);
  EXPECT_EQ(many.excused.at("y"), 11);
  EXPECT_EQ(many.max_error, 0);
  Array few = array(DType::f32, {1, 2, 3, 4}, {kInfinity, kInfinity, kInfinity, 0});
  few.excused = {1, 1, 1, 0};
  EXPECT_TRUE(compare("y", few, f32({4}, {9, 9, kNaN, 4})).ok);
}

// Where nothing was compared, nothing is said.
TEST(Compare, NothingButNaNIsUndecided) {
  const Array nan = array(DType::f32, {kNaN, kNaN}, {0, 0});
  for (const bool exact : {false, true}) {
    const CheckResult result = compare("y", nan, f32({2}, {kNaN, kNaN}), {.exact = exact});
    EXPECT_EQ(result.outcome(), Outcome::undecided);
    EXPECT_EQ(result.message, "%y: nothing was compared, all 2 elements are NaN on both sides");
    EXPECT_EQ(compare("y", nan, f32({2}, {kNaN, 1}), {.exact = exact}).outcome(), Outcome::wrong);
    EXPECT_EQ(compare_runs("y", nan, f32({2}, {kNaN, kNaN}), nan, f32({2}, {kNaN, kNaN}), {.exact = exact}).outcome(),
              Outcome::undecided);
  }
  EXPECT_EQ(compare("y", array(DType::f32, {kNaN, 1}, {0, 0}), f32({2}, {kNaN, 1})).outcome(), Outcome::ok);
  Array unknown = array(DType::f32, {kNaN, 1}, {0, kInfinity});
  unknown.excused = {0, 1};
  EXPECT_EQ(compare("y", unknown, f32({2}, {kNaN, 1})).outcome(), Outcome::undecided);
}

// What is wrong with one output is said before what is undecided of another.
TEST(Compare, WrongBeforeUndecided) {
  CheckResult all = compare("a", array(DType::f32, {kNaN}, {0}), f32({1}, {kNaN}));
  all.merge(compare("b", array(DType::f32, {1}, {0}), f32({1}, {2})));
  EXPECT_EQ(all.outcome(), Outcome::wrong);
  EXPECT_NE(all.message.find("%b at"), std::string::npos) << all.message;
}

// Of several comparisons of one output, the most that one of them excuses.
TEST(Compare, MergedExcusesAreTheMost) {
  const auto excuses = [](const std::string& output, int64_t count) {
    CheckResult out;
    out.excused[output] = count;
    return out;
  };
  CheckResult all = excuses("a", 2);
  for (const CheckResult& other : {excuses("a", 5), excuses("b", 1), excuses("a", 3)}) all.merge(other);
  EXPECT_EQ(all.excused, (std::map<std::string, int64_t>{{"a", 5}, {"b", 1}}));
}

// Elements that hang on a discontinuity are excused where that moves them far.
TEST(Compare, ExcusesReachFar) {
  Array want = array(DType::f32, Values(10, 8), Values(10, 1));
  want.excused.assign(10, 1);
  EXPECT_EQ(compare("y", want, f32({10}, Values(10, 8))).outcome(), Outcome::ok);
  want.alternative.assign(10, 5);
  EXPECT_EQ(compare("y", want, f32({10}, Values(10, 5.5))).outcome(), Outcome::ok);
  EXPECT_EQ(compare("y", want, f32({10}, Values(10, 6.5))).outcome(), Outcome::wrong);
  want.alternative.assign(10, 4);
  EXPECT_EQ(compare("y", want, f32({10}, Values(10, 8))).outcome(), Outcome::undecided);
  EXPECT_EQ(compare("y", want, f32({10}, Values(10, 6))).outcome(), Outcome::wrong);
}

TEST(Compare, RunsAddTheirRadii) {
  const Array a = array(DType::f32, {1}, {0.5}), b = array(DType::f32, {1}, {0.25});
  EXPECT_TRUE(compare_runs("y", a, f32({1}, {1.5}), b, f32({1}, {0.75})).ok);
  EXPECT_FALSE(compare_runs("y", a, f32({1}, {1.5}), b, f32({1}, {0.5})).ok);
  EXPECT_FALSE(compare_runs("y", a, f32({1}, {1.5}), b, f32({1}, {0.75}), {.exact = true}).ok);
}

TEST(Compare, AllOutputs) {
  const Results want{{"a", array(DType::f32, {1}, {1})}, {"b", array(DType::f32, {1}, {1})}};
  EXPECT_TRUE(compare(want, Given{{"a", f32({1}, {1})}, {"b", f32({1}, {2})}}).ok);
  const CheckResult result = compare(want, Given{{"a", f32({1}, {1.5})}, {"b", f32({1}, {4})}});
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.max_error, 3);
  EXPECT_EQ(result.worst->output, "b");
  EXPECT_FALSE(compare(want, Given{{"a", f32({1}, {1})}}).ok);
}

// The guard of every check: an output moved by twice its radius, or by one unit, fails.
TEST(Perturb, EveryElementMovedFails) {
  int moved = 0;
  for (DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i64, DType::u32, DType::boolean})
    for (double value : {0.0, 1.0, -1.0, 0.7, -1.3, 100.0, 1e-30, 65504.0, kNaN, kInfinity})
      for (double radius : {0.0, 1e-12, 0x1p-24, 0x1p-9, 0.3, 1e4}) {
        if (!is_float(dtype) && (radius != 0 || std::isnan(value) || value < 0)) continue;
        const double stored = round_to(dtype, value);
        const Array want = array(dtype, {stored}, {std::isfinite(stored) ? radius : 0});
        Tensor got = to_tensor(want);
        EXPECT_EQ(compare("y", want, got).outcome(), std::isnan(value) ? Outcome::undecided : Outcome::ok);
        if (!perturb(want, 0, got)) continue;
        ++moved;
        EXPECT_FALSE(compare("y", want, got).ok) << name(dtype) << " " << value << " " << radius;
      }
  EXPECT_GT(moved, 200);
}

TEST(Perturb, RealOutputs) {
  const Array y = run("%a: bf16[4]", "%t = gelu(%a)\n%y = mul(%t, %a)",
                      {{"a", Tensor::from_doubles(DType::bf16, {4}, {0.5, -1, 2, 3})}});
  for (int64_t i = 0; i < 4; ++i) {
    Tensor got = to_tensor(y);
    EXPECT_TRUE(compare("y", y, got).ok);
    ASSERT_TRUE(perturb(y, i, got));
    EXPECT_FALSE(compare("y", y, got).ok);
  }
}

}  // namespace
}  // namespace plait::reference
