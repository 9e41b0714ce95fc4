// The conflict rule: which pieces a factor gets when operands and result claim different ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "shard/assign.h"
#include "shard/conflicts.h"
#include "shard/insert_reshards.h"
#include "shard/propagate.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

// What the defining op of %y needs of its operands and gives: "{0: tp}, {} -> {0: tp}".
std::string needs(const std::string& text) {
  auto f = test::parsed(text);
  propagate(*f);
  const TensorView* y = f->find("y");
  Assignment a = assign(*y->definition);
  std::string out;
  for (const Layout& l : a.operands) out += (out.empty() ? "" : ", ") + print(l, f->mesh());
  std::string answer = out + " -> " + print(a.results[0], f->mesh());
  insert_reshards(*f);
  verify(*f);
  return answer;
}

std::string with(const std::string& inputs, const std::string& op, const std::string& out = "(%y)") {
  return "let m = 4, n = 6, k = 8\nmesh @m (dp = 2, tp = 2)\nfusion @f on @m (" + inputs + ") -> " + out +
         " {\n %y = " + op + "\n}\n";
}

TEST(Conflict, ParameterWins) {
  // Two factors want tp: rows of x, columns of w.
  EXPECT_EQ(needs(with("%x: f32[m, k] {0: tp}, param %w: f32[n, k] {0: tp}", "linear(%x, %w)")),
            "{}, {0: tp} -> {1: tp}");
  // The same without a parameter: x has fewer bytes than w.
  EXPECT_EQ(needs(with("%x: f32[m, k] {0: tp}, %w: f32[n, k] {0: tp}", "linear(%x, %w)")), "{}, {0: tp} -> {1: tp}");
  // An activation that moves for less than four times what the parameter does, and one that does not: 16384 B a
  // collective, and half of 2048 B a row.
  EXPECT_EQ(needs(with("%x: f32[303, 512] {0: tp}, param %w: f32[64, 512] {0: tp}", "linear(%x, %w)")),
            "{}, {0: tp} -> {1: tp}");
  EXPECT_EQ(needs(with("%x: f32[305, 512] {0: tp}, param %w: f32[64, 512] {0: tp}", "linear(%x, %w)")),
            "{0: tp}, {} -> {0: tp}");
  EXPECT_EQ(needs(with("%x: f32[100, k] {0: tp}, %w: f32[n, k] {0: tp}", "linear(%x, %w)")), "{0: tp}, {} -> {0: tp}");
  // Among parameters bytes decide.
  EXPECT_EQ(needs(with("param %x: f32[100, k] {0: tp}, param %w: f32[n, k] {0: tp}", "linear(%x, %w)")),
            "{0: tp}, {} -> {0: tp}");
}

TEST(Conflict, AnAnnotatedResultCountsAsItsOperandsDo) {
  // Against w alone x loses; with the result that is to lie as it does it wins.
  const std::string inputs = "%x: f32[16, k] {0: tp}, %w: f32[20, k] {0: tp}";
  EXPECT_EQ(needs(with(inputs, "linear(%x, %w)")), "{}, {0: tp} -> {1: tp}");
  EXPECT_EQ(needs(with(inputs, "linear(%x, %w)", "(%y {0: tp})")), "{0: tp}, {} -> {0: tp}");
  EXPECT_EQ(needs(with(inputs, "linear(%x, %w)", "(%y {1: tp})")), "{}, {0: tp} -> {1: tp}");
  // A result that is larger than its one operand, which is cut otherwise.
  EXPECT_EQ(needs(with("%x: f32[4] {0: tp}", "broadcast(%x, shape = [6, 4], dims = [1])", "(%y {0: tp})")),
            "{} -> {0: tp}");
  // One that is not annotated asks for nothing that operands would move for.
  EXPECT_EQ(needs(with("%x: f32[4] {0: tp}", "broadcast(%x, shape = [6, 4], dims = [1])")), "{0: tp} -> {1: tp}");
}

