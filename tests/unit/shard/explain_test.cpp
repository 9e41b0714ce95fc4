// Every reason that `plait explain --shard` gives, word for word, by an op that it is about.
#include "shard/explain.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "shard/insert_reshards.h"
#include "shard/propagate.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

struct Case {
  const char *inputs, *body, *output, *reason;
};

std::string explained(const Case& c) {
  auto f = test::parsed(fmt::format("let e = 64\nmesh @m (dp = 2, tp = 2)\nfusion @f on @m ({}) -> ({}) {{\n{}\n}}\n",
                                    c.inputs, c.output, c.body));
  propagate(*f);
  insert_reshards(*f);
  verify(*f);
  return explain_sharding(*f);
}

void expect_reasons(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string text = explained(c);
    // A reason is all that a row says, or a clause of several.
    const size_t at = text.find(c.reason);
    ASSERT_NE(at, std::string::npos) << c.body << "\nlacks: " << c.reason << "\n" << text;
    const char before = at == 0 ? '\n' : text[at - 1], after = text[at + std::string(c.reason).size()];
    EXPECT_TRUE(before == ' ' && (after == '\n' || after == ';')) << c.body << "\nmore than: " << c.reason << "\n"
                                                                  << text;
  }
}

// A printed graph is read, and sharded as it was: also where pieces were written otherwise than in normal form.
TEST(Explain, WhatIsPrintedIsReadAgain) {
  auto f = test::parsed(
      "mesh @m (tp = 4)\nfusion @f on @m (%x: f32[128, 8] {0: tp}) -> (%z) {\n"
      "  %y: f32[128, 8] {0: tp granule 16} = reshard(%x)\n  %z = relu(%y)\n}\n");
  propagate(*f);
  auto again = test::parsed(print(*f));
  propagate(*again);
  insert_reshards(*again);
  verify(*again);
  EXPECT_EQ(again->find("y")->reason, "annotated; %x is so already: nothing moves");
  EXPECT_FALSE(as<Reshard>(*again->find("y")->definition)->step);
}

// An output that is kept as it was is not so by cost.
TEST(Explain, OutputsThatStayAreSaidToStay) {
  auto f = test::parsed(
      "mesh @m (tp = 4)\nfusion @f on @m (%x: f32[64, 1024] {1: tp}, param %w: f32[1024, 1024] {1: tp}) -> (%y) {\n"
      "  %p = linear(%x, %w)\n  %y = slice(relu(%p), dim = 1, start = 0, stop = 8, step = 1)\n}\n");
  propagate(*f);
  insert_reshards(*f);
  const std::string table = explain_sharding(*f);
  EXPECT_NE(table.find("after slice: %y stays as it is without choices by cost"), std::string::npos) << table;
  EXPECT_NE(table.find("after linear: %p is so by cost"), std::string::npos) << table;
}

TEST(Explain, WhatMustBeWhole) {
  expect_reasons({
      {"%x: f32[4, 8] {1: tp}", "_, %y = sort(%x, dim = 1)", "%y", "%x dim 1 [tp] must be whole in sort"},
      {"%x: bool[4, 8] {1: tp}, %i: i64[4, 3]", "%y = gather(%x, %i, dim = 1)", "%y",
       "%x dim 1 [tp] must be whole in gather"},
      {"%x: f32[4, 8] {0: tp}, %i: i64[30]", "%y = index_select(%x, %i, dim = 0)", "%y",
       "%x dim 0 [tp] is whole in index_select, whose results are larger than it"},
      {"%x: f32[4, 8], %i: i64[4, 6] {1: tp}, %s: f32[4, 6]", "%y = scatter(%x, %i, %s, dim = 1, update = set)", "%y",
       "%i dim 1 [tp] must be whole in scatter"},
      {"%x: f32[4, 8]", "_, %y = sort(%x, dim = 1)", "%y {1: tp}", "%y dim 1 [tp] must be whole in sort"},
  });
}

TEST(Explain, WhatRanksMerge) {
  expect_reasons({
      {"%x: f32[4, 8] {1: tp}", "%y = cumsum(%x, dim = 1)", "%y",
       "[tp] merged: cumsum exchanges what it makes of pieces of %x dim 1"},
      {"%x: f32[64, 8] {0: [tp, dp]}", "%y = var(%x, dims = [0])", "%y",
       "[tp, dp] merged: var exchanges what it makes of pieces of %x dim 0"},
      {"%x: f32[4, 8] {0: [tp, dp]}", "%y = var(%x, dims = [0])", "%y",
       "%x dim 0 [tp, dp] has more than [tp], which var merges"},
      {"%x: f32[4, 8] {0: tp}", "%y = argmax(%x)", "%y",
       "[tp] merged: argmax exchanges what it makes of pieces of %x dim 0"},
      {"%x: f32[4, 64] {1: tp}", "%y, _ = cummax(%x, dim = 1)", "%y",
       "[tp] merged: cummax exchanges what it makes of pieces of %x dim 1"},
      {"%x: f32[2], %i: i64[64] {0: tp}, %s: f32[64] {0: tp}", "%y = scatter(%x, %i, %s, dim = 0, update = add)", "%y",
       "[tp] pending: scatter reduces %i dim 0"},
      {"%x: f32[8192], %i: i64[4] {0: tp}, %s: f32[4]", "%y = scatter(%x, %i, %s, dim = 0, update = add)", "%y",
       "%i dim 0 [tp] is whole in scatter: to bring updates together costs less than the pending result they leave"},
  });
  const std::string text = explained({"%x: bf16[4, 8] {1: tp}", "%y, %z = var_mean(%x, dims = [1])", "%y, %z", ""});
  EXPECT_NE(text.find("%x -> %y  all-gather of parts over tp  {}      32 B          for var_mean %y\n"),
            std::string::npos)
      << text;
}

