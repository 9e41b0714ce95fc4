// The worked examples: layouts and collectives of small programs.
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"
#include "shard/explain.h"
#include "shard/insert_reshards.h"
#include "shard/localize.h"
#include "shard/propagate.h"
#include "shard/single_axes.h"
#include "shard/verify_sharding.h"
#include "support/examples.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

using Lines = std::vector<std::string>;

std::unique_ptr<Fusion> sharded(const std::string& text) {
  auto f = test::parsed(text);
  propagate(*f);
  verify(*f);
  insert_reshards(*f);
  verify(*f);
  EXPECT_FALSE(explain_sharding(*f).empty());
  return f;
}

// Sequence-parallel toy MLP: linear(10, 32), relu, linear(32, 5) on 3 ranks; biases split off.
constexpr const char* kSpToy = R"(mesh @m (tp = 3)
fusion @sp_toy on @m (
  %x: f32[4, 12, 10] {1: tp}, param %w0: f32[32, 10] {0: tp}, param %b0: f32[32] {0: tp},
  param %w1: f32[5, 32] {1: tp}, param %b1: f32[5]
) -> (%y {1: tp}) {
  %h0 = linear(%x, %w0)
  %h = add(%h0, %b0)
  %a = relu(%h)
  %p = linear(%a, %w1)
  %y = add(%p, %b1)
}
)";

TEST(Examples, SpToy) {
  auto f = sharded(kSpToy);
  EXPECT_EQ(test::reshards(*f), (Lines{"all-gather tp %x -> %x_gathered", "reduce-scatter tp %p -> %p_scattered"}));
  EXPECT_EQ(test::layout_of(*f, "x_gathered"), "{}");
  EXPECT_EQ(test::layout_of(*f, "h"), "{2: tp}");
  EXPECT_EQ(test::layout_of(*f, "a"), "{2: tp}");
  EXPECT_EQ(test::layout_of(*f, "p"), "{} partial(tp: sum)");
  EXPECT_EQ(test::layout_of(*f, "y"), "{1: tp}");
  auto local = localize(*f, DeviceMesh({3}));
  EXPECT_EQ(type_text(*local->find("a")), "f32[4, 12, chunk(32, 3, rank.tp)]");
  EXPECT_EQ(type_text(*local->find("y")), "f32[4, 4, 5]");
  std::string why = explain_sharding(*f);
  EXPECT_NE(why.find("conflict: %x dim 1 [tp] lost to %w0 dim 0 (parameter, "), std::string::npos) << why;
  EXPECT_NE(why.find("reduce-scatter of dim 1 over tp"), std::string::npos) << why;
}

TEST(Examples, SpToyNarrow) {
  // The bias joins in f32: the product is exchanged as bf16.
  auto f = sharded(R"(mesh @m (tp = 3)
fusion @sp on @m (%a: bf16[4, 12, 32] {2: tp}, param %w1: bf16[5, 32] {1: tp}, param %b1: bf16[5]) -> (%y {1: tp}) {
  %p = linear(%a, %w1)
  %c = cast(%p, to = f32)
  %b = cast(%b1, to = f32)
  %t = add(%c, %b)
  %y = cast(%t, to = bf16)
}
)");
  EXPECT_EQ(test::reshards(*f), (Lines{"reduce-scatter tp %p -> %p_scattered"}));
  EXPECT_EQ(test::layout_of(*f, "c"), "{1: tp}");
  EXPECT_EQ(f->find("p_scattered")->dtype, DType::bf16);
}

