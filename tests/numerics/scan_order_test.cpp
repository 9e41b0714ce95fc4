// Scans whose elements must be taken one after another: what overflows, becomes 0 or NaN in another order.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plait.h"
#include "support/run_case.h"

namespace plait {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

struct Case {
  const char* op;
  DType dtype;
  std::vector<double> first;  // elements; ones behind a product, zeros behind a sum
};

std::vector<Case> cases() {
  const double tiny = std::ldexp(1.0, -134), large = std::ldexp(1.9, 127);
  return {
      {"cumprod",
       DType::f32,
       {large, large, large, large, large, large, large, large, 1.2345 * tiny, 1.777 * tiny, 1.33 * tiny, 1.9 * tiny,
        1.01 * tiny, 1.456 * tiny, 1.6 * tiny, 1.111 * tiny}},
      {"cumprod", DType::f32, {tiny, tiny, tiny, tiny, tiny, tiny, tiny, large, large, large, large, large}},
      {"cumprod", DType::f64, {0, 1e200, 1e200}},
      {"cumsum", DType::f64, {-kEndless, 1e308, 1e308, 1e308}},
      {"cumsum", DType::f64, {-1e308, 1e308, 1e308}},
      {"cumsum", DType::f32, {3e38, 3e38, -3e38, -3e38}},
      {"cumsum", DType::f32, {1, kEndless, 2, 3, -kEndless, 4}},
  };
}

class ScanOrder : public ::testing::TestWithParam<const char*> {};

TEST_P(ScanOrder, IsThatOfTheElements) {
  if (const std::string reason = testing::why_no_device(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  for (const Case& c : cases()) {
    const bool product = std::string(c.op) == "cumprod";
    std::vector<double> values = c.first;
    values.resize(150, product ? 1 : 0);
    const Tensor x = Tensor::from_doubles(c.dtype, {1, 150}, values);
    const auto fusion =
        parse_fusion(fmt::format("fusion @f (%x: {}[m, n]) -> (%y) {{ %y = {}(%x, dim = 1) }}", name(c.dtype), c.op));
    const std::vector<double> got = compile(*fusion, {.device = GetParam()}).run({{"x", x}}).at("y").to_doubles();
    const std::vector<double> taken = x.to_doubles();
    double running = product ? 1 : 0;
    for (size_t i = 0; i < taken.size(); ++i) {
      running = product ? running * taken[i] : running + taken[i];
      const double want = c.dtype == DType::f32 ? double(float(running)) : running;
      EXPECT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want)))
          << c.op << " " << name(c.dtype) << " at " << i << ": " << got[i] << ", wanted " << want;
    }
  }
}

// A scan that is no row of those that read it at other places.
TEST(ScanOfOneRow, BesideSeveralRows) {
  const auto result = testing::run_case(R"(fusion @f (%x: f32[40]) -> (%y) {
  %scan = cumsum(%x, dim = 0)
  %rows = stack(%scan, %x, dim = 0)
  %y = amax(abs(softmax(%rows, dim = 1)), dims = [1])
}
)",
                                        {.device = "cpu"});
  EXPECT_TRUE(result.ok) << result.message;
}

INSTANTIATE_TEST_SUITE_P(Device, ScanOrder, ::testing::Values("cpu", "reference"));

}  // namespace
}  // namespace plait
