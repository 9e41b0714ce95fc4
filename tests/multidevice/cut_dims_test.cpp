// Ops along dims that ranks hold pieces of: what is exchanged, in collectives and bytes, and that the numbers are those
// of one rank. docs/examples/sharded says in each header what an expert's collectives move.
#include <gtest/gtest.h>

#include <map>

#include "base/bounds_error.h"
#include "support/examples.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseResult;
using testing::run_on_ranks;
using testing::why_no_device;

TEST(ShardedExamples, MoveNoMoreThanAnExpertsCollectives) {
  const std::vector<testing::ShardedExample> all = testing::sharded_examples();
  EXPECT_GE(all.size(), 18u);
  for (const testing::ShardedExample& e : all) {
    const CaseResult result = run_on_ranks(e.text, "cpu", e.ranks);
    EXPECT_TRUE(result.ok) << e.name << ": " << result.message;
    EXPECT_LE(result.collectives, e.collectives) << e.name;
    EXPECT_LE(double(result.report.wire_bytes), 1.1 * double(e.bytes)) << e.name;
  }
}

TEST(ShardedExamples, RunOnAnyNumberOfRanksAndOnThreads) {
  for (const testing::ShardedExample& e : testing::sharded_examples()) {
    if (e.text.find(" = t)") == std::string::npos) continue;  // a mesh of numbers
    for (const auto& [ranks, comm] : {std::pair(1, "local"), {3, "local:threads"}, {7, "local"}}) {
      if (testing::kSanitized && ranks != 3) continue;
      const CaseResult result = run_on_ranks(e.text, "cpu", ranks, comm);
      EXPECT_TRUE(result.ok) << e.name << " on " << ranks << " ranks: " << result.message;
    }
  }
}

// Whole and passes backward, of sizes that no axis divides, with ranks that have nothing of some tensors; in f32, and
// of integers, for which no order of sums may matter.
TEST(ShardedExamples, OfUnevenAndEmptyPieces) {
  const struct {
    const char *name, *mesh, *other_mesh;
    int64_t ranks;
    std::map<std::string, std::string, std::less<>> set;
  } kCases[] = {{"fsdp_and_tp",
                 "(dp_shard = 2, tp = 2)",
                 "(dp_shard = 2, tp = 2)",
                 4,
                 {{"batch", "7"}, {"h", "5"}, {"hidden", "11"}}},
                {"fsdp_and_tp",
                 "(dp_shard = 2, tp = 2)",
                 "(dp_shard = 3, tp = 2)",
                 6,
                 {{"batch", "2"}, {"h", "5"}, {"hidden", "3"}}},
                {"swapped_axes", "(dp = 2, tp = 2)", "(dp = 3, tp = 2)", 6, {{"rows", "7"}, {"columns", "4"}}},
                {"half_bias", "(tp = t)", "(tp = t)", 3, {{"tokens", "5"}, {"h", "3"}, {"hidden", "7"}}},
                {"accumulated_gradient", "(dp = t)", "(dp = t)", 3, {{"tokens", "2"}, {"h", "5"}, {"n", "3"}}},
                {"mlp_backward", "(tp = t)", "(tp = t)", 3, {{"tokens", "5"}, {"h", "4"}, {"hidden", "7"}}},
                {"mlp_backward_sequence", "(tp = t)", "(tp = t)", 4, {{"tokens", "6"}, {"h", "3"}, {"hidden", "9"}}},
                {"attention_backward", "(tp = t)", "(tp = t)", 3, {{"s", "5"}, {"h", "7"}, {"heads", "2"}}}};
  for (const auto& c : kCases)
    for (const bool exact : {false, true}) {
      const std::string_view name = c.name;
      if (exact && (name == "attention_backward" || name == "accumulated_gradient")) continue;  // exp, quotients
      std::string text = testing::example(std::string("sharded/") + c.name);
      const size_t at = text.find(c.mesh);
      ASSERT_NE(at, std::string::npos) << c.name;
      text.replace(at, std::string_view(c.mesh).size(), c.other_mesh);
      testing::CaseOptions how;
      how.ranks = c.ranks, how.set = c.set, how.exact = exact;
      const CaseResult result = testing::run_case(text, how);
      EXPECT_TRUE(result.ok) << c.name << " on " << c.other_mesh << (exact ? ", exact: " : ": ") << result.message;
    }
}

