// Random fusions of moves and lookups with elementwise ops and now and then a reduction among them, on CPUs: what
// segmentation makes of them agrees with the reference at sizes of one specialization, has equal bits on all numbers of
// threads, and equal bits where every op has a kernel of its own.
#include <gtest/gtest.h>

#include <random>

#include "api/check_program.h"
#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "support/random_fusion.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

struct MovesCounts {
  int drawn = 0, ops = 0, launches = 0;
};

void run_moves(uint64_t seed, MovesCounts& counts) {
  const std::string text = testing::random_moves(seed);
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const auto fusion = parse_fusion(text);
  std::mt19937_64 random(seed);
  const int lanes = seed % 2 == 0 ? 4 : 0;  // narrow ones fit small sizes more often
  const auto one = make_cpu_device({.threads = 1, .lanes = lanes});
  const auto three = make_cpu_device({.threads = 3, .lanes = lanes});
  CompileOptions how, other;
  how.device_override = one.get();
  other.device_override = three.get();
  Compiled program = compile(*fusion, how), again = compile(*fusion, other);
  ++counts.drawn;
  for (int k = 0; k < 3; ++k) {
    reference::DrawOptions draw;
    draw.seed = seed + static_cast<uint64_t>(k);
    draw.sizes = {{"a", 1 + static_cast<int64_t>(random() % 3)},
                  {"b", 1 + static_cast<int64_t>(random() % (k == 2 ? 40 : 9))},
                  {"c", 1 + static_cast<int64_t>(random() % (k == 0 ? 4 : 70))}};
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    for (const OutputCheck& o : check_program(*fusion, how, program, inputs, outputs, {.one_rank = false}).outputs)
      EXPECT_TRUE(o.reference.ok) << o.reference.message;
    EXPECT_TRUE(testing::bits_of(again.run(inputs)) == testing::bits_of(outputs)) << "on 3 threads";
  }
  counts.ops += static_cast<int>(fusion->ops().size());
  counts.launches += static_cast<int>(program.program().count(StepKind::LaunchStep));
}

void run_many_moves(uint64_t first, int count) {
  MovesCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    try {
      run_moves(first + static_cast<uint64_t>(i), counts);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << first + static_cast<uint64_t>(i) << ": " << error.what() << "\n"
                    << testing::random_moves(first + static_cast<uint64_t>(i));
    }
  }
  std::printf("%d fusions of %d ops, %d launches\n", counts.drawn, counts.ops, counts.launches);
  EXPECT_LE(counts.launches, 2 * counts.drawn);
}

// Along a dim of one element a lookup may read what its kernel reduces.
TEST(RandomMoves, LookupsOfWhatTheKernelReduces) {
  for (const char* dim : {"1", "2"}) {
    const auto fusion = parse_fusion(fmt::format(
        "let a = 5, b = 3\nfusion @f (%x: f32[a, b, 1], %i: i32[] in 0..1) -> (%y) {{\n  %s = sum(%x, dims = [1], "
        "keepdim = true)\n  %g = index_select(%s, %i, dim = {})\n  %y = exp(%g)\n}}\n",
        dim));
    Compiled program = compile(*fusion, {});
    reference::DrawOptions draw;
    draw.sizes = {{"a", 5}, {"b", 3}};
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    EXPECT_EQ(program.report().kernels.size(), 1u);
    for (const OutputCheck& o : check_program(*fusion, {}, program, inputs, outputs, {.one_rank = false}).outputs)
      EXPECT_TRUE(o.reference.ok) << o.reference.message;
  }
}

TEST(RandomMoves, AgreeWithTheReference) { run_many_moves(1, testing::drawn_here(60)); }
TEST(RandomMoves, ThousandLongRun) { run_many_moves(1000, 1000); }

}  // namespace
}  // namespace plait