constexpr const char* kTpMlp = R"(let sb = 64, h = 128, h4 = 512
mesh @m (tp = t)
fusion @tp_mlp on @m (
  %x: f32[sb, h], param %w0: f32[h4, h] {0: tp}, param %b0: f32[h4] {0: tp},
  param %w1: f32[h, h4] {1: tp}, param %b1: f32[h], %seed: u64[]
) -> (%linear1, %gelu, %linear2, %dropout) {
  %p0 = linear(%x, %w0)
  %linear1 = add(%p0, %b0)
  %gelu = gelu(%linear1, approx = tanh)
  %p1 = linear(%gelu, %w1)
  %linear2 = add(%p1, %b1)
  %u = uniform(shape = [sb, h], seed = %seed)
  %threshold = full(shape = [], value = 0.1, dtype = f32)
  %keep = ge(%u, %threshold)
  %scaled = mul(%linear2, %threshold)
  %zero = full(shape = [], value = 0, dtype = f32)
  %dropout = where(%keep, %scaled, %zero)
}
)";

TEST(Examples, TpMlp) {
  auto f = sharded(kTpMlp);
  EXPECT_EQ(test::reshards(*f), (Lines{"all-reduce tp %p1 -> %p1_reduced"}));
  EXPECT_EQ(test::layout_of(*f, "linear1"), "{1: tp}");
  EXPECT_EQ(test::layout_of(*f, "gelu"), "{1: tp}");
  EXPECT_EQ(test::layout_of(*f, "linear2"), "{}");
  EXPECT_EQ(test::layout_of(*f, "dropout"), "{}");
  for (int64_t n : {1, 2, 3, 4}) {
    auto local = localize(*f, DeviceMesh({n}));
    verify(*local);
    EXPECT_EQ(local->mesh().axes()[0].size, n);
    size_t moves = 0;
    for (const Op* op : local->ops()) moves += property(op->kind) == OpProperty::communication;
    EXPECT_EQ(moves, n > 1 ? 1u : 0u);
    EXPECT_EQ(local->find("p1_reduced") != nullptr, n > 1);
  }
}

TEST(Examples, MlpOnTwoAxes) {
  auto f = sharded(R"(let b = 4, s = 6, h = 8, h4 = 32
mesh @m (dp = 2, tp = 2)
fusion @mlp on @m (
  %x: f32[b, s, h] {0: dp}, param %w0: f32[h4, h] {0: tp}, param %w1: f32[h, h4] {1: tp}, %seed: u64[]
) -> (%y) {
  %h0 = linear(%x, %w0)
  %g = gelu(%h0)
  %p = linear(%g, %w1)
  %u = uniform(shape = [b, s, h], seed = %seed)
  %d = mul(%p, %u)
  %y = add(%d, %x)
}
)");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-reduce tp %p -> %p_reduced"}));
  EXPECT_EQ(test::layout_of(*f, "g"), "{0: dp, 2: tp}");
  EXPECT_EQ(test::layout_of(*f, "p"), "{0: dp} partial(tp: sum)");
  EXPECT_EQ(test::layout_of(*f, "u"), "{0: dp}");
  EXPECT_EQ(test::layout_of(*f, "y"), "{0: dp}");
  auto local = localize(*f, DeviceMesh({2, 2}));
  const auto* u = as<Uniform>(*local->find("u")->definition);
  ASSERT_EQ(u->start.size(), 3u);
  EXPECT_EQ(sym::evaluate(u->start[0], {{"b", 5}, {"rank.dp", 1}}), 3);
}

// A program of docs/examples with another annotation, its composites opened.
std::unique_ptr<Fusion> opened(const std::string& name, const std::string& annotated, const std::string& instead) {
  std::string text = testing::example(name);
  EXPECT_NE(text.find(annotated), text.npos) << name << " has no " << annotated;
  for (size_t at = text.find(annotated); at != text.npos && !annotated.empty();
       at = text.find(annotated, at + instead.size()))
    text.replace(at, annotated.size(), instead);
  auto f = parse_fusion(text);
  number_random_ops(*f);
  expand(*f);
  split_bias(*f);
  return sharded(print(*f));
}

