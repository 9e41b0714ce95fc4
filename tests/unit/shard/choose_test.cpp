// Layouts that are chosen by what moves around a tensor and behind it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

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

double plan_cost(const std::string& text, bool by_cost) {
  auto f = test::parsed(text);
  propagate(*f, by_cost);
  insert_reshards(*f);
  return test::plan_cost(*f);
}

// What choices say that they save is what plans without them cost more; how many there are.
size_t choices_that_save(const std::string& body, const std::string& signature) {
  const std::string text = "mesh @m (tp = 4)\nfusion @f on @m " + signature + " {\n" + body + "}\n";
  SCOPED_TRACE(text);
  auto f = test::parsed(text);
  propagate(*f);
  std::set<std::pair<double, double>> choices;
  for (const TensorView* t : f->tensors())
    if (double after = 0, before = 0;
        sscanf(t->reason.c_str(), "by cost: %lf B for moves around it and behind it, %lf B", &after, &before) == 2)
      choices.emplace(after, before);
  double saved = 0;
  for (const auto& [after, before] : choices) saved += before - after;
  EXPECT_NEAR(saved, plan_cost(text, false) - plan_cost(text, true), 1);
  return choices.size();
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

// What a choice is compared with is what a plan without it costs.
TEST(Choose, CostsAreThoseOfPlans) {
  EXPECT_GT(choices_that_save("  %p = linear(%x, %w)\n  %y = sum(mul(relu(%p), relu(%p)))\n", kProduct + "(%y)"), 0u);
  EXPECT_GT(choices_that_save("  %p = linear(%x, %w)\n  %y = slice(relu(%p), dim = 1, start = 0, stop = 8, step = 1)\n",
                              kProduct + "(%y)"),
            0u);
  // Ranges that a slice, a pad and a roll take of others' pieces.
  EXPECT_GT(choices_that_save("  %p = linear(%x, %w)\n  %q = slice(%p, dim = 1, start = 256, stop = 1000, step = 1)\n"
                              "  %y = sum(mul(%q, %q))\n",
                              kProduct + "(%y)"),
            0u);
  const std::string two =
      "(%a: f32[512, 1024] {0: tp}, %b: f32[512, 1024] {1: tp}, param %w: f32[256, 1024] {1: tp}) -> ";
  for (const char* op : {"slice(%s, dim = 0, start = 8, stop = 504, step = 1)", "pad(%s, low = [8, 0], high = [8, 0])",
                         "roll(%s, shifts = [3], dims = [0])", "flip(%s, dims = [0])", "cat(%s, %a, dim = 0)"})
    EXPECT_GT(choices_that_save("  %s = relu(add(%a, %b))\n  %t = " + std::string(op) + "\n  %y = linear(%t, %w)\n",
                                two + "(%y)"),
              0u);
  // Parts that are merged.
  EXPECT_GT(choices_that_save("  %s = relu(add(%a, %b))\n  %t = var(%s, dims = [0])\n  %y = linear(%s, %w)\n",
                              two + "(%y, %t)"),
            0u);
}

// Three heads that a slice takes of eight: not pieces of heads, but all of them at once.
TEST(Choose, ASliceThatReadersNeedWholeIsTakenWhole) {
  EXPECT_EQ(steps("  %qkv = linear(%x, %w)\n  %q = slice(%qkv, dim = 1, start = 0, stop = 48, step = 1)\n"
                  "  %h = reshape(%q, shape = [64, 3, 16])\n  %y = amax(%h, dims = [1])\n",
                  "(%x: f32[64, 1024], param %w: f32[128, 1024] {0: tp}) -> (%y)"),
            "%qkv -> %q: gather-range of dim 1 over tp\n");
}

// What is gathered for one reader is reshaped behind that for others.
TEST(Choose, AReshapeSharesAGather) {
  EXPECT_EQ(steps("  %y = linear(%x, %w)\n  %r = reshape(%x, shape = [64, 8, 128])\n  %z = linear(%r, %u)\n",
                  "(%x: f32[64, 1024] {0: tp}, param %w: f32[4096, 1024] {0: tp}, param %u: f32[4096, 128] {0: tp}) -> "
                  "(%y, %z)"),
            "%x -> %x_gathered: all-gather of dim 0 over tp\n");
}

// Four heads become five, of which two lie on a rank: heads go over whole.
TEST(Choose, PiecesEndBetweenWhatAReshapeKeepsTogether) {
  EXPECT_EQ(steps("  %k = linear(%x, %w)\n  %p = pad(%k, low = [0, 0], high = [0, 4096])\n"
                  "  %h = reshape(%p, shape = [64, 5, 4096])\n  %y = relu(%h)\n",
                  "(%x: f32[64, 64], param %w: f32[16384, 64] {0: tp}) -> (%y)"),
            "%k -> %p: gather-range of dim 1 over tp\n");
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
