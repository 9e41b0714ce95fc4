// Operands that lie across the output's rows, on the CPU: squares of every vector, at the boundaries of squares and of
// tiles, dtypes, numbers of threads; operands that are read backwards.
#include <gtest/gtest.h>

#include "backend/cpu/cpu_device.h"
#include "reference/draw_inputs.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::run_case;

struct TileCase {
  const char* name;
  const char* inputs;
  const char* body;
  bool tiles = true;
};

const TileCase kTileCases[] = {
    {"add", "%x: T[m, n], %z: T[n, m]", "  %y = add(permute(%x, dims = [1, 0]), %z)\n"},
    {"both_sides", "%x: T[m, n], %z: T[m]",
     "  %p = permute(mul(%x, %x), dims = [1, 0])\n  %y = min(add(%p, %z), %p)\n"},
    {"much_code", "%x: T[m, n], %z: T[n, m]",
     "  %p = permute(%x, dims = [1, 0])\n  %a = div(mul(div(%p, 3), div(%z, 5)), 7)\n  %b = div(div(%a, 3), 2)\n"
     "  %y = add(div(div(%b, 2), 3), %p)\n"},
    {"channels_last", "%x: T[2, m, 3, n]", "  %y = neg(permute(%x, dims = [0, 2, 3, 1]))\n"},
    {"channels_first", "%x: T[2, 3, n, m], %z: T[m, 1, 1]", "  %y = add(permute(%x, dims = [0, 3, 1, 2]), %z)\n"},
    {"turned_round", "%x: T[m, 2, n], %z: T[n, 2, m]", "  %y = add(permute(%x, dims = [2, 1, 0]), %z)\n"},
    {"of_a_part", "%x: T[2*m, n]", "  %s = slice(%x, dim = 0, start = m)\n  %y = permute(%s, dims = [1, 0])\n", false},
    {"backwards", "%x: T[m, n], %z: T[m, n]", "  %y = add(flip(%x, dims = [0, 1]), %z)\n", false},
    {"backwards_across", "%x: T[m, n]", "  %f = flip(%x, dims = [1])\n  %y = permute(%f, dims = [1, 0])\n", false},
};

std::string text_of(const TileCase& c, const std::string& dtype) {
  return fmt::format("let T = {}, m = 1, n = 1\nfusion @f ({}) -> (%y) {{\n{}}}\n", dtype, c.inputs, c.body);
}

// `least`: of elements of both dims where tiles are expected.
void check(const TileCase& c, const std::string& dtype, Device& device, int64_t m, int64_t n, int64_t least) {
  SCOPED_TRACE(fmt::format("{} of {}, m = {}, n = {}", c.name, dtype, m, n));
  CaseOptions how;
  how.device_override = &device;
  how.compare_one_rank = false;
  how.set = {{"m", std::to_string(m)}, {"n", std::to_string(n)}};
  const auto result = run_case(text_of(c, dtype), how);
  EXPECT_TRUE(result.ok) << result.message;
  ASSERT_EQ(result.report.kernels.size(), 1u);
  if (!c.tiles || m < least || n < least) return;
  EXPECT_NE(result.report.kernels[0].schedule.find("tile = "), std::string::npos) << result.report.kernels[0].schedule;
}

class Tiles : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Tiles, ::testing::Values("f32", "f64", "bf16", "i64", "u8", "bool"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Tiles, Boundaries) {
  const std::string dtype = GetParam();
  for (int lanes : {4, 16}) {
    const auto device = make_cpu_device({.threads = 2, .lanes = lanes});
    for (const TileCase& c : kTileCases) {
      if (dtype == "bool" && std::string(c.body).find("flip(%x, dims = [1])") == std::string::npos) continue;
      const int64_t least = lanes == 4 && (dtype == "f64" || dtype == "i64") ? INT64_MAX : lanes;
      check(c, dtype, *device, 130, 33, least);
      check(c, dtype, *device, 17, 40, least);
    }
  }
}

TEST(TilesOfSpecialSizes, Cpu) {
  const auto device = make_cpu_device({.threads = 3, .lanes = 8});
  for (const TileCase& c : kTileCases)
    for (const auto& [m, n] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 20}, {20, 0}, {1, 40}, {40, 1}, {8, 8}, {7, 9}, {64, 272}})
      check(c, "f32", *device, m, n, 8);
}

TEST(TilesOfAnyThreads, Cpu) {
  for (const TileCase& c : kTileCases) {
    CaseOptions how;
    how.compare_one_rank = false;
    how.set = {{"m", "150"}, {"n", "141"}};
    std::vector<char> first;
    for (int threads : {1, 2, 5}) {
      const auto device = make_cpu_device({.threads = threads});
      how.device_override = device.get();
      const auto result = run_case(text_of(c, "f32"), how);
      ASSERT_TRUE(result.ok) << result.message;
      const std::vector<char> bits = testing::bits_of(result.outputs);
      if (first.empty()) first = bits;
      EXPECT_EQ(first, bits) << c.name << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace plait
