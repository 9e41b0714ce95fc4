// Random fusions of moves and lookups with elementwise ops and now and then a reduction among them, on CPUs: what
// segmentation makes of them agrees with the reference at sizes of one specialization, has equal bits on all numbers of
// threads, and equal bits where every op has a kernel of its own.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <regex>

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
  int drawn = 0, ops = 0, launches = 0, repeated = 0;
};

// What the program gives, which agrees with the reference.
Tensors agreed(const Fusion& fusion, const CompileOptions& how, Compiled& program, const Tensors& inputs) {
  const Tensors outputs = program.run(inputs);
  for (const OutputCheck& o : check_program(fusion, how, program, inputs, outputs, {.one_rank = false}).outputs)
    EXPECT_TRUE(o.reference.ok) << o.reference.message;
  return outputs;
}

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
    const Tensors inputs(map.begin(), map.end()), outputs = agreed(*fusion, how, program, inputs);
    EXPECT_TRUE(testing::bits_of(again.run(inputs)) == testing::bits_of(outputs)) << "on 3 threads";
  }
  counts.ops += static_cast<int>(fusion->ops().size());
  counts.launches += static_cast<int>(program.program().count(StepKind::LaunchStep));
}

// A text with schedules as one in which threads of some elementwise kernels have several rows; nothing where none can.
std::optional<std::string> with_repeats(const std::string& segments, std::mt19937_64& random) {
  static const std::regex kLoops(R"( loops \((?:[^()]|\([^()]*\))*\))");  // of the old numbers
  static const std::regex kRows("schedule pointwise\\(([^)]*split = ([1-9])[^)]*)\\)");
  const std::string text = std::regex_replace(segments, kLoops, "");
  std::string out;
  bool some = false;
  auto from = text.cbegin();
  for (std::smatch found; std::regex_search(from, text.cend(), found, kRows); from = found[0].second) {
    const uint64_t along = random() % std::stoul(found[2]), each = uint64_t{2} << random() % 3;
    out.append(from, found[0].first);
    const bool own = found[1].str().find("along") == std::string::npos && random() % 4 != 0;
    out +=
        own ? fmt::format("schedule pointwise({}, along = {}, each = {})", found[1].str(), along, each) : found.str();
    some |= own;
  }
  out.append(from, text.cend());
  return some ? std::optional(out) : std::nullopt;
}

// On the simulated GPU: what segmentation makes of them, and the same with several rows of each thread.
void run_moves_on_sim(uint64_t seed, MovesCounts& counts) {
  const std::string text = testing::random_moves(seed);
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  std::mt19937_64 random(seed);
  CompileOptions how;
  how.device = seed % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
  reference::DrawOptions draw;
  draw.seed = seed;
  const int most[] = {3, seed % 3 == 0 ? 40 : 9, seed % 3 == 1 ? 4 : 70};
  for (int d = 0; d < 3; ++d) draw.sizes[std::string(1, "abc"[d])] = 1 + static_cast<int64_t>(random() % most[d]);
  const auto fusion = parse_fusion(text);
  const auto map = reference::draw_inputs(*fusion, draw);
  const Tensors inputs(map.begin(), map.end());
  ++counts.drawn;
  counts.ops += static_cast<int>(fusion->ops().size());
  Compiled program = compile(*fusion, how);
  agreed(*fusion, how, program, inputs);
  counts.launches += static_cast<int>(program.program().count(StepKind::LaunchStep));
  const auto other = with_repeats(program.stage_text("segments"), random);
  if (!other) return;
  SCOPED_TRACE(*other);
  try {
    const auto repeated = parse_fusion(*other);
    Compiled again = compile(*repeated, how);
    agreed(*repeated, how, again, inputs);  // not of equal bits: contractions of a * b + c are the compiler's choice
    ++counts.repeated;
  } catch (const UserError& error) {  // every operand has each element once
    EXPECT_NE(error.message().find("does not apply"), std::string::npos) << error.what();
  }
}

MovesCounts run_many_moves(uint64_t first, int count, void (*run)(uint64_t, MovesCounts&) = run_moves) {
  MovesCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    try {
      run(first + static_cast<uint64_t>(i), counts);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << first + static_cast<uint64_t>(i) << ": " << error.what() << "\n"
                    << testing::random_moves(first + static_cast<uint64_t>(i));
    }
  }
  std::printf("%d fusions of %d ops, %d launches, %d again with several rows a thread\n", counts.drawn, counts.ops,
              counts.launches, counts.repeated);
  EXPECT_LE(counts.launches, 2 * counts.drawn);
  return counts;
}

void run_many_moves_on_sim(uint64_t first, int count) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const MovesCounts counts = run_many_moves(first, count, run_moves_on_sim);
  if (count < 20) return;
  EXPECT_GE(counts.repeated * 4, counts.drawn);
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
    agreed(*fusion, {}, program, {map.begin(), map.end()});
    EXPECT_EQ(program.report().kernels.size(), 1u);
  }
}

TEST(RandomMoves, OnSimulatedGpus) { run_many_moves_on_sim(1, testing::drawn_here(40)); }
TEST(RandomMoves, ThousandOnSimulatedGpusLongRun) { run_many_moves_on_sim(1000, 1000); }
TEST(RandomMoves, AgreeWithTheReference) { run_many_moves(1, testing::drawn_here(40)); }
TEST(RandomMoves, ThousandLongRun) { run_many_moves(1000, 1000); }

}  // namespace
}  // namespace plait