TEST(ShardedExamples, RunOnSimulatedGpus) {
  if (auto why = why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const std::vector<testing::ShardedExample> all = testing::sharded_examples();
  for (size_t i = 0; i < all.size(); i += testing::kStride) {
    const CaseResult result = run_on_ranks(all[i].text, "sim:sm_80", all[i].ranks);
    EXPECT_TRUE(result.ok) << all[i].name << ": " << result.message;
  }
}

// That a case whose dim of this extent so many ranks cut ends as on one rank, and, where `counted`, by its collectives.
template <class Case>
void expect_right(const Case& c, int64_t extent, int64_t ranks, const std::string& device, bool counted = false) {
  const std::string text = text_of(c, extent, ranks);
  const CaseResult result = run_on_ranks(text, device, Case::kOtherRanks * ranks);
  EXPECT_TRUE(result.ok) << text << result.message;
  if (counted) {
    EXPECT_EQ(result.collectives, c.collectives) << text;
  }
}

// One op of %x, whose dim 1 of three is cut; `collectives` where each of 4 ranks has elements.
struct OfPieces {
  static constexpr int64_t kOtherRanks = 1;  // of axes that cut another dim
  const char *dtype, *results, *call;
  int64_t collectives;
};
const OfPieces kOfPieces[] = {
    {"f32", "%y", "var(%x, dims = [1], correction = 0)", 1},
    {"f64", "%y", "var(%x, correction = 0)", 1},
    {"bf16", "%y, %z", "var_mean(%x, dims = [2, 1], correction = 0, keepdim = true)", 1},
    {"f32", "%y", "argmax(%x, dims = [1])", 1},
    {"f32", "%y, %z", "max_with_argmax(%x, dims = [1, 2])", 1},
    {"bf16", "%y", "argmin(%x, dims = [1, 2], keepdim = true)", 1},
    {"bf16", "%y", "argmin(%x, dims = [1])", 1},  // positions would be more bytes than the operand
    {"i32", "%y, %z", "min_with_argmin(%x, dims = [1])", 1},
    {"bool", "%y", "amax(%x, dims = [1])", 1},
    {"bool", "%y", "amin(%x, dims = [0, 1], keepdim = true)", 1},
    {"f32", "%y", "cumsum(%x, dim = 1)", 1},
    {"bf16", "%y", "cumsum(%x, dim = 1, exclusive = true)", 1},
    {"f64", "%y", "cumsum(%x, dim = 1, reverse = true)", 1},
    {"bool", "%y", "cumsum(%x, dim = 1, exclusive = true, reverse = true)", 1},
    {"f32", "%y", "cumprod(%x, dim = 1)", 1},
    {"i64", "%y", "cumprod(%x, dim = 1, exclusive = true, reverse = true)", 1},
    {"f32", "%y", "logcumsumexp(%x, dim = 1)", 1},
    {"bf16", "%y", "logcumsumexp(%x, dim = 1)", 1},
    {"f64", "%y", "cumprod(%x, dim = 1, exclusive = true)", 1},
    {"f32", "%y, %z", "cummax(%x, dim = 1)", 1},
    {"f64", "%y, %z", "cummin(%x, dim = 1)", 1},
    {"i32", "%y, %z", "cummin(%x, dim = 1)", 1},
    {"u8", "%y, %z", "cummax(%x, dim = 1)", 1},
    {"f32", "%y", "argmax(%x, dims = [0, 1])", 1},
    {"f16", "%y, %z", "max_with_argmax(%x)", 1},
    {"i64", "%y, %z", "min_with_argmin(%x, dims = [0, 1], keepdim = true)", 1},
};

std::string text_of(const OfPieces& c, int64_t extent, int64_t ranks) {
  return fmt::format("mesh @m (tp = {})\nfusion @f on @m (%x: {}[3, {}, 4] {{1: tp}}) -> ({}) {{\n  {} = {}\n}}\n",
                     ranks, c.dtype, extent, c.results, c.results, c.call);
}

TEST(PiecesOfADim, AreMergedAsOneRankWould) {
  for (const OfPieces& c : kOfPieces)
    for (const auto& [extent, ranks] : {std::pair(12, 4), {5, 4}, {7, 3}, {2, 3}})  // uneven, and ranks without any
      expect_right(c, extent, ranks, "cpu", extent == 12);
}

// Pieces along several axes are merged at once, in the order of the dim; ranks of some have no elements.
TEST(PiecesOfADim, OfSeveralAxesAreMergedAsOneRankWould) {
  struct Cut {
    const char* pieces;
    int64_t extent;
  };
  for (const OfPieces& c : kOfPieces)
    for (const Cut& cut : std::initializer_list<Cut>{{"[a, b]", 24},
                                                     {"[b, a]", 23},
                                                     {"[b granule 2, a]", 13},
                                                     {"[a, b granule 3]", 7},
                                                     {"[a, local 2]", 12},
                                                     {"[a, b]", 2}}) {
      const std::string text = fmt::format(
          "mesh @m (a = 2, b = 3)\nfusion @f on @m (%x: {}[3, {}, 4] {{1: {}}}) -> ({}) {{\n  {} = {}\n}}\n", c.dtype,
          cut.extent, cut.pieces, c.results, c.results, c.call);
      const CaseResult result = run_on_ranks(text, "cpu", 6);
      EXPECT_TRUE(result.ok) << text << result.message;
      const std::string_view call = c.call;
      if (cut.extent == 24 && size_of(*parse_dtype(c.dtype)) > 1 &&
          (call.starts_with("var") || call.starts_with("cum"))) {
        EXPECT_EQ(result.collectives, 1) << text;
      }
    }
  for (const auto& [call, collectives] : {std::pair("var(%x, correction = 0)", 1),
                                          {"var(%x, dims = [2, 0], keepdim = true)", 1},
                                          {"argmax(%x)", 1},
                                          {"argmin(%x, dims = [0, 2])", 1}})
    for (const auto& [rows, columns] : {std::pair(64, 48), {5, 13}, {1, 2}}) {
      const std::string text = fmt::format(
          "mesh @m (a = 2, b = 3)\nfusion @f on @m (%x: f32[{}, 2, {}] {{0: a, 2: b}}) -> (%y) {{\n  %y = {}\n}}\n",
          rows, columns, call);
      const CaseResult result = run_on_ranks(text, "cpu", 6);
      EXPECT_TRUE(result.ok) << text << result.message;
      if (rows == 64) {
        EXPECT_EQ(result.collectives, collectives) << text;
      }
    }
  for (const char* pieces : {"[a, b]", "[b, a]", "[b granule 2, a]"})
    for (const char* call : {"argmax(%x)", "var(%x, correction = 0)", "cumsum(%x, dim = 0)", "topk(%x, k = 5, dim = 0)",
                             "topk(%x, k = 300, dim = 0, largest = false)", "cummax(%x, dim = 0)"}) {
      const bool places = std::string_view(call).starts_with("topk") || std::string_view(call).starts_with("cummax");
      const std::string results = places ? "%y, %z" : "%y";
      const std::string text =
          fmt::format("mesh @m (a = 2, b = 3)\nfusion @f on @m (%x: f32[1001] {{0: {}}}) -> ({}) {{\n  {} = {}\n}}\n",
                      pieces, results, results, call);
      const CaseResult result = run_on_ranks(text, "cpu", 6);
      EXPECT_TRUE(result.ok) << text << result.message;
      EXPECT_EQ(result.collectives, 1) << text;
    }
}

// A pending sum that a reader needs done is done for all, but where a result is annotated pending itself.
TEST(PendingSums, AreDoneOnceWhereNobodyWantsThemPending) {
  const char* const kSums = "%x: f32[4, 8] {1: t}, %w: f32[8, 4] {0: t}";
  struct Case {
    std::string inputs, outputs, body;
    int64_t collectives;
  };
  const std::string p = "  %p = matmul(%x, %w)\n";
  for (const Case& c : std::initializer_list<Case>{
           {kSums, "%a, %b {0: t}", p + "  %a = relu(%p)\n  %b = neg(%p)\n", 1},
           {kSums, "%a {} partial(t: sum), %b", p + "  %a = neg(%p)\n  %b = relu(%p)\n", 1},
           {kSums, "%a {} partial(t: sum), %b", p + "  %m = neg(%p)\n  %a = add(%m, %m)\n  %b = relu(%p)\n", 1},
           {kSums, "%a, %b", p + "  %n: f32[4, 4] {} partial(t: sum) = neg(%p)\n  %a = relu(%n)\n  %b = relu(%p)\n", 1},
           {"%x: f32[4, 8] {} partial(t: sum)", "%a {} partial(t: sum), %b", "  %a = neg(%x)\n  %b = relu(%x)\n", 1},
           {std::string(kSums) + ", %acc: f32[4, 4] {} partial(t: sum)", "%a {} partial(t: sum), %b, %c",
            p + "  %a = add(%p, %acc)\n  %b = relu(%p)\n  %c = relu(%acc)\n", -1}}) {
    const std::string text =
        fmt::format("mesh @m (t = 2)\nfusion @f on @m ({}) -> ({}) {{\n{}}}\n", c.inputs, c.outputs, c.body);
    const CaseResult result = run_on_ranks(text, "cpu", 2);
    EXPECT_TRUE(result.ok) << text << result.message;
    if (c.collectives >= 0) {
      EXPECT_EQ(result.collectives, c.collectives) << text;
    }
  }
}

TEST(PiecesOfADim, OnSimulatedGpus) {
  if (auto why = why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (size_t i = 0; i < std::size(kOfPieces); i += testing::kStride) expect_right(kOfPieces[i], 5, 4, "sim:sm_80");
}

Tensors run_numbers(const std::string& text, int64_t ranks, const Tensors& inputs) {
  CompileOptions how;
  how.device = "cpu";
  how.ranks = ranks;
  return compile(*parse_fusion(text), how).run(inputs);
}

// Scans whose parts leave a range that the whole stays in, positions of equals and of NaN across ranks, rows of nothing
// but the least number, infinities in a variance.
TEST(PiecesOfADim, KeepWhatIsSpecial) {
  const auto text = [](const char* call) {
    const std::string_view written = call;
    return fmt::format("mesh @m (tp = t)\nfusion @f on @m (%x: f32[6] {{0: tp}}) -> (%y) {{\n  {}{}\n}}\n",
                       written.starts_with("%") ? "" : "%y = ", call);
  };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    const char* call;
    std::vector<double> x, y;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"cumprod(%x, dim = 0)", {1e-30, 1e-30, 1e30, 1e30, 2, 3}, {1e-30, 0, 1e-30, 1, 2, 6}},
           {"cumsum(%x, dim = 0)", {1, inf, 2, -inf, 1, 1}, {1, inf, inf, nan, nan, nan}},
           {"cumsum(%x, dim = 0)", {-3e38, 0, 3e38, 3e38, 0, -3e38}, {-3e38, -3e38, 0, 3e38, 3e38, 0}},
           {"var(%x, correction = 0)", {1e19, -1e19, 1e19, -1e19, 1e19, -1e19}, {1e38}},
           {"var(%x, correction = 0)", {185758.78, 185758.78, 185758.78, 185758.78, 185758.78, 185758.78}, {0}},
           {"div(1.0, index_select(%x, cast(iota(shape = [1], dim = 0), to = i64), dim = 0))",
            {-0.0, 1, 1, 1, 1, 1},
            {-inf}},
           {"argmax(%x)", {1, 5, 0, 5, 5, 2}, {1}},
           {"argmax(%x)", {1, 5, 0, nan, 9, nan}, {3}},
           {"argmin(%x)", {inf, inf, inf, inf, inf, inf}, {0}},
           {"argmax(%x)", {-inf, -inf, -inf, -inf, -inf, 0}, {5}},
           {"%_, %y = cummax(%x, dim = 0)", {2, 1, 2, 3, 3, 0}, {0, 0, 2, 3, 4, 4}},
           {"%_, %y = cummax(%x, dim = 0)", {-inf, -inf, -inf, -inf, -inf, -inf}, {0, 1, 2, 3, 4, 5}},
           {"%_, %y = cummax(%x, dim = 0)", {1, nan, 9, nan, inf, 2}, {0, 1, 1, 3, 3, 3}},
           {"%_, %y = cummin(%x, dim = 0)", {inf, 0, 7, -0.0, 1, 0}, {0, 1, 1, 3, 3, 5}},
           {"%y, %_ = cummin(%x, dim = 0)", {5, 7, 4, nan, -inf, 2}, {5, 5, 4, nan, nan, nan}},
           {"logcumsumexp(%x, dim = 0)", {-inf, -inf, 0, -inf, inf, 1}, {-inf, -inf, 0, 0, inf, inf}},
           {"logcumsumexp(%x, dim = 0)", {-inf, 1000, -inf, nan, 1, 1}, {-inf, 1000, 1000, nan, nan, nan}},
           {"%_, %y = topk(%x, k = 4, dim = 0)", {nan, 1, -inf, nan, 1, 1}, {0, 3, 1, 4}},
           {"%_, %y = topk(%x, k = 5, dim = 0, largest = false)", {0, -0.0, inf, 0, inf, nan}, {0, 1, 3, 2, 4}},
           {"var(%x)", {1, inf, 2, 3, 4, 5}, {nan}},
           {"var(%x, correction = 6)", {1, 1, 1, 1, 1, 1}, {nan}},
           {"var(%x)", {1e20, 1e20, 1e20, 1e20, 1e20, 1e20}, {0}}}) {
    const Tensor x = Tensor::from_doubles(DType::f32, {6}, c.x);
    for (int64_t ranks : {1, 2, 3, 4, 7}) {
      const Tensor y = run_numbers(text(c.call), ranks, {{"x", x}}).at("y");
      ASSERT_EQ(size_t(y.elements()), c.y.size());
      const std::vector<double> got = y.to_doubles();
      for (size_t i = 0; i < got.size(); ++i) {
        if (std::isnan(c.y[i]))
          EXPECT_TRUE(std::isnan(got[i])) << c.call << " on " << ranks << " at " << i << ": " << got[i];
        else if (c.y[i] != 0 && std::isfinite(c.y[i]))
          EXPECT_NEAR(got[i] / c.y[i], 1, 1e-6) << c.call << " on " << ranks << " at " << i;
        else
          EXPECT_EQ(got[i], c.y[i]) << c.call << " on " << ranks << " at " << i;
      }
    }
  }
}

