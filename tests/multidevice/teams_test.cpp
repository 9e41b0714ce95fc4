// Collectives of teams over several mesh axes: any of them, in any order, next to each other in the mesh or not.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/explain.h"
#include "plait.h"
#include "reference/draw_inputs.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;
using testing::run_on_ranks;
using testing::why_no_device;

struct Move {
  std::string team, input, result, call;
};

// One collective each, whatever the team `g` is.
const Move kMoves[] = {
    {"all-reduce", "%x: f32[13, 8] {0: g}", "%y {}", "sum(%x, dims = [0])"},
    {"all-gather", "%x: f32[13, 8] {0: g}", "%y {}", "neg(%x)"},
    {"reduce-scatter", "%x: i32[13, 11] {0: g}", "%y {0: g}", "sum(%x, dims = [0])"},
    {"all-to-all", "%x: bf16[13, 8] {0: g}", "%y {1: g}", "neg(%x)"},
    {"recut", "%x: f32[29] {0: g granule 4}", "%y {0: g}", "neg(%x)"},
    {"range", "%x: f32[29] {0: g}", "%y {0: g}", "flip(%x, dims = [0])"},
};

std::string text_of(const Move& move, const std::vector<std::string>& team) {
  return fmt::format("mesh @m (a = 2, b = 2, c = 2) with g = [{}]\nfusion @f on @m ({}) -> ({}) {{\n  {} = {}\n}}\n",
                     fmt::join(team, ", "), move.input, move.result, move.result.substr(0, 2), move.call);
}

TEST(Teams, AnySubsetOfAxesInAnyOrder) {
  size_t teams = 0;
  for (unsigned subset = 1; subset < 8; ++subset) {
    std::vector<std::string> team;
    for (int axis = 0; axis < 3; ++axis)
      if (subset & (1u << axis)) team.emplace_back(1, static_cast<char>('a' + axis));
    do {
      if (teams++ % testing::kStride != 0) continue;
      for (const Move& move : kMoves) {
        const CaseResult result = run_on_ranks(text_of(move, team), "cpu", 8);
        EXPECT_TRUE(result.ok) << text_of(move, team) << result.message;
        EXPECT_EQ(result.collectives, 1) << move.team << " of " << fmt::format("{}", fmt::join(team, ", "));
      }
    } while (std::ranges::next_permutation(team).found);
  }
  EXPECT_EQ(teams, 3u + 6u + 6u);
}

// The bytes of all ranks in the last row of the table of collectives.
int64_t explained_bytes(const Compiled& program) {
  const std::string text = explain(program, "shard");
  const size_t end = text.rfind(" B"), start = text.rfind(' ', end - 1);
  return text.find("no collective") != text.npos ? 0 : std::stoll(text.substr(start, end - start));
}

// Also where teams of one collective move differently much.
TEST(Teams, ExplainedBytesAreThoseThatARunCounts) {
  std::vector<std::string> texts;
  for (const Move& move : kMoves) texts.push_back(text_of(move, {"c", "a"}));
  for (const char* cut : {"%x: f32[3, 8] {0: a}, %w: f32[7, 8] {1: b}) -> (%y)",
                          "%x: f32[3, 8] {0: a}, %w: f32[7, 8] {1: b}) -> (%y {0: a, 1: b})",
                          "%x: f32[5, 9] {0: a}, %w: f32[9, 9] {0: b}) -> (%y {0: a})",
                          "%x: f32[5, 9] {0: a, 1: b}, %w: f32[9, 9]) -> (%y {0: a, 1: b})",
                          "%x: f32[1, 8] {0: a}, %w: f32[7, 8] {1: b}) -> (%y)"})
    texts.push_back(fmt::format("mesh @m (a = 2, b = 4)\nfusion @f on @m ({} {{\n  %y = linear(%x, %w)\n}}\n", cut));
  for (const std::string& text : texts) {
    const auto fusion = parse_fusion(text);
    CompileOptions how;
    how.device = "cpu";
    how.ranks = fusion->mesh().axes().size() == 3 ? 8 : fusion->mesh().axes()[1].size * 2;
    Compiled program = compile(*fusion, how);
    const auto inputs = reference::draw_inputs(*fusion, {});
    program.run({inputs.begin(), inputs.end()});
    EXPECT_GT(program.report().wire_bytes, 0) << text;
    EXPECT_EQ(explained_bytes(program), program.report().wire_bytes) << text;
  }
}

