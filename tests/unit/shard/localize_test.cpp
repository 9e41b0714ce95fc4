// Local extents, collectives' geometry, random ops, names, and what is refused.
#include "shard/localize.h"
#include "shard/check_pieces.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "shard/explain.h"
#include "shard/insert_reshards.h"
#include "shard/propagate.h"
#include "shard/verify_sharding.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> sharded(const std::string& text) {
  auto f = test::parsed(text);
  propagate(*f);
  insert_reshards(*f);
  return f;
}

std::vector<int64_t> extents(const Fusion& local, const std::string& name, const DeviceMesh& mesh, size_t dim = 0) {
  std::vector<int64_t> out;
  for (int64_t r = 0; r < mesh.ranks(); ++r) {
    sym::Environment e;
    for (size_t a = 0; a < mesh.sizes().size(); ++a)
      e[rank_symbol(local.mesh(), static_cast<int>(a))] = mesh.coordinates(r)[a];
    out.push_back(sym::evaluate(local.find(name)->extent(dim), e));
  }
  return out;
}

std::vector<int64_t> cut(int64_t extent, const std::string& layout, const std::vector<int64_t>& sizes) {
  std::string axes = sizes.size() == 1 ? "tp = t" : "dp = d, tp = t";
  auto f = sharded(fmt::format("mesh @m ({})\nfusion @f on @m (%x: f32[{}] {{0: {}}}) -> (%y) {{\n %y = neg(%x)\n}}\n",
                               axes, extent, layout));
  DeviceMesh mesh(sizes);
  auto local = localize(*f, mesh);
  verify(*local);
  EXPECT_EQ(extents(*local, "x", mesh), extents(*local, "y", mesh));
  return extents(*local, "y", mesh);
}

using Sizes = std::vector<int64_t>;

TEST(Localize, Extents) {
  EXPECT_EQ(cut(32, "tp", {3}), (Sizes{11, 11, 10}));
  EXPECT_EQ(cut(5, "tp", {4}), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(cut(5, "[dp, tp]", {2, 2}), (Sizes{2, 1, 1, 1}));
  EXPECT_EQ(cut(768, "tp granule 64", {5}), (Sizes{192, 192, 192, 192, 0}));
  EXPECT_EQ(cut(12, "[local 2, tp]", {3}), (Sizes{4, 4, 4}));
  EXPECT_EQ(cut(0, "tp", {2}), (Sizes{0, 0}));
  EXPECT_EQ(cut(7, "tp", {1}), (Sizes{7}));
}

// What is bucketed later is decided by them.
TEST(Localize, LinksOfAxesStay) {
  auto f = sharded(
      "mesh @m (tp = t bandwidth 450 latency 30)\nfusion @f on @m (%x: f32[8] {0: tp}) -> (%y) {\n %y = neg(%x)\n}\n");
  const auto local = localize(*f, DeviceMesh({4}));
  EXPECT_EQ(local->mesh().axes(), (std::vector<MeshAxis>{{"tp", 4, "", 450, 30}}));
}

TEST(Localize, RankSymbolsHaveFacts) {
  auto f = sharded("mesh @m (tp = t)\nfusion @f on @m (%x: f32[n] {0: tp}) -> (%y) {\n %y = neg(%x)\n}\n");
  auto local = localize(*f, DeviceMesh({4}));
  sym::Expr rank = local->pool().find_symbol("rank.tp");
  ASSERT_TRUE(rank);
  EXPECT_TRUE(sym::proven(sym::lt(rank, 4)));
  EXPECT_TRUE(sym::proven(sym::ge(rank, 0)));
  EXPECT_EQ(local->mesh().axes()[0].size, 4);
  EXPECT_TRUE(local->mesh().axes()[0].symbol.empty());
  // One rank: no rank in sight.
  EXPECT_EQ(type_text(*localize(*f, DeviceMesh({1}))->find("y")), "f32[n]");
}

TEST(Localize, MeshSymbolsBecomeNumbers) {
  auto f = sharded("let t = 2\nmesh @m (tp = t)\nfusion @f on @m (%x: f32[4*t] {0: tp}) -> (%y) {\n %y = neg(%x)\n}\n");
  auto local = localize(*f, DeviceMesh({3}));
  EXPECT_EQ(type_text(*local->find("y")), "f32[4]");
  EXPECT_TRUE(local->size_lets.empty());
}

TEST(Localize, TheMiddleIsWhereTheDimIs) {
  auto f = sharded(
      "mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4, 12, 10] {1: [local 3, tp]}) -> (%y {}) {\n %y = neg(%x)\n}\n");
  auto local = localize(*f, DeviceMesh({2}));
  const auto* gather = as<AllGather>(*local->find("y")->definition);
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->outer.constant(), 12);  // 4 x the 3 local pieces
  EXPECT_EQ(gather->count.constant(), 2);
  EXPECT_EQ(gather->total.constant(), 4);
  EXPECT_EQ(gather->inner.constant(), 10);
}

