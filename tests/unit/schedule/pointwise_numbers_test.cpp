// The lanes that CPUs' elementwise kernels take.
#include <gtest/gtest.h>

#include "schedule/scheduler.h"
#include "support/direct_evaluation.h"

namespace plait {
namespace {

// Of `%y = BODY` over %x: T[64, 1024], on a machine with so many f32 lanes.
std::string numbers_of(const std::string& body, int lanes, const std::string& dtype = "f32",
                       const std::string& shape = "64, 1024") {
  const bool draws = body.find("%seed") != std::string::npos;
  const auto fusion = parse_fusion(
      fmt::format("fusion @f (%x: {0}[{1}]{3}) -> (%y) {{\n  segment @s (%x{4}) -> (%y) {{\n    {2}\n  }}\n}}\n", dtype,
                  shape, body, draws ? ", %seed: u64[]" : "", draws ? ", %seed" : ""));
  return print(choose_schedule({*fusion, fusion->segments.at(0)}, test::small_target(lanes)));
}
int64_t lanes_of(const std::string& body, int lanes, const std::string& dtype = "f32") {
  const auto schedule = parse_schedule(numbers_of(body, lanes, dtype));
  return std::get<schedules::Pointwise>(schedule).vector.value_or(0);
}

// Long chains of instructions run side by side.
TEST(PointwiseNumbers, FunctionsThatWaitTakeSeveralRegisters) {
  for (const int lanes : {8, 16}) {
    EXPECT_EQ(lanes_of("%y = add(%x, 1.0)", lanes), lanes);
    EXPECT_EQ(lanes_of("%y = div(%x, sqrt(%x))", lanes), lanes);
    EXPECT_EQ(lanes_of("%y = exp(%x)", lanes), lanes);
    EXPECT_EQ(lanes_of("%y = tanh(%x)", lanes), 2 * lanes);
    EXPECT_EQ(lanes_of("%y = exp(sigmoid(%x))", lanes), 2 * lanes);
    EXPECT_EQ(lanes_of("%y = tanh(sin(%x))", lanes), 4 * lanes);
    EXPECT_EQ(lanes_of("%r = uniform(shape = [64, 1024], seed = %seed)\n    %y = mul(%x, %r)", lanes), 4 * lanes);
    EXPECT_EQ(lanes_of("%y = lgamma(lgamma(%x))", lanes), lanes);  // calls for each lane
    EXPECT_EQ(lanes_of("%y = tanh(sin(%x))", lanes, "f64"), lanes / 2);
  }
}

TEST(PointwiseNumbers, PairsGoByOneElement) {
  const std::string stacked =
      "%r = neg(slice(%x, dim = 2, start = 0, stop = 1))\n    %i = slice(%x, dim = 2, start = 1, stop = 2)\n"
      "    %y = cat(%r, %i, dim = 2)";
  EXPECT_EQ(numbers_of(stacked, 8, "f32", "64, 1024, 2"), "pointwise(vector = 1, unroll = 2, split = 1, block = 0)");
}

}  // namespace
}  // namespace plait