TEST(Teams, OnThreadsAndSimulatedGpus) {
  for (const Move& move : kMoves) {
    const CaseResult threads = run_on_ranks(text_of(move, {"c", "a"}), "cpu", 8, "local:threads");
    EXPECT_TRUE(threads.ok) << move.team << ": " << threads.message;
  }
  if (auto why = why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const Move& move : kMoves) {
    const CaseResult result = run_on_ranks(text_of(move, {"c", "a"}), "sim:sm_80", 8);
    EXPECT_TRUE(result.ok) << move.team << ": " << result.message;
  }
}

// Pieces of one dim that go to other axes of it: each rank takes what its new piece needs.
TEST(Teams, PiecesGoToOtherAxesOfTheDim) {
  struct {
    const char *from, *to;
  } const kCases[] = {{"a", "b"},
                      {"[a, b]", "[b, a]"},
                      {"[a, b]", "b"},
                      {"[a, b]", "[c, a]"},
                      {"[c, a, b]", "[b]"},
                      {"[local 2, a]", "[local 2, b]"},
                      {"[a, b granule 2]", "[a, b]"}};
  for (const auto& c : kCases) {
    const std::string text = fmt::format(
        "mesh @m (a = 2, b = 3, c = 2)\nfusion @f on @m (%x: f32[26, 3] {{0: {}}}) -> (%y {{0: {}}}) {{\n  %y = "
        "neg(%x)\n}}\n",
        c.from, c.to);
    const CaseResult result = run_on_ranks(text, "cpu", 12);
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.collectives, 1) << text;
    const CaseResult threads = run_on_ranks(text, "cpu", 12, "local:threads");
    EXPECT_TRUE(threads.ok) << text << threads.message;
  }
}

// Pieces of two dims that swap their axes, even and uneven, of ranks without any: one collective.
TEST(Teams, TwoDimsThatSwapTheirAxes) {
  struct {
    const char *from, *to;
  } const kCases[] = {{"{0: a, 1: b}", "{0: b, 1: a}"},
                      {"{0: [a, c], 1: b}", "{0: b, 1: [c, a]}"},
                      {"{0: [c, a], 1: b}", "{0: [c, b], 1: a}"},
                      {"{0: [a, b]}", "{0: b, 1: a}"},
                      {"{0: [local 2, a], 1: b granule 2}", "{0: [local 2, b], 1: a}"}};
  for (const auto& c : kCases)
    for (const char* shape : {"f32[26, 30]", "bf16[8, 7]", "i64[2, 3]"}) {
      const std::string text =
          fmt::format("mesh @m (a = 2, b = 3, c = 2)\nfusion @f on @m (%x: {} {}) -> (%y {}) {{\n  %y = neg(%x)\n}}\n",
                      shape, c.from, c.to);
      for (const char* comm : {"local", "local:threads"}) {
        const CaseResult result = run_on_ranks(text, "cpu", 12, comm);
        EXPECT_TRUE(result.ok) << text << result.message;
        EXPECT_EQ(result.collectives, 1) << text;
      }
      if (why_no_device("sim:sm_80").empty() && std::string_view(shape) == "f32[26, 30]") {
        const CaseResult gpu = run_on_ranks(text, "sim:sm_80", 12);
        EXPECT_TRUE(gpu.ok) << text << gpu.message;
      }
    }
}

// Pieces that are the same, whatever their text.
TEST(Teams, EqualPiecesMoveNothing) {
  struct {
    const char *from, *to;
    int64_t collectives;
  } const kCases[] = {{"a granule 4", "a", 0},     {"[a granule 8, b]", "[a, b granule 4]", 0},
                      {"[one, a]", "[a, two]", 0}, {"[one, b granule 16]", "b", 0},
                      {"a granule 32", "a", 1},    {"[local 2, local 2, a]", "[local 4, a]", 0}};
  for (const auto& c : kCases) {
    const std::string text = fmt::format(
        "mesh @m (one = 1, a = 2, b = 2, two = o)\nfusion @f on @m (%x: f32[32, 3] {{0: {}}}) -> (%y {{0: {}}}) {{\n"
        "  %y = neg(%x)\n}}\n",
        c.from, c.to);
    const CaseResult result = run_on_ranks(text, "cpu", 4);
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.collectives, c.collectives) << text;
  }
}