// No communicator does it: parts are gathered, and every rank finds logsumexp of them.
TEST(Localize, PendingLogSumExpIsGathered) {
  auto f = sharded(
      "mesh @m (tp = 3)\nfusion @f on @m (%x: f32[4, 7] {1: tp}) -> (%y, %z {0: tp}) {\n"
      " %y = logsumexp(%x, dims = [1])\n %z = logsumexp(%x, dims = [1])\n}\n");
  auto local = localize(*f, DeviceMesh({3}));
  const auto* joined = as<LogSumExp>(*local->find("y")->definition);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->dims, (std::vector<int64_t>{0}));
  EXPECT_EQ(type_text(*joined->in), "f32[3, 4]");
  EXPECT_EQ(joined->in->definition->kind, OpKind::AllGather);
  EXPECT_EQ(inputs(*joined->in->definition)[0]->definition->kind, OpKind::LogSumExp);
  const auto* cut = as<LogSumExp>(*local->find("z")->definition);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->in->definition->kind, OpKind::LocalSlice);
}

TEST(Localize, ARandomOpKnowsItsPlace) {
  auto f = sharded(
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%s: u64[]) -> (%y {0: [dp, tp]}, %z) {\n"
      " %y = uniform(shape = [5, 7], seed = %s)\n %z = uniform(shape = [5], seed = %s)\n}\n");
  auto local = localize(*f, DeviceMesh({2, 2}));
  const auto* y = as<Uniform>(*local->find("y")->definition);
  EXPECT_EQ(y->global, (std::vector<sym::Expr>{local->pool().constant(5), local->pool().constant(7)}));
  Sizes starts;
  for (int64_t dp : {0, 1})
    for (int64_t tp : {0, 1}) starts.push_back(sym::evaluate(y->start[0], {{"rank.dp", dp}, {"rank.tp", tp}}));
  EXPECT_EQ(starts, (Sizes{0, 2, 3, 4}));
  EXPECT_EQ(y->start[1].constant(), 0);
  EXPECT_TRUE(as<Uniform>(*local->find("z")->definition)->global.empty());
}

TEST(Localize, KeepsNamesAliasesAndLayouts) {
  auto f = sharded(
      "let T = bf16\nmesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: T[4, 6] {0: dp}, param %w: T[8, 6] {0: tp} stored "
      "{0: [tp, dp]}) -> (%y) {\n %y = linear(%x, %w)\n}\n");
  auto local = localize(*f, DeviceMesh({2, 2}));
  EXPECT_EQ(local->inputs()[1]->role, TensorRole::parameter);
  EXPECT_EQ(test::layout_of(*local, "w"), "{0: [tp, dp]}");
  EXPECT_EQ(test::layout_of(*local, "x"), "{0: dp}");
  EXPECT_EQ(test::layout_of(*local, "y"), "{0: dp, 1: tp}");
  EXPECT_EQ(type_text(*local->find("y")), "T[2, 4]");
  EXPECT_FALSE(local->find("y")->reason.empty());
  // Inputs and outputs keep axes of size 1: they say how users' tensors are cut.
  EXPECT_EQ(test::layout_of(*localize(*f, DeviceMesh({1, 1})), "w"), "{0: [tp, dp]}");
  EXPECT_EQ(localize(*f, DeviceMesh({1, 1}))->ops().size(), 1u);
}

TEST(Localize, TextFormGoesThrough) {
  auto f = sharded(
      "let n = 5\nmesh @m (tp = 2)\nfusion @f on @m (%x: f32[n, 4] {0: tp}, %v: f32[6, 4]) -> (%y {}) {\n"
      " %h = linear(%x, %v)\n %y = relu(%h)\n}\n");
  auto local = localize(*f, DeviceMesh({2}));
  auto again = parse_fusion(print(*local));
  verify(*again);
  EXPECT_EQ(print(*again), print(*local));
}

