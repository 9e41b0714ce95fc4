// Which collectives become one, and in what order the ops around them stand then.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

struct Bucketed {
  std::unique_ptr<Fusion> fusion;
  std::vector<std::string> order;  // of what the ops of the text and the collectives define
  size_t reduces = 0;
  int questions = 0;
};

// `small`: what is said of sizes that nothing proves.
Bucketed bucketed(const std::string& inputs, const std::string& results, const std::string& body, bool small = false,
                  bool gathers = true, const std::string& mesh = "dp = 2, tp = 2") {
  Bucketed out;
  out.fusion =
      test::parsed("mesh @m (" + mesh + ")\nfusion @f on @m (" + inputs + ") -> (" + results + ") {\n" + body + "}\n");
  std::vector<std::string> before;
  for (const Op* op : out.fusion->ops()) before.push_back(op->out()->name);
  bucket_collectives(
      *out.fusion,
      [&](sym::Expr e) {
        ++out.questions;
        return sym::proven(e) || (!e.constant() && sym::prove(e) == sym::Truth::unknown && small);
      },
      gathers);
  verify(*out.fusion);
  for (const Op* op : out.fusion->ops()) {
    const std::string& name = op->out()->name;
    const bool moves = property(op->kind) == OpProperty::communication;
    out.reduces += moves;
    if (moves || std::ranges::find(before, name) != before.end()) out.order.push_back(name);
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(BucketCollectives, ThoseThatWaitForNothingOfEachOther) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[2, 3], %c: f32[]", "%x, %y, %z",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %r = neg(%x)\n"  // waits for the last
                              "  %s = neg(%b)\n"
                              "  %y = all_reduce(%s, team = dp, reduce = sum)\n"
                              "  %z = all_reduce(%c, team = dp, reduce = sum)\n");
  EXPECT_EQ(b.order, (Names{"s", "x_bucket_reduced", "x", "y", "z", "r"}));
  EXPECT_EQ(b.reduces, 1u);
  EXPECT_EQ(print(*b.fusion->find("x_bucket")->definition, *b.fusion),
            "%x_bucket: f32[11] = cat(%a, %s_row, %c_row, dim = 0)");
}

TEST(BucketCollectives, NotThoseThatComeOfOneAnother) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[4]", "%x, %y, %z",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %s = mul(%x, %b)\n"
                              "  %y = all_reduce(%s, team = dp, reduce = sum)\n"
                              "  %z = all_reduce(%b, team = dp, reduce = sum)\n");
  EXPECT_EQ(b.order, (Names{"x", "s", "y_bucket_reduced", "y", "z"}));
}

TEST(BucketCollectives, OfOneTeamReductionAndType) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[4], %c: f64[4]", "%x, %y, %z, %w, %v",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %y = all_reduce(%b, team = tp, reduce = sum)\n"
                              "  %z = all_reduce(%a, team = dp, reduce = max)\n"
                              "  %w = all_reduce(%c, team = dp, reduce = sum)\n"
                              "  %v = all_reduce(%b, team = dp, reduce = max)\n");
  EXPECT_EQ(b.order, (Names{"x", "y", "w", "z_bucket_reduced", "z", "v"}));
}

// Two kinds whose buckets each hold something that waits for the other one: only one of them can be.
TEST(BucketCollectives, NoCircleOfTwoKinds) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[4]", "%x, %y, %z, %w",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %y = all_reduce(%b, team = tp, reduce = sum)\n"
                              "  %s = neg(%y)\n"
                              "  %z = all_reduce(%s, team = dp, reduce = sum)\n"
                              "  %t = neg(%x)\n"
                              "  %w = all_reduce(%t, team = tp, reduce = sum)\n");
  EXPECT_EQ(b.reduces, 3u);
}

TEST(BucketCollectives, SmallOnesOnly) {
  const std::string two =
      "  %x = all_reduce(%a, team = dp, reduce = sum)\n  %y = all_reduce(%b, team = dp, reduce = sum)\n";
  EXPECT_EQ(bucketed("%a: f32[8192], %b: f32[8192]", "%x, %y", two).reduces, 1u);
  EXPECT_EQ(bucketed("%a: f32[8193], %b: f32[8192]", "%x, %y", two).reduces, 2u);
  EXPECT_EQ(bucketed("%a: f32[n], %b: f32[n]", "%x, %y", two, true).reduces, 1u);
  EXPECT_EQ(bucketed("%a: f32[n], %b: f32[n]", "%x, %y", two, false).reduces, 2u);
  // Nothing is asked about one alone.
  EXPECT_EQ(bucketed("%a: f32[n]", "%x", "  %x = all_reduce(%a, team = dp, reduce = sum)\n").questions, 0);
}

