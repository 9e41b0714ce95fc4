// What an op reaches through reads, and at which of its own coordinates.
#include "axes/read_through.h"

#include <gtest/gtest.h>

#include "axes/build_graph.h"
#include "ir/fusion.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> parsed(const std::string& body) {
  return parse_fusion("fusion @f (%x: f32[a, b, 6], %i: i64[3]) -> (%y) {\n" + body + "}\n");
}

// `%s: [0, -]` per tensor reached by the op that makes %y, where all ops of these names are reads.
std::string reached(const Fusion& f, const std::vector<std::string>& reads) {
  std::set<const Op*> ops;
  for (const std::string& name : reads) ops.insert(f.find(name)->definition);
  std::string out;
  for (const ReadThrough& r : read_through(*f.find("y")->definition, ops)) {
    out += fmt::format("{}{} %{}:", out.empty() ? "" : "; ", r.operand, r.tensor->name);
    for (int d : r.dims) out += d < 0 ? " -" : fmt::format(" {}", d);
  }
  return out;
}

TEST(ReadThrough, MovesLoseTheDimThatTheyMoveAlong) {
  const auto f = parsed(
      "  %s = sum(%x, dims = [2], keepdim = true)\n  %n = sub(%x, %s)\n  %p = slice(%n, dim = 2, start = 1, stop = 4)\n"
      "  %q = flip(%p, dims = [1])\n  %y = exp(%q)\n");
  EXPECT_EQ(reached(*f, {"n", "p"}), "");
  EXPECT_EQ(reached(*f, {"n", "p", "q"}), "0 %x: 0 - -; 0 %s: 0 - -");
  EXPECT_EQ(reached(*f, {"p", "q"}), "0 %n: 0 - -");
}

TEST(ReadThrough, PermutesAndReshapesKeepWhatStaysOneDim) {
  const auto f = parsed(
      "  %p = permute(%x, dims = [2, 0, 1])\n  %r = reshape(%p, shape = [2, 3, a, b])\n"
      "  %k = index_select(%r, %i, dim = 1)\n  %y = exp(%k)\n");
  EXPECT_EQ(reached(*f, {"p", "r", "k"}), "0 %x: 2 3 -; 0 %i: 1");
}

TEST(ReadThrough, PathsThatDifferAgreeOnNothing) {
  const auto f = parsed(
      "  %s = sum(%x, dims = [2])\n  %n = neg(%s)\n  %r = roll(%n, shifts = [1], dims = [1])\n  %t = add(%n, %r)\n"
      "  %y = exp(%t)\n");
  EXPECT_EQ(reached(*f, {"n", "r", "t"}), "0 %s: 0 -");
  EXPECT_EQ(reached(*f, {"n", "t"}), "0 %s: 0 1; 0 %r: 0 1");
}

// The graph has an edge to what the group computes behind reads; one that moves it says so.
TEST(ReadThrough, EdgesOfTheGraph) {
  const auto f = parsed(
      "  %s = sum(%x, dims = [2], keepdim = true)\n  %n = sub(%x, %s)\n  %q = flip(%n, dims = [2])\n  %r = roll(%s, "
      "shifts = [1], dims = [0])\n  %y = add(%q, %r)\n");
  std::set<const Op*> reads;
  for (const char* name : {"n", "q", "r"}) reads.insert(f->find(name)->definition);
  BuildGraphOptions options;
  options.reads = &reads;
  const AxisGroup g = build_axis_graph(f->pool(), f->ops(), options);
  EXPECT_EQ(g.ops.size(), 2u);
  const Op& y = *f->find("y")->definition;
  const auto edges = g.edges_of(y);
  ASSERT_EQ(edges.size(), 4u);  // %q, %r, then %s through each
  EXPECT_FALSE(edges[0].hard);
  EXPECT_TRUE(edges[2].hard);
  EXPECT_FALSE(edges[2].cut);
  EXPECT_EQ(edges[2].operand->name, "s");
  EXPECT_FALSE(edges[3].cut);
  EXPECT_TRUE(edges[3].elsewhere && !edges[2].elsewhere);
  EXPECT_EQ(edges[3].reason, "it is read elsewhere along dim 0 than it is made");
}

}  // namespace
}  // namespace plait