// Lookups and scatters along a dim of which each rank has a piece.
struct OfPlaces {
  static constexpr int64_t kOtherRanks = 2;
  const char *inputs, *call;
  int64_t collectives;
};
const OfPlaces kOfPlaces[] = {
    {"param %t: f32[$, 6] {0: tp}, %i: i64[4, 3]", "embedding(%i, %t)", 1},
    {"param %t: bf16[$, 6] {0: tp, 1: dp}, %i: i64[4]", "embedding(%i, %t)", 2},
    {"%t: f32[2, $] {1: tp}, %i: i64[2, 1]", "gather(%t, %i, dim = 1)", 1},
    {"%t: f32[2, $, 2] {1: tp}, %i: i64[2, 1, 2]", "take_along(%t, %i, dim = 1)", 1},
    {"%t: i32[2, $] {1: tp}, %i: i64[3] {0: dp}", "index_select(%t, %i, dim = 1)", 2},
    {"%t: bool[2, $] {1: tp}, %i: i64[3]", "index_select(%t, %i, dim = 1)", 1},  // gathered: there is no sum of them
    {"%t: f32[$, 4] {0: tp}, %i: i64[8, 4], %s: f32[8, 4]", "scatter(%t, %i, %s, dim = 0, update = add)", 1},
    {"%t: bf16[$, 4] {0: tp}, %i: i64[8, 4], %s: bf16[8, 4]", "scatter(%t, %i, %s, dim = 0, update = mul)", 1},
    {"%t: f32[3, $] {1: tp}, %i: i64[3, 5], %s: f32[3, 5]", "scatter(%t, %i, %s, dim = 1)", 1},
    {"%t: i64[3, $] {1: tp}, %i: i64[3, 5], %s: i64[3, 5]", "scatter(%t, %i, %s, dim = 1, update = max)", 1},
    {"%t: f32[$, 4] {0: tp}, %i: i64[700, 1], %s: f32[700, 4]",
     "scatter(%t, expand(%i, shape = [700, 4]), %s, dim = 0, update = add)", 1},
};

