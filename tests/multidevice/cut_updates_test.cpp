// Scatters of which each rank has some of the updates, and pending reductions that pass through casts and functions
// that keep an order: what is exchanged, and that the numbers are those of one rank.
#include <gtest/gtest.h>

#include "base/bounds_error.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseResult;

// A scatter of n updates into 5 places of 7 columns; `collectives` where each of 4 ranks has updates.
struct OfUpdates {
  const char *dtype, *in, *cut, *out, *update;
  int64_t collectives;
};
const OfUpdates kOfUpdates[] = {
    {"f32", "", "{0: d}", "", "add", 1},
    {"i64", "", "{0: d}", "", "add", 1},
    {"bf16", "", "{0: d}", "", "add", 1},
    {"f64", "{0: d}", "{0: d}", "{0: d}", "add", 1},
    {"i32", "{1: d}", "{0: d}", "{1: d}", "add", 1},
    {"f32", "{} partial(d: sum)", "{0: d}", "", "add", 1},
    {"i32", "{} partial(d: max)", "{0: d}", "{1: d}", "max", 1},
    {"i32", "{} partial(d: sum)", "{0: d}", "{} partial(d: sum)", "add", 0},
    {"f32", "{0: d}", "{0: d}", "", "max", 1},
    {"u8", "{0: d granule 2}", "{0: d}", "", "min", 1},
    {"i64", "{1: d}", "{0: d}", "{1: d}", "max", 1},
    {"f32", "", "{0: [local 2, d]}", "", "min", 1},
    {"f32", "", "{0: d granule 3}", "{1: d}", "mul", 1},
    {"i32", "{0: d}", "{0: d}", "", "mul", 1},
    {"f32", "", "{0: d}", "", "set", -1},  // the last one stays: all updates go to all
    {"bool", "", "{0: d}", "", "max", -1},
};

std::string text_of(const OfUpdates& c, int64_t updates, const std::string& mesh, const char* more = "") {
  return fmt::format(
      "mesh @m ({})\nfusion @f on @m (%t: {}[5, 7] {}, %i: i64[{}, 7] {}, %s: {}[{}, 7] {}) -> (%y {}) {{\n"
      "  %y = scatter(%t, %i, %s, dim = 0, update = {}{})\n}}\n",
      mesh, c.dtype, c.in, updates, c.cut, c.dtype, updates, c.cut, c.out, c.update, more);
}

CaseResult run_cut(const std::string& text, int64_t ranks, bool exact = false) {
  testing::CaseOptions how;
  how.ranks = ranks, how.exact = exact;
  return testing::run_case(text, how);
}

TEST(CutUpdates, LeaveWhatIsPending) {
  for (const OfUpdates& c : kOfUpdates)
    for (const auto& [updates, ranks] : {std::pair(400, 4), {14, 4}, {2, 3}, {2, 1}})  // uneven, and ranks without any
      for (const bool exact : {false, true}) {
        if (exact && (std::string_view(c.update) == "mul" || std::string_view(c.dtype) == "bool")) continue;
        const std::string text = text_of(c, updates, fmt::format("d = {}", ranks));
        const CaseResult result = run_cut(text, ranks, exact);
        EXPECT_TRUE(result.ok) << text << result.message;
        if (updates == 400 && c.collectives >= 0) {
          EXPECT_EQ(result.collectives, c.collectives) << text;
        }
      }
}

// Over several axes, of which some cut the operand too, or the index alone, or another dim of all of them.
TEST(CutUpdates, OfSeveralAxes) {
  for (const OfUpdates& c :
       std::initializer_list<OfUpdates>{{"i32", "", "{0: [a, b]}", "", "add", 1},
                                        {"f32", "{0: a}", "{0: [b, a]}", "", "add", 1},
                                        {"i32", "{0: a, 1: b}", "{0: [a, b]}", "{0: a}", "add", -1},
                                        {"i32", "{1: b}", "{0: a, 1: b}", "{1: b}", "add", 1},
                                        {"f32", "{} partial(a: sum)", "{0: [a, b]}", "", "add", 1},
                                        {"f32", "{0: b}", "{0: a}", "{0: b}", "add", 1}})
    for (const int64_t updates : {300, 5}) {
      const std::string text = text_of(c, updates, "a = 2, b = 3");
      const CaseResult result = run_cut(text, 6, true);
      EXPECT_TRUE(result.ok) << text << result.message;
      if (updates == 300 && c.collectives >= 0) {
        EXPECT_EQ(result.collectives, c.collectives) << text;
      }
    }
}

// Fewer updates than a part of the results: they go to all.
TEST(CutUpdates, GoToAllWhereThatIsLess) {
  const std::string text =
      "mesh @m (d = 4)\nfusion @f on @m (%t: f32[4000, 4], %i: i64[16, 4] {0: d}, %s: f32[16, 4] {0: d}) -> (%y) {\n"
      "  %y = scatter(%t, %i, %s, dim = 0, update = add)\n}\n";
  const CaseResult result = run_cut(text, 4);
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.report.wire_bytes, 3 * 16 * 4 * (8 + 4));
}

Tensors run_scatters(const std::string& text, int64_t ranks, const Tensors& inputs) {
  CompileOptions how;
  how.device = "cpu", how.ranks = ranks;
  return compile(*parse_fusion(text), how).run(inputs);
}

