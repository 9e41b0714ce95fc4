// What the accesses of kernels cost on the simulated GPU: sectors of device memory against those that their data lie
// in, passes over the banks of shared memory against the least.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <numeric>

#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

struct MeterCase {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* body;
  double most = 1.02;  // sectors over the least
};

constexpr MeterCase kMetered[] = {
    {"chain", "%x: T[64, 768], %w: T[64, 768]", "%y", "%y = gelu(add(%x, %w))"},
    {"gelu_bias", "%x: T[64, 768], %w: T[768]", "%y",
     "%y = gelu(add(%x, broadcast(%w, shape = [64, 768], dims = [1])))", 1.5},  // the bias comes to each row
    {"softmax", "%x: T[48, 1024]", "%y", "%y = softmax(%x, dim = 1)"},
    {"layer_norm", "%x: T[40, 768], %w: T[768], %v: T[768]", "%y",
     "%y = layer_norm(%x, %w, %v, dims = 1, eps = 0.00001)", 2.0},  // and so do these
    {"layer_norm_of_many_rows", "%x: T[256, 768], %w: T[768], %v: T[768]", "%y",
     "segment @s (%x, %w, %v) -> (%y) schedule norm(each = 64) { %y = layer_norm(%x, %w, %v, dims = 1, eps = 0.00001) "
     "}"},
    {"rms_norm_of_many_rows", "%x: T[256, 1024], %w: T[1024]", "%y",
     "segment @s (%x, %w) -> (%y) schedule norm(each = 64) { %y = rms_norm(%x, %w) }"},
    {"sum_of_rows", "%x: T[64, 4096]", "%y", "%y = sum(%x, dims = [1])"},
    {"sum_of_all", "%x: T[256, 512]", "%y", "%y = sum(%x, dims = [0, 1])"},
    {"sum_of_columns", "%x: T[2048, 64]", "%y", "%y = sum(%x, dims = [0])"},
    {"short_rows", "%x: T[512, 24]", "%y", "%y = softmax(%x, dim = 1)"},
    {"softmax_widened", "%x: T[48, 1024]", "%y", "%y = softmax(cast(%x, to = f32), dim = 1)"},
    {"softmax_narrowed", "%x: f32[48, 1024]", "%y", "%y = cast(softmax(%x, dim = 1), to = T)"},
    {"chain_widened", "%x: T[64, 768]", "%y", "%y = gelu(cast(%x, to = f32))"},
    {"odd_rows_beside_columns", "%x: T[64, 1001], %w: T[64]", "%y",
     "%y = add(%x, broadcast(%w, shape = [64, 1001], dims = [0]))", 1.75},  // each row begins within a sector
    {"softmax_of_odd_rows", "%x: T[48, 1001]", "%y", "%y = softmax(%x, dim = 1)", 1.04},
    {"sum_of_odd_rows", "%x: T[48, 1001]", "%y", "%y = sum(%x, dims = [1])", 1.06},
    {"scan_of_odd_rows", "%x: T[48, 1001]", "%y", "%y = cumsum(%x, dim = 1)", 1.08},
    {"softmax_of_columns", "%x: T[24, 256]", "%y", "%y = softmax(%x, dim = 0)"},
    {"transpose", "%x: T[96, 128], %z: T[128, 96]", "%y", "%y = add(permute(%x, dims = [1, 0]), %z)"},
    {"channels_last", "%x: T[2, 64, 8, 16]", "%y", "%y = relu(permute(%x, dims = [0, 2, 3, 1]))"},
    {"rope", "%q: T[2, 8, 32, 64], %c: T[32, 64], %s: T[32, 64]", "%y",
     "segment @s (%q, %c, %s) -> (%y) schedule pointwise(along = 1, each = 8) { %y = rope(%q, %c, %s) }", 1.1},
    {"rope_of_few_elements", "%q: T[2, 4, 32, 64], %c: T[32, 64], %s: T[32, 64]", "%y", "%y = rope(%q, %c, %s)",
     2.25},  // the tables come to each head, and of f32 the rotated half from an alias
    {"bias_of_many_rows", "%x: T[64, 768], %w: T[768]", "%y",
     "segment @s (%x, %w) -> (%y) schedule pointwise(along = 0, each = 8) { %b = broadcast(%w, shape = [64, 768], dims "
     "= "
     "[1])\n %a = add(%x, %b)\n %y = gelu(%a) }",
     1.1},
};

// What the kernels of a case did, which must be right.
std::vector<KernelMeter> metered(const std::string& text, const testing::CaseOptions& how) {
  meter_simulated_gpus(true);
  take_meters();
  const testing::CaseResult result = testing::run_case(text, how);
  std::vector<KernelMeter> out = take_meters();
  meter_simulated_gpus(false);
  EXPECT_TRUE(result.ok) << result.message;
  return out;
}

class MetersOnSim : public ::testing::TestWithParam<MeterCase> {};

INSTANTIATE_TEST_SUITE_P(All, MetersOnSim, ::testing::ValuesIn(kMetered),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(MetersOnSim, SectorsAndPassesAreFew) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const MeterCase& c = GetParam();
  const std::string text = fmt::format("let T = f32\nfusion @f ({}) -> ({}) {{\n{}\n}}\n", c.inputs, c.outputs, c.body);
  for (const char* dtype : {"f32", "bf16"})
    for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
      testing::CaseOptions how;
      how.device = device;
      how.set = {{"T", dtype}};
      const std::vector<KernelMeter> meters = metered(text, how);
      ASSERT_FALSE(meters.empty());
      uint64_t sectors = 0, least = 0;
      for (const KernelMeter& m : meters) {
        sectors += m.sectors;
        least += m.least_sectors;
        EXPECT_EQ(m.shared_passes, m.least_passes) << m.kernel << " of " << dtype << ": conflicts of banks";
        EXPECT_GT(m.requests, 0u);
      }
      EXPECT_LE(static_cast<double>(sectors), c.most * static_cast<double>(least)) << dtype << " on " << device;
      std::printf("%s %s %s: %.3f of the least sectors\n", c.name, dtype, device,
                  static_cast<double>(sectors) / static_cast<double>(least));
    }
}

// Beyond those of functions, of which this has none: conversions, indices and conditions are for vectors.
TEST(InstructionsOnSim, OfAnElementOfBf16AreFew) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  constexpr int64_t kElements = 1 << 17;
  const std::string text = fmt::format(
      "fusion @f (%x: bf16[{0}], %w: bf16[{0}], %b: bf16[{0}]) -> (%y) {{ %y = relu(add(mul(%x, %w), %b)) }}\n",
      kElements);
  for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
    testing::CaseOptions how;
    how.device = device;
    const std::vector<KernelMeter> meters = metered(text, how);
    ASSERT_EQ(meters.size(), 1u);
    const KernelMeter& m = meters[0];
    const double of_each =
        static_cast<double>(m.thread_instructions) / static_cast<double>(m.launches) / static_cast<double>(kElements);
    std::printf("%s: %.2f instructions of threads for each element\n", device, of_each);
    EXPECT_LE(of_each, 18);
    EXPECT_EQ(m.thread_instructions, 32 * m.warp_instructions) << "no thread goes another way";
    EXPECT_GE(m.bytes_in_flight, 48u) << "a vector of each operand";
    EXPECT_EQ(m.shared_bytes, 0u);
    EXPECT_GE(m.blocks * m.threads * 8, static_cast<uint64_t>(kElements));
    EXPECT_EQ(std::accumulate(m.kinds.begin(), m.kinds.end(), uint64_t{0}), m.thread_instructions);
  }
}

}  // namespace
}  // namespace plait