// What moves, not how large it is: pieces that go to another dim are fewer bytes than the whole that others need.
TEST(Conflict, TheCheapestMovesWin) {
  // Cut along k, x would leave a sum pending that is larger than x itself; of fewer columns it is not.
  const auto contracted = [](int rows, int columns) {
    return needs(
        with(fmt::format("%x: f32[{}, 512] {{1: tp}}, %w: f32[{}, 512] {{0: tp}}", rows, columns), "linear(%x, %w)"));
  };
  EXPECT_EQ(contracted(400, 300), "{}, {0: tp} -> {1: tp}");
  EXPECT_EQ(contracted(4000, 300), "{}, {0: tp} -> {1: tp}");
  EXPECT_EQ(contracted(4000, 100), "{1: tp}, {1: tp} -> {} partial(tp: sum)");
  // Where the result is to be cut by rows, x goes there and w to all: less than to leave a sum to be scattered.
  EXPECT_EQ(needs(with("%x: f32[4000, 512] {1: tp}, %w: f32[300, 512] {0: tp}", "linear(%x, %w)", "(%y {0: tp})")),
            "{0: tp}, {} -> {0: tp}");
  EXPECT_EQ(needs(with("%x: f32[4000, 512] {1: tp}, %w: f32[100, 512] {0: tp}", "linear(%x, %w)", "(%y {0: tp})")),
            "{1: tp}, {1: tp} -> {} partial(tp: sum)");
}

// What an op gives stays what it was given for an annotated result, which is moved behind it.
TEST(Conflict, AMovedResultDoesNotChangeTheWay) {
  for (const char* update : {"add", "max", "min", "mul"})
    EXPECT_EQ(needs("mesh @m (dp = 2, cp = 2)\nfusion @f on @m (%x: f32[4, 4] {0: dp}, %i: i64[4, 4] in 0..4) -> "
                    "(%y {1: cp}) {\n %y = scatter(%x, %i, %x, dim = 0, update = " +
                    std::string(update) + ")\n}\n"),
              fmt::format("{{0: dp, 1: cp}}, {{0: dp, 1: cp}}, {{0: dp, 1: cp}} -> {{1: cp}} partial(dp: {})",
                          update == std::string("add")   ? "sum"
                          : update == std::string("mul") ? "prod"
                                                         : update));
}

// A way that cannot give what is annotated is none, whatever it costs.
TEST(Conflict, AWayThatReachesNoAnnotationIsNone) {
  const std::string in = "%x: f32[4000, 512] {0: tp}, param %w: f32[512, 512] {1: tp}";
  EXPECT_EQ(needs(with(in, "linear(%x, %w)", "(%y {} partial(tp: sum))")), "{1: tp}, {1: tp} -> {} partial(tp: sum)");
}

TEST(Conflict, EachWayAndItsCostAreKept) {
  auto f = test::parsed(with("%x: f32[400, 512] {0: tp}, %w: f32[64, 512] {0: tp}", "linear(%x, %w)"));
  propagate(*f);
  const Assignment a = assign(*f->find("y")->definition);
  ASSERT_EQ(a.alternatives.size(), 2u);
  EXPECT_EQ(a.alternatives[0].claimant, 0);
  EXPECT_EQ(a.alternatives[0].cost, 16384 + 64 * 2048 / 2);
  EXPECT_EQ(a.runner_up(1), &a.alternatives[1]);
  EXPECT_EQ(a.alternatives[1].cost, 16384 + 400 * 2048 / 2);
  f = test::parsed(with("%x: f32[400, 512] {0: tp}, %w: f32[64, 512]", "linear(%x, %w)"));
  propagate(*f);
  EXPECT_TRUE(assign(*f->find("y")->definition).alternatives.empty());
}

// Of many claimants those that agree have their way together, and a few of the others are tried.
TEST(Conflict, FewWaysAreTried) {
  const auto tried = [](size_t operands, const std::vector<std::string>& layouts) {
    std::string in, names;
    for (size_t i = 0; i < operands; ++i) {
      in += fmt::format("{}%x{}: f32[64, 64, 64] {}", i == 0 ? "" : ", ", i, layouts[i % layouts.size()]);
      names += fmt::format("%x{}, ", i);
    }
    auto f = test::parsed("mesh @m (a = 2, b = 2, c = 2)\nfusion @f on @m (" + in + ") -> (%y) {\n %y = cat(" + names +
                          "dim = 0)\n}\n");
    propagate(*f);
    return assign(*f->find("y")->definition).alternatives.size();
  };
  EXPECT_EQ(tried(40, {"{0: a}"}), 0u);
  EXPECT_LE(tried(40, {"{0: a, 1: b}", "{0: b, 1: a}"}), 2u);
  EXPECT_LE(tried(40, {"{1: a}", "{1: b}", "{1: c}", "{2: a}", "{2: b}", "{2: c}", "{1: [a, b]}", "{1: [b, a]}",
                       "{1: [a, c]}", "{2: [b, c]}", "{2: [a, b]}", "{2: [c, a]}"}),
            8u);
}

