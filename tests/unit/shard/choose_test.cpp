// Layouts that are chosen by what moves around a tensor and behind it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "shard/insert_reshards.h"
#include "shard/moves.h"
#include "shard/propagate.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

// Collectives of a sharded graph, in its order.
std::string steps(const std::string& body, const std::string& signature) {
  auto f = test::parsed("mesh @m (tp = 4)\nfusion @f on @m " + signature + " {\n" + body + "}\n");
  propagate(*f);
  insert_reshards(*f);
  verify(*f);
  std::string out;
  for (const ShardMove& move : shard_moves(*f))
    if (move.exchanges) out += move.tensors + ": " + move.step + "\n";
  return out;
}

std::string layouts(const std::string& body, const std::string& signature, const std::vector<std::string>& names) {
  auto f = test::parsed("mesh @m (tp = 4)\nfusion @f on @m " + signature + " {\n" + body + "}\n");
  propagate(*f);
  std::string out;
  for (const auto& name : names) out += print(f->find(name)->layout, f->mesh()) + " ";
  return out;
}

const std::string kProduct = "(%x: f32[64, 1024] {1: tp}, param %w: f32[1024, 1024] {1: tp}) -> ";

TEST(Choose, ASumIsDoneInPiecesWhereItShrinksBeforeAllNeedIt) {
  EXPECT_EQ(steps("  %p = linear(%x, %w)\n  %y = sum(mul(relu(%p), relu(%p)))\n", kProduct + "(%y)"),
            "%p_pending -> %p: reduce-scatter of dim 0 over tp\n%y_pending -> %y: all-reduce over tp\n");
  EXPECT_EQ(steps("  %p = linear(%x, %w)\n  %y = slice(relu(%p), dim = 1, start = 0, stop = 8, step = 1)\n",
                  kProduct + "(%y)"),
            "%p_pending -> %p: reduce-scatter of dim 0 over tp\n%y_pieces -> %y: all-gather of dim 0 over tp\n");
}

TEST(Choose, ASumWhoseResultIsAsLargeIsDoneWhole) {
  EXPECT_EQ(steps("  %p = linear(%x, %w)\n  %y = relu(%p)\n", kProduct + "(%y)"),
            "%p -> %p_reduced: all-reduce over tp\n");
  EXPECT_EQ(steps("  %p = linear(%x, %w)\n  %y = exp(%p)\n  %z = amax(%y, dims = [1])\n", kProduct + "(%y, %z)"),
            "%p -> %p_reduced: all-reduce over tp\n");
}

TEST(Choose, ReadersOfASumShareItsPieces) {
  EXPECT_EQ(steps("  %p = linear(%x, %w)\n  %y = relu(%p)\n  %z = amax(%p)\n", kProduct + "(%y {0: tp}, %z)"),
            "%p_pending -> %p: reduce-scatter of dim 0 over tp\n%z_pending -> %z: all-reduce over tp\n");
}

TEST(Choose, ATensorMovesOnceForSeveralReaders) {
  EXPECT_EQ(steps("  %s = mul(%x, 2)\n  %y = add(%s, %z)\n  %q = sub(%s, 1)\n",
                  "(%x: f32[512, 1024] {0: tp}, %z: f32[512, 1024] {1: tp}) -> (%y {1: tp}, %q {1: tp})"),
            "%s_pieces -> %s: all-to-all of dim 0 to dim 1 over tp\n");
}

TEST(Choose, AConflictIsDecidedByReadersFurtherOn) {
  EXPECT_EQ(steps("  %s = relu(add(%a, %b))\n  %y = linear(%s, %w)\n",
                  "(%a: f32[512, 1024] {0: tp}, %b: f32[512, 1024] {1: tp}, param %w: f32[256, 1024] {1: tp}) -> (%y)"),
            "%a -> %a_exchanged: all-to-all of dim 0 to dim 1 over tp\n%y_pending -> %y: all-reduce over tp\n");
}

TEST(Choose, OutputsAndAnnotationsStay) {
  // An annotated tensor is where it was asked for.
  EXPECT_EQ(layouts("  %p = linear(%x, %w)\n  %q = relu(%p)\n  %y = sum(%q)\n", kProduct + "(%q, %y)", {"p", "q"}),
            "{} partial(tp: sum) {} ");
  EXPECT_EQ(layouts("  %p = linear(%x, %w)\n  %q: f32[64, 1024] {} = relu(%p)\n  %y = sum(mul(%q, %q))\n",
                    kProduct + "(%y)", {"p", "q"}),
            "{} partial(tp: sum) {} ");
}

TEST(Choose, PiecesThatDoNotDivideAreNotChosen) {
  EXPECT_EQ(layouts("  %p = linear(%x, %w)\n  %y = sum(mul(%p, %p))\n",
                    "(%x: f32[63, 1024] {1: tp}, param %w: f32[1022, 1024] {1: tp}) -> (%y)", {"p"}),
            "{} partial(tp: sum) ");
  EXPECT_EQ(layouts("  %p = linear(%x, %w)\n  %y = sum(mul(%p, %p))\n",
                    "(%x: f32[63, 1024] {1: tp}, param %w: f32[1024, 1024] {1: tp}) -> (%y)", {"p"}),
            "{1: tp} ");
}

TEST(Choose, SizesThatAreNotKnownDecideNothing) {
  EXPECT_EQ(layouts("  %p = linear(%x, %w)\n  %y = sum(mul(%p, %p))\n",
                    "(%x: f32[s, 1024] {1: tp}, param %w: f32[1024, 1024] {1: tp}) -> (%y)", {"p"}),
            "{} partial(tp: sum) ");
}

TEST(Choose, WhatGoesOnForVeryLongStaysAsItsOpsHaveIt) {
  std::string body = "  %p = linear(%x, %w)\n  %t0 = relu(%p)\n";
  for (int i = 0; i < 300; ++i) body += fmt::format("  %t{} = exp(%t{})\n", i + 1, i);
  EXPECT_EQ(layouts(body + "  %y = sum(%t300)\n", kProduct + "(%y)", {"p", "t0"}), "{} partial(tp: sum) {} ");
}

TEST(Choose, ASecondPropagationChangesNothing) {
  auto f = test::parsed("mesh @m (tp = 4)\nfusion @f on @m " + kProduct +
                        "(%y) {\n  %p = linear(%x, %w)\n  %y = sum(mul(relu(%p), relu(%p)))\n}\n");
  propagate(*f);
  const std::string once = print(*f);
  propagate(*f);
  EXPECT_EQ(print(*f), once);
}

}  // namespace
}  // namespace plait