// An axis of one rank beside others is as if it were not there: what is merged over the first axis of a list, is.
TEST(Teams, AxesOfOneRankCutNothing) {
  for (const char* pieces : {"a", "[one, a]", "[a, one]", "[one, a, two]"}) {
    const std::string text = fmt::format(
        "mesh @m (one = 1, a = 4, two = o)\nfusion @f on @m (%x: f32[24, 64] {{0: {}}}) -> (%y, %z) {{\n"
        "  %y = cumsum(%x, dim = 0)\n  %z = argmax(%x, dims = [0])\n}}\n",
        pieces);
    const CaseResult result = run_on_ranks(text, "cpu", 4);
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.collectives, 2) << text;  // totals; extrema with their places
  }
  // A change over such an axis alone changes nothing, and is no error.
  const CaseResult none = run_on_ranks(
      "mesh @m (dp = d, tp = 2)\nfusion @f on @m (%x: f32[4, 6] {0: dp}) -> (%y) {\n  %r: f32[4, 6] {} = reshard(%x)\n"
      "  %y = neg(%r)\n}\n",
      "cpu", 2);
  EXPECT_TRUE(none.ok) << none.message;
  EXPECT_EQ(none.collectives, 0);
}

// Axes as a training job names them, with those that are flattened: data, data with context, the shards, the loss.
TEST(Teams, FlattenedAxesOfATrainingJob) {
  const char* kJob = R"(
mesh @m (pp = 1, dp_replicate = 2, dp_shard = -1, cp = 2, tp = 1) with dp = [dp_replicate, dp_shard], dp_cp = [dp_replicate, dp_shard, cp], fsdp = [dp_shard, cp], loss = [dp_replicate, dp_shard, cp]
fusion @f on @m (%x: f32[6, 10, 8] {0: dp, 1: cp}, param %w: f32[12, 8] {} stored {0: fsdp}) -> (%mean {}, %squares {}, %dw {0: fsdp}) {
  %h = linear(%x, %w)
  %r = relu(%h)
  %mean = mean(%r)
  %squares = sum(mul(%w, %w))
  %g = einsum(%r, %x, equation = "bso,bsi->oi")
  %dw = mul(%g, 2)
}
)";
  const CaseResult result = run_on_ranks(kJob, "cpu", 8);
  EXPECT_TRUE(result.ok) << result.message;
  // The weight is gathered, the loss and the weight's squares summed, the gradient scattered over the shards and summed
  // over the replicas.
  EXPECT_LE(result.collectives, 5);
}

// Runs a text of symbols T and n in every float type, of these n, on each host; `check` sees what a case did.
template <class Check>
void on_six_ranks(const char* text, std::initializer_list<const char*> sizes, Check&& check) {
  for (const char* dtype : {"f32", "bf16", "f64"})
    for (const char* n : sizes)
      for (const auto& [device, comm] : {std::pair("cpu", "local"), {"cpu", "local:threads"}, {"reference", "local"}}) {
        SCOPED_TRACE(fmt::format("{}, n = {}, {}, {}", dtype, n, device, comm));
        CaseOptions how;
        how.device = device;
        how.comm = comm;
        how.ranks = 6;
        how.set = {{"T", dtype}, {"n", n}};
        how.options.check_replicas = true;
        const CaseResult result = run_case(text, how);
        EXPECT_TRUE(result.ok) << result.message;
        check(result);
      }
}

// What a run takes may be parts of sums, and so may what it gives: gradients that are added up from step to step.
TEST(Pending, InputsAndOutputs) {
  const char* kAccumulate = R"(
let T = f32, n = 13
mesh @m (dp = 2, tp = 3)
fusion @f on @m (%x: T[24, n] {0: dp}, %g: T[24, 8] {0: dp}, %before: T[n, 8] {0: tp} partial(dp: sum), %peak: T[n] {} partial(tp: max)) -> (%after {0: tp} partial(dp: sum), %top {} partial(dp: max), %whole {}, %twice) {
  %t = permute(%x, dims = [1, 0])
  %dw = matmul(%t, %g)
  %after = add(%dw, %before)
  %a = abs(%x)
  %top = amax(%a, dims = [0])
  %whole = neg(%peak)
  %twice = mul(%before, 2)
}
)";
  // The gradient stays pending; %peak and %before are reduced, %before's pieces gathered for %twice.
  const auto few = [](const CaseResult& result) { EXPECT_LE(result.collectives, 3); };
  on_six_ranks(kAccumulate, {"13", "2", "0"}, few);
}

