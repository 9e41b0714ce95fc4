// The radius holds for backends that round every op, or skip the rounding of narrow tensors, and is not much larger.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "helpers.h"
#include "reference/check.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

// A pointwise backend of a chain: computes in `float` or double and rounds after every op, or not.
struct Step {
  Pointwise op;
  std::vector<int> in;  // earlier values; 0 to 2 are the inputs
};

template <class Float>
Float compute(Pointwise op, Float x, Float y) {
  const Float kRoot = Float(0.7978845608028654), kCubic = Float(0.044715);
  switch (op) {
    case Pointwise::add:
      return x + y;
    case Pointwise::sub:
      return x - y;
    case Pointwise::mul:
      return x * y;
    case Pointwise::div:
      return x / y;
    case Pointwise::max:
      return std::isnan(x) || std::isnan(y) ? x + y : x > y ? x : y;
    case Pointwise::min:
      return std::isnan(x) || std::isnan(y) ? x + y : x < y ? x : y;
    case Pointwise::neg:
      return -x;
    case Pointwise::abs:
      return std::abs(x);
    case Pointwise::relu:
      return x > 0 || std::isnan(x) ? x : 0;
    case Pointwise::exp:
      return std::exp(x);
    case Pointwise::log:
      return std::log(x);
    case Pointwise::sqrt:
      return std::sqrt(x);
    case Pointwise::tanh:
      return std::tanh(x);
    case Pointwise::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Pointwise::silu:
      return x / (1 + std::exp(-x));
    case Pointwise::gelu_tanh:
      return x / (1 + std::exp(-2 * kRoot * (x + kCubic * x * x * x)));
    default:
      ADD_FAILURE() << name(op);
      return 0;
  }
}

constexpr Pointwise kOps[] = {Pointwise::add,  Pointwise::sub,  Pointwise::mul,       Pointwise::div,
                              Pointwise::max,  Pointwise::min,  Pointwise::neg,       Pointwise::abs,
                              Pointwise::relu, Pointwise::exp,  Pointwise::log,       Pointwise::sqrt,
                              Pointwise::tanh, Pointwise::silu, Pointwise::gelu_tanh, Pointwise::sigmoid};

class Chain {
 public:
  Chain(unsigned seed, DType dtype) : random_(seed), dtype_(dtype) {
    const int length = 5 + int(random_() % 11);
    for (int i = 0; i < length; ++i) {
      Step step{kOps[random_() % std::size(kOps)], {}};
      // Keeps most values in a range where f32 tells them apart.
      if (step.op == Pointwise::exp && random_() % 2) step.op = Pointwise::tanh;
      step.in.push_back(2 + i);  // the latest value
      if (info(step.op).arity == 2) step.in.insert(step.in.begin() + int(random_() % 2), int(random_() % (3 + i)));
      steps_.push_back(step);
    }
    std::normal_distribution<double> normal;
    for (auto& values : inputs_)
      for (int i = 0; i < kCount; ++i) values.push_back(round_to(dtype, normal(random_)));
  }

  Array want() const {
    std::string body, type(plait::name(dtype_));
    const auto value = [](int i) { return (i < 3 ? "%i" : "%t") + std::to_string(i); };
    for (size_t s = 0; s < steps_.size(); ++s) {
      const std::string out = s + 1 == steps_.size() ? "%y" : value(int(s) + 3);
      const Pointwise op = steps_[s].op;
      body += out + " = " + std::string(op == Pointwise::gelu_tanh ? "gelu" : plait::name(op)) + "(" +
              value(steps_[s].in[0]);
      if (steps_[s].in.size() > 1) body += ", " + value(steps_[s].in[1]);
      body += op == Pointwise::gelu_tanh ? ", approx = tanh)\n" : ")\n";
    }
    Given given;
    std::string in;
    for (int i = 0; i < 3; ++i) {
      given["i" + std::to_string(i)] = Tensor::from_doubles(dtype_, {kCount}, inputs_[i]);
      in += (i ? ", %i" : "%i") + std::to_string(i) + ": " + type + "[" + std::to_string(kCount) + "]";
    }
    return run(in, body, given);
  }

