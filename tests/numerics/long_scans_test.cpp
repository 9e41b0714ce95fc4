// Scans of rows that several tasks share begin in each part with the state of what lies in front of it: extremes with
// the last of equals, infinities, NaN, and rows of which whole parts have nothing but what no order begins below.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/run_case.h"

namespace plait {
namespace {

constexpr int64_t kRow = 203;  // 13 parts of 16, the last of 11
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct LongScanCase {
  const char* name;
  DType dtype;
  double (*at)(int64_t);
};

// Few different numbers, so that most are equal to others.
double few(int64_t i) { return double((i * 7919 + i / 16) % 5) - 2; }

constexpr LongScanCase kCases[] = {
    {"equals", DType::f32, few},
    {"least_first", DType::f32, [](int64_t i) { return i < 70 ? -kInf : few(i); }},
    {"greatest_first", DType::f64, [](int64_t i) { return i < 70 ? kInf : few(i); }},
    {"infinities", DType::f32, [](int64_t i) { return i % 50 == 40   ? kInf
                                                      : i % 50 == 20 ? -kInf
                                                                     : few(i); }},
    {"nans", DType::bf16, [](int64_t i) { return i > 100 && i % 60 < 3 ? kNan : few(i); }},
    {"only_least", DType::f16, [](int64_t) { return -kInf; }},
    {"only_greatest", DType::f32, [](int64_t) { return kInf; }},
    {"large", DType::f32, [](int64_t i) { return few(i) * 400 + double(i % 3); }},
    {"i8", DType::i8, [](int64_t i) { return i < 40   ? -128.0
                                             : i < 80 ? 127.0
                                                      : few(i); }},
    {"u8", DType::u8, [](int64_t i) { return i < 40   ? 0.0
                                             : i < 80 ? 255.0
                                                      : few(i) + 2; }},
    {"i64", DType::i64, [](int64_t i) { return few(i) * 1e15; }},
    {"flags", DType::boolean, [](int64_t i) { return double(i % 90 > 60); }},
};

class LongScans : public ::testing::TestWithParam<LongScanCase> {};

void expect_same(const Tensor& got, const Tensor& want, double slack, const std::string& what) {
  const std::vector<double> a = got.to_doubles(), b = want.to_doubles();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                      std::abs(a[i] - b[i]) <= slack * std::max(1.0, std::abs(b[i]));
    ASSERT_TRUE(same) << what << "[" << i << "] is " << a[i] << ", the reference's is " << b[i];
  }
}

TEST_P(LongScans, BeginWithWhatLiesInFront) {
  const LongScanCase& c = GetParam();
  for (const int64_t rows : {1, 3}) {
    std::vector<double> values;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < kRow; ++i) values.push_back(c.at(r + i));
    const Tensor x = Tensor::from_doubles(c.dtype, {rows, kRow}, values);
    std::string body = "    %v, %i = cummax(%x, dim = 1)\n    %w, %j = cummin(%x, dim = 1)\n",
                outputs = "%v, %i, %w, %j";
    if (is_float(c.dtype)) body += "    %l = logcumsumexp(%x, dim = 1)\n", outputs += ", %l";
    const std::string head = fmt::format("fusion @f (%x: {}[b, n]) -> ({}) {{\n", name(c.dtype), outputs);
    const std::string segment = fmt::format(
        "  segment @s (%x) -> ({}) schedule norm(vector = 4, parts = 2, split = 16) {{\n{}  }}\n}}\n", outputs, body);
    size_t phases = 0;
    const Tensors want = testing::run_text(head + body + "}\n", x, "reference", 1);
    const Tensors got = testing::run_text(head + segment, x, "cpu", 1, &phases),
                  again = testing::run_text(head + segment, x, "cpu", 3);
    EXPECT_GT(phases, 1u);
    for (const auto& [output, tensor] : want) {
      const double eps = c.dtype == DType::bf16 ? 0x1p-8 : c.dtype == DType::f16 ? 0x1p-11 : 0x1p-23;
      expect_same(got.at(output), tensor, output == "l" ? 2 * eps : 0, output);
      expect_same(again.at(output), got.at(output), 0, output + " on 3 threads");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Values, LongScans, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace plait
