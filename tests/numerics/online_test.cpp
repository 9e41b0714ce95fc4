// Sums of exp(x - max(x)) of rows that several tasks share take the maximum of a part, and are scaled when parts meet:
// infinities, NaN, rows of which whole parts are -inf, and what must not go so.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/run_case.h"

namespace plait {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity(),
                 kNotANumber = std::numeric_limits<double>::quiet_NaN();

struct OnlineCase {
  const char* name;
  const char* shape;  // of %x
  const char* body;   // %y, and %s where it is an output too
  bool two = false;
  bool online = true;  // three phases, two where nothing reads the row again; else two more
  const char* numbers = "vector = 4, parts = 2, split = 16";
};

// Rows of 203 elements: 13 parts of 16, the last of 11.
constexpr OnlineCase kCases[] = {
    {"softmax", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%d = sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = [1], keepdim = "
     "true)\n%y = div(%e, %s)"},
    {"log_softmax", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%d = sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = [1], keepdim = "
     "true)\n%l = log(%s)\n%y = sub(%d, %l)"},
    {"logsumexp", "5, 203",
     "%m = amax(%x, dims = [1])\n%k = unsqueeze(%m, dims = [1])\n%d = sub(%x, %k)\n%e = exp(%d)\n%s = sum(%e, dims = "
     "[1])\n%l = log(%s)\n%y = add(%l, %m)",
     true},
    {"computed", "5, 203",
     "%t = mul(%x, 0.5)\n%m = amax(%t, dims = [1], keepdim = true)\n%d = sub(%t, %m)\n%e = exp(%d)\n%s = sum(%e, dims "
     "= "
     "[1], keepdim = true)\n%y = div(%e, %s)"},
    {"logsumexp_of_rows", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%i = eq(%m, -inf)\n%b = where(%i, 0.0, %m)\n%d = sub(%x, %b)\n%e = "
     "exp(%d)\n%s = sum(%e, dims = [1], keepdim = true)\n%l = log(%s)\n%y = add(%l, %m)",
     true},
    {"guarded_softmax", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%a = abs(%m)\n%i = eq(%a, inf)\n%b = where(%i, 0.0, %m)\n%d = sub(%x, "
     "%b)\n%e = exp(%d)\n%s = sum(%e, dims = [1], keepdim = true)\n%y = div(%e, %s)"},
    {"guarded_otherwise", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%i = gt(%m, 1.0)\n%b = where(%i, 0.0, %m)\n%d = sub(%x, %b)\n%e = "
     "exp(%d)\n%s = sum(%e, dims = [1], keepdim = true)\n%y = div(%e, %s)",
     false, false},
    {"everything", "7, 11, 13",
     "%m = amax(%x, dims = [0, 1, 2], keepdim = true)\n%d = sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = [0, 1, 2], "
     "keepdim = true)\n%y = div(%e, %s)",
     true},
    {"columns", "203, 9",
     "%m = amax(%x, dims = [0], keepdim = true)\n%d = sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = [0], keepdim = "
     "true)\n%y = div(%e, %s)",
     false, true, "vector = 4, parts = 2, split = 16"},
    {"two_sums", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%d = sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = [1], keepdim = "
     "true)\n%a = abs(%x)\n%b = sum(%a, dims = [1], keepdim = true)\n%q = div(%e, %s)\n%y = mul(%q, %b)"},
    {"beside_others", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%i = eq(%m, -inf)\n%b = where(%i, 0.0, %m)\n%d = sub(%x, %b)\n%e = "
     "exp(%d)\n%s = sum(%e, dims = [1], keepdim = true)\n%n, %v = var_mean(%e, dims = [1], keepdim = true, correction "
     "= "
     "0)\n%t = add(%s, %v)\n%q = add(%t, %n)\n%y = div(%e, %q)",
     false, false},
    {"beside_a_scan", "5, 203",
     "%c = cumsum(%x, dim = 1)\n%a = amin(%c, dims = [1], keepdim = true)\n%m = amax(%x, dims = [1], keepdim = "
     "true)\n%d "
     "= sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = [1], keepdim = true)\n%g = div(%e, %s)\n%h = gt(%a, 0.0)\n%y = "
     "where(%h, %g, %s)",
     false, false},  // the scan has a pass of its own
    {"read_by_coordinates", "5, 203",
     "%m = amax(%x, dims = [1], keepdim = true)\n%i = eq(%m, -inf)\n%b = where(%i, 0.0, %m)\n%d = sub(%x, %b)\n%e = "
     "exp(%d)\n%s = sum(%e, dims = [1], keepdim = true)\n%q = sigmoid(%b)\n%g = mul(%x, %q)\n%f = flip(%g, dims = "
     "[1])\n%h "
     "= abs(%f)\n%y = div(%h, %s)",
     false, false},
    {"from_another", "5, 203",
     "%t = abs(%x)\n%m = amax(%t, dims = [1], keepdim = true)\n%d = sub(%x, %m)\n%e = exp(%d)\n%s = sum(%e, dims = "
     "[1], "
     "keepdim = true)\n%y = div(%e, %s)",
     false, false},
    {"from_the_least", "5, 203",
     "%m = amin(%x, dims = [1], keepdim = true)\n%d = sub(%m, %x)\n%e = exp(%d)\n%s = sum(%e, dims = [1], keepdim = "
     "true)\n%y = div(%e, %s)",
     false, false},
};

double value(int pattern, int64_t row, int64_t i) {
  const double some = double((i * 7919 + row * 31) % 97) / 8 - 6;
  switch (pattern) {
    case 0:
      return some;
    case 1:  // whole parts of nothing, a row of nothing
      return row == 1 || i < 70 || (row == 2 && i != 150) ? -kInfinite : some;
    case 2:
      return row == 3 && i == 40 ? kInfinite : i % 5 == 0 ? -kInfinite : some;
    case 3:
      return row == 2 && i == 100 ? kNotANumber : row == 0 && i > 190 ? -kInfinite : some;
    default:  // far apart: sums of most parts are nothing beside the greatest one
      return some + double(i / 16) * 60;
  }
}

class OnlineSums : public ::testing::TestWithParam<std::tuple<OnlineCase, DType>> {};

std::string head(const OnlineCase& c, DType dtype) {
  return fmt::format("fusion @f (%x: {}[{}]) -> ({}) {{\n", name(dtype), c.shape, c.two ? "%y, %s" : "%y");
}

std::string by_hand(const OnlineCase& c, DType dtype) {
  return fmt::format("{}segment @s (%x) -> ({}) schedule norm({}) {{\n{}\n}}\n}}\n", head(c, dtype),
                     c.two ? "%y, %s" : "%y", c.numbers, c.body);
}

TEST_P(OnlineSums, AgreeWithTheReference) {
  const auto& [c, dtype] = GetParam();
  const std::string plain = fmt::format("{}{}\n}}\n", head(c, dtype), c.body), pinned = by_hand(c, dtype);
  const auto fusion = parse_fusion(plain);
  std::vector<int64_t> shape;
  for (sym::Expr e : fusion->inputs()[0]->shape()) shape.push_back(e.value());
  const bool columns = shape[0] == 203;
  const int64_t inner = columns ? shape[1] : shape.size() == 3 ? 1001 : shape[1];
  for (int pattern = 0; pattern < 5; ++pattern) {
    Tensor x = Tensor::empty(dtype, shape);
    std::vector<double> values;
    for (int64_t i = 0; i < x.elements(); ++i)
      values.push_back(columns ? value(pattern, i % inner, i / inner) : value(pattern, i / inner, i % inner));
    x = Tensor::from_doubles(dtype, shape, values);
    const Tensors want = testing::run_text(plain, x, "reference", 1);
    size_t phases = 0;
    const Tensors got = testing::run_text(pinned, x, "cpu", 1, &phases);
    const Tensors again = testing::run_text(pinned, x, "cpu", 3);
    EXPECT_GT(phases, 1u);
    const double slack = dtype == DType::bf16 ? 0x1p-6 : dtype == DType::f32 ? 0x1p-18 : 0x1p-38;
    for (const auto& [output, tensor] : want) {
      const std::vector<double> a = got.at(output).to_doubles(), b = tensor.to_doubles(),
                                n = again.at(output).to_doubles();
      for (size_t i = 0; i < b.size(); ++i) {
        const bool nan = std::isnan(a[i]) && std::isnan(b[i]);
        ASSERT_TRUE(nan || a[i] == b[i] ||
                    std::abs(a[i] - b[i]) <= slack * std::max(std::abs(b[i]), dtype == DType::bf16 ? 0x1p-10 : 1e-30))
            << output << "[" << i << "] is " << a[i] << ", the reference's is " << b[i] << "; pattern " << pattern;
        ASSERT_TRUE(n[i] == a[i] || (std::isnan(n[i]) && std::isnan(a[i]))) << output << "[" << i << "] on 3 threads";
      }
    }
  }
}

// One pass over a row where it goes so, two where it does not.
TEST_P(OnlineSums, ReadARowOnceBeforeItsResult) {
  const auto& [c, dtype] = GetParam();
  const auto fusion = parse_fusion(by_hand(c, dtype));
  Compiled compiled = compile(*fusion, {.device = "cpu"});
  compiled.prepare(testing::metadata_of(*fusion));
  const size_t passes = std::string(c.body).find("%y = add(%l, %m)") == std::string::npos ? 3 : 2;
  EXPECT_EQ(compiled.program().kernels.at(0).code.phases(), c.online ? passes : passes + 2);
}

INSTANTIATE_TEST_SUITE_P(Rows, OnlineSums,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::Values(DType::f32, DType::f64, DType::bf16)),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<0>(info.param).name, name(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace plait