TEST(Examples, TransformerBlockReducesTwice) {
  auto f = opened("transformer_block", "", "");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-reduce tp %o_product -> %o_product_reduced",
                                       "all-reduce tp %m_product -> %m_product_reduced"}));
  EXPECT_EQ(test::layout_of(*f, "q1"), "{2: tp granule 16}");
  EXPECT_EQ(test::layout_of(*f, "q2"), "{2: tp}");
  EXPECT_EQ(test::layout_of(*f, "a_matmul"), "{1: tp}");
  EXPECT_EQ(test::layout_of(*f, "a2"), "{2: tp granule 16}");
  for (const char* name : {"n1", "r", "n2", "y"}) EXPECT_EQ(test::layout_of(*f, name), "{}") << name;
  auto local = localize(*f, DeviceMesh({3}));  // no rank cuts a head
  EXPECT_EQ(type_text(*local->find("q")), "T[b, chunk(n, 3, rank.tp), s, 16]");
  EXPECT_EQ(type_text(*local->find("wq")), "T[chunk(16*n, 3, rank.tp, 16), h]");
}

// Without the granule a chunk may end within a head: the reshape needs its dim whole and says so.
TEST(Examples, TransformerBlockWithoutGranuleGathersHeads) {
  auto f = opened("transformer_block", " granule 16", "");
  EXPECT_EQ(test::reshards(*f)[0], "all-gather tp %q1 -> %q1_gathered");
  EXPECT_NE(f->find("q1_gathered")->reason.find("granule 16 avoids that"), std::string::npos)
      << f->find("q1_gathered")->reason;
}

TEST(Examples, CrossEntropyOverCutClassesGathersNoLogits) {
  auto f = opened("cross_entropy", "", "");
  EXPECT_EQ(
      test::reshards(*f),
      (Lines{"all-reduce tp %loss_amax -> %loss_amax_reduced", "all-reduce tp %loss_sum -> %loss_sum_reduced",
             "all-reduce tp %loss_sum_1 -> %loss_sum_1_reduced", "all-reduce tp %loss_sum_2 -> %loss_sum_2_reduced"}));
  EXPECT_EQ(test::layout_of(*f, "loss_iota"), "{0: tp}");  // each rank knows which classes it has
}

TEST(Examples, AttentionOverCutPositionsGathersKeysAndValues) {
  auto f = opened("attention", "{1: tp}", "{2: tp}");
  EXPECT_EQ(test::reshards(*f),
            (Lines{"all-gather tp %y_permute -> %y_permute_gathered", "all-gather tp %v -> %v_gathered"}));
  EXPECT_EQ(test::layout_of(*f, "y"), "{2: tp}");
  EXPECT_TRUE(test::reshards(*opened("attention", "", "")).empty());  // heads
}

TEST(Examples, SoftmaxOverACutDimExchangesTwoNumbersARow) {
  EXPECT_EQ(test::reshards(*opened("softmax", "{0: tp}", "{1: tp}")),
            (Lines{"all-reduce tp %y_amax -> %y_amax_reduced", "all-reduce tp %y_sum -> %y_sum_reduced"}));
  EXPECT_TRUE(test::reshards(*opened("softmax", "", "")).empty());
}

