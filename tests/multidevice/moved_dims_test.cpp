// Moves along dims that ranks hold pieces of: each rank takes the range that its piece of the result needs.
#include <gtest/gtest.h>

#include <random>

#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;
using testing::run_on_ranks;
using testing::why_no_device;

// A move of %x, f32[3, extent, 4] whose dim 1 is cut; %w is whole. Collectives, and rows of 12 elements that ranks take
// from each other, of 12 rows on 4 ranks.
struct Move {
  const char* call;
  int64_t collectives, rows;
};
const Move kMoves[] = {
    {"slice(%x, dim = 1, start = 1)", 1, 3},  // 11 rows: 3, 3, 3, 2
    {"slice(%x, dim = 1, stop = -1)", 1, 0},
    {"slice(%x, dim = 1, start = 2, stop = -3)", 1, 2},  // 7 rows: 2, 2, 2, 1
    {"slice(%x, dim = 1, start = -1)", 1, 3},            // one row goes to the three others
    {"slice(%x, dim = 1, start = 5, stop = 5)", 1, 0},
    {"slice(%x, dim = 1, start = 1, step = 2)", 1, 1 + 2 + 3},  // 6 rows: 2, 2, 2, 0
    {"slice(%x, dim = 1, step = 5)", 1, 1},                     // 3 rows: 0, 5, 10
    {"slice(slice(%x, dim = 1, start = 1), dim = 1, step = 2)", 2, 3 + 1 + 2},
    {"pad(%x, low = [0, 1, 0], high = [0, 1, 0], value = 2)", 1, 0 + 1 + 2 + 0},
    {"pad(%x, low = [0, 9, 1], high = [0, 0, 0])", 1, 3 + 3},
    {"flip(%x, dims = [1])", 1, 12},
    {"flip(%x, dims = [0, 1])", 1, 12},
    {"flip(%x, dims = [0])", 0, 0},
    {"roll(%x, shifts = [1], dims = [1])", 2, 4},
    {"roll(%x, shifts = [-5], dims = [1])", 2, 12},
    {"roll(%x, shifts = [2, 7], dims = [0, 1])", 2, 12},
    {"cat(%x, %x, dim = 1)", 0, 0},  // side by side
    {"slice(cat(%x, %x, dim = 1), dim = 1, start = 1)", 3, 3 + 6 + 6 + 3 + 3},
    {"cat(%x, %w, dim = 1)", 1, 1 + 2 + 3},  // what is whole is sliced
};

std::string text_of(const Move& move, int64_t extent, int64_t ranks, bool symbolic) {
  const std::string n = symbolic ? "n" : std::to_string(extent);
  return fmt::format(
      "{}mesh @m (tp = {})\nfusion @f on @m (%x: f32[3, {}, 4] {{1: tp}}, %w: f32[3, 4, 4]) -> (%y) {{\n"
      "  %m = {}\n  %s = neg(%m)\n  %y = add(%s, %m)\n}}\n",
      symbolic ? fmt::format("let n = {}\n", extent) : "", symbolic ? "t" : std::to_string(ranks), n, move.call);
}

TEST(MovedDims, TakeOnlyWhatTheirRanksNeed) {
  for (const Move& move : kMoves)
    for (bool symbolic : {false, true}) {
      const std::string text = text_of(move, 12, 4, symbolic);
      const CaseResult result = run_on_ranks(text, "cpu", 4);
      EXPECT_TRUE(result.ok) << text << result.message;
      EXPECT_EQ(result.collectives, move.collectives) << text;
      EXPECT_EQ(result.report.wire_bytes, move.rows * 48) << text;
    }
}

TEST(MovedDims, OfUnevenAndEmptyPieces) {
  for (const Move& move : kMoves)
    for (const auto& [extent, ranks] : {std::pair(7, 3), {5, 4}, {10, 7}, {6, 1}}) {
      const std::string text = text_of(move, extent, ranks, extent % 2 == 1);
      const CaseResult result = run_on_ranks(text, "cpu", ranks, extent == 7 ? "local:threads" : "local");
      EXPECT_TRUE(result.ok) << text << result.message;
    }
}

