// Extents that facts prove equal and that are written in two ways.
#include <gtest/gtest.h>

#include "plait.h"
#include "reference/draw_inputs.h"
#include "support/run_case.h"

namespace plait {
namespace {

// With c from 4 on both are 0 or 1; with n both are n.
constexpr const char* kOne = "floordiv(min(c, 5) + 1, 2) - 2";
constexpr const char* kOther = "floordiv(min(c, 5) + 7, 12)";

std::string slices(const std::string& by) {
  return fmt::format(R"(fusion @f (%p: f32[3, 2, 4], %q: f32[3, 1, 4], %k: f32[c]) -> (%a, %b, %n) {{
  %a = {0}(slice(%p, dim = 1, start = 1, stop = {1} + 1))
  %b = {0}(slice(%q, dim = 1, start = 0, stop = {2}))
  %n = neg(%k)
}}
)",
                     by, kOne, kOther);
}

class EqualExtents : public ::testing::TestWithParam<const char*> {};

TEST_P(EqualExtents, OfTwoOutputs) {
  if (const std::string reason = testing::why_no_device(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  for (const char* by : {"set", "neg", "exp"})
    for (int64_t c : {4, 5, 6, 8, 16}) {
      SCOPED_TRACE(fmt::format("{}, c = {}", by, c));
      const auto fusion = parse_fusion(slices(by));
      reference::DrawOptions draw;
      draw.sizes["c"] = c;
      const auto drawn = reference::draw_inputs(*fusion, draw);
      const Tensors inputs(drawn.begin(), drawn.end());
      const Tensors expected = compile(*fusion, {.device = "reference"}).run(inputs);
      Tensors got = compile(*fusion, {.device = GetParam()}).run(inputs);
      for (const char* name : {"a", "b", "n"}) {
        EXPECT_EQ(got.at(name).shape, expected.at(name).shape);
        const std::vector<double> x = got.at(name).to_doubles(), y = expected.at(name).to_doubles();
        ASSERT_EQ(x.size(), y.size());
        for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-6 * std::abs(y[i])) << name << " " << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(On, EqualExtents, ::testing::Values("cpu", "sim:sm_80"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace plait