// Whether updates are gathered or a sum is left pending is asked of the links.
TEST(Conflict, ScattersCountLinks) {
  const auto scattered = [](const std::string& links) {
    return needs("mesh @m (tp = 2" + links +
                 ")\nfusion @f on @m (%x: f32[2048], %i: i64[64] in 0..2048 {0: tp}, %s: f32[64] {0: tp}) -> (%y) {\n"
                 " %y = scatter(%x, %i, %s, dim = 0, update = add)\n}\n");
  };
  EXPECT_EQ(scattered(""), "{}, {0: tp}, {0: tp} -> {} partial(tp: sum)");
  EXPECT_EQ(scattered(" bandwidth 1 latency 100"), "{}, {0: tp}, {0: tp} -> {} partial(tp: sum)");
  EXPECT_EQ(scattered(" bandwidth 1 latency 1"), "{}, {}, {} -> {}");
}

// What a parameter is stored as is what moves, also where it is computed otherwise.
TEST(Conflict, AStoredParameterMovesFromWhereItIsHeld) {
  const auto at = [](const std::string& w) {
    auto f = test::parsed(with("%x: f32[64, 512] {0: tp}, param %w: f32[512, 512] " + w, "linear(%x, %w)"));
    propagate(*f);
    const Assignment a = assign(*f->find("y")->definition);
    return std::pair(print(a.operands[1], f->mesh()), cost_of_moves(*f->find("y")->definition, a));
  };
  // Whole, as it is computed with, from where it is held.
  EXPECT_EQ(at("{} stored {0: tp}"), std::pair(std::string("{}"), std::optional<double>(16384 + 512 * 2048 / 2)));
}

TEST(Conflict, AStoredParameterOfUnknownSizeHasNoCost) {
  auto f = test::parsed(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, k] {}, param %w: f32[n, k] {} stored {0: tp}) -> (%y) {\n"
      " %y = linear(%x, %w)\n}\n");
  propagate(*f);
  const Op& op = *f->find("y")->definition;
  EXPECT_EQ(cost_of_moves(op, assign(op)), std::nullopt);
}

// What it is computed with is there for its other readers.
TEST(Conflict, AStoredParameterIsGatheredForAllItsReaders) {
  auto tied = test::parsed(R"(mesh @m (a = 4)
fusion @f on @m (%i: i64[64] in 0..250, param %t: f32[250, 32] {} stored {1: a}, param %w: f32[32, 32] {0: a}) -> (%z) {
  %e = index_select(%t, %i, dim = 0)
  %y = relu(linear(%e, %w))
  %z = sum(exp(linear(%y, %t)), dims = [1])
}
)");
  propagate(*tied);
  insert_reshards(*tied);
  EXPECT_EQ(test::reshards(*tied).front(), "all-gather a %t -> %t_gathered");
  EXPECT_EQ(test::reshards(*tied).size(), 3u);
  auto twice = test::parsed(R"(mesh @m (a = 4)
fusion @f on @m (%x: f32[100, 32] {1: a}, param %w: f32[200, 32] {0: a} stored {1: a}) -> (%y) {
  %h: f32[100, 200] {1: a} = linear(%x, %w)
  %y = matmul(%h, %w)
}
)");
  propagate(*twice);
  insert_reshards(*twice);
  EXPECT_EQ(test::reshards(*twice),
            (std::vector<std::string>{"all-gather a %x -> %x_gathered", "all-to-all a %w -> %w_exchanged",
                                      "all-reduce a %y_pending -> %y"}));
}

