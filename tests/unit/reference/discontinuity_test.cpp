// Values that hang on a discontinuity: both possible ones travel on, and what reads them stays checked.
#include <cmath>

#include "helpers.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "reference/evaluator.h"

namespace plait::reference {
namespace {

// One output %y with drawn inputs; the outcome of a backend that computes the reference's own values.
struct Checked {
  Array want;
  CheckResult result;
};

Checked check(const std::string& inputs, const std::string& body, bool exact = false) {
  const auto f = fusion(inputs, "%y", body);
  const Given given = draw_inputs(*f, {.seed = 3, .exact = exact});
  Array want = evaluate(*f, given).at("y");
  CheckResult result = compare("y", want, to_tensor(want), {.exact = exact});
  return {std::move(want), std::move(result)};
}

int64_t with_alternative(const Array& array) {
  int64_t out = 0;
  for (int64_t i = 0; i < array.elements(); ++i) out += array.has_alternative(i);
  return out;
}

// Every element that can be moved away from what it may be is found: how many of the array.
double share_that_is_found(const Array& want) {
  int64_t moved = 0;
  for (int64_t i = 0; i < want.elements(); ++i) {
    Tensor got = to_tensor(want);
    if (!perturb(want, i, got)) continue;
    ++moved;
    EXPECT_EQ(compare("y", want, got).outcome(), Outcome::wrong) << "element " << i;
  }
  return double(moved) / double(want.elements());
}

constexpr const char* kNumbers = "%zero = full(shape = [], value = 0, dtype = f32)\n";

// Of 32,768 hidden elements a few lie within their radius of 0: their rows stay checked.
TEST(Discontinuity, ReluBackward) {
  for (const char* mask : {"%m = cast(%g, to = f32)\n%d = mul(%dh, %m)\n", "%d = where(%g, %dh, %zero)\n"}) {
    const Checked c =
        check("%x: f32[64, 256], param %w: f32[512, 256], %dh: f32[64, 512]",
              std::string(kNumbers) + "%h = linear(%x, %w)\n%g = gt(%h, %zero)\n" + mask + "%y = matmul(%d, %w)");
    int64_t hang = 0;
    for (int64_t i = 0; i < c.want.elements(); ++i) hang += c.want.excused_at(i);
    EXPECT_GT(hang * 100, c.want.elements()) << "nothing hangs on a discontinuity";
    EXPECT_EQ(c.result.outcome(), Outcome::ok) << c.result.message;
    EXPECT_EQ(with_alternative(c.want), 0);
  }
}

// A mask on the other side moves its row by what it stands for: within the radius, and no more of it.
TEST(Discontinuity, ReluBackwardGrowsByTheDifference) {
  const double edge = double(float(std::atanh(0.5)));
  const std::string in = "%a: f32[2, 2], %h: f32[], %d: f32[2, 2], %w: f32[1, 2]";
  const Given given{{"a", f32({2, 2}, {edge, 0, 1, 1})},
                    {"h", f32({}, {0.5})},
                    {"d", f32({2, 2}, {3, 100, 7, 8})},
                    {"w", f32({1, 2}, {2, 50})}};
  const std::string head = "%t = tanh(%a)\n%g = gt(%t, %h)\n%z = sub(%h, %h)\n%m = where(%g, %d, %z)\n";
  const Array m = run(in, head + "%y = mul(%m, %d)", given);
  ASSERT_TRUE(m.has_alternative(0));
  EXPECT_EQ(std::abs(m.value[0] - *m.alternative[0]), 9);
  EXPECT_EQ(m.radius[0], 0);
  for (double got : {0.0, 9.0}) EXPECT_TRUE(compare("y", m, f32({2, 2}, {got, 0, 49, 64})).ok);
  for (double got : {4.5, -1.0, 10.0})
    EXPECT_EQ(compare("y", m, f32({2, 2}, {got, 0, 49, 64})).outcome(), Outcome::wrong) << got;
  const Array y = run(in, head + "%y = linear(%m, %w)", given);
  EXPECT_EQ(y.radius[0], 6);  // |3 - 0| * 2: whole numbers are added without an error
  EXPECT_EQ(y.radius[1], 0);
  EXPECT_FALSE(y.excused_at(1));
}

// round gives whole numbers, which are added without an error: only what straddles a tie is open.
TEST(Discontinuity, QuantizeChain) {
  const Checked c = check("%x: f32[8192], %s: f32[]",
                          "%r = div(%x, %s)\n%k = full(shape = [], value = 10, dtype = f32)\n%t = mul(%r, %k)\n"
                          "%q = round(%t)\n%o = full(shape = [], value = 128, dtype = f32)\n%b = add(%q, %o)\n"
                          "%y = cast(%b, to = u8)");
  EXPECT_EQ(c.result.outcome(), Outcome::ok) << c.result.message;
  EXPECT_LT(with_alternative(c.want), 8);
  for (int64_t i = 0; i < c.want.elements(); ++i) EXPECT_EQ(c.want.radius_at(i), 0);
  EXPECT_GT(share_that_is_found(
                check("%x: f32[64], %s: f32[]", "%r = div(%x, %s)\n%q = round(%r)\n%y = cast(%q, to = i8)").want),
            0.9);
}

TEST(Discontinuity, WholeNumbersAreExact) {
  const auto radius = [](const std::string& body, double a, double b) {
    return run("%a: f32[1], %b: f32[1]", body, {{"a", f32({1}, {a})}, {"b", f32({1}, {b})}}).radius[0];
  };
  for (const char* op : {"add", "sub", "mul"}) {
    const std::string body = std::string("%y = ") + op + "(%a, %b)";
    EXPECT_EQ(radius(body, 127, 128), 0) << op;
    EXPECT_GT(radius(body, 127.5, 128), 0) << op;
    EXPECT_GT(radius(body, 0x1p20, -5e8), 0) << op;
  }
  const Array sum = run("%a: f32[1000]", "%y = sum(%a)", {{"a", f32({1000}, Values(1000, 7))}});
  EXPECT_EQ(sum.radius[0], 0);
  EXPECT_GT(run("%a: f32[1000]", "%y = sum(%a)", {{"a", f32({1000}, Values(1000, 0x1p15))}}).radius[0], 0);
  const Array run_up = run("%a: f32[4]", "%y = cumsum(%a, dim = 0)", {{"a", f32({4}, {1, 2, 3, 0x1p24})}});
  EXPECT_EQ(run_up.radius[2], 0);
  EXPECT_GT(run_up.radius[3], 0);
  const Array narrow = run("%a: bf16[2]", "%y = sum(%a)", {{"a", Tensor::from_doubles(DType::bf16, {2}, {200, 57})}});
  EXPECT_GT(narrow.radius[0], 0) << "257 is no bf16";
}

// The threshold lies within the radius of some hundred running sums; their shares are small.
TEST(Discontinuity, TopPOf32000Classes) {
  const Checked c = check("%x: f32[2, 32000]",
                          "%p = softmax(%x, dim = 1)\n%c = cumsum(%p, dim = 1)\n"
                          "%t = full(shape = [], value = 0.9, dtype = f32)\n%k = le(%c, %t)\n"
                          "%z = full(shape = [], value = 0, dtype = f32)\n%m = where(%k, %p, %z)\n"
                          "%s = sum(%m, dims = [1], keepdim = true)\n%y = div(%m, %s)");
  EXPECT_EQ(c.result.outcome(), Outcome::ok) << c.result.message;
  EXPECT_GT(with_alternative(c.want), 10);
}

TEST(Discontinuity, Int8QuantizationInBf16) {
  const std::string head =
      "%a = abs(%x)\n%m = amax(%a, dims = [1], keepdim = true)\n"
      "%k = full(shape = [], value = 127, dtype = bf16)\n%s = div(%m, %k)\n%d = div(%x, %s)\n%r = round(%d)\n"
      "%q = cast(%r, to = i8)\n";
  for (const char* rest : {"%y = cast(%q, to = i32)", "%f = cast(%q, to = bf16)\n%y = mul(%f, %s)",
                           "%f = cast(%q, to = f32)\n%y = linear(%f, %w)"}) {
    const Checked c = check("%x: bf16[32, 256], %w: f32[16, 256]", head + rest);
    EXPECT_EQ(c.result.outcome(), Outcome::ok) << rest << ": " << c.result.message;
  }
}

TEST(Discontinuity, ArgmaxRoutingInBf16) {
  const std::string in = "%x: bf16[512, 64], %w: bf16[8, 64], %e: bf16[8, 16]";
  const std::string head = "%l = linear(%x, %w)\n%i = argmax(%l, dims = [1])\n";
  for (const char* rest : {"%y = add(%i, %i)", "%y = index_select(%e, %i, dim = 0)",
                           "%o = one_hot(%i, classes = 8, dtype = bf16)\n%t = permute(%e, dims = [1, 0])\n"
                           "%y = linear(%o, %t)"}) {
    const Checked c = check(in, head + rest);
    EXPECT_EQ(c.result.outcome(), Outcome::ok) << rest << ": " << c.result.message;
  }
}

// Of elements that every backend rounds alike the first wins.
TEST(Discontinuity, TiesOfASmallArgmax) {
  const Given whole{{"a", f32({2, 4}, {1, 3, 3, 0, 2, 2, 2, 2})}};
  Array y = run("%a: f32[2, 4]", "%t = add(%a, %a)\n%y = argmax(%t, dims = [1])", whole);
  EXPECT_EQ(y.integers, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(with_alternative(y), 0);
  EXPECT_EQ(compare("y", y, to_tensor(y)).outcome(), Outcome::ok);
  // Sums that differ in f32 and are one number of bf16.
  const auto bf16 = [](const Values& v) { return Tensor::from_doubles(DType::bf16, {1, 3}, v); };
  y = run("%a: bf16[1, 3], %b: bf16[1, 3]", "%t = add(%a, %b)\n%y = argmax(%t, dims = [1])",
          {{"a", bf16({1, 2, 2})}, {"b", bf16({0, 0x1p-9, 0x1p-8})}});
  EXPECT_EQ(y.integers[0], 1);
  EXPECT_EQ(with_alternative(y), 0);
  y = run("%a: bf16[1, 3], %b: bf16[1, 3]", "%t = add(%a, %b)\n%y = argmin(%t, dims = [1])",
          {{"a", bf16({5, 2, 2})}, {"b", bf16({0, 0x1p-8, 0x1p-9})}});
  EXPECT_EQ(y.integers[0], 1);
  EXPECT_EQ(with_alternative(y), 0);
}

// An open index reads what stands at each place that it may mean.
TEST(Discontinuity, OpenIndicesHaveTwoReadings) {
  const Given given{{"x", f32({2}, {1, 1})}, {"v", f32({3}, {10, 20, 30})}};
  const std::string head = "%e = exp(%x)\n%i = argmax(%e, dims = [0], keepdim = true)\n";
  const Array y = run("%x: f32[2], %v: f32[3]", head + "%y = gather(%v, %i, dim = 0)", given);
  EXPECT_EQ(y.value[0], 10);
  EXPECT_EQ(y.radius[0], 0);
  ASSERT_TRUE(y.has_alternative(0));
  EXPECT_EQ(*y.alternative[0], 20);
  EXPECT_EQ(compare("y", y, f32({1}, {15})).outcome(), Outcome::wrong);
  EXPECT_EQ(compare("y", y, f32({1}, {20})).outcome(), Outcome::undecided);  // the one element hangs on it
}

// x - x through one element read twice is 0 on both sides.
TEST(Discontinuity, OneElementReadTwiceIsOneNumber) {
  const double edge = double(float(std::atanh(0.5)));
  const Array y =
      run("%a: f32[1], %h: f32[]", "%t = tanh(%a)\n%g = gt(%t, %h)\n%m = cast(%g, to = f32)\n%y = sub(%m, %m)",
          {{"a", f32({1}, {edge})}, {"h", f32({}, {0.5})}});
  EXPECT_FALSE(y.has_alternative(0));
  EXPECT_EQ(y.value[0], 0);
  EXPECT_EQ(y.radius[0], 0);
}

TEST(Discontinuity, InfinitiesAreAlternatives) {
  const double edge = double(float(std::atanh(0.5)));
  const Given given{{"a", f32({2}, {edge, 1})}, {"h", f32({}, {0.5})}, {"n", f32({}, {-kInfinity})}};
  const std::string in = "%a: f32[2], %h: f32[], %n: f32[]";
  const std::string head = "%t = tanh(%a)\n%g = gt(%t, %h)\n%w = where(%g, %h, %n)\n";
  const Array w = run(in, head + "%y = exp(%w)", given);
  ASSERT_TRUE(w.has_alternative(0));
  EXPECT_EQ(std::min(w.value[0], *w.alternative[0]), 0);
  EXPECT_TRUE(std::isinf(run(in, head + "%y = sum(%w)", given).radius[0])) << "a sum may be -inf or not";
}

// What the check says where discontinuities leave too much open, and where they do not.
TEST(Discontinuity, UndecidedIsNotWrong) {
  const std::string body = "%z = sub(%e, %e)\n%g = gt(%z, %zero)\n";
  const Checked all =
      check("%x: f32[100]", std::string(kNumbers) + "%e = exp(%x)\n" + body + "%y = where(%g, %x, %zero)");
  EXPECT_EQ(all.result.outcome(), Outcome::undecided);
  EXPECT_NE(all.result.message.find("hang on a discontinuity"), std::string::npos) << all.result.message;
  EXPECT_LE(all.result.max_error, 1);
  Tensor wrong = to_tensor(all.want);
  std::vector<double> values = wrong.to_doubles();
  values[3] += 1;
  EXPECT_EQ(compare("y", all.want, f32({100}, values)).outcome(), Outcome::wrong);
}

// An order that leaves a few neighbours open scatters these alone, though their indices lie far apart.
TEST(Discontinuity, ScattersInAnOrderOpenNeighboursAlone) {
  const std::string order = "%p = softmax(%x, dim = 0)\n%s, %i = sort(%p, descending = true)\n";
  const std::string zeros = "%y = scatter(full(shape = [N], value = 0.0, dtype = f32), %i, %s, dim = 0";
  for (const char* update : {"", ", update = add", ", update = max"}) {
    const auto at = [&](const std::string& count) {
      std::string body = order + zeros + update + ")";
      body.replace(body.find('N'), 1, count);
      return check("%x: f32[" + count + "]", body);
    };
    const Checked few = at("1000");
    EXPECT_LE(few.result.excused.at("y"), 200) << update;
    EXPECT_GT(share_that_is_found(few.want), 0.8) << update;
    EXPECT_EQ(at("100000").result.outcome(), Outcome::undecided) << update;  // by sums that are off by the same
  }
}

TEST(Discontinuity, ExactRunsExcuseNothing) {
  const Checked c = check(
      "%x: f32[64, 128], param %w: f32[128, 128]",
      std::string(kNumbers) + "%h = linear(%x, %w)\n%g = gt(%h, %zero)\n%m = where(%g, %h, %zero)\n%y = matmul(%m, %w)",
      true);
  EXPECT_EQ(c.result.outcome(), Outcome::ok) << c.result.message;
  EXPECT_EQ(c.result.excused.at("y"), 0);
  for (int64_t i = 0; i < c.want.elements(); ++i) {
    ASSERT_EQ(c.want.radius_at(i), 0) << i;
    ASSERT_FALSE(c.want.excused_at(i)) << i;
  }
}

}  // namespace
}  // namespace plait::reference