std::string refused(const std::string& text, const Sizes& mesh, const sym::Environment& sizes = {}) {
  auto f = sharded(text);
  try {
    localize(*f, DeviceMesh(mesh));
    check_local_pieces(*f, DeviceMesh(mesh), sizes);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Localize, LocalPiecesMustDivide) {
  auto text = [](const std::string& extent, const std::string& layout) {
    return "mesh @m (dp = 2, tp = t)\nfusion @f on @m (%x: f32[" + extent + "] {0: " + layout +
           "}) -> (%y) {\n %y = neg(%x)\n}\n";
  };
  std::string why = refused(text("7", "[local 2, tp]"), {2, 2});
  EXPECT_NE(why.find("a piece of 7 elements does not split into 2 equal parts"), std::string::npos) << why;
  EXPECT_NE(why.find("%x: f32[7] dim 0 {0: [local 2, tp]}"), std::string::npos) << why;
  EXPECT_NE(refused(text("7", "[local 2, tp]"), {2, 1}), "");  // on one rank too
  EXPECT_EQ(refused(text("8", "[local 2, tp]"), {2, 2}), "");
  EXPECT_NE(refused(text("7", "[dp, local 2, tp]"), {2, 2}), "");  // 4 and 3
  EXPECT_EQ(refused(text("8", "[dp, local 2, tp]"), {2, 2}), "");
  EXPECT_EQ(refused(text("2*n", "[local 2, tp]"), {2, 2}, {{"n", 3}}), "");
  EXPECT_NE(refused(text("n", "[local 2, tp]"), {2, 2}, {{"n", 3}}), "");
  EXPECT_NE(refused(text("t*5", "[local 2, tp]"), {2, 3}), "");  // the mesh is known
}

// ---- The verifier sees what is wrong.
template <class Break>
void broken(Break&& change, ShardStage stage = ShardStage::resharded) {
  auto f = sharded(
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: f32[4, 6] {1: tp}, param %v: f32[8, 6] {1: tp}) -> (%y {0: dp}) "
      "{\n %p = linear(%x, %v)\n %h = neg(%p)\n %y = relu(%h)\n}\n");
  Annotations before = annotations(*f);
  EXPECT_NO_THROW(verify_sharding(*f, ShardStage::resharded, &before));
  change(*f);
  EXPECT_THROW(verify_sharding(*f, stage, &before), InternalError);
}

TEST(VerifySharding, EveryInvariant) {
  broken([](Fusion& f) { f.find("h")->layout.partial.clear(); });               // operand and result do not agree
  broken([](Fusion& f) { f.find("h")->layout.dims[1].pieces = {{0, 1, 0}}; });  // not what the op gives
  broken([](Fusion& f) { f.find("v")->layout = Layout::replicated(2); });       // an annotation changed
  broken([](Fusion& f) { f.find("y")->layout.partial[1] = ReduceOp::sum; }, ShardStage::propagated);
  broken([](Fusion& f) { f.find("x")->layout.partial[0] = ReduceOp::sum; }, ShardStage::propagated);
  broken([](Fusion& f) { f.find("x")->layout.dims[0].pieces = {{1, 1, 0}}; }, ShardStage::propagated);  // tp twice
  broken([](Fusion& f) { f.find("p")->layout.dims.pop_back(); }, ShardStage::propagated);
  broken([](Fusion& f) { f.find("p")->layout.dims[0].pieces = {{-1, 1, 2}}; }, ShardStage::propagated);
  broken([](Fusion& f) { f.find("p")->layout_source = LayoutSource::open; }, ShardStage::propagated);
  broken([](Fusion& f) { f.find("p")->layout.partial[7] = ReduceOp::sum; }, ShardStage::propagated);
  broken([](Fusion& f) { f.find("v")->stored = Layout::replicated(2); });
  broken([](Fusion& f) {  // two steps in one reshard
    for (const Op* op : f.ops())
      if (op->kind == OpKind::Reshard) op->out()->layout.dims[1].pieces = {{0, 1, 0}, {1, 1, 0}};
  });
  broken([](Fusion& f) {  // another step than the layouts differ by, another team, none
    for (Op* op : f.ops())
      if (auto* reshard = as<Reshard>(*op)) reshard->step = ReshardKind::gather_block;
  });
  broken([](Fusion& f) {
    for (Op* op : f.ops())
      if (auto* reshard = as<Reshard>(*op)) reshard->team = {{0, 1}};
  });
  broken([](Fusion& f) {
    for (Op* op : f.ops())
      if (auto* reshard = as<Reshard>(*op)) reshard->step.reset();
  });
  broken([](Fusion& f) {  // relu of a pending sum
    Op& relu = *f.find("y")->definition;
    replace_input(relu, inputs(relu)[0], f.find("h"));
  });
}