TEST(Explain, WhatMovesItsElements) {
  expect_reasons({
      {"%x: f32[8] {0: tp}", "%y = slice(%x, dim = 0, start = 1)", "%y", "dim 0 from %x dim 0 through slice"},
      {"%x: f32[8] {0: tp}", "%y = slice(%x, dim = 0, start = 1, step = 2)", "%y", "dim 0 from %x dim 0 through slice"},
      {"%x: f32[8] {0: [local 2, tp]}", "%y = slice(%x, dim = 0, start = 1)", "%y",
       "%x dim 0 [local 2, tp] must be whole in slice, which moves its elements"},
      {"%x: f32[8] {0: [local 2, tp]}", "%y = slice(%x, dim = 0, start = 4)", "%y",
       "dim 0 from %x dim 0 through slice"},
      {"%x: f32[8] {0: [local 2, tp]}", "%y = flip(%x, dims = [0])", "%y",
       "%x dim 0 [local 2, tp] must be whole in flip, which moves its elements"},
      {"%x: f32[8] {0: tp}", "%y = pad(%x, low = [1])", "%y", "dim 0 from %x dim 0 through pad"},
      {"%x: f32[8] {0: tp}", "%y = cat(%x, %x, dim = 0)", "%y", "dim 0 from %x dim 0 through cat"},
      {"%x: f32[8] {0: tp}", "%y = flip(%x, dims = [0])", "%y", "dim 0 from %x dim 0 through flip"},
      {"%x: f32[8] {0: tp}", "%y = roll(%x, shifts = [1], dims = [0])", "%y", "dim 0 from %x dim 0 through roll"},
      {"%x: f32[8] {0: tp}", "%y = repeat(%x, repeats = [2])", "%y",
       "%x dim 0 [tp] must be whole in repeat, which moves its elements"},
      {"%x: f32[8]", "%y = pad(%x, low = [1])", "%y {0: tp}",
       "%y dim 0 [tp] must be whole in pad, which moves its elements"},
  });
}

TEST(Explain, PiecesThatAnOpCannotKeep) {
  expect_reasons({
      {"%x: f32[1, 8] {0: tp}, %z: f32[4, 8]", "%y = add(%x, %z)", "%y",
       "%x dim 0 [tp] has extent 1 and broadcasts: it is whole"},
      {"%x: f32[4*n, 3] {0: tp}", "%y = reshape(%x, shape = [n, 4, 3])", "%y",
       "%x dim 0 [tp] may end within 4 elements that reshape keeps together: it must be whole; granule 4 avoids that"},
      {"%s: u64[]", "%y = uniform(shape = [4, 7], seed = %s)", "%y {0: [local 2, tp]}",
       "%y dim 0 [local 2, tp] is not one range: uniform must have it whole"},
      {"%x: f32[8]", "%y = iota(shape = [4, 7], dim = 0)", "%y {1: [local 2, tp]}",
       "%y dim 1 [local 2, tp] is not one range: iota must have it whole"},
  });
}

TEST(Explain, PiecesThatAReshapeRegroups) {
  expect_reasons({
      {"%x: f32[3, 8] {1: tp}", "%y = reshape(%x, shape = [24])", "%y", "dim 0 from %x dim 1 through reshape"},
      {"%x: f32[8, 3] {0: [local 2, tp]}", "%y = reshape(%x, shape = [2, 4, 3])", "%y",
       "dim 1 from %x dim 0 through reshape"},
      {"%x: f32[2*e] {0: tp granule 64}", "%y = reshape(%x, shape = [2, e])", "%y",
       "%x dim 0 [tp granule 64] must be whole in reshape: extents behind %y dim 0 are not known; that e is 64 is not "
       "known: write 64 in its place"},
      {"%x: f32[n, 8] {1: tp}", "%y = reshape(%x, shape = [8*n])", "%y",
       "%x dim 1 [tp] must be whole in reshape: how long pieces of %x dim 0 before it are is not known"},
      {"%x: f32[5, 8] {0: dp, 1: tp}", "%y = reshape(%x, shape = [40])", "%y",
       "%x dim 1 [tp] must be whole in reshape: pieces of %x dim 0 before it are of several lengths"},
      {"%x: f32[12, 8] {0: [local 3, tp]}", "%y = reshape(%x, shape = [2, 6, 8])", "%y",
       "%x dim 0 [local 3, tp] must be whole in reshape: 3 parts are no whole ones of %y dim 0"},
      {"%x: f32[12] {0: [dp, tp]}", "%y = reshape(%x, shape = [6, 2])", "%y",
       "%x dim 0 [dp, tp] must be whole in reshape but for [dp]: a piece along tp may end within 2 elements behind %y "
       "dim 0"},
  });
}