// Near slices of a padded tensor take their halo of what is padded: one exchange, also where ranks have few rows or
// none; with another reader the padded tensor is made, too.
TEST(MovedDims, SlicesOfOnePadShareItsExchange) {
  for (const auto& [pieces, extent, ranks] : {std::tuple("tp", 64, 4),
                                              {"tp", 61, 4},
                                              {"tp", 40, 3},
                                              {"tp granule 32", 64, 4},
                                              {"tp granule 64", 64, 3},
                                              {"tp", 64, 1}})
    for (const char* widths : {"low = [0, 2, 0]", "low = [0, 1, 1], high = [0, 1, 0], value = 3", "high = [0, 2, 0]"})
      for (const bool other : {false, true})
        for (const bool symbolic : {false, true}) {
          const std::string n = symbolic ? "n" : std::to_string(extent);
          const std::string text = fmt::format(
              "{}mesh @m (tp = t)\nfusion @f on @m (%x: f32[3, {}, 4] {{1: {}}}) -> (%y {}) {{\n"
              "  %p = pad(%x, {})\n  %a = slice(%p, dim = 1, stop = -2)\n"
              "  %b = slice(%p, dim = 1, start = 1, stop = -1)\n  %c = slice(%p, dim = 1, start = 2)\n"
              "  %s = mul(sub(%a, %b), %c)\n  {}\n}}\n",
              symbolic ? fmt::format("let n = {}\n", extent) : "", n, pieces,
              other ? "" : fmt::format("{{1: {}}}", pieces), widths,
              other ? "%y = add(%s, sum(%p, dims = [1], keepdim = true))" : "%y = neg(%s)");
          const CaseResult result = run_on_ranks(text, "cpu", ranks, symbolic ? "local:threads" : "local");
          EXPECT_TRUE(result.ok) << text << result.message;
          if (!other && std::string_view(pieces) == "tp") {  // else slices are whole: some rank has no row of them
            EXPECT_EQ(result.collectives, ranks > 1) << text;
          }
        }
}