TEST(Explain, TableAndReshards) {
  auto f = sharded(
      "let n = 4\nmesh @m (tp = 2)\nfusion @f on @m (%x: f32[n, 6] {1: tp}, param %v: f32[8, 6]) -> (%y) {\n"
      " %p = linear(%x, %v)\n %y = relu(%p)\n}\n");
  EXPECT_EQ(explain_sharding(*f),
            "tensor  type       layout               reason\n"
            "%x      f32[n, 6]  {1: tp}              annotated\n"
            "%v      f32[8, 6]  {}                   not annotated: replicated\n"
            "%p      f32[n, 8]  {} partial(tp: sum)  [tp] pending: linear reduces %x dim 1\n"
            "%y      f32[n, 8]  {}                   no operand is sharded\n"
            "\n"
            "reshard           step                    layout   tensor bytes  cause\n"
            "%v -> %v_shard    slice of dim 1 over tp  {1: tp}  192 B         for linear %p: %v dim 1 is sharded [tp] "
            "as %x dim "
            "1\n"
            "%p -> %p_reduced  all-reduce over tp      {}       128 B         for relu %y: the sum over tp is pending "
            "and relu "
            "needs it done\n");
}

TEST(Api, ShardingByCalls) {
  Mesh mesh("m", {{"dp", 2, ""}, {"tp", 0, "t"}});
  Fusion f(mesh, "mlp");
  TensorView* x = f.input("x", {"b", 6}, DType::f32);
  TensorView* w = f.parameter("w", {8, 6}, DType::f32);
  x->shard(0, mesh["dp"]);
  w->shard(-2, mesh["tp"], {.granule = 2, .inner = false});
  w->storage().shard(0, mesh["dp"], {.granule = 1, .inner = true});
  auto op = std::make_unique<Linear>();
  op->x = x, op->w = w;
  TensorView* y = f.add_tensor("y", infer(*op, f).shape, DType::f32);
  f.add_op(std::move(op), y);
  f.output("y", y);
  propagate(f);
  insert_reshards(f);
  EXPECT_EQ(test::layout_of(f, "y"), "{0: dp, 1: tp granule 2}");
  EXPECT_EQ(test::layout_of(f, "w"), "{0: [tp granule 2, dp]}");
  EXPECT_EQ(test::reshards(f), std::vector<std::string>{"all-gather dp %w -> %w_gathered"});
}

TEST(Propagate, RefusesAnAxisUsedTwice) {
  Fusion f(Mesh("m", {{"tp", 2, ""}}));
  TensorView* x = f.input("x", {4, 6}, DType::f32);
  f.output("x", x);
  x->shard(0, {"tp"});
  x->layout.dims[1].pieces = {{0, 1, 0}};
  EXPECT_THROW(propagate(f), UserError);
}

// Near the bound, what a user may write can be too long as the extent of a piece.
TEST(Localize, ExtentsThatNoTextHoldsAreRefused) {
  int refused = 0, read = 0;
  for (int terms = 490; terms < 500; ++terms) {
    std::string extent = "n";
    for (int i = 0; i < terms; ++i) extent += fmt::format(" + m{}", i);
    std::string sizes;
    for (int i = 0; i < terms; ++i) sizes += fmt::format("%s{0}: f32[m{0}], ", i);
    const std::string text = fmt::format(
        "mesh @m (tp = 4)\nfusion @f on @m ({1}%x: f32[n], %z: f32[{0}]) -> (%y) {{\n  %s = sum(%x)\n  %y: f32[{0}] "
        "{{0: tp granule 3}} = add(%z, %s)\n}}\n",
        extent, sizes);
    auto f = sharded(text);
    try {
      const std::string local = print(*localize(*f, DeviceMesh({4})));
      EXPECT_EQ(print(*parse_fusion(local)), local);
      ++read;
    } catch (const UserError& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find("is an expression of more than 500 words"), std::string::npos) << said;
      EXPECT_NE(said.find(", on a rank"), std::string::npos) << said;
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace plait
