#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "build/ops.h"
#include "ir/fusion.h"
#include "support/round_trip.h"

namespace plait {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

void expect_round_trip(const Fusion& fusion) { EXPECT_EQ(test::round_trip_problem(fusion), ""); }

TEST(Text, ExamplesRoundTrip) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PLAIT_SOURCE_DIR "/docs/examples")) {
    if (entry.path().extension() != ".plait") continue;
    auto fusion = parse_fusion(read(entry.path()), {.file = entry.path().filename()});
    verify(*fusion);
    expect_round_trip(*fusion);
    expect_round_trip(*clone(*fusion));
    EXPECT_TRUE(equal(*fusion, *clone(*fusion)));
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(Text, OpsAndAnnotationsRoundTrip) {
  auto fusion = parse_fusion(R"(
let b = 4, n = 6, T = bf16
mesh @m (dp = 2, tp = t)
fusion @all on @m (
  %x: T[b, 2*n] {0: [dp, tp granule 2]},
  %i: i64[b],
  param %w: T[n, 2*n] {0: tp} stored {0: [tp, dp]},
  param %v: T[n] {},
  %seed: u64[]
) -> (%y {0: dp}, %k) {
  %h = linear(%x, %w, %v)          # a comment
  %c: f32[b, n] {1: [local 2, tp]} = cast(%h, to = f32)
  %g = gelu(%c)
  %q = gelu(%g, approx = tanh)
  %half = full(shape = [], value = 0.5, dtype = f32)
  %big = full(shape = [b, n], value = -inf, dtype = f32)
  %u = uniform(shape = [b, n], seed = %seed, offset = 3)
  %m = ge(%u, %half)
  %s = where(%m, %q, %big)
  %d = dropout(%s, p = 0.25, seed = %seed, offset = 7)
  %mm: f32[b, n] {} = linear(%x, %w, accumulate = true)
  %y = add(%d, %mm)
  %k = add(%i, %i)
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
  EXPECT_NE(print(*fusion).find("%k: i64[b] = add(%i, %i)"), std::string::npos);
}

TEST(Text, SegmentsAndLoopsRoundTrip) {
  auto fusion = parse_fusion(R"(
fusion @f (%x: f32[8, n]) -> (%z) {
  segment @s1 (%x) -> (%y) schedule pointwise( vector = 8,unroll = 2 ) {
    %y: f32[8, n] loops (merge(0), split(0, 8), parallel(1, vectorize), reorder(1, 0)) = exp(%x)
  }
  segment @s2 (%y) -> (%z) {
    %z = neg(%y)
  }
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
  EXPECT_EQ(print(fusion->segments[0].schedule), "pointwise(vector = 8, unroll = 2)");
}

// Allocations that say nothing are not printed; nor is a 0-dim tensor's, which has no dims to order.
TEST(Text, AllocationsRoundTrip) {
  auto fusion = parse_fusion(R"(
fusion @f (
  %x: f32[a, 3] allocation (1, 0),
  param %w: f32[3, 4, 0] allocation (2, 0 strided, 1),
  %r: f32[4, 4] allocation (0 strided, 1 strided),
  %d: f32[4, 4] allocation (0, 1),
  %s: f32[]
) -> (%y, %s) {
  %y: f32[a, 3] allocation (1, 0) = neg(%x)
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
  expect_round_trip(*clone(*fusion));
  const std::string text = print(*fusion);
  for (const char* line : {"%x: f32[a, 3] allocation (1, 0),", "%w: f32[3, 4, 0] allocation (2, 0 strided, 1),",
                           "%r: f32[4, 4] allocation (0 strided, 1 strided),", "%d: f32[4, 4],", "%s: f32[]\n",
                           "%y: f32[a, 3] allocation (1, 0) = neg(%x)"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(Text, RangesRoundTrip) {
  auto fusion = parse_fusion(R"(
let v = 40
mesh @m (tp = 2)
fusion @f on @m (
  %i: i64[n] in 0..v {0: tp},
  %j: u8[n, 2] in n-1..2*v - 3 allocation (1, 0),
  param %k: i8[4] in -8 .. 8 {} stored {0: tp},
  %l: i32[] in max(n, 2)..chunk(v, 2, 1)  # to the end
) -> (%i) {}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
  expect_round_trip(*clone(*fusion));
  const std::string text = print(*fusion);
  for (const char* line : {"%i: i64[n] in 0..v {0: tp},", "in -8..8 {} stored {0: tp},", " allocation (1, 0),"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

// Facts are what shapes and proofs build on; those that every fusion knows do not print.
TEST(Text, FactsRoundTrip) {
  const auto fusion = parse_fusion(R"(
let n = 48
given n: 16 in 16..4096, m: 1 in 0..   # a comment
given k: 4 in 4.. below n, t: 1 in 1..
mesh @m (tp = t)
fusion @f on @m (%x: f32[n, k], %i: i64[m]) -> (%y, %i) {
  %y = reshape(%x, shape = [16, floordiv(n, 16), k])
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
  expect_round_trip(*clone(*fusion));
  EXPECT_EQ(print(*fusion).substr(0, 60), "let n = 48\ngiven k: 4 in 4.. below n, n: 16 in 16..4096\nmesh");
  EXPECT_FALSE(
      equal(*fusion, *parse_fusion("let n = 48\nmesh @m (tp = t)\nfusion @f on @m (%x: f32[n, 4]) -> (%x) {}")));
  const auto narrower = clone(*fusion, {.replace = {{"k", 8}}, .facts = {{"n", {.hi = 64, .multiple_of = 3}}}});
  expect_round_trip(*narrower);
  EXPECT_EQ(sym::print(narrower->given()), "n = 48") << print(*narrower);

  Fusion built;
  built.given(sym::parse_facts("n: 8 in 8..64"));
  built.output("y", reshape(built.input("x", {"n"}, f32), {8, "floordiv(n, 8)"}));
  expect_round_trip(built);
}

TEST(Text, FactsThatDoNotHoldAreRefused) {
  const auto refused = [](const std::string& facts) {
    try {
      parse_fusion("let T = f32\ngiven " + facts + "\nmesh @m (tp = 2)\nfusion @f on @m (%x: f32[n]) -> (%x) {}");
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("taken");
  };
  EXPECT_NE(refused("").find("no facts"), std::string::npos) << refused("");
  EXPECT_NE(refused("n").find("expected ':' or '=', found the end"), std::string::npos) << refused("n");
  EXPECT_NE(refused("n: 16 in 1..8").find("<text>:2:7"), std::string::npos) << refused("n: 16 in 1..8");
  EXPECT_NE(refused("n: 1 in ..-1").find("'n'"), std::string::npos) << refused("n: 1 in ..-1");
  EXPECT_NE(refused("rank.dp = 0").find("there is no symbol `rank.dp`"), std::string::npos) << refused("rank.dp = 0");
  EXPECT_NE(refused("T = 3").find("`T` is a let dtype"), std::string::npos) << refused("T = 3");
  EXPECT_EQ(refused("n: 16 in 16.., rank.tp: 1 in 0..1"), "taken");
}

// A dtype that stands there beats the name that it would have by the op: batch norm's statistics are f32 whatever T is.
TEST(Text, ADtypeThatIsStatedPrints) {
  const auto fusion = parse_fusion(
      "let n = 4, T = f32\nfusion @f (%x: T[n]) -> (%y, %z) {\n  %y: f32[n] = neg(%x)\n"
      "  %z = neg(%x)\n}\n");
  expect_round_trip(*fusion);
  EXPECT_NE(print(*fusion).find("%y: f32[n]"), std::string::npos) << print(*fusion);
  EXPECT_NE(print(*fusion).find("%z: T[n]"), std::string::npos) << print(*fusion);
}

// What must be given prints even where it is empty.
TEST(Text, RequiredAttributesPrint) {
  Fusion f;
  TensorView* x = f.input("x", {2, 3}, f32);
  f.output("a", flip(x, {}));
  f.output("b", unsqueeze(x, {}));
  f.output("c", roll(x, {}, {}));
  f.output("e", squeeze(x));
  f.output("d", softmax(x, -1));
  expect_round_trip(f);
  const std::string text = print(f);
  for (const char* call : {"flip(%x, dims = [])", "unsqueeze(%x, dims = [])", "squeeze(%x, dims = [])",
                           "roll(%x, shifts = [])", "softmax(%x, dim = 1)"})
    EXPECT_NE(text.find(call), std::string::npos) << text;
}

TEST(Text, SettingsOverrideLets) {
  auto fusion =
      parse_fusion(read(PLAIT_SOURCE_DIR "/docs/examples/tp_mlp.plait"), {.set = {{"T", "bf16"}, {"sb", "5"}}});
  EXPECT_EQ(fusion->find("x")->dtype, DType::bf16);
  EXPECT_EQ(*fusion->size_let("sb"), 5);
  EXPECT_THROW(parse_fusion("let a = 1\nfusion @f (%x: f32[a]) -> (%x) {}", {.set = {{"a", "-1"}}}), UserError);
  EXPECT_THROW(parse_fusion("let a = f32\nfusion @f (%x: a[2]) -> (%x) {}", {.set = {{"a", "f33"}}}), UserError);
}

TEST(Text, LocalizedOpsRoundTrip) {
  auto fusion = parse_fusion(R"(
mesh @m (tp = 3)
fusion @f on @m (%x: f32[4, chunk(12, 3, rank.tp)]) -> (%g) {
  %g: f32[4, 12] = all_gather(%x, team = tp, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1)
  %r: f32[4, chunk(12, 3, rank.tp)] = reduce_scatter(%g, team = tp, reduce = sum, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1)
  %a = all_reduce(%r, team = tp, reduce = max)
  %l: f32[4, chunk(12, 3, rank.tp)] = local_slice(%g, outer = 4, start = chunk_start(12, 3, rank.tp), count = chunk(12, 3, rank.tp), total = 12, inner = 1)
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
}

TEST(Text, LayoutsPrintInOneForm) {
  auto layout_of = [](const std::string& annotation) {
    auto fusion = parse_fusion(R"(
mesh @m (tp = 2, dp_shard = 3, cp = c)
fusion @f on @m (param %w: f32[8, n, 6] )" +
                               annotation + ") -> (%w) {}");
    verify(*fusion);
    expect_round_trip(*fusion);
    const TensorView* w = fusion->find("w");
    return (w->layout_source == LayoutSource::open ? "open " : "") + print(w->layout, fusion->mesh()) +
           (w->stored ? " stored " + print(*w->stored, fusion->mesh()) : "");
  };
  EXPECT_EQ(layout_of(""), "open {}");
  EXPECT_EQ(layout_of("{}"), "{}");
  EXPECT_EQ(layout_of("{0: tp}"), "{0: tp}");
  EXPECT_EQ(layout_of("{0: [tp]}"), "{0: tp}");
  EXPECT_EQ(layout_of("{0: [tp, local]}"), "{0: tp}");
  EXPECT_EQ(layout_of("{0: [tp, local 2]}"), "{0: tp}");
  EXPECT_EQ(layout_of("{0: local}"), "{}");
  EXPECT_EQ(layout_of("{0: local 4}"), "{}");
  EXPECT_EQ(layout_of("{0: [tp, dp_shard, local]}"), "{0: [tp, dp_shard]}");
  EXPECT_EQ(layout_of("{0: [local 2, tp]}"), "{0: [local 2, tp]}");
  EXPECT_EQ(layout_of("{0: [local 2, tp, local 3, dp_shard, local 2]}"), "{0: [local 2, tp, local 3, dp_shard]}");
  EXPECT_EQ(layout_of("{0: [local 2, local 4, tp]}"), "{0: [local 8, tp]}");
  EXPECT_EQ(layout_of("{0: [local 1, tp, local 1, cp]}"), "{0: [tp, cp]}");
  EXPECT_EQ(layout_of("{0: [local 1099511627776, local 2, tp]}"), "{0: [local 1099511627776, local 2, tp]}");
  EXPECT_EQ(layout_of("{0: tp granule 64}"), "{0: tp granule 64}");
  EXPECT_EQ(layout_of("{0: tp granule 1}"), "{0: tp}");
  EXPECT_EQ(layout_of("{2: tp, 0: [cp, dp_shard granule 2]}"), "{0: [cp, dp_shard granule 2], 2: tp}");
  EXPECT_EQ(layout_of("{0: tp} partial(cp: sum, dp_shard: max)"), "{0: tp} partial(dp_shard: max, cp: sum)");
  EXPECT_EQ(layout_of("{} partial(tp: prod)"), "{} partial(tp: prod)");
  EXPECT_EQ(layout_of("{1: tp} stored {1: tp, 0: dp_shard}"), "{1: tp} stored {0: dp_shard, 1: tp}");
  EXPECT_EQ(layout_of("stored {0: dp_shard}"), "open {} stored {0: dp_shard}");
}

TEST(Text, GroupsOfMeshAxes) {
  auto fusion = parse_fusion(R"(
mesh @m (dp_replicate = 2, dp_shard = -1, tp = t) with dp = [dp_replicate, dp_shard], all = [tp, dp_shard, dp_replicate]
fusion @f on @m (%x: f32[n, 4] {0: dp granule 8}, param %w: f32[m, 4] {} stored {0: all}) -> (%y, %z {}) {
  %y = neg(%x)
  %z = sum(%w, dims = [0])
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
  const std::string text = print(*fusion);
  EXPECT_NE(text.find("mesh @m (dp_replicate = 2, dp_shard = dp_shard, tp = t) with dp = [dp_replicate, dp_shard], "
                      "all = [tp, dp_shard, dp_replicate]\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(print(fusion->find("x")->layout, fusion->mesh()), "{0: [dp_replicate granule 8, dp_shard granule 8]}");
  EXPECT_EQ(print(*fusion->find("w")->stored, fusion->mesh()), "{0: [tp, dp_shard, dp_replicate]}");
  Fusion built(fusion->mesh());
  TensorView* x = built.input("x", {"n", "m"}, DType::f32);
  x->shard(0, built.mesh()["dp"], {.granule = 2});
  x->shard(1, built.mesh()["tp"]);
  EXPECT_EQ(print(x->layout, built.mesh()), "{0: [dp_replicate granule 2, dp_shard granule 2], 1: tp}");
  EXPECT_THROW(x->shard(1, built.mesh()["dp"]), UserError);
  TensorView* p = built.input("p", {"n"}, DType::f32);
  p->pending(built.mesh()["dp"], ReduceOp::max);
  EXPECT_EQ(print(p->layout, built.mesh()), "{} partial(dp_replicate: max, dp_shard: max)");
  EXPECT_THROW(p->shard(0, built.mesh()["dp_shard"]), UserError);
  EXPECT_THROW(p->pending({"fsdp"}), UserError);
  EXPECT_THROW(built.input("i", {"n"}, DType::i64)->pending({"tp"}, ReduceOp::logsumexp), UserError);
  EXPECT_THROW(x->shard(1, {"fsdp"}), UserError);
  EXPECT_EQ(print(x->layout, built.mesh()), "{0: [dp_replicate granule 2, dp_shard granule 2], 1: tp}");
}

TEST(Text, InputsAsOutputsAndUnusedInputs) {
  auto fusion = parse_fusion(R"(
mesh @m (tp = 2)
fusion @f on @m (%x: f32[4], %unused: i64[n, 0]) -> (%x {0: tp}, %y) {
  %y = neg(%x)
  %dead = exp(%x)
}
)");
  verify(*fusion);
  EXPECT_EQ(print(fusion->find("x")->layout, fusion->mesh()), "{0: tp}");
  expect_round_trip(*fusion);
  expect_round_trip(*parse_fusion("fusion @f (%x: f32[4]) -> (%x) {}"));
}

TEST(Text, SpacingAndCommentsAreNotKept) {
  const char* plain = "fusion @f (%x: f32[a + b, 3]) -> (%y) {\n  %y = add(%x, %x)\n}\n";
  const char* spaced =
      "# head\r\nfusion@f(%x:f32[ a\r\n+b # extent\n,\t3 ])->(%y){%y=add( %x ,%x # rest\n)}\n# tail without an end";
  EXPECT_EQ(print(*parse_fusion(plain)), print(*parse_fusion(spaced)));
  auto scheduled = parse_fusion(
      "fusion @f (%x: f32[4]) -> (%y) { segment @s (%x) -> (%y) schedule nest  ( vector = 1 ,# why\n rows=2 ) {%y = "
      "exp(%x)}}");
  EXPECT_EQ(print(scheduled->segments[0].schedule), "nest(vector = 1, rows = 2)");
  expect_round_trip(*scheduled);
}

TEST(Text, AConstantNaNEqualsItsText) {
  Fusion f;
  auto op = std::make_unique<Full>();
  op->value = Constant::from_double(DType::f32, -std::numeric_limits<double>::quiet_NaN());
  f.output(f.add_op(std::move(op), f.add_tensor("c", {}, DType::f32))->out());
  expect_round_trip(f);
}

}  // namespace
}  // namespace plait