// The operand counts once, -0 and infinities in it stay, and an index beyond is an error by its place in the whole one.
TEST(CutUpdates, KeepWhatIsSpecial) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto text = [](int64_t updates, const char* in, const char* bounds) {
    return fmt::format(
        "mesh @m (d = 3)\nfusion @f on @m (%t: f32[6] {}, %i: i64[{}] {{0: d}}, %s: f32[{}] {{0: d}}) -> (%y) {{\n"
        "  %z = scatter(%t, %i, %s, dim = 0, update = add, bounds = {})\n  %y = cat(%z, div(1.0, %z), dim = 0)\n}}\n",
        in, updates, updates, bounds);
  };
  std::vector<double> places(4000, 5), values(4000, 0.5);
  places[3] = 1, values[3] = 2;
  Tensors inputs = {{"t", Tensor::from_doubles(DType::f32, {6}, {-0.0, 1, inf, 3, -0.0, 5})},
                    {"i", Tensor::from_doubles(DType::i64, {4000}, places)},
                    {"s", Tensor::from_doubles(DType::f32, {4000}, values)}};
  for (const char* in : {"", "{0: d}"}) {
    const std::vector<double> y = run_scatters(text(4000, in, "check"), 3, inputs).at("y").to_doubles();
    EXPECT_EQ(std::vector(y.begin(), y.begin() + 6), (std::vector<double>{-0.0, 3, inf, 3, -0.0, 2004.5})) << in;
    EXPECT_EQ(y[6], -inf) << in;
    EXPECT_EQ(y[10], -inf) << in;
  }
  places[2777] = 6;
  inputs["i"] = Tensor::from_doubles(DType::i64, {4000}, places);
  try {
    run_scatters(text(4000, "", "check"), 3, inputs);
    ADD_FAILURE();
  } catch (const BoundsError& e) {
    EXPECT_NE(std::string(e.what()).find("index 6 at [2777] of %i lies outside of the 6 places"), std::string::npos)
        << e.what();
  }
}

// What passes a pending reduction on, with one collective for all of them.
TEST(PendingReductions, PassThroughCastsAndWhatKeepsAnOrder) {
  struct Case {
    const char *inputs, *body;
    int64_t collectives, bytes;  // of 4 ranks
  };
  const char* const kSums = "%x: bf16[6, 64] {1: t}, %w: bf16[5, 64] {1: t}, %acc: f32[6, 5] {} partial(t: sum)";
  const char* const kMost = "%x: f32[6, 64] {1: t}, %z: f32[6, 64] {1: t}, %w: f32[6]";
  for (const Case& c : std::initializer_list<Case>{
           {kSums, "%y = add(cast(linear(%x, %w), to = f32), %acc)", 1, 6 * 30 * 4},
           {kSums, "%y = sub(%acc, cast(linear(%x, %w), to = f32))", 1, 6 * 30 * 4},
           {kSums, "%y = cast(linear(%x, %w), to = f32)", 1, 6 * 30 * 2},  // as bf16 it is half as long
           {kMost, "%y = amax(max(relu(amax(%x, dims = [1])), amax(%z, dims = [1])))", 1, 6 * 4},
           {kMost, "%y = amax(max(add(mul(amax(%x, dims = [1]), 2.0), -1.0), %w))", 1, 6 * 4},
           {kMost, "%y = amin(min(sub(div(amin(%x, dims = [1]), 3.0), 1.0), max(%w, amin(%z, dims = [1]))))", 1, 6 * 4},
           {kMost, "%y = cast(amax(%x, dims = [1]), to = bf16)", 1, 6 * 6 * 2},
           // These need them done.
           {kMost, "%y = amax(max(amin(%x, dims = [1]), amin(%z, dims = [1])))", 1, 6 * 2 * 6 * 4},
           {kMost, "%y = amax(mul(amax(%x, dims = [1]), -2.0))", 1, 6 * 6 * 4},
           {kMost, "%y = amax(sub(1.0, amax(%x, dims = [1])))", 1, 6 * 6 * 4},
           {kMost, "%y = amax(add(amax(%x, dims = [1]), %w))", 1, 6 * 6 * 4}})
    for (const int64_t ranks : {4, 3}) {
      const std::string text =
          fmt::format("mesh @m (t = {})\nfusion @f on @m ({}) -> (%y) {{\n  {}\n}}\n", ranks, c.inputs, c.body);
      const CaseResult result = run_cut(text, ranks);
      EXPECT_TRUE(result.ok) << text << result.message;
      if (ranks == 4) {
        EXPECT_EQ(result.collectives, c.collectives) << text;
        EXPECT_EQ(result.report.wire_bytes, c.bytes) << text;
      }
    }
}

TEST(CutUpdates, OnSimulatedGpus) {
  if (auto why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (size_t i = 0; i < std::size(kOfUpdates); i += testing::kStride) {
    const std::string text = text_of(kOfUpdates[i], 14, "d = 2");
    const CaseResult result = testing::run_on_ranks(text, "sim:sm_80", 2);
    EXPECT_TRUE(result.ok) << text << result.message;
  }
}

}  // namespace
}  // namespace plait
