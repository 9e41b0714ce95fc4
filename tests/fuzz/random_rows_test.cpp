// Random fusions of reductions over the same dims of tensors of one shape, with elementwise ops before, between and
// behind them, by random numbers of schedule norm: rows, columns, dims that lie apart, one phase and several. Each is
// one kernel, agrees with the reference at sizes of one specialization and has equal bits on all numbers of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/check_program.h"
#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "schedule/norm.h"
#include "support/random_fusion.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

struct RowsCounts {
  int drawn = 0, taken = 0, phased = 0;
};

void run_rows(uint64_t seed, RowsCounts& counts) {
  const testing::RandomRows drawn = testing::random_rows(seed);
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, drawn.text));
  const auto fusion = parse_fusion(drawn.text);
  ++counts.drawn;
  const Segment& s = fusion->segments.at(0);
  if (norm_refuses(*fusion, s.ops, s.outputs)) return;  // nothing of all dims is reduced
  ++counts.taken;
  std::mt19937_64 random(seed);
  const auto one = make_cpu_device({.threads = 1}), three = make_cpu_device({.threads = 3});
  CompileOptions how, other;
  how.device_override = one.get();
  other.device_override = three.get();
  Compiled program = compile(*fusion, how), again = compile(*fusion, other);
  for (int k = 0; k < 4; ++k) {
    reference::DrawOptions draw;
    draw.seed = seed + static_cast<uint64_t>(k);
    for (const char* name : {"a", "b", "n"}) draw.sizes[name] = static_cast<int64_t>(random() % (k == 0 ? 3 : 45));
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    ASSERT_EQ(program.report().kernels.size(), 1u);
    if (k == 3) counts.phased += program.program().kernels.at(0).code.phases() > 1;
    for (const OutputCheck& o : check_program(*fusion, how, program, inputs, outputs, {.one_rank = false}).outputs) {
      const bool is_nan = o.reference.message.find("nothing was compared") != std::string::npos;
      EXPECT_TRUE(o.reference.ok || is_nan) << o.reference.message;
    }
    EXPECT_TRUE(testing::bits_of(again.run(inputs)) == testing::bits_of(outputs)) << "on 3 threads";
  }
}

void run_many_rows(uint64_t first, int count) {
  RowsCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    try {
      run_rows(first + static_cast<uint64_t>(i), counts);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << first + static_cast<uint64_t>(i) << ": " << error.what() << "\n"
                    << testing::random_rows(first + static_cast<uint64_t>(i)).text;
    }
  }
  std::printf("%d fusions, %d taken by norm, %d of several phases\n", counts.drawn, counts.taken, counts.phased);
  if (counts.drawn < 40) return;  // few of them, as under sanitizers, say nothing of shares
  EXPECT_GE(counts.taken * 10, counts.drawn * 9);
  EXPECT_GE(counts.phased * 2, counts.taken);
}

// On the simulated GPU: no report, and what the reference says.
void run_rows_on_sim(uint64_t seed, RowsCounts& counts) {
  const testing::RandomRows drawn = testing::random_rows_of_gpus(seed);
  ++counts.drawn;
  std::mt19937_64 random(seed);
  for (int k = 0; k < 3; ++k) {
    testing::CaseOptions how;
    how.device = seed % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
    how.seed = seed + static_cast<uint64_t>(k);
    how.options.poison = true;
    how.set["T"] = std::vector<std::string>{"f32", "bf16", "f64", "f16"}[(seed / 2) % 4];
    const int most[] = {6, 9, 3, 140};  // a, b; n: small, or one of them longer than a warp
    how.set["a"] = std::to_string(random() % most[0] + (k > 0 ? 1 : 0));
    how.set["b"] = std::to_string(random() % most[k == 2 ? 3 : 1] + (k > 0 ? 1 : 0));
    how.set["n"] = std::to_string(random() % most[k == 1 ? 3 : 1] + (k > 0 ? 1 : 0));
    SCOPED_TRACE(fmt::format("seed {}, T = {}, a = {}, b = {}, n = {}\n{}", seed, how.set["T"], how.set["a"],
                             how.set["b"], how.set["n"], drawn.text));
    const testing::CaseResult result = testing::run_case(drawn.text, how);
    const bool is_nan = result.message.find("nothing was compared") != std::string::npos;
    EXPECT_TRUE(result.ok || result.undecided || is_nan) << result.message;
    EXPECT_EQ(result.kernels, 1);
    counts.taken += k == 0;
    counts.phased += k == 2 && drawn.split;
  }
}

void run_rows_on_sim(uint64_t first, int count) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  RowsCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    try {
      run_rows_on_sim(seed, counts);
    } catch (const UserError& error) {  // nothing of all dims is reduced, or numbers that do not fit
      const char* known[] = {"does not take this segment", "there is one row", "bytes of shared memory"};
      if (std::none_of(std::begin(known), std::end(known),
                       [&](const char* words) { return error.message().find(words) != std::string::npos; }))
        ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << testing::random_rows_of_gpus(seed).text;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << testing::random_rows_of_gpus(seed).text;
    }
  }
  std::printf("%d fusions, %d taken by norm, %d of several phases\n", counts.drawn, counts.taken, counts.phased);
  if (counts.drawn < 20) return;
  EXPECT_GE(counts.taken * 10, counts.drawn * 9);
  EXPECT_GE(counts.phased * 4, counts.taken);
}

TEST(RandomRows, OnSimulatedGpus) { run_rows_on_sim(1, testing::drawn_here(20)); }
TEST(RandomRows, ThousandOnSimulatedGpusLongRun) { run_rows_on_sim(1000, 1000); }
TEST(RandomRows, AgreeWithTheReference) { run_many_rows(1, testing::drawn_here(40)); }
TEST(RandomRows, ThousandLongRun) { run_many_rows(1000, 1000); }

}  // namespace
}  // namespace plait