// Sums that are scaled, masked and subtracted are added up behind that, once; narrow ones, which each rank would round,
// before it, as small ones together.
TEST(Pending, WhatScalesASumComesBeforeIt) {
  const char* kScaled = R"(
let T = f32, n = 13
mesh @m (dp = 2, tp = 3)
fusion @f on @m (%x: T[24, n] {0: [dp, tp]}, %g: T[24, 8] {0: [dp, tp]}, %before: T[n, 8] {} partial(dp: sum, tp: sum), %some: bool[8], %keep: bool[n, 8]) -> (%dw) {
  %now = mul(matmul(permute(%x, dims = [1, 0]), %g), cast(%some, to = T))
  %kept = where(%keep, mul(%now, 0.25), 0)
  %dw = sub(div(%before, 4), %kept)
}
)";
  const auto one = [](const CaseResult& result) { EXPECT_EQ(result.collectives, 1); };
  on_six_ranks(kScaled, {"13", "1", "0"}, one);
  // Of a factor that is infinite, signs of summands must not show.
  const CaseResult infinite = run_on_ranks(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 2] {0: tp}) -> (%y) {\n  %big = full(shape = [2], value = inf, "
      "dtype = f32)\n  %y = mul(sum(%x, dims = [0]), max(%big, %big))\n}\n",
      "cpu", 2);
  EXPECT_TRUE(infinite.ok || infinite.undecided) << infinite.message;
  std::string integers = kScaled;
  integers.replace(integers.find("0.25"), 4, "-1");
  integers.replace(integers.find("div(%before, 4)"), 15, "neg(%before)");
  CaseOptions how;
  how.ranks = 6, how.exact = true;
  const CaseResult result = run_case(integers, how);
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.collectives, 1);
}

// Summands of both signs that grow on their way may overflow where the sum does not, at once or after several steps.
TEST(Pending, WhatMakesSummandsGreaterComesBehindTheSum) {
  const auto result_of = [](const std::string& ops, double summand) {
    const auto fusion = parse_fusion(
        "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[1, 2] {1: tp}, %w: f32[1, 2] {1: tp}) -> (%y) {\n"
        "  %s = linear(%x, %w)\n" +
        ops + "}\n");
    Tensors inputs;
    inputs.emplace("x", Tensor::from_doubles(DType::f32, {1, 2}, {summand, summand}));
    inputs.emplace("w", Tensor::from_doubles(DType::f32, {1, 2}, {1, -1}));
    CompileOptions options;
    options.device = "cpu", options.ranks = 2;
    return compile(*fusion, options).run(inputs).at("y").at(0);
  };
  EXPECT_EQ(result_of("  %y = mul(%s, 65536)\n", 1e35), 0);
  EXPECT_EQ(result_of("  %y = div(%s, 0.001)\n", 1e37), 0);
  for (const char* step : {"mul({}, 65536)", "div({}, 0.0000152587890625)"}) {
    std::string text = "%s";
    for (int i = 0; i < 8; ++i) text = fmt::format(fmt::runtime(step), text);
    EXPECT_EQ(result_of("  %y = " + text + "\n", 1), 0) << step;
  }
}

// Ranks with the same numbers are told once, and no rank is held.
TEST(ManyRanks, AMillionAreCompiledFor) {
  const auto fusion = parse_fusion(
      "mesh @m (dp = d, tp = 1024)\nfusion @f on @m (%x: f32[3000, 64] {0: dp}, param %w: f32[256, 64] {0: tp}) -> "
      "(%y, %z {0: dp}) {\n  %h = linear(%x, %w)\n  %y = sum(%h, dims = [0])\n  %z = flip(%h, dims = [0])\n}\n");
  CompileOptions options;
  options.ranks = 1 << 20;
  options.device = "cpu";
  Compiled compiled = compile(*fusion, options);
  compiled.compile_for({{"x", {DType::f32, {3000, 64}}}, {"w", {DType::f32, {256, 64}}}});
  const std::string text = compiled.stage_text("memory");
  EXPECT_TRUE(text.starts_with("ranks 0 to 255, 1024 to 1279, ")) << text.substr(0, 100);  // 3 rows, 1 column
  EXPECT_LE(std::ranges::count(text, '\n'), 200);
  EXPECT_GT(compiled.report().bytes_moved, 0);
  EXPECT_GT(compiled.report().arena_bytes, 0);
}

}  // namespace
}  // namespace plait