TEST(MovedDims, OnSimulatedGpus) {
  if (auto why = why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (size_t i = 0; i < std::size(kMoves); i += 2 * testing::kStride) {
    const std::string text = text_of(kMoves[i], 7, 3, true);
    const CaseResult result = run_on_ranks(text, "sim:sm_80", 3);
    EXPECT_TRUE(result.ok) << text << result.message;
  }
}

// Slices of whole parts of a dim that is cut in each of them, and what is joined of such, stay where they are.
TEST(MovedDims, PartsOfAFusedDim) {
  const struct {
    const char *inputs, *body;
    int64_t collectives;
  } kCases[] = {
      {"%x: f32[5, 3*n] {1: [local 3, tp]}",
       "%q = slice(%x, dim = 1, stop = n)\n%k = slice(%x, dim = 1, start = n, stop = 2*n)\n"
       "%v = slice(%x, dim = 1, start = 2*n)\n%y = add(mul(%q, %k), %v)",
       0},
      {"%x: f32[6*n, 5] {0: [local 6, tp granule 2]}",  // four parts, one and one, as queries and their few keys have
                                                        // them
       "%q = slice(%x, dim = 0, stop = 4*n)\n%k = slice(%x, dim = 0, start = 4*n, stop = 5*n)\n"
       "%v = slice(%x, dim = 0, start = 5*n)\n%p = slice(%q, dim = 0, start = n, stop = 2*n)\n"
       "%y = add(mul(%p, %k), %v)",
       0},
      {"%x: f32[3*n, 5] {0: [local 3, tp]}", "%y = slice(%x, dim = 0, stop = 3*n)", 0},
      {"%x: f32[4*n, 5] {0: [local 4, tp]}",
       "%a = slice(%x, dim = 0, start = n, stop = 3*n)\n%c = cat(%a, neg(%a), dim = 0)\n%y = mul(cat(%c, %c, dim = 0), "
       "cat(%c, %c, dim = 0))",
       0},
      {"%x: f32[3*n, 5] {0: [local 3, tp granule 3]}", "%y = slice(%x, dim = 0, start = 2*n)", 0},
      {"%x: f32[6*n, 5] {0: [local 2, local 3, tp]}",
       "%a = slice(%x, dim = 0, start = 3*n)\n%y = slice(%a, dim = 0, start = n)", 0},
      {"%x: f32[3*n, 5] {0: [local 3, tp]}", "%y = slice(%x, dim = 0, start = n, stop = n + 1)", 1},  // no part
      {"%x: f32[3*n, 5] {0: [local 3, tp]}", "%y = slice(%x, dim = 0, step = 3)", 1},
      {"%x: f32[n, 5] {0: tp}, %w: f32[5, 2*n] {1: [local 2, tp]}",
       "%y = mul(permute(cat(%x, neg(%x), dim = 0), dims = [1, 0]), %w)", 0},
      {"%x: f32[n, 5] {0: tp}, %w: f32[2*n, 5] {0: tp}", "%y = mul(cat(%x, neg(%x), dim = 0), %w)", 2},
      {"%x: f32[n, 5] {0: tp}, %w: f32[2*n, 5] {0: [local 2, tp]}",
       "%c = cat(%x, %x, dim = 0)\n%d = cumsum(mul(%c, %w), dim = 1)\n%a = slice(%d, dim = 0, stop = n)\n"
       "%y = sub(slice(%d, dim = 0, start = n), %a)",
       0},
  };
  for (const auto& c : kCases)
    for (const auto& [n, ranks] : {std::pair(8, 4), {7, 3}, {2, 5}, {1, 2}, {6, 1}}) {
      const std::string text =
          fmt::format("let n = {}\nmesh @m (tp = t)\nfusion @f on @m ({}) -> (%y) {{\n{}\n}}\n", n, c.inputs, c.body);
      const CaseResult result = run_on_ranks(text, "cpu", ranks, n == 7 ? "local:threads" : "local");
      EXPECT_TRUE(result.ok) << text << ranks << " ranks: " << result.message;
      EXPECT_EQ(result.collectives, ranks == 1 ? 0 : c.collectives) << text << ranks << " ranks";
    }
}

// A slice within one of the parts takes ranges of that part.
TEST(MovedDims, SlicesWithinAPartOfAFusedDim) {
  const struct {
    int64_t part, ranks, start, stop;
    int64_t rows;  // that ranks take, of 5 elements; -1: not counted
  } kCases[] = {{12, 4, 13, 23, 3},  {12, 4, 12, 22, 0}, {12, 4, 25, 36, 3}, {12, 4, 1, 2, 0},
                {13, 5, 14, 25, -1}, {3, 7, 4, 6, -1},   {12, 1, 13, 23, 0}, {7, 3, 8, 8, -1}};
  for (const auto& c : kCases)
    for (const char* pieces : {"[local 3, tp]", "[local 3, tp granule 2]", "[local 3, two, tp]"}) {
      const bool plain = std::string_view(pieces) == "[local 3, tp]";
      const std::string text = fmt::format(
          "mesh @m (tp = {}, two = 2)\nfusion @f on @m (%x: f32[{}, 5] {{0: {}}}) -> (%y) {{\n"
          "%s = slice(%x, dim = 0, start = {}, stop = {})\n%y = mul(%s, exp(%s))\n}}\n",
          c.ranks, 3 * c.part, pieces, c.start, c.stop);
      const CaseResult result = run_on_ranks(text, "cpu", 2 * c.ranks, c.part == 13 ? "local:threads" : "local");
      EXPECT_TRUE(result.ok) << text << result.message;
      EXPECT_LE(result.collectives, 1) << text;
      if (plain && c.rows >= 0) {
        EXPECT_EQ(result.report.wire_bytes, 2 * c.rows * 20) << text;
      }
    }
}

// What every rank is seen to have is not exchanged; slices of one step share what they exchange.
TEST(MovedDims, Steps) {
  const char* const kText =
      "let n = {}\nmesh @m (tp = t)\nfusion @f on @m (%x: f32[3*n, 5] {{0: tp}}) -> (%y) {{\n"
      "%a = slice(%x, dim = 0, step = 3)\n%b = slice(%x, dim = 0, start = 1, step = 3)\n"
      "%c = slice(%x, dim = 0, start = 2, step = 3)\n%y = sub(max(%a, %b), %c)\n}}\n";
  for (const auto& [n, ranks, collectives, bytes] :
       {std::tuple(8, 4, 0, 0), {32, 8, 0, 0}, {7, 3, 1, 6 * 20}, {1, 4, 1, 2 * 20}, {40, 7, 1, 0}}) {
    const std::string text = fmt::format(fmt::runtime(kText), n);
    const CaseResult result = run_on_ranks(text, "cpu", ranks, n == 7 ? "local:threads" : "local");
    EXPECT_TRUE(result.ok) << text << ranks << " ranks: " << result.message;
    EXPECT_EQ(result.collectives, collectives) << text << ranks << " ranks";
    if (n != 40) {
      EXPECT_EQ(result.report.wire_bytes, bytes) << text << ranks << " ranks";
    }
  }
}

// Sorted along another dim, where that costs less; the first elements are merged from those of each piece.
TEST(MovedDims, WhatIsSorted) {
  const struct {
    const char *inputs, *body;
    int64_t collectives, bytes;  // on 4 ranks; -1: whatever
  } kCases[] = {
      {"%x: f32[64, 256] {1: tp}", "%y, %z = sort(%x, dim = 1)", 1, 64 * 256 * 3},
      {"%x: f32[3, 8] {1: tp}", "%y, %z = sort(%x, dim = 1)", 1, 3 * 8 * 4 * 3},  // gathered
      {"%x: f32[64, 2048] {1: tp}", "%y, %z = topk(%x, dim = 1, k = 1000)", 1, 64 * 2048 * 3},
      {"%x: f32[8, 4096] {1: tp}", "%y, %z = topk(%x, dim = 1, k = 8)", 1, 8 * 8 * 4 * 12 * 3},
      {"%x: f32[4096] {0: tp granule 100}", "%y, %z = topk(%x, dim = 0, k = 5, largest = false)", 1, -1},
      {"%x: i32[6, 50] {1: tp}", "%y, %z = topk(%x, dim = 1, k = 20)", 1, 6 * 50 * 4 * 3},  // as much as all
      {"%x: i32[9, 500, 7] {1: tp}", "%y, %z = topk(%x, dim = 1, k = 1)", 1, -1},
      {"%x: bool[8, 999] {1: tp}", "%y, %z = topk(%x, dim = 1, k = 3)", 1, -1},
      {"%x: f32[n, 33] {0: tp}", "%y, %z = topk(%x, dim = 0, k = 3)", -1, -1},
      {"%x: f32[0, 4096] {1: tp}", "%y, %z = topk(%x, dim = 1, k = 2)", -1, 0},
  };
  for (const auto& c : kCases)
    for (const int ranks : {4, 3, 7, 1})
      for (const bool specials : {false, true}) {
        CaseOptions how;
        how.ranks = ranks;
        how.specials = specials;
        how.options.check_replicas = true;
        const std::string text =
            fmt::format("let n = 5\nmesh @m (tp = t)\nfusion @f on @m ({}) -> (%y, %z) {{\n{}\n}}\n", c.inputs, c.body);
        const CaseResult result = run_case(text, how);
        EXPECT_TRUE(result.ok) << text << ranks << " ranks: " << result.message;
        if (ranks != 4) continue;
        if (c.collectives >= 0) {
          EXPECT_EQ(result.collectives, c.collectives) << text;
        }
        if (c.bytes >= 0) {
          EXPECT_EQ(result.report.wire_bytes, c.bytes) << text;
        }
      }
}

// Results that shall be whole count; what is stored whole is not exchanged; long chains.
TEST(MovedDims, WhatCostsLess) {
  std::string chain = "%c0 = cat(%x, %x, dim = 1)\n";
  for (int i = 0; i < 100; ++i) chain += fmt::format("%c{} = neg(%c{})\n", i + 1, i);
  const struct {
    std::string head, results, body;
    int64_t collectives, bytes;  // on 4 ranks
  } kCases[] = {
      {"(tp = 4)", "%x: f32[64, 256] {1: tp}) -> (%y {}, %z {}", "%y, %z = sort(%x, dim = 1)", 1, 64 * 256 * 4 * 3},
      {"(tp = 4)", "param %x: f32[16] {0: tp} stored {}) -> (%y", "%y = slice(%x, dim = 0, start = 2, stop = 12)", 0,
       0},
      {"(tp = 4)", "%x: f32[8, 800] {1: tp}) -> (%c100 {1: tp}", chain, 2, (200 + 400 + 400 + 200) * 8 * 4},
      {"(tp = 4)", "%x: f32[96] {0: tp granule 24}) -> (%y", "%y = slice(%x, dim = 0, step = 3)", 0, 0},
  };
  for (const auto& c : kCases) {
    const std::string text = fmt::format("mesh @m {}\nfusion @f on @m ({}) {{\n{}\n}}\n", c.head, c.results, c.body);
    const CaseResult result = run_on_ranks(text, "cpu", 4);
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.collectives, c.collectives) << text;
    EXPECT_EQ(result.report.wire_bytes, c.bytes) << text;
  }
}