TEST(Conflict, MoreBytesWin) {
  EXPECT_EQ(needs(with("%a: f32[n] {0: tp}, %b: f32[m, n] {1: dp}", "add(%a, %b)")), "{0: dp}, {1: dp} -> {1: dp}");
  // Wider elements are more bytes.
  EXPECT_EQ(needs(with("%c: bool[m, n] {0: tp}, %a: f32[m, n] {1: tp}, %b: f32[m, n]", "where(%c, %a, %b)")),
            "{1: tp}, {1: tp}, {1: tp} -> {1: tp}");
}

TEST(Conflict, FirstOperandAtEqualBytes) {
  EXPECT_EQ(needs(with("%a: f32[m, n] {0: tp}, %b: f32[m, n] {1: tp}", "add(%a, %b)")), "{0: tp}, {0: tp} -> {0: tp}");
  EXPECT_EQ(needs(with("%b: f32[m, n] {1: tp}, %a: f32[m, n] {0: tp}", "add(%b, %a)")), "{1: tp}, {1: tp} -> {1: tp}");
}

TEST(Conflict, ASymbolWithoutDefaultIsEqual) {
  EXPECT_EQ(needs(with("%a: f32[n] {0: tp}, %b: f32[q, n] {1: dp}", "add(%a, %b)")), "{0: tp}, {1: tp} -> {1: tp}");
}

TEST(Conflict, TwoAxesOneFactor) {
  EXPECT_EQ(needs(with("%a: f32[m, n] {0: tp}, %b: f32[m, n] {0: dp}", "add(%a, %b)")), "{0: tp}, {0: tp} -> {0: tp}");
  // Lists are taken whole, not joined; to cut pieces again moves nothing.
  EXPECT_EQ(needs(with("%a: f32[m, n] {0: tp}, %b: f32[m, n] {0: [tp, dp]}", "add(%a, %b)")),
            "{0: [tp, dp]}, {0: [tp, dp]} -> {0: [tp, dp]}");
  EXPECT_EQ(needs(with("%a: f32[m, n] {0: tp}, %b: f32[m, n] {0: [dp, tp]}", "add(%a, %b)")),
            "{0: tp}, {0: tp} -> {0: tp}");
  // Different granules are different lists.
  EXPECT_EQ(needs(with("%a: f32[m, n] {0: tp granule 2}, %b: f32[m, n] {0: tp}", "add(%a, %b)")),
            "{0: tp granule 2}, {0: tp granule 2} -> {0: tp granule 2}");
}

// Layouts of both results of `%y, %z = call` and the number of reshards.
std::string both(const std::string& inputs, const std::string& results, const std::string& call) {
  auto f = test::parsed("let m = 4, n = 6, k = 8\nmesh @m (dp = 2, tp = 2)\nfusion @f on @m (" + inputs +
                        ") -> (%y, %z) {\n " + results + " = " + call + "\n}\n");
  propagate(*f);
  const Op& op = *f->find("y")->definition;
  const Assignment a = assign(op);
  std::string out =
      print(a.operands[0], f->mesh()) + " -> " + print(a.results[0], f->mesh()) + ", " + print(a.results[1], f->mesh());
  const std::string annotated = print(f->find("y")->layout, f->mesh()) + ", " + print(f->find("z")->layout, f->mesh());
  insert_reshards(*f);
  verify(*f);
  const auto reshards =
      std::count_if(f->ops().begin(), f->ops().end(), [](const Op* o) { return o->kind == OpKind::Reshard; });
  return out + "; " + annotated + "; " + std::to_string(reshards);
}