TEST(Explain, WhoWinsAConflict) {
  expect_reasons({
      {"%x: f32[4, 8] {0: tp}, param %w: f32[6, 8] {0: tp}", "%y = linear(%x, %w)", "%y",
       "conflict: %x dim 0 [tp] lost to %w dim 0 (parameter, 17408 B against 69632 B)"},
      {"%x: f32[8] {0: tp}, %z: f32[4, 8] {0: tp}", "%y = add(%x, %z)", "%y",
       "conflict: %x dim 0 [tp] lost to %z dim 0 (more bytes, 17408 B against 17408 B)"},
      {"%x: f32[4, 8] {0: tp}, %z: f32[4, 8] {1: tp}", "%y = add(%x, %z)", "%y",
       "conflict: %z dim 1 [tp] lost to %x dim 0 (first operand, 17408 B against 17408 B)"},
      {"%x: f32[8, 8] {0: tp}", "%y = matmul(%x, %x)", "%y",
       "conflict: %x dim 0 [tp] lost to %x dim 0 (less to move, 17408 B against 34816 B)"},
      {"%x: f32[4, 8] {0: tp}", "%y = relu(%x)", "%y {1: tp}",
       "conflict: %y dim 1 [tp] lost to %x dim 0 (first operand, 17408 B against 17408 B)"},
      {"%x: f32[4, 8] {1: tp}, %w: f32[6, 8]", "%p = linear(%x, %w)\n%y = neg(%p)", "%y {0: tp}",
       "conflict: %y dim 0 [tp] lost to the reduction that is pending over tp"},
  });
}

// A cause stands once: with the step that it is of, or with the result of an op that reads what was moved for another.
TEST(Explain, SaysACauseOnce) {
  const auto count = [](const std::string& text, const std::string& what) {
    size_t out = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
    return out;
  };
  const char* inputs = "%x: f32[64, 256] {0: tp}, param %w: f32[128, 256] {0: tp}, param %v: f32[128, 256] {0: tp}";
  const std::string one = explained({inputs, "%y = linear(%x, %w)", "%y", ""});
  EXPECT_EQ(count(one, "conflict: %x dim 0 [tp] lost to %w dim 0"), 1u) << one;
  const std::string two = explained({inputs, "%y = linear(%x, %w)\n%z = linear(%x, %v)", "%y, %z", ""});
  EXPECT_EQ(count(two, "conflict: %x dim 0 [tp] lost to %w dim 0"), 1u) << two;
  EXPECT_EQ(count(two, "%v dim 0 through linear (parameter); conflict: %x dim 0 [tp] lost to %v dim 0"), 1u) << two;
  EXPECT_EQ(count(two, "conflict: %x dim 0 [tp] lost to %v dim 0"), 1u) << two;
}

TEST(Explain, WhatIsCutOrHeldWhole) {
  expect_reasons({
      {"%x: f32[4, 8], param %w: f32[6, 8] {1: tp}", "%y = linear(%x, %w)", "%y",
       "%x dim 1 is sharded [tp] as %w dim 1"},
      {"%x: f32[4, 8] {0: tp}", "%y = relu(%x)", "%y {}",
       "%y dim 0 is held whole and computed in pieces [tp] as %x dim 0"},
      {"%x: f32[4, 8] {0: tp}", "%y = relu(%x)", "%y", "dim 0 from %x dim 0 through relu"},
      {"param %x: f32[4, 8] {0: tp}", "%y = relu(%x)", "%y", "dim 0 from %x dim 0 through relu (parameter)"},
  });
}

TEST(Explain, WhatIsPending) {
  const char *inputs = "%x: f32[4, 8], param %w: f32[6, 8] {1: tp}", *product = "%p = linear(%x, %w)\n%y = neg(%p)";
  expect_reasons({
      {inputs, product, "%y", "[tp] pending: linear reduces %w dim 1 (parameter)"},
      {inputs, product, "%y", "sum over tp pending from %p through neg"},
      {inputs, product, "%y {}", "the sum over tp is pending and %y holds it done"},
      {inputs, "%p = linear(%x, %w)\n%y = exp(%p)", "%y", "the sum over tp is pending and exp needs it done"},
      {"%x: f32[4, 8] {1: tp}", "%y = prod(%x, dims = [1])", "%y", "[tp] pending: prod reduces %x dim 1"},
      {"%x: f32[4, 8] {1: tp}", "%y = amax(%x, dims = [1])", "%y {}",
       "the max over tp is pending and %y holds it done"},
      {"%x: f32[4, 8] {1: tp}", "%y = logsumexp(%x, dims = [1])", "%y {}",
       "the logsumexp over tp is pending and %y holds it done"},
  });
}

}  // namespace
}  // namespace plait