std::string text_of(const OfPlaces& c, int64_t places, int64_t ranks) {
  std::string inputs = c.inputs;
  inputs.replace(inputs.find('$'), 1, std::to_string(places));
  return fmt::format("mesh @m (dp = 2, tp = {})\nfusion @f on @m ({}) -> (%y {{}}) {{\n  %y = {}\n}}\n", ranks, inputs,
                     c.call);
}

TEST(PiecesOfPlaces, AnswerForTheirOwn) {
  for (const OfPlaces& c : kOfPlaces)
    for (const auto& [places, ranks] : {std::pair(64, 4), {7, 3}, {3, 4}})
      expect_right(c, places, ranks, "cpu", places == 64);
}

TEST(PiecesOfPlaces, OnSimulatedGpus) {
  if (auto why = why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (size_t i = 0; i < std::size(kOfPlaces); i += testing::kStride) expect_right(kOfPlaces[i], 7, 2, "sim:sm_80");
}

// An index that no rank has a place for is an error, by its place in the whole index; `assume` gives NaN, and of
// scatters nothing.
TEST(PiecesOfPlaces, AnIndexBeyondAllOfThemIsAnError) {
  const auto text = [](const char* bounds, const char* call) {
    return fmt::format(
        "mesh @m (dp = 2, tp = 3)\nfusion @f on @m (%t: f32[40] {{0: tp}}, %i: i64[4] {{0: dp}}, %s: f32[4]) -> (%y) "
        "{{\n  %y = {}, dim = 0, bounds = {})\n}}\n",
        call, bounds);
  };
  std::vector<double> table(40);
  for (size_t i = 0; i < table.size(); ++i) table[i] = double(i) + 1;
  const Tensors inputs = {{"t", Tensor::from_doubles(DType::f32, {40}, table)},
                          {"i", Tensor::from_doubles(DType::i64, {4}, {39, 0, 13, 40})},
                          {"s", Tensor::from_doubles(DType::f32, {4}, {100, 200, 300, 400})}};
  for (const char* call : {"index_select(%t, %i", "gather(%t, %i", "scatter(%t, %i, %s"}) {
    try {
      run_numbers(text("check", call), 6, inputs);
      ADD_FAILURE() << call;
    } catch (const BoundsError& e) {
      EXPECT_NE(std::string(e.what()).find("index 40 at [3] of %i lies outside of the 40 places"), std::string::npos)
          << e.what();
    }
  }
  const std::vector<double> read = run_numbers(text("assume", "gather(%t, %i"), 6, inputs).at("y").to_doubles();
  EXPECT_EQ(std::vector(read.begin(), read.end() - 1), (std::vector<double>{40, 1, 14}));
  EXPECT_TRUE(std::isnan(read[3]));
  table[39] = 100, table[0] = 200, table[13] = 300;
  EXPECT_EQ(run_numbers(text("assume", "scatter(%t, %i, %s"), 6, inputs).at("y").to_doubles(), table);
}

}  // namespace
}  // namespace plait