TEST(Examples, LogSumExpOverACutDimExchangesOneNumberARow) {
  const std::string text =
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: f32[6, 8] {1: [tp, dp]}) -> (%y) {\n"
      " %y = logsumexp(%x, dims = [1])\n}\n";
  auto f = sharded(text);
  EXPECT_EQ(test::layout_of(*f, "y"), "{}");
  const TensorView* parts = inputs(*f->find("y")->definition)[0];
  while (parts->definition->kind == OpKind::Reshard) parts = inputs(*parts->definition)[0];
  EXPECT_EQ(test::layout_of(*f, parts->name), "{} partial(dp: logsumexp, tp: logsumexp)");
  EXPECT_NE(parts->reason.find("[tp, dp] pending: logsumexp reduces %x dim 1"), std::string::npos) << parts->reason;
  // What is looked up, copied or moved stays pending; no arithmetic does.
  auto moved = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[6, 8] {1: tp}) -> (%z) {\n %y = logsumexp(%x, dims = [1])\n"
      " %z = flip(%y, dims = [0])\n}\n");
  EXPECT_EQ(test::layout_of(*moved, "y"), "{} partial(tp: logsumexp)");
  auto added = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[6, 8] {1: tp}) -> (%z) {\n %y = logsumexp(%x, dims = [1])\n"
      " %z = neg(%y)\n}\n");
  EXPECT_EQ(test::reshards(*added).size(), 1u);
  // 8-bit floats are rounded when whole.
  auto small = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f8e4m3[6, 8] {1: tp}) -> (%y) {\n %y = logsumexp(%x, dims = [1])\n}\n");
  EXPECT_EQ(test::reshards(*small), (Lines{"all-gather tp %x -> %x_gathered"}));
}

TEST(Examples, ConflictOfTwoActivations) {
  auto f = sharded(
      "mesh @m (x = 2)\nfusion @f on @m (%a: f32[4, 6] {0: x}, %b: f32[4, 6] {1: x}) -> (%y) {\n"
      " %y = add(%a, %b)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-to-all x %b -> %b_exchanged"}));
  EXPECT_EQ(test::layout_of(*f, "y"), "{0: x}");
  EXPECT_NE(f->find("b_exchanged")->reason.find("lost to %a dim 0 (first operand, "), std::string::npos)
      << f->find("b_exchanged")->reason;
}

TEST(Examples, StorageIsGatheredOnceAtFirstUse) {
  auto f = sharded(R"(mesh @m (dp = 2, tp = 2)
fusion @fsdp on @m (
  %x: f32[4, 6] {0: dp}, %z: f32[4, 6] {0: dp}, param %w: f32[8, 6] {0: tp} stored {0: [tp, dp]}
) -> (%a, %b) {
  %a = linear(%x, %w)
  %b = linear(%z, %w)
}
)");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-gather dp %w -> %w_gathered"}));
  EXPECT_NE(f->find("w_gathered")->reason.find("stored {0: [tp, dp]}"), std::string::npos);
  auto local = localize(*f, DeviceMesh({2, 2}));
  EXPECT_EQ(print(local->find("w")->layout, local->mesh()), "{0: [tp, dp]}");
  EXPECT_FALSE(local->find("w")->stored);
  EXPECT_EQ(type_text(*local->find("w")), "f32[2, 6]");
  EXPECT_EQ(type_text(*local->find("w_gathered")), "f32[4, 6]");
}

TEST(Examples, StorageMayBeAnything) {
  // Stored on another dim than computed.
  auto f = sharded(R"(mesh @m (dp = 2, tp = 2)
fusion @f on @m (%x: f32[4, 6], param %w: f32[8, 6] {0: tp} stored {1: tp}) -> (%a) {
  %a = linear(%x, %w)
}
)");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-to-all tp %w -> %w_exchanged"}));
}

TEST(Examples, AnInputIsStoredAsItIsSaid) {
  auto f = sharded(R"(mesh @m (dp = 2)
fusion @f on @m (%cache: f32[4, 6] {0: dp} stored {1: dp}, %x: f32[4, 6] {0: dp}) -> (%a) {
  %a = add(%cache, %x)
}
)");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-to-all dp %cache -> %cache_exchanged"}));
  EXPECT_EQ(print(f->find("cache")->layout, f->mesh()), "{1: dp}");
}

TEST(Examples, StorageEqualToComputeIsNone) {
  auto f = test::parsed(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6], param %w: f32[8, 6] {0: tp} stored {0: tp}) -> (%y) {\n"
      " %y = linear(%x, %w)\n}\n");
  Annotations before = annotations(*f);
  propagate(*f);
  verify_sharding(*f, ShardStage::propagated, &before);
  insert_reshards(*f);
  verify_sharding(*f, ShardStage::resharded, &before);
  EXPECT_TRUE(test::reshards(*f).empty());
}