// Two dims over two axes, corners too; pieces within pieces lose the inner axis.
TEST(MovedDims, OfTwoAxes) {
  const char* const kTexts[] = {
      ("(%x: f32[7, 9] {0: dp, 1: tp}) -> (%y) {\n  %p = pad(%x, low = [1, 1], high = [1, 1], value = 1)\n"
       "  %a = slice(%p, dim = 0, stop = -2)\n  %b = slice(%a, dim = 1, start = 2)\n  %y = exp(%b)\n}\n"),
      "(%x: f32[13, 4] {0: [dp, tp]}) -> (%y) {\n  %r = roll(%x, shifts = [3], dims = [0])\n  %y = exp(%r)\n}\n",
      "(%x: f32[24, 4] {0: [local 3, dp, tp]}) -> (%y) {\n  %f = slice(%x, dim = 0, start = 8)\n  %y = exp(%f)\n}\n",
      "(%x: f32[12, 4] {0: [local 2, tp]}) -> (%y) {\n  %f = flip(%x, dims = [0])\n  %y = exp(%f)\n}\n",
      "(%x: f32[12, 4] {0: tp granule 5}) -> (%y) {\n  %f = slice(%x, dim = 0, start = 1)\n  %y = exp(%f)\n}\n",
  };
  for (const char* text : kTexts) {
    const CaseResult result = run_on_ranks(std::string("mesh @m (dp = 2, tp = 3)\nfusion @f on @m ") + text, "cpu", 6);
    EXPECT_TRUE(result.ok) << text << result.message;
  }
}

