#include "ir/factors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/op_words.h"

namespace plait {
namespace {

// Dims of the results: "0", of several "0 1".
std::string results_text(const Factor& f) {
  std::string out;
  for (int d : f.result_dim) out += fmt::format(" {}", d);
  return out;
}

// "pass b: 0 -1 -> 0" per factor: kind, extent, dim of every operand, dims of the results.
std::vector<std::string> text_of(const Op& op) {
  std::vector<std::string> out;
  for (const Factor& f : factors(op)) {
    const char* kinds[] = {"pass", "reduce", "merge", "whole", "permute", "regroup"};
    std::string text = fmt::format("{} {}:", kinds[static_cast<size_t>(f.kind)], sym::print(f.extent));
    for (int d : f.operand_dim) text += fmt::format(" {}", d);
    out.push_back(text + " ->" + results_text(f));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(Factors, OfFunctionsProductsAndWhatTheCompilerMakes) {
  auto fusion = parse_fusion(R"(
mesh @m (tp = 3)
fusion @f on @m (%x: f32[a, b, c], %row: f32[c], %col: f32[b, 1], %s: f32[], %u: f32[1, 1, c], %w: f32[n, c], %bias: f32[n],
          %p: f32[5, m, k], %q: f32[d, 1, k, n], %v: f32[c], %seed: u64[], %g: f32[4, 12]) -> (%add) {
  %add = add(%x, %row)
  %mul = mul(%x, %col)
  %sub = sub(%x, %s)
  %max = max(%u, %x)
  %unit = add(%u, %u)
  %exp = exp(%x)
  %full = full(shape = [a, 3], value = 1, dtype = f32)
  %rnd = uniform(shape = [a, 3], seed = %seed)
  %lin = linear(%x, %w)
  %linb = linear(%x, %w, %bias)
  %lin1 = linear(%v, %w)
  %mat = matmul(%p, %q)
  %drop = dropout(%x, p = 0.5, seed = %seed)
  %re = reshard(%x)
  %ar = all_reduce(%x, team = tp)
  %ag: f32[4, 36] = all_gather(%g, team = tp, outer = 4, count = 12, total = 36, inner = 1)
  %rs: f32[4, 4] = reduce_scatter(%g, team = tp, outer = 4, count = 4, total = 12, inner = 1)
  %ls: f32[4, 4] = local_slice(%g, outer = 4, start = 4, count = 4, total = 12, inner = 1)
}
)");
  auto lines = [&](const char* name) { return text_of(*fusion->find(name)->definition); };
  EXPECT_EQ(lines("add"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass c: 2 0 -> 2"}));
  EXPECT_EQ(lines("mul"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 0 -> 1", "pass c: 2 -1 -> 2"}));
  EXPECT_EQ(lines("sub"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass c: 2 -1 -> 2"}));
  EXPECT_EQ(lines("max"), (Lines{"pass a: -1 0 -> 0", "pass b: -1 1 -> 1", "pass c: 2 2 -> 2"}));
  EXPECT_EQ(lines("unit"), (Lines{"pass 1: 0 0 -> 0", "pass 1: 1 1 -> 1", "pass c: 2 2 -> 2"}));
  EXPECT_EQ(lines("exp"), (Lines{"pass a: 0 -> 0", "pass b: 1 -> 1", "pass c: 2 -> 2"}));
  EXPECT_EQ(lines("full"), (Lines{"pass a: -> 0", "pass 3: -> 1"}));
  EXPECT_EQ(lines("rnd"), (Lines{"pass a: -1 -> 0", "pass 3: -1 -> 1"}));
  EXPECT_EQ(lines("lin"),
            (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass n: -1 0 -> 2", "reduce c: 2 1 -> -1"}));
  EXPECT_EQ(lines("linb"),
            (Lines{"pass a: 0 -1 -1 -> 0", "pass b: 1 -1 -1 -> 1", "pass n: -1 0 0 -> 2", "reduce c: 2 1 -1 -> -1"}));
  EXPECT_EQ(lines("lin1"), (Lines{"pass n: -1 0 -> 0", "reduce c: 0 1 -> -1"}));
  EXPECT_EQ(lines("mat"), (Lines{"pass d: -1 0 -> 0", "pass 5: 0 -1 -> 1", "pass m: 1 -1 -> 2", "pass n: -1 3 -> 3",
                                 "reduce k: 2 2 -> -1"}));
  EXPECT_EQ(lines("drop"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass c: 2 -1 -> 2"}));
  EXPECT_EQ(lines("re"), (Lines{"pass a: 0 -> 0", "pass b: 1 -> 1", "pass c: 2 -> 2"}));
  EXPECT_EQ(lines("ar"), (Lines{"whole a: 0 -> 0", "whole b: 1 -> 1", "whole c: 2 -> 2"}));
  for (const char* name : {"ag", "rs", "ls"})
    for (const auto& line : lines(name)) EXPECT_EQ(line.rfind("whole ", 0), 0u) << line;
  for (const Op* op : fusion->ops()) {
    const bool sums = property(op->kind) == OpProperty::contraction;
    EXPECT_EQ(reduction_axes(*op).size(), sums ? 1u : 0u) << describe(*op);
    for (const Factor& f : factors(*op)) {
      const auto in = inputs(*op);
      ASSERT_EQ(f.operand_dim.size(), in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        if (f.operand_dim[i] < 0) continue;
        EXPECT_EQ(in[i]->extent(f.operand_dim[i]), f.extent) << describe(*op);
      }
    }
  }
}

struct Case {
  const char* call;
  Lines factors;
  bool several = false;  // two results
};

const Case kCases[] = {
    {"neg(%x)", {"pass a: 0 -> 0", "pass b: 1 -> 1", "pass c: 2 -> 2"}},
    {"full(shape = [a, 3], value = 1, dtype = f32)", {"pass a: -> 0", "pass 3: -> 1"}},
    {"iota(shape = [a, 3], dim = 0)", {"pass a: -> 0", "pass 3: -> 1"}},
    {"size(value = a)", {}},
    {"uniform(shape = [a], seed = %seed)", {"pass a: -1 -> 0"}},
    {"normal(shape = [a], seed = %seed)", {"pass a: -1 -> 0"}},
    {"linear(%e, %w)", {"pass a: 0 -1 -> 0", "pass n: -1 0 -> 1", "reduce sum 8: 1 1 -> -1"}},
    {"matmul(%e, %m)", {"pass a: 0 -1 -> 0", "pass n: -1 1 -> 1", "reduce sum 8: 1 0 -> -1"}},
    {"sum(%x, dims = [1])", {"pass a: 0 -> 0", "pass c: 2 -> 1", "reduce sum b: 1 -> -1"}},
    {"sum(%x, dims = [1], keepdim = true)",
     {"pass a: 0 -> 0", "whole 1: -1 -> 1", "pass c: 2 -> 2", "reduce sum b: 1 -> -1"}},
    {"sum(%c)", {"reduce sum a: 0 -> -1", "reduce sum 8: 1 -> -1"}},  // counts in i64
    {"prod(%e, dims = [0])", {"pass 8: 1 -> 0", "reduce prod a: 0 -> -1"}},
    {"amax(%e, dims = [0])", {"pass 8: 1 -> 0", "reduce max a: 0 -> -1"}},
    {"amax(%c, dims = [0])", {"pass 8: 1 -> 0", "merge a: 0 -> -1"}},  // ranks reduce numbers
    {"amin(%e, dims = [1])", {"pass a: 0 -> 0", "reduce min 8: 1 -> -1"}},
    {"argmax(%e, dims = [1])", {"pass a: 0 -> 0", "merge 8: 1 -> -1"}},
    {"argmin(%e, dims = [0])", {"pass 8: 1 -> 0", "merge a: 0 -> -1"}},
    {"var(%e, dims = [1])", {"pass a: 0 -> 0", "merge 8: 1 -> -1"}},
    {"cumsum(%e, dim = 1)", {"pass a: 0 -> 0", "merge 8: 1 -> 1"}},
    {"cumprod(%e, dim = 1)", {"pass a: 0 -> 0", "merge 8: 1 -> 1"}},
    {"logcumsumexp(%e, dim = 1)", {"pass a: 0 -> 0", "merge 8: 1 -> 1"}},
    {"permute(%x, dims = [2, 0, 1])", {"pass c: 2 -> 0", "pass a: 0 -> 1", "pass b: 1 -> 2"}},
    {"broadcast(%col, shape = [a, b, c], dims = [1, 2])", {"pass a: -1 -> 0", "pass b: 0 -> 1", "pass c: -1 -> 2"}},
    {"squeeze(%col)", {"pass b: 0 -> 0"}},
    {"unsqueeze(%e, dims = [1])", {"pass a: 0 -> 0", "whole 1: -1 -> 1", "pass 8: 1 -> 2"}},
    {"reshape(%p, shape = [h, 4, c])", {"pass h: 0 (by 4) -> 0", "regroup 4: -1 -> 1", "pass c: 1 -> 2"}},
    {"reshape(%k, shape = [4*h, c])", {"pass h: 0 -> 0 (by 4)", "pass c: 2 -> 1", "regroup 4: 1 -> -1"}},
    {"reshape(%p, shape = [4, h, c])",
     {"regroup 4: -1 -> 0", "regroup h: -1 -> 1", "pass c: 1 -> 2", "regroup 4*h: 0 -> -1"}},
    {"reshape(%col, shape = [1, b])", {"whole 1: -1 -> 0", "pass b: 0 -> 1"}},
    {"slice(%e, dim = 1, start = 1, stop = 3)", {"pass a: 0 -> 0", "permute 2: -1 -> 1", "permute 8: 1 -> -1"}},
    {"pad(%e, low = [0, 1])", {"pass a: 0 -> 0", "permute 9: -1 -> 1", "permute 8: 1 -> -1"}},
    {"cat(%e, %e, dim = 0)",
     {"permute 2*a: -1 -1 -> 0", "pass 8: 1 1 -> 1", "permute a: 0 -1 -> -1", "permute a: -1 0 -> -1"}},
    {"flip(%e, dims = [0])", {"permute a: -1 -> 0", "pass 8: 1 -> 1", "permute a: 0 -> -1"}},
    {"roll(%e, shifts = [1], dims = [1])", {"pass a: 0 -> 0", "permute 8: -1 -> 1", "permute 8: 1 -> -1"}},
    {"repeat(%e, repeats = [3, 1, 2])",
     {"permute 3: -1 -> 0", "pass a: 0 -> 1", "permute 16: -1 -> 2", "permute 8: 1 -> -1"}},
    {"bitcast(%e, to = u32)", {"pass a: 0 -> 0", "pass 8: 1 -> 1"}},
    {"gather(%e, %j, dim = 1)", {"pass a: 0 0 -> 0", "pass n: -1 1 -> 1", "reduce sum 8: 1 -1 -> -1"}},
    {"gather(%f, %short, dim = 1)",  // the index is shorter along dim 0
     {"whole 2: -1 0 -> 0", "pass n: -1 1 -> 1", "whole 4: 0 -1 -> -1", "reduce sum 8: 1 -1 -> -1"}},
    {"index_select(%x, %j, dim = 1)",
     {"pass a: 0 -1 -> 0", "pass a: -1 0 -> 1", "pass n: -1 1 -> 2", "pass c: 2 -1 -> 3", "reduce sum b: 1 -1 -> -1"}},
    {"scatter(%e, %j, %src, dim = 1, update = add)",
     {"pass a: 0 0 0 -> 0", "pass 8: 1 -1 -1 -> 1", "reduce sum n: -1 1 1 -> -1"}},
    {"scatter(%e, %j, %src, dim = 1, update = min)",
     {"pass a: 0 0 0 -> 0", "pass 8: 1 -1 -1 -> 1", "reduce min n: -1 1 1 -> -1"}},
    {"scatter(%e, %j, %src, dim = 1)", {"pass a: 0 0 0 -> 0", "pass 8: 1 -1 -1 -> 1", "whole n: -1 1 1 -> -1"}},
    {"var_mean(%x, dims = [0, 2])", {"pass b: 1 -> 0 0", "merge a: 0 -> -1 -1", "merge c: 2 -> -1 -1"}, true},
    {"cummax(%e, dim = 1)", {"pass a: 0 -> 0 0", "merge 8: 1 -> 1 1"}, true},
    {"cummin(%e, dim = 0)", {"merge a: 0 -> 0 0", "pass 8: 1 -> 1 1"}, true},
    {"sort(%e, dim = 1)", {"pass a: 0 -> 0 0", "whole 8: -1 -> 1 1", "whole 8: 1 -> -1 -1"}, true},
    {"sort(%e, dim = 1, count = [3])", {"pass a: 0 -> 0 0", "whole 3: -1 -> 1 1", "merge 8: 1 -> -1 -1"}, true},
    {"max_with_argmax(%e, dims = [1], keepdim = true)",
     {"pass a: 0 -> 0 0", "whole 1: -1 -> 1 1", "merge 8: 1 -> -1 -1"},
     true},
    {"min_with_argmin(%e)", {"merge a: 0 -> -1 -1", "merge 8: 1 -> -1 -1"}, true},
    {"dropout(%e, p = 0.5, seed = %seed)", {"pass a: 0 -1 -> 0", "pass 8: 1 -1 -> 1"}},
    {"logsumexp(%e, dims = [1])", {"pass a: 0 -> 0", "reduce logsumexp 8: 1 -> -1"}},
    {"logsumexp(%q, dims = [0])", {"pass 8: 1 -> 0", "whole a: 0 -> -1"}},  // rounded when whole
};

// "reduce prod b: 1 (by 4) -> -1": with what is reduced, and elements per step where they are more than one.
std::string full_text(const Factor& f) {
  const char* kinds[] = {"pass", "reduce", "merge", "whole", "permute", "regroup"};
  std::string text = kinds[static_cast<size_t>(f.kind)];
  if (f.kind == FactorKind::reduce) text += fmt::format(" {}", name(f.reduce));
  text += fmt::format(" {}:", sym::print(f.extent));
  for (size_t i = 0; i < f.operand_dim.size(); ++i) {
    text += fmt::format(" {}", f.operand_dim[i]);
    if (!f.operand_scale.empty() && f.operand_scale[i] != 1) text += fmt::format(" (by {})", f.operand_scale[i]);
  }
  text += " ->" + results_text(f);
  return f.result_scale == 1 ? text : text + fmt::format(" (by {})", f.result_scale);
}

std::unique_ptr<Fusion> fusion_of(const Case& c) {
  return parse_fusion(fmt::format(R"(
fusion @f (%x: f32[a, b, c], %col: f32[b, 1], %e: f32[a, 8], %c: bool[a, 8], %w: f32[n, 8], %m: f32[8, n], %p: f32[4*h, c],
  %k: f32[h, 4, c], %f: f32[4, 8], %j: i64[a, n], %short: i64[2, n], %src: f32[a, n], %q: f8e4m3[a, 8], %seed: u64[]) -> (%y) {{
  {} = {}
}}
)",
                                  c.several ? "%y, _" : "%y", c.call));
}

// A row of docs/sharding.md: the call, and by what happens to them the extents of the op's dims.
std::string document_row(const Case& c) {
  const auto fusion = fusion_of(c);
  std::string columns[6];
  for (const Factor& f : factors(*fusion->find("y")->definition)) {
    std::string& column = columns[static_cast<size_t>(f.kind)];
    const int64_t step =
        f.operand_scale.empty() ? f.result_scale : std::max(f.result_scale, *std::ranges::max_element(f.operand_scale));
    std::string what = f.kind == FactorKind::reduce ? fmt::format("{} over ", name(f.reduce)) : "";
    what += sym::print(f.extent) + (step == 1 ? "" : fmt::format(" by {}", step));
    if (("," + column + ",").find(" " + what + ",") == std::string::npos)
      column += (column.empty() ? " " : ", ") + what;
  }
  std::string out = fmt::format("| `{}` |", c.call);
  for (const std::string& column : columns) out += column + " |";
  return out + "\n";
}

// BLESS=1 writes it.
TEST(Factors, TableOfTheDocument) {
  const std::string path = PLAIT_SOURCE_DIR "/docs/sharding.md", begin = "<!-- factors -->\n", end = "<!-- end -->\n";
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  std::string text = read.str(),
              table =
                  "| op | passes | pending | merged | whole | ranges | regrouped |\n|---|---|---|---|---|---|---|\n";
  for (const Case& c : kCases) table += document_row(c);
  const size_t from = text.find(begin) + begin.size(), to = text.find(end);
  ASSERT_LE(from, to) << path;
  if (std::getenv("BLESS") != nullptr)
    std::ofstream(path) << text.replace(from, to - from, table);
  else
    EXPECT_EQ(text.substr(from, to - from), table) << "BLESS=1 writes " << path;
}

TEST(Factors, OfEveryOpThatIsNotOpened) {
  std::set<testing::OpWord> seen;
  for (const Case& c : kCases) {
    const auto fusion = fusion_of(c);
    const Op& op = *fusion->find("y")->definition;
    Lines lines;
    for (const Factor& f : factors(op)) lines.push_back(full_text(f));
    EXPECT_EQ(lines, c.factors) << c.call;
    for (const testing::OpWord& word : testing::words_of(*fusion)) seen.insert(word);
  }
  for (const testing::OpWord& word : testing::op_words()) {  // functions share one rule
    const bool opened = property(word.kind) == OpProperty::composite && !is_sharded_whole(word.kind);
    if (word.kind == OpKind::PointwiseOp || opened) continue;
    EXPECT_TRUE(seen.count(word)) << testing::text(word);
  }
}

TEST(Factors, PendingSumsPassLinearOpsOfOneFloatType) {
  auto fusion = parse_fusion(R"(
fusion @f (%x: f32[4], %y: f32[4], %h: bf16[4], %i: i64[4]) -> (%add) {
  %add = add(%x, %y)
  %sub = sub(%x, %y)
  %neg = neg(%x)
  %mul = mul(%x, %y)
  %mixed = add(%x, %h)
  %ints = add(%i, %i)
  %relu = relu(%x)
  %cast = cast(%h, to = f32)
}
)");
  auto passes = [&](const char* name, std::vector<bool> pending, ReduceOp reduce = ReduceOp::sum) {
    return passes_partial(*fusion->find(name)->definition, pending, reduce);
  };
  EXPECT_TRUE(passes("add", {true, true}));
  EXPECT_TRUE(passes("sub", {true, true}));
  EXPECT_TRUE(passes("neg", {true}));
  EXPECT_FALSE(passes("add", {true, false}));
  EXPECT_FALSE(passes("sub", {false, true}));
  EXPECT_FALSE(passes("add", {true, true}, ReduceOp::max));
  EXPECT_FALSE(passes("neg", {true}, ReduceOp::min));
  EXPECT_FALSE(passes("mul", {true, true}));
  EXPECT_FALSE(passes("mixed", {true, true}));
  EXPECT_FALSE(passes("ints", {true, true}));
  EXPECT_FALSE(passes("relu", {true}));
  EXPECT_FALSE(passes("cast", {true}));
  EXPECT_THROW(passes("add", {true}), InternalError);
}

}  // namespace
}  // namespace plait