  // What a backend stores for element i; `rounds` tells whether the result of a step is rounded to a narrow dtype.
  double got(int i, const std::function<bool()>& rounds) const {
    std::vector<double> values{inputs_[0][i], inputs_[1][i], inputs_[2][i]};
    for (const Step& step : steps_) {
      const double x = values[step.in[0]], y = values[step.in.back()];
      const double result =
          dtype_ == DType::f64 ? compute<double>(step.op, x, y) : compute<float>(step.op, float(x), float(y));
      values.push_back(is_narrow(dtype_) && rounds() ? round_to(dtype_, result) : result);
    }
    return round_to(dtype_, values.back());
  }

  static constexpr int kCount = 60;
  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
  DType dtype_;
  std::vector<Step> steps_;
  std::vector<double> inputs_[3];
};

// Shares of elements by outcome, over all chains.
struct Tally {
  int chains = 0, elements = 0, open = 0, outside = 0;
  double worst = 0;
  std::vector<double> ratios;
};

Tally run_chains(DType dtype, const std::function<std::function<bool()>(std::mt19937&)>& rounding) {
  Tally tally;
  for (unsigned seed = 0; tally.chains < 300 && seed < 600; ++seed) {
    Chain chain(seed, dtype);
    const Array want = chain.want();
    if (too_many_excused(std::count(want.excused.begin(), want.excused.end(), 1), want.elements())) continue;
    ++tally.chains;
    const auto rounds = rounding(chain.random());
    for (int i = 0; i < Chain::kCount; ++i) {
      ++tally.elements;
      if (want.excused_at(i)) {
        ++tally.open;
        continue;
      }
      const double got = chain.got(i, rounds), value = want.value[i], bound = want.radius[i];
      const bool same = got == value || (std::isnan(got) && std::isnan(value));
      const double error = same ? 0 : std::abs(got - value);
      if (!(error <= bound)) {
        ++tally.outside;
        ADD_FAILURE() << "chain " << seed << " element " << i << ": got " << got << " want " << value << " bound "
                      << bound;
      }
      if (bound > 0) tally.ratios.push_back(error / bound);
    }
  }
  std::ranges::sort(tally.ratios);
  return tally;
}

void expect_holds(const Tally& tally, double least_largest_ratio) {
  EXPECT_EQ(tally.outside, 0);
  EXPECT_EQ(tally.chains, 300);
  ASSERT_FALSE(tally.ratios.empty());
  // A bound that no backend comes near would check nothing.
  EXPECT_GT(tally.ratios.back(), least_largest_ratio);
  std::printf("%zu bounds, %d open, error / bound: median %.3f, largest %.3f\n", tally.ratios.size(), tally.open,
              tally.ratios[tally.ratios.size() / 2], tally.ratios.back());
}

TEST(Radius, HoldsForChainsInF32) {
  expect_holds(run_chains(DType::f32, [](std::mt19937&) { return [] { return true; }; }), 0.5);
}
TEST(Radius, HoldsForChainsInF64) {
  expect_holds(run_chains(DType::f64, [](std::mt19937&) { return [] { return true; }; }), 0.01);
}
TEST(Radius, HoldsForChainsThatRoundEveryOp) {
  for (DType dtype : {DType::bf16, DType::f16})  // such a backend follows the reference nearly everywhere
    expect_holds(run_chains(dtype, [](std::mt19937&) { return [] { return true; }; }), -1);
}
TEST(Radius, HoldsForChainsThatRoundOnceOrAtRandom) {
  for (DType dtype : {DType::bf16, DType::f16}) {
    expect_holds(run_chains(dtype, [](std::mt19937&) { return [] { return false; }; }), 0.5);
    expect_holds(run_chains(dtype, [](std::mt19937& random) { return [&random] { return random() % 2 == 0; }; }), 0.5);
  }
}