TEST(Examples, EqualReshardsAreShared) {
  auto f = sharded(R"(mesh @m (tp = 2)
fusion @f on @m (%x: f32[4, 6] {0: tp}, param %w: f32[8, 6] {0: tp}, param %v: f32[8, 6] {0: tp}) -> (%a, %b) {
  %a = linear(%x, %w)
  %b = linear(%x, %v)
}
)");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-gather tp %x -> %x_gathered"}));
}

TEST(Examples, ALaterReaderStartsFromTheNearestVersion) {
  // %p is reduced for relu; its slice for %z costs nothing then.
  auto f = sharded(R"(mesh @m (tp = 2)
fusion @f on @m (%x: f32[4, 6] {1: tp}, %v: f32[8, 6], %c: f32[8] {0: tp}) -> (%a, %z) {
  %p = linear(%x, %v)
  %a = relu(%p)
  %z = mul(%p, %c)
}
)");
  EXPECT_EQ(test::collectives(*f), 1u);
  EXPECT_EQ(test::layout_of(*f, "z"), "{1: tp}");
}

TEST(Examples, AnOutputIsReducedToWhole) {
  auto f = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6] {1: tp}, %v: f32[8, 6]) -> (%p, %r) {\n"
      " %p = linear(%x, %v)\n %r = relu(%p)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"slice tp %v -> %v_shard", "all-reduce tp %p_pending -> %p"}));
  EXPECT_EQ(test::layout_of(*f, "p"), "{}");
  EXPECT_NE(f->find("p")->reason.find("an output is reduced to whole"), std::string::npos) << f->find("p")->reason;
  auto local = localize(*f, DeviceMesh({1}));
  EXPECT_EQ(local->ops().size(), 2u);
  EXPECT_EQ(local->outputs()[0]->definition->kind, OpKind::Linear);
  EXPECT_EQ(local->outputs()[0]->name, "p");
}

TEST(Examples, AnnotatedResults) {
  // An annotated output that is not what the op gives: computed as the operands say, then moved.
  auto f = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6] {1: tp}, %v: f32[8, 6] {0: tp}) -> (%y {0: tp}) {\n"
      " %y = add(%x, %x)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-to-all tp %y_pieces -> %y"}));
  // {} pins replicated.
  f = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6] {1: tp}) -> (%y) {\n %h: f32[4, 6] {} = neg(%x)\n"
      " %y = neg(%h)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-gather tp %h_pieces -> %h"}));
  EXPECT_EQ(test::layout_of(*f, "y"), "{}");
}

TEST(Examples, BackwardSharding) {
  // Only the output is annotated: everything before it is sliced, nothing moves.
  auto f = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6], %v: f32[8, 6], %s: u64[]) -> (%y {1: tp}) {\n"
      " %h = linear(%x, %v)\n %r = relu(%h)\n %u = uniform(shape = [4, 8], seed = %s)\n"
      " %o = full(shape = [4, 8], value = 1, dtype = f32)\n %k = add(%u, %o)\n %y = mul(%r, %k)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"slice tp %v -> %v_shard"}));
  for (const char* name : {"h", "r", "u", "o", "k"}) EXPECT_EQ(test::layout_of(*f, name), "{1: tp}") << name;
  EXPECT_NE(f->find("h")->reason.find("from consumer %r through relu"), std::string::npos) << f->find("h")->reason;
  auto local = localize(*f, DeviceMesh({2}));
  EXPECT_EQ(type_text(*local->find("o")), "f32[4, 4]");
}