TEST(Conflict, ResultsOfOneOpAreCutAlike) {
  const std::string plain = "%y, %z";
  EXPECT_EQ(both("%x: f32[m, n] {0: dp}", plain, "var_mean(%x, dims = [1])"),
            "{0: dp} -> {0: dp}, {0: dp}; {0: dp}, {0: dp}; 0");
  EXPECT_EQ(both("%x: f32[m, n] {1: tp}", plain, "max_with_argmax(%x, dims = [1])"), "{1: tp} -> {}, {}; {}, {}; 0");
  EXPECT_EQ(both("%x: f32[m, n] {0: dp, 1: tp}", plain, "var_mean(%x, dims = [0, 1])"),
            "{0: dp, 1: tp} -> {}, {}; {}, {}; 0");
  EXPECT_EQ(both("%x: f32[m, n] {1: [tp, dp]}", plain, "var_mean(%x, dims = [1])"), "{1: tp} -> {}, {}; {}, {}; 1");
  EXPECT_EQ(both("%x: f32[m, n] {0: dp, 1: tp}", plain, "min_with_argmin(%x, dims = [0])"),
            "{1: tp} -> {0: tp}, {0: tp}; {0: tp}, {0: tp}; 1");  // of four rows parts are more than the operand
  // One result is annotated, the other follows; of two that differ the first has its way.
  EXPECT_EQ(both("%x: f32[m, n]", "%y: f32[m], %z: f32[m] {0: tp}", "var_mean(%x, dims = [1])"),
            "{0: tp} -> {0: tp}, {0: tp}; {0: tp}, {0: tp}; 1");
  EXPECT_EQ(both("%x: f32[m, n]", "%y: f32[m] {0: dp}, %z: f32[m] {0: tp}", "var_mean(%x, dims = [1])"),
            "{0: dp} -> {0: dp}, {0: dp}; {0: dp}, {0: tp}; 2");
  EXPECT_EQ(both("%x: f32[m, n] {0: dp}", "%y: f32[m] {}, %z: f32[m]", "var_mean(%x, dims = [1])"),
            "{0: dp} -> {0: dp}, {0: dp}; {}, {0: dp}; 1");
}

TEST(Conflict, ATakenAxisLeavesTheList) {
  // w has more bytes than x: tp goes to the columns; of x's rows [tp, dp] dp stays.
  EXPECT_EQ(needs(with("%x: f32[m, k] {0: [tp, dp]}, param %w: f32[n, k] {0: tp}", "linear(%x, %w)")),
            "{0: dp}, {0: tp} -> {0: dp, 1: tp}");
  EXPECT_EQ(needs(with("%x: f32[m, k] {0: [local 2, tp]}, param %w: f32[n, k] {0: tp}", "linear(%x, %w)")),
            "{}, {0: tp} -> {1: tp}");
}

TEST(Conflict, DifferentFactorsShareTheOp) {
  EXPECT_EQ(needs(with("%x: f32[m, k] {0: dp}, param %w: f32[n, k] {0: tp}", "linear(%x, %w)")),
            "{0: dp}, {0: tp} -> {0: dp, 1: tp}");
  EXPECT_EQ(needs(with("%a: f32[m, n] {0: dp}, %b: f32[m, n] {1: tp}", "add(%a, %b)")),
            "{0: dp, 1: tp}, {0: dp, 1: tp} -> {0: dp, 1: tp}");
}

TEST(Conflict, ReducedFactorLeavesTheResultPending) {
  EXPECT_EQ(needs(with("%x: f32[m, k], param %w: f32[n, k] {1: tp}", "linear(%x, %w)", "(%y)")),
            "{1: tp}, {1: tp} -> {} partial(tp: sum)");
  EXPECT_EQ(needs(with("%x: f32[m, k] {1: [dp, tp]}, %w: f32[n, k]", "linear(%x, %w)")),
            "{1: [dp, tp]}, {1: [dp, tp]} -> {} partial(dp: sum, tp: sum)");
  EXPECT_EQ(needs(with("%x: f32[m, k] {1: tp}, param %w: f32[k, n] {1: tp}", "matmul(%x, %w)")),
            "{}, {1: tp} -> {1: tp}");
}

TEST(Conflict, ResultsRankLast) {
  // The result wants tp on its rows; w's columns have it.
  EXPECT_EQ(needs(with("%x: f32[m, k], param %w: f32[n, k] {0: tp}", "linear(%x, %w)", "(%y {0: tp})")),
            "{}, {0: tp} -> {1: tp}");
  // What no operand wants the result gets: the operands are sliced.
  EXPECT_EQ(needs(with("%x: f32[m, k], param %w: f32[n, k] {0: tp}", "linear(%x, %w)", "(%y {0: dp})")),
            "{0: dp}, {0: tp} -> {0: dp, 1: tp}");
  EXPECT_EQ(needs(with("%x: f32[m, k], param %w: f32[n, k] {1: tp}", "linear(%x, %w)", "(%y {0: tp})")),
            "{1: tp}, {1: tp} -> {} partial(tp: sum)");
}