TEST(Radius, OfOneOpIsItsOwnError) {
  const Given given{{"a", f32({1}, {1.5})}, {"b", f32({1}, {2})}};
  EXPECT_EQ(run("%a: f32[1], %b: f32[1]", "%y = add(%a, %b)", given).radius[0], 0x1p-23);  // half an ulp of 3.5
  EXPECT_EQ(run("%a: f32[1], %b: f32[1]", "%y = max(%a, %b)", given).radius[0], 0);
  EXPECT_EQ(run("%a: f32[1], %b: f32[1]", "%y = exp(%a)", given).radius[0], 2 * 0x1p-21);  // two ulps of 4.48
}

TEST(Radius, NarrowResultCoversKeptAndSkipped) {
  const auto bf16 = [](double x) { return Tensor::from_doubles(DType::bf16, {1}, {x}); };
  const Array y = run("%a: bf16[1], %b: bf16[1]", "%y = add(%a, %b)", {{"a", bf16(1)}, {"b", bf16(0x1p-8)}});
  EXPECT_EQ(y.value[0], 1);        // a tie goes to even
  EXPECT_GE(y.radius[0], 0x1p-7);  // f32's own error may push it up
}

// A NaN that is one stays sure through a cast, and one that may be none unknown behind a product.
TEST(Radius, OfANaNThatIsOne) {
  const Tensor a = Tensor::from_doubles(DType::bf16, {1}, {-1});
  const Array y = run("%a: bf16[1]", "%s = sqrt(%a)\n%c = cast(%s, to = bf16)\n%y = fmin(%c, %a)", {{"a", a}});
  EXPECT_EQ(y.value[0], -1);
  EXPECT_EQ(y.radius_at(0), 0);
  EXPECT_FALSE(y.excused_at(0));
}

TEST(Radius, OfANaNThatMayBeNone) {
  const Array y = run("%a: f32[1, 1], %c: f32[1, 1], %w: f32[1, 1]",
                      "%t = exp(%a)\n%z = sub(%t, %t)\n%n = sub(%z, %c)\n%l = log(%n)\n%y = linear(%l, %w)",
                      {{"a", f32({1, 1}, {1.5})}, {"c", f32({1, 1}, {0x1p-40})}, {"w", f32({1, 1}, {2})}});
  EXPECT_TRUE(std::isnan(y.value[0]));
  EXPECT_TRUE(std::isinf(y.radius_at(0)));
  EXPECT_TRUE(y.excused_at(0));
}

// A square that may be NaN is not only a number from 0 on.
TEST(Radius, OfASquareThatMayBeNaN) {
  const Array y = run("%a: f32[1], %c: f32[1]",
                      "%t = exp(%a)\n%z = sub(%t, %t)\n%n = sub(%z, %c)\n%l = log(%n)\n%s = square(%l)\n%y = relu6(%s)",
                      {{"a", f32({1}, {1.5})}, {"c", f32({1}, {0x1p-40})}});
  EXPECT_TRUE(std::isinf(y.radius_at(0)));
  EXPECT_TRUE(y.excused_at(0));
}

TEST(Discontinuity, BothSidesAreAcceptedWhereAnIntervalStraddles) {
  // tanh(a) and 0.5 lie within the error of tanh at atanh(0.5) only.
  const double edge = double(float(std::atanh(0.5)));
  const Given given{
      {"a", f32({3}, {edge, 0.2, 0.9})}, {"h", f32({}, {0.5})}, {"b", f32({}, {10})}, {"c", f32({}, {-4})}};
  const std::string in = "%a: f32[3], %h: f32[], %b: f32[], %c: f32[]";
  const Array y = run(in, "%t = tanh(%a)\n%g = gt(%t, %h)\n%w = where(%g, %b, %c)\n%y = add(%w, %b)", given);
  EXPECT_TRUE(y.excused_at(0));
  EXPECT_FALSE(y.excused_at(1));
  EXPECT_FALSE(y.excused_at(2));
  ASSERT_TRUE(y.has_alternative(0));
  EXPECT_EQ(y.value[0] + *y.alternative[0], 20 + 6);
  EXPECT_EQ(y.radius[0], 0);
  expect_values(run(in, "%t = tanh(%a)\n%g = gt(%t, %h)\n%n = where(%g, %b, %c)\n%y = cast(%n, to = i64)", given),
                {y.value[0] - 10, -4, 10});
}

