// Random attentions and their gradients (support/random_attention.h): each agrees with the reference, on any number of
// threads with the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/random_attention.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

void run_attentions(uint64_t first, int count) {
  testing::DrawnAgain again;
  int fused = 0, narrow = 0;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + uint64_t(i);
    const std::string text = testing::random_attention(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    testing::CaseOptions how;
    how.seed = seed;
    how.specials = seed % 7 == 0;
    how.options.cpu_threads = 2;
    const testing::CaseResult result = testing::run_case(text, how);
    if (again.left_open(seed, result)) continue;
    EXPECT_TRUE(result.ok) << result.message;
    narrow += text.find("T = bf16") != std::string::npos;
    fused += result.report.library_calls == 0;
    if (seed % 4 != 0) continue;
    how.options.cpu_threads = 1 + int(seed / 4 % 5);
    EXPECT_TRUE(testing::bits_of(testing::run_case(text, how).outputs) == testing::bits_of(result.outputs))
        << how.options.cpu_threads << " threads";
  }
  std::printf("%d attentions, %d without a call of a library, %d narrow\n", count, fused, narrow);
  if (count < 40) return;
  again.expect_few(count);
  EXPECT_GE(fused * 2, count);
}

// On simulated GPUs: in bf16 and f16.
void run_on_sim(uint64_t first, int count) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  testing::DrawnAgain again;
  int fused = 0;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + uint64_t(i);
    const std::string text = testing::random_narrow_attention(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    testing::CaseOptions how;
    how.device = seed % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
    how.seed = seed;
    how.specials = seed % 25 == 0;  // which leave much open
    how.options.poison = true;
    const testing::CaseResult result = testing::run_case(text, how);
    if (again.left_open(seed, result)) continue;
    EXPECT_TRUE(result.ok) << result.message;
    fused += result.report.library_calls == 0;
  }
  std::printf("%d attentions, %d without a call of a library\n", count, fused);
  if (count < 40) return;
  again.expect_few(count);
  EXPECT_GE(fused * 2, count);
}

TEST(RandomAttention, AgreesOnSimulatedGpus) { run_on_sim(1, testing::drawn_here(6)); }
TEST(RandomAttentionLongRun, AgreesOnSimulatedGpus) { run_on_sim(3000, 200); }

TEST(RandomAttention, AgreesWithTheReference) { run_attentions(1, testing::drawn_here(10)); }
TEST(RandomAttentionLongRun, AgreesWithTheReference) { run_attentions(1000, 500); }

}  // namespace
}  // namespace plait
