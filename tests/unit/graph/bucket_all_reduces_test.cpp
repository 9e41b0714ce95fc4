// Which all-reduces become one, and in what order the ops around them stand then.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

struct Bucketed {
  std::unique_ptr<Fusion> fusion;
  std::vector<std::string> order;  // of what the ops of the text and the all-reduces define
  size_t reduces = 0;
  int questions = 0;
};

// `small`: what is said of sizes that nothing proves.
Bucketed bucketed(const std::string& inputs, const std::string& results, const std::string& body, bool small = false) {
  Bucketed out;
  out.fusion = test::parsed("mesh @m (dp = 2, tp = 2)\nfusion @f on @m (" + inputs + ") -> (" + results + ") {\n" +
                            body + "}\n");
  std::vector<std::string> before;
  for (const Op* op : out.fusion->ops()) before.push_back(op->out()->name);
  bucket_all_reduces(*out.fusion, [&](sym::Expr e) {
    ++out.questions;
    return sym::proven(e) || (!e.constant() && sym::prove(e) == sym::Truth::unknown && small);
  });
  verify(*out.fusion);
  for (const Op* op : out.fusion->ops()) {
    const std::string& name = op->out()->name;
    out.reduces += op->kind == OpKind::AllReduce;
    if (op->kind == OpKind::AllReduce || std::ranges::find(before, name) != before.end()) out.order.push_back(name);
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(BucketAllReduces, ThoseThatWaitForNothingOfEachOther) {
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

TEST(BucketAllReduces, NotThoseThatComeOfOneAnother) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[4]", "%x, %y, %z",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %s = mul(%x, %b)\n"
                              "  %y = all_reduce(%s, team = dp, reduce = sum)\n"
                              "  %z = all_reduce(%b, team = dp, reduce = sum)\n");
  EXPECT_EQ(b.order, (Names{"x", "s", "y_bucket_reduced", "y", "z"}));
}

TEST(BucketAllReduces, OfOneTeamReductionAndType) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[4], %c: f64[4]", "%x, %y, %z, %w, %v",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %y = all_reduce(%b, team = tp, reduce = sum)\n"
                              "  %z = all_reduce(%a, team = dp, reduce = max)\n"
                              "  %w = all_reduce(%c, team = dp, reduce = sum)\n"
                              "  %v = all_reduce(%b, team = dp, reduce = max)\n");
  EXPECT_EQ(b.order, (Names{"x", "y", "w", "z_bucket_reduced", "z", "v"}));
}

// Two kinds whose buckets each hold something that waits for the other one: only one of them can be.
TEST(BucketAllReduces, NoCircleOfTwoKinds) {
  const Bucketed b = bucketed("%a: f32[4], %b: f32[4]", "%x, %y, %z, %w",
                              "  %x = all_reduce(%a, team = dp, reduce = sum)\n"
                              "  %y = all_reduce(%b, team = tp, reduce = sum)\n"
                              "  %s = neg(%y)\n"
                              "  %z = all_reduce(%s, team = dp, reduce = sum)\n"
                              "  %t = neg(%x)\n"
                              "  %w = all_reduce(%t, team = tp, reduce = sum)\n");
  EXPECT_EQ(b.reduces, 3u);
}

TEST(BucketAllReduces, SmallOnesOnly) {
  const std::string two =
      "  %x = all_reduce(%a, team = dp, reduce = sum)\n  %y = all_reduce(%b, team = dp, reduce = sum)\n";
  EXPECT_EQ(bucketed("%a: f32[8192], %b: f32[8192]", "%x, %y", two).reduces, 1u);
  EXPECT_EQ(bucketed("%a: f32[8193], %b: f32[8192]", "%x, %y", two).reduces, 2u);
  EXPECT_EQ(bucketed("%a: f32[n], %b: f32[n]", "%x, %y", two, true).reduces, 1u);
  EXPECT_EQ(bucketed("%a: f32[n], %b: f32[n]", "%x, %y", two, false).reduces, 2u);
  // Nothing is asked about one alone.
  EXPECT_EQ(bucketed("%a: f32[n]", "%x", "  %x = all_reduce(%a, team = dp, reduce = sum)\n").questions, 0);
}

// Of many, as many at once as may be; questions and ops grow with their number alone.
TEST(BucketAllReduces, Many) {
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