TEST(Examples, ReadersThatDisagreeLeaveTheTensorWhole) {
  auto f = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6]) -> (%y {0: tp}, %z {}) {\n"
      " %h = relu(%x)\n %y = neg(%h)\n %z = exp(%h)\n}\n");
  EXPECT_EQ(test::layout_of(*f, "h"), "{}");
  EXPECT_EQ(test::collectives(*f), 0u);
}

TEST(Examples, ABackwardStepNeverShardsAnInput) {
  auto f = sharded("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4]) -> (%y {0: tp}) {\n %y = neg(%x)\n}\n");
  EXPECT_EQ(test::layout_of(*f, "x"), "{}");
  EXPECT_EQ(f->find("x")->reason, "not annotated: replicated");
  EXPECT_EQ(test::reshards(*f), (Lines{"slice tp %x -> %x_shard"}));
}

std::string refused(const std::string& text) {
  try {
    auto f = parse_fusion(text);
    propagate(*f);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Pending, AnnotationsOfPendingSums) {
  auto text = [](const std::string& x, const std::string& p) {
    return "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: f32[4, 6] " + x +
           ", %v: f32[8, 6]) -> (%y) {\n %p: f32[4, 8] " + p + " = linear(%x, %v)\n %y = relu(%p)\n}\n";
  };
  auto f = sharded(text("{1: tp}", "{} partial(tp: sum)"));
  EXPECT_EQ(test::reshards(*f), (Lines{"slice tp %v -> %v_shard", "all-reduce tp %p -> %p_reduced"}));
  f = sharded(text("{1: [tp, dp]}", "{} partial(tp: sum)"));
  EXPECT_EQ(test::reshards(*f), (Lines{"slice [tp, dp] %v -> %v_shard", "all-reduce dp %p_pending -> %p",
                                       "all-reduce tp %p -> %p_reduced"}));
  EXPECT_NE(refused(text("{}", "{} partial(tp: sum)")).find("%p is annotated {} partial(tp: sum), but linear gives {}"),
            std::string::npos);
  EXPECT_NE(refused(text("{1: dp}", "{} partial(tp: sum)")), "");
  EXPECT_NE(refused(text("{1: tp}", "{} partial(tp: max)")), "");
  EXPECT_NE(refused(text("{} partial(tp: prod)", "{}")).find("input %x is annotated with a pending prod"),
            std::string::npos);
}

TEST(Refused, OpsThatDoNotBelongHere) {
  EXPECT_NE(refused("fusion @f (%x: f32[4], %s: u64[]) -> (%y) {\n %y = dropout(%x, p = 0.5, seed = %s)\n}\n")
                .find("run the pass expand"),
            std::string::npos);
  EXPECT_NE(refused("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4]) -> (%y) {\n %y = all_reduce(%x, team = tp)\n}\n"),
            "");
  EXPECT_NE(refused("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 6] {1: tp}, %w: f32[8, 6], %b: f32[8]) -> (%y) {\n"
                    " %y = linear(%x, %w, %b)\n}\n")
                .find("split_bias"),
            std::string::npos);
}

TEST(Reshards, WrittenByTheUser) {
  auto f = sharded(
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: f32[4096, 6] {0: [dp, local 2, tp]}) -> (%y) {\n"
      " %r: f32[4096, 6] {} = reshard(%x)\n %y = neg(%r)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-gather tp %x -> %x_gathered", "all-gather dp %x_gathered -> %r"}));
  EXPECT_NE(print(*f).find("= reshard(%x_gathered, step = all_gather, team = dp)"), std::string::npos) << print(*f);
  auto again = parse_fusion(print(*f));
  propagate(*again);
  insert_reshards(*again);
  EXPECT_EQ(print(*again), print(*parse_fusion(print(*f))));
}