// Near each other they share one exchange, far from each other they do not.
TEST(MovedDims, NearSlicesShareAnExchange) {
  const auto collectives = [](const char* start, const char* other) {
    const std::string text = fmt::format(
        "mesh @m (tp = t)\nfusion @f on @m (%x: f32[64] {{0: tp}}) -> (%y) {{\n"
        "  %a = slice(%x, dim = 0, {})\n  %b = slice(%x, dim = 0, {})\n  %y = add(%a, %b)\n}}\n",
        start, other);
    const CaseResult result = run_on_ranks(text, "cpu", 4);
    EXPECT_TRUE(result.ok) << text << result.message;
    return result.collectives;
  };
  EXPECT_EQ(collectives("start = 1", "stop = -1"), 1);
  EXPECT_EQ(collectives("start = 0, stop = 32", "start = 32"), 2);
}

// Chains of moves of small integers, drawn.
TEST(MovedDims, ChainsOfMoves) {
  std::mt19937 random(7);
  const auto draw = [&](int64_t from, int64_t to) { return from + int64_t(random() % uint32_t(to - from + 1)); };
  for (int number = 0; number < testing::drawn_here(40); ++number) {
    const int64_t extent = draw(1, 13), ranks = draw(2, 5);
    const bool symbolic = draw(0, 1) != 0;
    std::string body, last = "x";
    int64_t length = extent;
    for (int64_t step = 0, steps = draw(1, 4); step < steps; ++step) {
      std::string call;
      switch (draw(0, 4)) {
        case 0: {
          const int64_t start = draw(0, length), stop = draw(start, length);
          call = fmt::format("slice(%{}, dim = 0, start = {}, stop = {})", last, start, stop);
          length = stop - start;
          break;
        }
        case 1: {
          const int64_t low = draw(0, 3), high = draw(0, 5);
          call = fmt::format("pad(%{}, low = [{}, 0], high = [{}, 0], value = 3)", last, low, high);
          length += low + high;
          break;
        }
        case 2:
          call = fmt::format("flip(%{}, dims = [0])", last);
          break;
        case 3:
          call = fmt::format("roll(%{}, shifts = [{}], dims = [0])", last, draw(-9, 9));
          break;
        default:
          call = fmt::format("cat(%{}, %x, dim = 0)", last);
          length += extent;
      }
      last = fmt::format("m{}", step);
      body += fmt::format("  %{} = {}\n", last, call);
      if (draw(0, 2) == 0) {
        body += fmt::format("  %n{} = neg(%{})\n", step, last);
        last = fmt::format("n{}", step);
      }
    }
    const std::string text = fmt::format(
        "{}mesh @m (tp = {})\nfusion @f on @m (%x: f32[{}, 2] {{0: tp}}) -> (%y) {{\n{}  %y = abs(%{})\n}}\n",
        symbolic ? fmt::format("let n = {}\n", extent) : "", ranks, symbolic ? "n" : std::to_string(extent), body,
        last);
    SCOPED_TRACE(text);
    try {
      const CaseResult result = run_on_ranks(text, "cpu", ranks);
      EXPECT_TRUE(result.ok) << result.message;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

}  // namespace
}  // namespace plait
