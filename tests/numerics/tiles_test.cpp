// Operands that lie across the output's rows. On the CPU: squares of every vector, at the boundaries of squares and of
// tiles, dtypes, numbers of threads; operands that are read backwards. On GPUs: tiles in shared memory.
#include <gtest/gtest.h>

#include "backend/cpu/cpu_device.h"
#include "backend/cuda/nvrtc.h"
#include "base/error.h"
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

// Of GPUs, parts of a tile may stand under a condition.
const TileCase kGuardedTiles[] = {
    {"padded", "%x: T[m, n]",
     "  %p = pad(permute(%x, dims = [1, 0]), low = [0, 2], high = [0, 3], value = 1)\n  %y = neg(%p)\n"},
    {"two", "%x: T[m, n], %z: T[m, n]",
     "  %a = permute(%x, dims = [1, 0])\n  %b = permute(%z, dims = [1, 0])\n  %c = cat(%a, %b, dim = 1)\n  %y = "
     "neg(%c)\n"},
    {"shifted", "%x: T[m, n]",
     "  %p = permute(%x, dims = [1, 0])\n  %r = roll(%p, shifts = [1], dims = [1])\n  %y = add(%p, %r)\n"},
};

TEST(TilesOfGpus, Boundaries) {
  for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
    for (const char* dtype : {"f32", "f64", "bf16", "u8"})
      for (const auto* list : {&kTileCases[0], &kTileCases[1], &kTileCases[3], &kTileCases[4], &kTileCases[5],
                               &kGuardedTiles[0], &kGuardedTiles[1], &kGuardedTiles[2]})
        for (const auto& [m, n] :
             std::vector<std::pair<int64_t, int64_t>>{{32, 64}, {33, 70}, {130, 16}, {15, 40}, {0, 20}}) {
          const bool each = std::string_view(dtype) == "f32" && std::string_view(device) == "sim:sm_80";
          if (!each && (m != 33 || list == &kTileCases[5])) continue;
          SCOPED_TRACE(fmt::format("{} of {} on {}, m = {}, n = {}", list->name, dtype, device, m, n));
          CaseOptions how;
          how.device = device;
          how.compare_one_rank = false;
          how.set = {{"m", std::to_string(m)}, {"n", std::to_string(n)}};
          const auto result = run_case(text_of(*list, dtype), how);
          EXPECT_TRUE(result.ok) << result.message;
          ASSERT_EQ(result.report.kernels.size(), 1u);
          const std::string& schedule = result.report.kernels[0].schedule;
          EXPECT_TRUE(m < 16 || n < 16 || schedule.find("tile = ") != std::string::npos) << schedule;
        }
  }
}

TEST(TilesOfGpus, NumbersByHand) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto with = [](const char* numbers) {
    CaseOptions how;
    how.device = "sim:sm_80";
    how.compare_one_rank = false;
    try {
      const auto result = run_case(
          fmt::format("let m = 70, n = 45\nfusion @f (%x: f32[m, n]) -> (%y) {{\n segment @s (%x) -> (%y) schedule "
                      "pointwise({}) {{\n  %p = permute(%x, dims = [1, 0])\n  %y = neg(%p)\n }}\n}}\n",
                      numbers),
          how);
      return result.ok ? std::string("ok") : result.message;
    } catch (const UserError& e) {
      return std::string(e.what());
    }
  };
  for (const char* numbers : {"tile = 16", "tile = 32, vector = 2", "tile = 64, vector = 4, rows = 16",
                              "tile = 8, rows = 8", "tile = 1", "tile = 64, rows = 1", "tile = 32, rows = 32"}) {
    EXPECT_EQ(with(numbers), "ok") << numbers;
  }
  EXPECT_NE(with("tile = 32, rows = 64").find("no part of a tile of 32"), std::string::npos);
  EXPECT_NE(with("tile = 32, threads = 8").find("no part of a tile of 32"), std::string::npos);
  EXPECT_NE(with("tile = 256, rows = 8, vector = 1, threads = 256").find("a block has at most 1024"),
            std::string::npos);
  EXPECT_NE(with("tile = 32, split = 1").find("no split"), std::string::npos);
}

}  // namespace
}  // namespace plait
