// Names, outputs, extents, annotations by the C++ API, clones, loop transforms.
#include "ir/fusion.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/refusal.h"

namespace plait {
namespace {

using testing::refusal;

#define EXPECT_REFUSED(statement, part) \
  EXPECT_NE(refusal([&] { statement; }).find(part), std::string::npos) << refusal([&] { statement; })

Fusion with_mesh() { return Fusion(Mesh("m", {{"dp", 2, ""}, {"tp", 0, "t"}}), "f"); }

TEST(Names, AreUniqueAndStable) {
  Fusion f;
  EXPECT_EQ(f.unique_name("a"), "a");
  EXPECT_EQ(f.add_tensor("a", {}, DType::f32)->name, "a");
  EXPECT_EQ(f.unique_name("a"), "a_1");
  EXPECT_EQ(f.unique_name("a"), "a_1");
  EXPECT_EQ(f.add_tensor("a_1", {}, DType::f32)->name, "a_1");
  EXPECT_EQ(f.add_tensor("a", {}, DType::f32)->name, "a_2");
  EXPECT_EQ(f.add_tensor("not a name", {}, DType::f32)->name, "t");
  EXPECT_EQ(f.add_tensor("", {}, DType::f32)->name, "t_1");
  EXPECT_EQ(f.find("b"), nullptr);
  EXPECT_THROW(Fusion({}, "two words"), UserError);
  EXPECT_THROW(Fusion(Mesh("m", {{"local", 2, ""}})), UserError);
  EXPECT_THROW(Fusion(Mesh("m", {{"1", 2, ""}})), UserError);
  EXPECT_THROW(Fusion(Mesh("m", {{"tp", 0, "min"}})), UserError);
}

TEST(Names, InputsAndLets) {
  Fusion f = with_mesh();
  f.input("x", {4}, DType::f32);
  EXPECT_REFUSED(f.input("x", {4}, DType::f32), "%x is defined twice");
  EXPECT_REFUSED(f.input("1x", {4}, DType::f32), "`1x` is no name");
  EXPECT_REFUSED(f.input("", {}, DType::f32), "is no name");
  EXPECT_REFUSED(f.input("n", {3, -4}, DType::f32), "extent -4 is negative\n  at: %n dim 1");
  EXPECT_REFUSED(f.input("n", {"0 - a - 1"}, DType::f32), "is negative");
  EXPECT_REFUSED(f.input("n", {"a +"}, DType::f32), "%n dim 0");
  EXPECT_REFUSED(f.input("n", {""}, DType::f32), "%n dim 0");
  EXPECT_REFUSED(f.let("a", -1), "size a = -1 is negative");
  EXPECT_REFUSED(f.let("t", 0), "mesh axis `tp` has size 0");
  EXPECT_REFUSED(f.let("bf16", 1), "name of a dtype");
  EXPECT_REFUSED(f.let("max", 1), "max");
  f.let("a", 3);
  f.let("a", 5);
  EXPECT_EQ(*f.size_let("a"), 5);
  EXPECT_EQ(f.size_let("b"), nullptr);
  EXPECT_EQ(f.inputs().size(), 1u);
}

TEST(Names, RankSymbolsHaveBounds) {
  Fusion f = with_mesh();
  EXPECT_EQ(sym::bounds(f.pool().find_symbol("rank.dp")).hi, 1);
  EXPECT_TRUE(sym::proven(sym::lt(f.pool().find_symbol("rank.tp"), f.pool().find_symbol("t"))));
  EXPECT_TRUE(sym::proven(sym::ge(f.pool().find_symbol("t"), 1)));
}

TEST(Annotations, ShardByApi) {
  Fusion f = with_mesh();
  Mesh m = f.mesh();
  TensorView* x = f.input("x", {4, 6}, DType::f32);
  x->shard(-1, m["tp"], {.granule = 3}).shard(1, m["dp"], {.inner = true});
  EXPECT_EQ(print(x->layout, m), "{1: [tp granule 3, dp]}");
  EXPECT_REFUSED(x->shard(0, m["tp"]), "mesh axis `tp` is used twice on %x");
  EXPECT_REFUSED(x->shard(2, m["tp"]), "%x has no dim 2");
  EXPECT_REFUSED(x->shard(-3, m["tp"]), "dims are 0 to 1");
  EXPECT_REFUSED(x->shard(0, {"pt"}), "mesh @m has no axis `pt`\n  at: %x: f32[4, 6] dim 0");
  x->replicate();
  EXPECT_REFUSED(x->shard(0, m["tp"], {.granule = 0}), "granule 0");
  EXPECT_TRUE(x->layout.is_replicated());
  EXPECT_EQ(x->layout_source, LayoutSource::annotated);
  EXPECT_REFUSED(f.add_tensor("t", {}, DType::f32)->storage().shard(0, m["tp"]), "%t is computed");

  TensorView* w = f.parameter("w", {4, 6}, DType::f32);
  w->shard(0, m["tp"]);
  w->storage().shard(0, m["dp"]);
  EXPECT_EQ(print(w->layout, m), "{0: tp}");
  EXPECT_EQ(print(*w->stored, m), "{0: [dp, tp]}");
  TensorView* v = f.parameter("v", {4, 6}, DType::f32);
  v->storage().shard(0, m["dp"]);
  v->shard(1, m["tp"]);
  EXPECT_EQ(print(v->layout, m), "{1: tp}");
  EXPECT_EQ(print(*v->stored, m), "{0: dp, 1: tp}");
  EXPECT_REFUSED(v->shard(0, m["dp"]), "used twice");
  EXPECT_EQ(print(v->layout, m), "{1: tp}") << "a refused call changes nothing";

  TensorView* lone = f.parameter("lone", {4}, DType::f32);
  lone->storage().shard(0, m["dp"]);
  f.output(x);
  verify(f);
  auto again = parse_fusion(print(f));
  EXPECT_TRUE(equal(f, *again)) << print(f) << print(*again);
  Fusion plain;
  EXPECT_REFUSED(plain.input("x", {4}, DType::f32)->shard(0, {"tp"}), "has no mesh");
}

TEST(Annotations, AllocateByApi) {
  Fusion f;
  TensorView* x = f.input("x", {"n", 3, 4}, DType::f32);
  x->allocate({2, 0, 1}, {0});
  EXPECT_EQ(x->domain.allocation, (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(x->domain.strided, (std::vector<bool>{false, true, false}));
  const auto refusal = [&](std::vector<int> order, std::vector<int> strided) -> std::string {
    try {
      x->allocate(std::move(order), strided);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal({0, 1}, {}).find("no order of the dims of %x: f32[n, 3, 4]"), std::string::npos);
  EXPECT_NE(refusal({0, 1, 1}, {}).find("list every dim once"), std::string::npos);
  EXPECT_NE(refusal({0, 1, 3}, {}).find("no order of the dims"), std::string::npos);
  EXPECT_NE(refusal({0, 1, 2}, {3}).find("%x: f32[n, 3, 4] has no dim 3 to be strided"), std::string::npos);
  EXPECT_NE(refusal({0, 1, 2}, {1, 1}).find("dim 1 of %x: f32[n, 3, 4] is strided twice"), std::string::npos);
  EXPECT_EQ(x->domain.allocation, (std::vector<int>{2, 0, 1})) << "a refusal changes nothing";
  x->allocate({0, 1, 2});
  EXPECT_TRUE(is_row_major(x->domain));
  f.input("s", {}, DType::f32)->allocate({});
}

TEST(Annotations, RangesByApi) {
  Fusion f;
  TensorView* i = f.input("i", {"n"}, DType::i64);
  i->within("0", "v - 1");
  EXPECT_EQ(sym::print(i->range->begin) + ".." + sym::print(i->range->end), "0..v - 1");
  f.input("j", {2}, DType::u8)->within(f.pool().constant(3), f.pool().constant(9));
  f.output(i);
  verify(f);
  EXPECT_NE(print(f).find("%i: i64[n] in 0..v - 1,\n  %j: u8[2] in 3..9\n"), std::string::npos) << print(f);
  EXPECT_TRUE(equal(f, *parse_fusion(print(f))));
  const auto copy = clone(f, {.replace = {{"v", 1}}});
  verify(*copy);
  EXPECT_EQ(copy->find("i")->range->end.constant(), 0);
  EXPECT_TRUE(equal(*copy, *parse_fusion(print(*copy)))) << "an empty range is one";
  TensorView* x = f.input("x", {2}, DType::f32);
  EXPECT_REFUSED(x->within("0", "v"), "a range of f32\n  at: %x: f32[2]");
  EXPECT_REFUSED(f.input("b", {2}, DType::boolean)->within("0", "v"), "a range of bool");
  EXPECT_FALSE(x->range);
}

TEST(Clone, ReplacesSymbolsAndStatesFacts) {
  auto f = parse_fusion(R"(
let n = 4
fusion @f (%x: f32[n, s, 1], %w: f32[1, 2*s]) -> (%z) {
  %y: f32[n, s, 2*s] loops (split(1, s + 1)) = add(%x, %w)
  %z = exp(%y)
}
)");
  auto copy = clone(*f, {.replace = {{"n", 1}}, .facts = {{"s", {.lo = 2, .hi = 64, .multiple_of = 2}}}});
  verify(*copy);
  EXPECT_EQ(type_text(*copy->find("z")), "f32[1, s, 2*s]");
  EXPECT_EQ(copy->find("z")->domain.logical[0].kind, AxisKind::broadcast);
  EXPECT_EQ(sym::divisor(copy->find("z")->extent(2)), 4);
  EXPECT_EQ(sym::bounds(copy->find("z")->extent(1)).hi, 64);
  EXPECT_EQ(sym::print(copy->find("y")->domain.transforms[0].factor), "s + 1");
  EXPECT_FALSE(equal(*f, *copy));
  EXPECT_EQ(type_text(*f->find("z")), "f32[n, s, 2*s]");
  EXPECT_TRUE(equal(*f, *clone(*f)));

  sym::Pool elsewhere;
  CloneOptions below{.facts = {{"s", {.lo = 0, .below = elsewhere.symbol("limit", {.lo = 1})}}}};
  auto bounded = clone(*f, below);
  EXPECT_TRUE(sym::proven(sym::lt(bounded->pool().find_symbol("s"), bounded->pool().find_symbol("limit"))));

  auto tight = parse_fusion("fusion @f (%x: f32[n - 5]) -> (%x) {}");
  EXPECT_REFUSED(clone(*tight, {.replace = {{"n", 3}}}), "extent -2 is negative\n  at: %x dim 0");
}

TEST(Clone, KeepsDomainsAndLayouts) {
  auto f = parse_fusion(R"(
mesh @m (tp = 2)
fusion @f on @m (%x: f32[4, 8] {0: tp}, param %w: f32[8, 8] {} stored {1: tp}) -> (%y) {
  segment @s1 (%x, %w) -> (%y) schedule nest(rows = 1) {
    %y: f32[4, 8] {} partial(tp: sum) allocation (1, 0) loops (split(2, 4)) = matmul(%x, %w)
  }
}
)");
  auto copy = clone(*f);
  verify(*copy);
  EXPECT_EQ(print(*copy), print(*f));
  EXPECT_EQ(copy->find("y")->domain.reduction.size(), 1u);
  EXPECT_EQ(copy->find("y")->domain.allocation, (std::vector<int>{1, 0}));
  EXPECT_EQ(copy->segments[0].ops[0], copy->ops()[0]);
}

TEST(Equal, EveryDifferenceCounts) {
  const std::string text = R"(
let n = 4, T = f32
mesh @m (tp = 2)
fusion @f on @m (%x: T[4, n] {0: tp}, param %w: T[n, n] {} stored {1: tp}, %seed: u64[] in 0..n) -> (%z) {
  segment @s1 (%x, %w, %seed) -> (%z) schedule nest(rows = 1) {
    %y: T[4, n] allocation (1, 0) loops (split(0, 2)) = matmul(%x, %w)
    %d = dropout(%y, p = 0.5, seed = %seed, offset = 3)
    %g = gelu(%d, approx = tanh)
    %c = full(shape = [n], value = nan, dtype = f32)
    %z = add(%g, %c)
  }
}
)";
  auto f = parse_fusion(text);
  EXPECT_TRUE(equal(*f, *parse_fusion(text)));
  const std::pair<const char*, const char*> kChanges[] = {{"n = 4", "n = 5"},
                                                          {"tp = 2", "tp = 3"},
                                                          {"@f", "@g"},
                                                          {"T[4, n] {0", "T[6, n] {0"},
                                                          {"{0: tp}", "{1: tp}"},
                                                          {"stored {1: tp}", ""},
                                                          {"param ", ""},
                                                          {"nest(rows = 1)", "nest(rows = 2)"},
                                                          {"allocation (1, 0)", ""},
                                                          {" in 0..n", ""},
                                                          {" in 0..n", " in 1..n"},
                                                          {" in 0..n", " in 0..4"},
                                                          {"allocation (1, 0)", "allocation (1, 0 strided)"},
                                                          {"split(0, 2)", "split(0, 4)"},
                                                          {"p = 0.5", "p = 0.25"},
                                                          {"offset = 3", "offset = 4"},
                                                          {", approx = tanh", ""},
                                                          {"value = nan", "value = inf"},
                                                          {"add(%g, %c)", "add(%c, %g)"},
                                                          {"@s1", "@s2"},
                                                          {"add(", "sub("},
                                                          {"T = f32", "T = f64"}};
  for (const auto& [from, to] : kChanges) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    if (std::string(from) == "param ") changed.erase(changed.find("stored {1: tp}"), 14);
    if (std::string(from).rfind("T[4", 0) == 0) changed.replace(changed.find("%y: T[4"), 7, "%y: T[6");
    if (std::string(from) == "T = f32") changed.replace(changed.find("dtype = f32"), 11, "dtype = f64");
    EXPECT_FALSE(equal(*f, *parse_fusion(changed))) << from << " -> " << to;
  }
}

TEST(Loops, Transforms) {
  auto loops = [](const std::string& transforms) {
    try {
      auto f = parse_fusion("fusion @f (%x: f32[4, n, 1], %w: f32[3, n]) -> (%y) {\n  %y: f32[4, n, 1] loops (" +
                            transforms + ") = exp(%x)\n}\n");
      std::string out;
      for (const Axis& a : loop_axes(f->find("y")->domain))
        out += fmt::format("{}{}{}", out.empty() ? "" : " ", sym::print(a.extent),
                           a.parallel == ParallelType::serial ? "" : "/" + std::string(name(a.parallel)));
      return out;
    } catch (const UserError& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(loops("merge(0)"), "4*n 1");
  EXPECT_EQ(loops("merge(1), merge(0)"), "4*n");
  EXPECT_EQ(loops("split(0, 3)"), "2 3 n 1");
  EXPECT_EQ(loops("split(1, 8), parallel(2, vectorize)"), "4 floordiv(n + 7, 8) 8/vectorize 1");
  EXPECT_EQ(loops("reorder(2, 0, 1)"), "1 4 n");
  EXPECT_EQ(loops("parallel(0, thread_x), split(0, 2)"), "2/thread_x 2/thread_x n 1");
  const std::pair<const char*, const char*> kBad[] = {
      {"merge(2)", "transform 0 does not apply: merge needs a loop axis behind it"},
      {"merge(3)", "no such loop axis"},
      {"merge(0), split(2, 4)", "transform 1 does not apply: no such loop axis"},
      {"split(0, 0)", "the factor must be at least 1"},
      {"split(0, n)", "the factor must be at least 1"},
      {"split(0, -2)", "the factor must be at least 1"},
      {"reorder(0, 1)", "reorder needs every position once"},
      {"reorder(0, 1, 1)", "reorder needs every position once"},
      {"reorder(0, 1, 3)", "reorder needs every position once"},
      {"parallel(3, unroll)", "no such loop axis"},
      {"parallel(0, warp)", "`warp` is no parallel type"},
      {"tile(0)", "`tile` is no transform"},
      {"merge(4294967296)", "out of range"},
      {"merge(-1)", "out of range"},
  };
  for (const auto& [text, part] : kBad) EXPECT_NE(loops(text).find(part), std::string::npos) << loops(text);
}

TEST(Loops, ReductionAxesStandBehindLogicalOnes) {
  auto f = parse_fusion(R"(
fusion @f (%x: f32[3, 4, k], %w: f32[k, 5]) -> (%y) {
  %y: f32[3, 4, 5] loops (split(3, 8), reorder(0, 3, 1, 2, 4)) = matmul(%x, %w)
}
)");
  auto loops = loop_axes(f->find("y")->domain);
  ASSERT_EQ(loops.size(), 5u);
  EXPECT_EQ(loops[1].kind, AxisKind::reduction);
  EXPECT_EQ(loops[4].kind, AxisKind::reduction);
  EXPECT_EQ(sym::print(loops[1].extent), "floordiv(k + 7, 8)");
  EXPECT_REFUSED(parse_fusion("fusion @f (%x: f32[3, k], %w: f32[k, 5]) -> (%y) {\n"
                              "  %y: f32[3, 5] loops (merge(1)) = matmul(%x, %w)\n}\n"),
                 "a reduction axis merges only with another one");
}

}  // namespace
}  // namespace plait