TEST(Reshards, WithoutALayoutGoesToWhole) {
  auto f = sharded("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4] {0: tp}) -> (%y) {\n %y = reshard(%x)\n}\n");
  EXPECT_EQ(test::reshards(*f), (Lines{"all-gather tp %x -> %y"}));
  // On one rank the step vanishes, and both names are visible: a copy.
  auto local = localize(*f, DeviceMesh({1}));
  ASSERT_EQ(local->ops().size(), 1u);
  EXPECT_EQ(local->ops()[0]->kind, OpKind::LocalSlice);
}

// As it does where pieces were written otherwise, or an axis has one rank: the table says so.
TEST(Reshards, OneThatChangesNothingMovesNothing) {
  auto f = test::parsed(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4] {0: tp}) -> (%y) {\n %y: f32[4] {0: tp} = reshard(%x)\n}\n");
  propagate(*f);
  insert_reshards(*f);
  EXPECT_FALSE(as<Reshard>(*f->find("y")->definition)->step);
  EXPECT_EQ(f->find("y")->reason, "annotated; %x is so already: nothing moves");
}

// What is said of a reshard that carries a step, between two layouts of %x: f32[16, 16].
std::string carried(const std::string& from, const std::string& to, const std::string& step,
                    const std::string& mesh = "dp = 2, tp = 2") {
  try {
    auto f = test::parsed("mesh @m (" + mesh + ")\nfusion @f on @m (%x: f32[16, 16] " + from +
                          ") -> (%y) {\n %y: f32[16, 16] " + to + " = reshard(%x, " + step + ")\n}\n");
    drop_single_axes(*f);
    propagate(*f);
    insert_reshards(*f);
    return join(test::reshards(*f));
  } catch (const UserError& e) {
    return e.what();
  }
}

TEST(Reshards, AStepThatDoesNotLeadThereIsRefused) {
  EXPECT_EQ(carried("{0: tp}", "{}", "step = all_gather, team = tp"), "all-gather tp %x -> %y");
  EXPECT_EQ(carried("{}", "{0: [dp, tp]}", "step = slice, team = [dp, tp]"), "slice [dp, tp] %x -> %y");
  const auto refused = [](const std::string& from, const std::string& to, const std::string& step,
                          const std::string& leads) {
    const std::string said = carried(from, to, step);
    EXPECT_NE(said.find("does not lead from"), said.npos) << said;
    EXPECT_NE(said.find(leads), said.npos) << said;
  };
  refused("{0: tp}", "{}", "step = all_gather, team = dp", "all-gather over tp does: drop step and team");
  refused("{0: tp}", "{}", "step = slice, team = tp", "all-gather over tp does");
  refused("{0: tp}", "{1: tp}", "step = all_gather, team = tp", "all-to-all over tp does");
  refused("{0: [dp, local 2, tp]}", "{}", "step = all_gather, team = tp",
          "all-gather over tp, then all-gather over dp does");
  refused("{} partial(tp: sum)", "{}", "step = all_gather, team = tp", "all-reduce over tp does");
  refused("{} partial(tp: sum)", "{0: dp}", "step = slice, team = dp", "over tp");
}

TEST(Reshards, AStepAndItsTeamComeTogether) {
  EXPECT_NE(carried("{}", "{0: dp}", "step = slice").find("a step of a reshard has no team"), std::string::npos);
  EXPECT_NE(carried("{}", "{0: dp}", "team = dp").find("a reshard has a team and no step"), std::string::npos);
}

// Axes of one rank, and the step that was planned with them, are gone: what is left is planned anew.
TEST(Reshards, AStepOverAxesOfOneRankIsPlannedAnew) {
  EXPECT_EQ(carried("{0: [dp, tp]}", "{}", "step = all_gather, team = [dp, tp]", "dp = 1, tp = 2"),
            "all-gather tp %x -> %y");
  EXPECT_EQ(carried("{0: [dp, tp]}", "{1: [tp, dp]}", "step = gather_block, team = [dp, tp]", "dp = 1, tp = 2"),
            "all-to-all tp %x -> %y");
}

}  // namespace
}  // namespace plait