TEST(Conflict, BroadcastDimsHaveNoFactor) {
  EXPECT_EQ(needs(with("%a: f32[1, n] {0: tp}, %b: f32[m, n]", "add(%a, %b)")), "{}, {} -> {}");
  EXPECT_EQ(needs(with("%a: f32[1, n], %b: f32[m, n] {0: tp}", "add(%a, %b)")), "{}, {0: tp} -> {0: tp}");
  EXPECT_EQ(needs(with("%a: f32[], %b: f32[m, n] {0: tp}", "add(%a, %b)")), "{}, {0: tp} -> {0: tp}");
  EXPECT_EQ(needs(with("%a: f32[1, n] {0: tp}, %b: f32[1, n]", "add(%a, %b)")), "{0: tp}, {0: tp} -> {0: tp}");
}

TEST(Conflict, OneTensorTwice) {
  // Square: operand 0 takes tp for the rows, operand 1 is needed whole.
  EXPECT_EQ(needs(with("%x: f32[k, k] {0: tp}", "matmul(%x, %x)")), "{0: tp}, {} -> {0: tp}");
  EXPECT_EQ(needs(with("%x: f32[m, k] {0: tp, 1: dp}", "mul(%x, %x)")),
            "{0: tp, 1: dp}, {0: tp, 1: dp} -> {0: tp, 1: dp}");
}

std::string pending(const std::string& op, const std::string& more = "", const std::string& out = "(%y)") {
  return "let m = 4, n = 6, k = 8\nmesh @m (dp = 2, tp = 2)\n"
         "fusion @f on @m (%x: f32[m, k] {1: tp}, %v: f32[n, k]" +
         more + ") -> " + out + " {\n %p = linear(%x, %v)\n %q = linear(%x, %v)\n %y = " + op + "\n}\n";
}

TEST(Pending, PassesThroughLinearOps) {
  EXPECT_EQ(needs(pending("neg(%p)")), "{} partial(tp: sum) -> {} partial(tp: sum)");
  EXPECT_EQ(needs(pending("add(%p, %q)")), "{} partial(tp: sum), {} partial(tp: sum) -> {} partial(tp: sum)");
}

// Where the other side is whole, nobody else reads the sum, and neither it nor its summands grow.
TEST(Pending, PassesThroughWhatScalesIt) {
  const std::string passes = "{} partial(tp: sum), {} -> {} partial(tp: sum)";
  for (const char* op : {"mul(%p, 0.5)", "mul(%p, 1)", "mul(%p, -1)", "mul(%p, 0)", "mul(%p, 1e-30)", "div(%p, 4)",
                         "div(%p, -1)", "div(%p, 1e30)", "mul(%p, cast(%b, to = f32))"})
    EXPECT_EQ(needs(pending(op, ", %b: bool[n]")), passes) << op;
  EXPECT_EQ(needs(pending("mul(-0.5, %p)")), "{}, {} partial(tp: sum) -> {} partial(tp: sum)");
  EXPECT_EQ(needs(pending("where(%c, %p, 0)", ", %c: bool[m, n]")),
            "{}, {} partial(tp: sum), {} -> {} partial(tp: sum)");
  EXPECT_EQ(needs(pending("where(%c, 0, %p)", ", %c: bool[m, n]")),
            "{}, {}, {} partial(tp: sum) -> {} partial(tp: sum)");
  // What makes summands greater may overflow, which is NaN of both signs where the sum is a number.
  for (const char* op :
       {"mul(%p, inf)", "mul(%p, nan)", "mul(%p, 1.0625)", "mul(%p, -2)", "mul(%p, 1e30)", "mul(%p, %b)", "div(%p, 0)",
        "div(%p, 0.5)", "div(%p, 1e-30)", "div(4, %p)", "div(%p, %b)", "mul(%p, cast(%g, to = f32))",
        "mul(%p, cast(%i, to = f32))", "div(%p, inf)", "div(%p, cast(%d, to = f32))"})
    EXPECT_EQ(needs(pending(op, ", %b: f32[n], %d: bool[n], %g: bool[3, m, n], %i: i64[n]")), "{}, {} -> {}") << op;
  EXPECT_EQ(needs(pending("where(%c, %p, 1)", ", %c: bool[m, n]")), "{}, {}, {} -> {}");
  // A number that is moved on the way stays one.
  EXPECT_EQ(needs("let m = 4, n = 6, k = 8\nmesh @m (dp = 2, tp = 2)\n"
                  "fusion @f on @m (%x: f32[m, k] {1: tp}, %v: f32[n, k] {0: dp}) -> (%y) {\n %p = linear(%x, %v)\n"
                  " %c: f32[m, n] {0: dp} = full(shape = [m, n], value = 0.5, dtype = f32)\n %y = mul(%p, %c)\n}\n"),
            "{1: dp} partial(tp: sum), {1: dp} -> {1: dp} partial(tp: sum)");
  EXPECT_EQ(needs(pending("where(%c, %p, %q)", ", %c: bool[m, n]")), "{}, {}, {} -> {}");
  EXPECT_EQ(needs(pending("mul(%p, 0.5)\n %z = exp(%p)", "", "(%y, %z)")), "{}, {} -> {}");
  EXPECT_EQ(needs(pending("mul(%p, 0.5)", "", "(%y {0: tp})")), "{0: tp}, {} -> {0: tp}");
}