// Where the mesh says what links do: as many bytes as both copies of which take the time of a message.
TEST(BucketCollectives, SmallIsWhatALinkSays) {
  const auto reduces = [](const char* team, int64_t count, const char* mesh) {
    const std::string in = fmt::format("%a: f32[{0}], %b: f32[{0}]", count);
    return bucketed(in, "%x, %y",
                    fmt::format("  %x = all_reduce(%a, team = {0}, reduce = sum)\n"
                                "  %y = all_reduce(%b, team = {0}, reduce = sum)\n",
                                team),
                    false, true, mesh)
        .reduces;
  };
  const char* nodes = "dp = 2 bandwidth 50 latency 12, tp = 8 bandwidth 450 latency 3";
  EXPECT_EQ(reduces("tp", 675000, nodes), 1u);  // 2.7 MB
  EXPECT_EQ(reduces("tp", 675001, nodes), 2u);
  EXPECT_EQ(reduces("dp", 2700000, nodes), 1u);
  EXPECT_EQ(reduces("dp", 2700001, nodes), 2u);
  EXPECT_EQ(reduces("tp", 4, "dp = 2 bandwidth 1 latency 0, tp = 8 bandwidth 1 latency 0"), 2u);
}

std::string gather(const char* to, const char* from, int64_t count, const char* inner = "1") {
  return fmt::format(
      "  %{0}: f32[{1}, {2}] = all_gather(%{3}, team = dp, outer = 1, count = {4}, total = {1}, inner = {2})\n", to,
      2 * count, inner, from, count);
}

// Of what a run is given, of equal pieces, as many as are 32 KiB; they stand where the first did.
TEST(BucketCollectives, GathersOfWhatIsGiven) {
  const std::string three =
      gather("x", "a", 64, "16") + "  %s = neg(%x)\n" + gather("y", "b", 4) + gather("z", "c", 192, "16");
  const std::string inputs = "%a: f32[64, 16], %b: f32[4, 1], %c: f32[192, 16]";
  EXPECT_EQ(bucketed(inputs, "%s, %y, %z", three).order, (Names{"x_bucket_gathered", "x", "y", "s", "z"}));
  EXPECT_EQ(bucketed(inputs, "%s, %y, %z", three, false, false).reduces, 3u);
  const std::string small = gather("x", "a", 64, "n") + gather("y", "b", 64, "n");
  EXPECT_EQ(bucketed("%a: f32[64, n], %b: f32[64, n]", "%x, %y", small, true).reduces, 1u);
  EXPECT_EQ(bucketed("%a: f32[64, n], %b: f32[64, n]", "%x, %y", small, false).reduces, 2u);
  // What is computed, and pieces that may differ.
  EXPECT_EQ(bucketed("%a: f32[4, 1]", "%x, %y", "  %b = neg(%a)\n" + gather("x", "a", 4) + gather("y", "b", 4)).reduces,
            2u);
  const std::string open =
      "  %x: f32[k] = all_gather(%a, team = dp, outer = 1, count = n, total = k, inner = 1)\n"
      "  %y: f32[k] = all_gather(%b, team = dp, outer = 1, count = n, total = k, inner = 1)\n";
  EXPECT_EQ(bucketed("%a: f32[n], %b: f32[n]", "%x, %y", open, true).reduces, 2u);
}

TEST(BucketCollectives, ScattersOfEqualPieces) {
  const auto scatter = [](const char* to, const char* from, const char* reduce, int64_t outer = 1) {
    return fmt::format(
        "  %{}: f32[{}, 4, 2] = reduce_scatter(%{}, team = dp, reduce = {}, outer = {}, count = 4, total = 8, "
        "inner = 2)\n",
        to, outer, from, reduce, outer);
  };
  const std::string inputs = "%a: f32[1, 8, 2], %b: f32[1, 8, 2], %c: f32[3, 8, 2]";
  const Bucketed two =
      bucketed(inputs, "%x, %y, %z", scatter("x", "a", "sum") + scatter("z", "c", "sum", 3) + scatter("y", "b", "sum"));
  EXPECT_EQ(two.order, (Names{"z", "x_bucket_scattered", "x", "y"}));
  EXPECT_EQ(bucketed(inputs, "%x, %y", scatter("x", "a", "sum") + scatter("y", "b", "max")).reduces, 2u);
  EXPECT_EQ(
      bucketed(inputs, "%x, %y", scatter("x", "a", "sum") + "  %n = cat(%x, %x, dim = 1)\n" + scatter("y", "n", "sum"))
          .reduces,
      2u);
}

// Of many, as many at once as may be; questions and ops grow with their number alone.
TEST(BucketCollectives, Many) {
  for (const int count : {20, 200}) {
    std::string results, body;
    for (int i = 0; i < count; ++i) {
      results += fmt::format("{}%x{}", i > 0 ? ", " : "", i);
      body += fmt::format("  %s{0} = mul(%a, {0}.0)\n  %x{0} = all_reduce(%s{0}, team = dp, reduce = sum)\n", i);
    }
    const Bucketed b = bucketed("%a: f32[4]", results, body);
    EXPECT_EQ(b.reduces, size_t(count + 15) / 16);
    EXPECT_LE(b.questions, count);
  }
}

}  // namespace
}  // namespace plait