TEST(Discontinuity, NarrowOperandsAreRoundedFirst) {
  // 0.1 + 0.2 in bf16 is one number whether or not the backend skips roundings elsewhere.
  const auto bf16 = [](double x) { return Tensor::from_doubles(DType::bf16, {1}, {x}); };
  const double sum = round_to(DType::bf16, round_to(DType::bf16, 0.1) + round_to(DType::bf16, 0.2));
  const Array y = run("%a: bf16[1], %b: bf16[1], %c: bf16[1]", "%s = add(%a, %b)\n%y = ge(%s, %c)",
                      {{"a", bf16(0.1)}, {"b", bf16(0.2)}, {"c", bf16(sum)}});
  EXPECT_EQ(y.value[0], 1);
  EXPECT_FALSE(y.excused_at(0));
}

TEST(Discontinuity, ExcusedElementsReachTheRowsOfAProduct) {
  const double edge = double(float(std::atanh(0.5)));
  const Array y = run("%a: f32[2, 2], %h: f32[], %w: f32[2, 2]",
                      "%t = tanh(%a)\n%g = gt(%t, %h)\n%m = cast(%g, to = f32)\n%y = linear(%m, %w)",
                      {{"a", f32({2, 2}, {edge, 0, 1, 1})}, {"h", f32({}, {0.5})}, {"w", f32({2, 2}, {2, 3, 4, 5})}});
  EXPECT_TRUE(y.excused_at(0));
  EXPECT_TRUE(y.excused_at(1));
  EXPECT_FALSE(y.excused_at(2));
  EXPECT_GE(y.radius[0], 2);
  EXPECT_LE(y.radius[2], 1e-5);
}

TEST(Settle, Narrow) {
  EXPECT_EQ(settle(DType::bf16, 1.0, Interval::point(1.0), 0).radius, 0);
  const Settled s = settle(DType::bf16, 1 + 0x1p-9, Interval::point(1 + 0x1p-9), 0);
  EXPECT_EQ(s.value, 1);
  EXPECT_EQ(s.radius, 0x1p-9);
  EXPECT_EQ(settle(DType::f16, 65519, Interval::point(65519), 0).value, 65504);
  EXPECT_EQ(settle(DType::f16, 70000, Interval::point(70000), 0).radius, kInfinity);
  EXPECT_EQ(settle(DType::f32, 1e39, Interval::point(1e39), 0).value, kInfinity);
  EXPECT_EQ(settle(DType::f32, 1e39, Interval::point(1e39), 0).radius, 0);
}

TEST(Settle, NextUpAndSnap) {
  for (DType dtype : {DType::f16, DType::bf16})
    for (double x : {-2.0, -1.0, -0.75, -smallest_spacing(dtype), 0.0, smallest_spacing(dtype), 1.0, 1.5}) {
      const double up = next_up(dtype, x);
      EXPECT_GT(up, x);
      EXPECT_EQ(round_to(dtype, up), up);
      const double middle = x + (up - x) / 2;
      EXPECT_TRUE(round_to(dtype, middle) == x || round_to(dtype, middle) == up);
      const Interval inner = snap(dtype, {x - (up - x) / 8, up - (up - x) / 8});
      EXPECT_EQ(inner.lo, x);
      EXPECT_EQ(inner.hi, x);
    }
}

}  // namespace
}  // namespace plait::reference