TEST(Pending, IsReducedBeforeOthers) {
  EXPECT_EQ(needs(pending("relu(%p)")), "{} -> {}");
  EXPECT_EQ(needs(pending("mul(%p, %q)")), "{}, {} -> {}");
  EXPECT_EQ(needs(pending("add(%p, %b)", ", %b: f32[n]")), "{}, {} -> {}");
}

TEST(Pending, AFactorTakesTheAxis) {
  EXPECT_EQ(needs(pending("add(%p, %b)", ", %b: f32[n] {0: tp}")), "{1: tp}, {0: tp} -> {1: tp}");
  EXPECT_EQ(needs(pending("relu(%p)", "", "(%y {0: tp})")), "{0: tp} -> {0: tp}");
  // Passing ranks before the result: one exchange instead of two.
  EXPECT_EQ(needs(pending("add(%p, %q)", "", "(%y {0: tp})")),
            "{} partial(tp: sum), {} partial(tp: sum) -> {} partial(tp: sum)");
}

TEST(Pending, TwoAxes) {
  std::string text =
      "mesh @m (dp = 2, tp = 2)\n"
      "fusion @f on @m (%x: f32[4, 8] {1: [dp, tp]}, %v: f32[6, 8], %z: f32[4, 8] {1: tp}) -> (%y) {\n"
      " %p = linear(%x, %v)\n %q = linear(%z, %v)\n %y = add(%p, %q)\n}\n";
  EXPECT_EQ(needs(text), "{} partial(tp: sum), {} partial(tp: sum) -> {} partial(tp: sum)");
}

// Local pieces between which an axis went to another factor are one: so the text has it, which joins them.
TEST(Conflict, LocalPiecesThatAnAxisLeftAreOne) {
  EXPECT_EQ(
      needs(with("%x: f32[16, k] {0: [local 2, tp, local 2, dp]}, param %w: f32[n, k] {0: tp}", "linear(%x, %w)")),
      "{0: [local 4, dp]}, {0: tp} -> {0: [local 4, dp], 1: tp}");
}

TEST(Creation, TakesTheResultsPieces) {
  std::string text =
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%s: u64[]) -> (%y {0: tp, 1: dp}) {\n"
      " %y = uniform(shape = [5, 7], seed = %s)\n}\n";
  EXPECT_EQ(needs(text), "{} -> {0: tp, 1: dp}");
}

TEST(Creation, ARandomOpNeedsOneRangePerDim) {
  std::string text =
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%s: u64[]) -> (%y {0: [local 2, tp], 1: dp}) {\n"
      " %y = uniform(shape = [4, 7], seed = %s)\n}\n";
  EXPECT_EQ(needs(text), "{} -> {1: dp}");
}

TEST(Bytes, DefaultsOfLets) {
  auto f = test::parsed("let m = 4\nfusion @f (%a: bf16[m, 3], %b: f64[q], %c: f32[]) -> (%y) {\n %y = neg(%a)\n}\n");
  EXPECT_EQ(global_bytes(*f->find("a")), 24);
  EXPECT_EQ(global_bytes(*f->find("b")), std::nullopt);
  EXPECT_EQ(global_bytes(*f->find("c")), 4);
}

}  // namespace
}  // namespace plait
