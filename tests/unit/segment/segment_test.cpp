#include "segment/segment.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "build/build.h"
#include "segment/group_order.h"
#include "support/segment_summary.h"

namespace plait {
namespace {

using testing::summary;

std::string message(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

const char* kTpMlp = R"(
mesh @m (tp = 4)
fusion @tp_mlp on @m (%x: f32[64, 128], param %w0: f32[128, 128], param %b0: f32[128], param %w1: f32[128, 128],
  param %b1: f32[128], %seed: u64[]) -> (%linear1, %gelu, %linear2, %dropout) {
  %p: f32[64, 128] = linear(%x, %w0)
  %linear1 = add(%p, %b0)
  %gelu = gelu(%linear1, approx = tanh)
  %q: f32[64, 128] = linear(%gelu, %w1)
  %r: f32[64, 128] = all_reduce(%q, team = tp, reduce = sum)
  %linear2 = add(%r, %b1)
  %u = uniform(shape = [64, 128], seed = %seed)
  %limit = full(shape = [], value = 0.1, dtype = f32)
  %keep = ge(%u, %limit)
  %scale = full(shape = [], value = 1.25, dtype = f32)
  %scaled = mul(%linear2, %scale)
  %zero = full(shape = [], value = 0, dtype = f32)
  %dropout = where(%keep, %scaled, %zero)
}
)";

TEST(Segment, TensorParallelMlpHasTwoPointwiseKernels) {
  auto f = parse_fusion(kTpMlp);
  SegmentOptions nests;
  nests.contractions = "nest";
  segment(*f, nests);
  EXPECT_EQ(summary(*f),
            "s1 nest: p; s2 pointwise: linear1 gelu; s3 nest: q; s4 collective: r; s5 pointwise: linear2 dropout");
  verify(*f);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
}

// What is elementwise behind a product is in its kernel, up to an output.
TEST(Segment, TilesTakeWhatNoLibraryComputes) {
  auto f = parse_fusion(kTpMlp);
  segment(*f, {});
  EXPECT_EQ(summary(*f),
            "s1 contraction: linear1; s2 pointwise: gelu; s3 contraction: q; s4 collective: r; s5 pointwise: linear2 "
            "dropout");
  verify(*f);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
}

TEST(Segment, LibraryTakesWhatItAccepts) {
  auto f = parse_fusion(kTpMlp);
  SegmentOptions options;
  std::string explain;
  options.explain = &explain;
  options.library_accepts = [](const Op& op, std::string* why) {
    *why = "not today";
    return op.out()->name == "p";
  };
  segment(*f, options);
  EXPECT_EQ(f->segments[0].schedule, Schedule(schedules::Library()));
  EXPECT_EQ(f->segments[2].schedule.index(), Schedule(schedules::Contraction()).index());
  EXPECT_NE(explain.find("tiles of %q, not library: not today"), std::string::npos) << explain;
  auto g = parse_fusion(kTpMlp);
  options.contractions = "nest";
  segment(*g, options);
  EXPECT_EQ(g->segments[0].schedule.index(), Schedule(schedules::Nest()).index());
  auto h = parse_fusion(kTpMlp);
  options.contractions = "library";
  EXPECT_NE(message([&] { segment(*h, options); }).find("not today"), std::string::npos);
}

// `contractions = own` tries tiles first; what these refuse is the library's.
TEST(Segment, OwnTilesComeBeforeTheLibrary) {
  SegmentOptions options;
  std::string explain;
  options.explain = &explain;
  options.contractions = "own";
  options.library_accepts = [](const Op&, std::string*) { return true; };
  auto large = parse_fusion("fusion @f (%x: f32[96, 64], %w: f32[96, 64]) -> (%y) { %y = linear(%x, %w) }");
  segment(*large, options);
  EXPECT_EQ(large->segments[0].schedule.index(), Schedule(schedules::Contraction()).index());
  EXPECT_NE(explain.find("tiles of %y, not library: own kernels are asked for"), std::string::npos) << explain;
  auto few = parse_fusion("fusion @f (%x: f32[8, 64], %w: f32[96, 64]) -> (%y) { %y = linear(%x, %w) }");
  segment(*few, options);
  EXPECT_EQ(few->segments[0].schedule.index(), Schedule(schedules::Contraction()).index());
  EXPECT_NE(explain.find("few rows of %y, not library: own kernels are asked for"), std::string::npos) << explain;
  auto small = parse_fusion("fusion @f (%x: f32[8, 64], %w: f32[32, 64]) -> (%y) { %y = linear(%x, %w) }");
  segment(*small, options);
  EXPECT_EQ(small->segments[0].schedule, Schedule(schedules::Library()));
  EXPECT_NE(explain.find("no tiles of %y: it is small; a library is asked then, as by auto"), std::string::npos)
      << explain;
}

// Under `auto` a contraction of the library's with something elementwise behind is of tiles where that costs less: its
// sum is short, its result no small one, and nobody else would take in what stands behind.
TEST(Segment, TilesComeBeforeTheLibraryWhereTheyCostLess) {
  const auto explained = [](const std::string& sizes, const std::string& body, TargetKind kind = TargetKind::cpu) {
    SegmentOptions options;
    std::string explain;
    options.explain = &explain;
    options.target.kind = kind;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    auto f = parse_fusion("fusion @f (%x: f32[" + sizes + "], %w: f32[512, " + sizes.substr(sizes.find(' ') + 1) +
                          "], %c: f32[512]) -> (%y) {\n" + body + "\n}\n");
    segment(*f, options);
    return summary(*f) + "\n" + explain;
  };
  const auto begins = [](const std::string& text, const char* with) { return text.rfind(with, 0) == 0; };
  const std::string gelu = "%h = linear(%x, %w)\n%s = add(%h, %c)\n%y = gelu(%s)";
  std::string text = explained("128, 360", gelu);
  EXPECT_TRUE(begins(text, "s1 contraction: y\n")) << text;
  EXPECT_NE(text.find("tiles of %h, not library: 1.01 * 360 is less than 360 + 14 multiply-adds an element, by 3 %"),
            std::string::npos)
      << text;
  text = explained("128, 2000", gelu);
  EXPECT_TRUE(begins(text, "s1 library: h; s2 pointwise: y\n")) << text;
  EXPECT_NE(text.find("library, not tiles of %h: 2000 + 14 is less than 1.01 * 2000 multiply-adds an element, by 0 %"),
            std::string::npos)
      << text;
  // A tensor of the result's size, the first operand here, is read tile by tile.
  const std::string residual = "%h = linear(%x, %w)\n%s = add(%h, %c)\n%y = add(%s, %x)";
  text = explained("512, 512", residual);
  EXPECT_TRUE(begins(text, "s1 library: h; s2 pointwise: y\n")) << text;
  EXPECT_NE(text.find("512 + 14 is less than 1.01 * 512 + 12 multiply-adds"), std::string::npos) << text;
  for (const auto& [sizes, body] : {std::pair<std::string, std::string>{"127, 64", gelu},
                                    {"128, 64", "%y = linear(%x, %w)"},
                                    {"m, 64", gelu},
                                    {"128, 64", "%h = linear(%x, %w)\n%s = add(%h, %c)\n%y = sum(%s, dims = [1])"}}) {
    text = explained(sizes, body);
    EXPECT_TRUE(begins(text, "s1 library: ")) << sizes << "\n" << text;
  }
  EXPECT_FALSE(begins(explained("128, 64", gelu, TargetKind::cuda), "s1 contraction"));
  // Each vector of a tile has the code of what stands behind: two functions are too much, one with others is not.
  text = explained("128, 64", "%h = linear(%x, %w)\n%s = tanh(%h)\n%t = exp(%s)\n%y = add(%t, %c)");
  EXPECT_TRUE(begins(text, "s1 library: h; s2 pointwise: ")) << text;
  EXPECT_NE(text.find("library, not tiles of %h: what stands behind is about 21 instructions, more than 19"),
            std::string::npos)
      << text;
  text = explained("128, 64", "%h = linear(%x, %w)\n%s = add(%h, %c)\n%t = gelu(%s)\n%u = mul(%t, %c)\n%y = relu(%u)");
  EXPECT_TRUE(begins(text, "s1 contraction: y\n")) << text;
}

// Columns that do not fill a tile's are the library's.
TEST(Segment, TilesOfWholePanelsComeBeforeTheLibrary) {
  const auto explained = [](int lanes, const std::string& n) {
    SegmentOptions options;
    std::string explain;
    options.explain = &explain;
    options.target.vector_lanes = lanes;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    auto f = parse_fusion("fusion @f (%x: f32[65536, 256], %w: f32[" + n + ", 256], %c: f32[" + n +
                          "]) -> (%y) {\n%h = linear(%x, %w)\n%s = add(%h, %c)\n%y = relu(%s)\n}\n");
    segment(*f, options);
    return summary(*f) + "\n" + explain;
  };
  for (const char* n : {"8", "31", "40", "48", "63", "100", "n"}) {
    const std::string text = explained(16, n);
    EXPECT_EQ(text.rfind("s1 library: h; s2 pointwise: y\n", 0), 0u) << text;
    EXPECT_NE(text.find(std::string("library, not tiles of %h: ") + n + " columns are no whole panels of 32"),
              std::string::npos)
        << text;
  }
  for (const char* n : {"32", "64", "96"}) EXPECT_EQ(explained(16, n).rfind("s1 contraction: y\n", 0), 0u) << n;
  EXPECT_EQ(explained(4, "40").rfind("s1 contraction: y\n", 0), 0u);
}

// A tensor of the result's size is read through moves, too; a short one that is repeated is not.
TEST(Segment, TensorsBehindMovesCountAsRead) {
  const auto taken = [](const std::string& residual, const std::string& moves) {
    SegmentOptions options;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    auto f = parse_fusion("fusion @f (%x: f32[512, 256], %w: f32[1024, 256], %c: f32[1024], %r: f32[" + residual +
                          "]) -> (%y) {\n%h = linear(%x, %w)\n%s = add(%h, %c)\n" + moves + "%y = add(%s, %t)\n}\n");
    segment(*f, options);
    return summary(*f).rfind("s1 contraction: y", 0) == 0;
  };
  EXPECT_FALSE(taken("1024, 512", "%t = permute(%r, dims = [1, 0])\n"));
  EXPECT_FALSE(taken("512, 1024", "%a = permute(%r, dims = [1, 0])\n%t = permute(%a, dims = [1, 0])\n"));
  EXPECT_TRUE(taken("1024", "%t = broadcast(%r, dims = [1], shape = [512, 1024])\n"));
}

// Numbers of tiles ask nothing about sizes that stay symbols: rows are asked for once, where the library is left.
TEST(Segment, TilesOfSymbolicRowsAskAtMostTwoGuards) {
  std::set<std::string> classes;
  for (const int64_t m : {1, 16, 23, 24, 64, 127, 128, 200, 1000, 4096, 20000, 131072}) {
    sym::Guards guards({{"m", m}}, {{}});
    SegmentOptions options;
    options.guards = &guards;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    auto f = parse_fusion(
        "fusion @f (%x: f32[m, 256], %w: f32[1024, 256], %c: f32[1024]) -> (%y) {\n%h = linear(%x, %w)\n"
        "%s = add(%h, %c)\n%y = gelu(%s)\n}\n");
    segment(*f, options);
    EXPECT_EQ(summary(*f).rfind("s1 contraction: y", 0) == 0, m >= 64 || m < 5) << m;
    std::string answers;
    for (const sym::Answer& each : guards.answers()) answers += sym::print(each) + "; ";
    EXPECT_LE(guards.answers().size(), 2u) << answers;
    classes.insert(answers);
  }
  EXPECT_EQ(classes.size(), 3u);
}

const char* kViews = R"(
fusion @views (%x: f32[4, 6], %w: f32[8, 6]) -> (%y, %z, %t) {
  %wt = permute(%w, dims = [1, 0])
  %p = matmul(%x, %wt)
  %y = reshape(%p, shape = [2, 2, 8])
  %u = unsqueeze(%p, dims = [0])
  %v = permute(%u, dims = [1, 0, 2])
  %z = exp(%v)
  %t = permute(%x, dims = [1, 0])
}
)";

// What lies as its operand does is an alias; a transposed operand is one for a library that takes it as it lies.
TEST(Segment, AliasesNeedNoKernel) {
  SegmentOptions library;
  library.library_accepts = [](const Op&, std::string*) { return true; };
  auto f = parse_fusion(kViews);
  segment(*f, library);
  EXPECT_EQ(summary(*f),
            "s1 alias: wt; s2 library: p; s3 alias: y; s4 alias: u; s5 alias: v; s6 pointwise: z; s7 pointwise: t");
  verify(*f);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
  auto g = parse_fusion(kViews);
  segment(*g, {});  // no library: the nest of the contraction would read its operand across
  EXPECT_EQ(g->segments[0].schedule.index(), Schedule(schedules::Pointwise()).index());
  auto h = parse_fusion(kViews);
  library.pins = {{"y", schedules::Nest{.vector = 4}}, {"u", schedules::Alias()}};
  segment(*h, library);
  EXPECT_EQ(h->segments[2].schedule, Schedule(schedules::Nest{.vector = 4}));
  EXPECT_EQ(h->segments[3].schedule, Schedule(schedules::Alias()));
  auto k = parse_fusion(kViews);
  library.pins = {{"t", schedules::Alias()}};
  EXPECT_NE(message([&] { segment(*k, library); }).find("schedule `alias` does not fit"), std::string::npos);
}

// `%p[b, 4] strides [8, 1]` of both operands, or the reason.
std::string operands(const std::string& body) {
  auto f = parse_fusion("let b = 2, n = 3\nfusion @f (%x: f32[b, 8], %w: f32[8, n], %h: f32[b, 4, n, 8]) -> (%y) {\n" +
                        body + "}\n");
  SegmentOptions options;
  std::string explain;
  options.explain = &explain;
  options.library_accepts = [](const Op&, std::string*) { return true; };
  segment(*f, options);
  std::string out;
  size_t at = 0;
  while (at < explain.size()) {
    const size_t end = explain.find('\n', at);
    const std::string line = explain.substr(at, end - at);
    if (line.find(" is a view, ") != std::string::npos || line.find("is computed") != std::string::npos)
      out += (out.empty() ? "" : "; ") + line.substr(line.find('%'));
    at = end + 1;
  }
  return out;
}

TEST(Segment, OperandsOfTheLibraryAreViews) {
  EXPECT_EQ(operands("%s = slice(%x, dim = 1, start = 4)\n%t = slice(%w, dim = 0, start = 1, stop = 8, step = 2)\n"
                     "%y = matmul(%s, %t)\n"),
            "%s is a view, %x[b, 4] strides [8, 1] at 4; %t is a view, %w[4, n] strides [2*n, 1] at n");
  EXPECT_EQ(operands("%p = permute(%h, dims = [0, 2, 1, 3])\n%y = matmul(%p, %w)\n"),
            "%p is a view, %h[b, n, 4, 8] strides [32*n, 8, 8*n, 1]");
  // Two dims of the batch that lie apart become one: both operands are given both.
  EXPECT_EQ(operands("%e = broadcast(%h, shape = [b, 5, 4, n, 8], dims = [0, 2, 3, 4])\n"
                     "%r = reshape(%e, shape = [b, 20, n, 8])\n%y = matmul(%r, %w)\n"),
            "%r is a view, %h[b, 5, 4, n, 8] strides [32*n, 0, 8*n, 8, 1]");
  EXPECT_EQ(operands("%p = permute(%h, dims = [0, 2, 1, 3])\n%r = reshape(%p, shape = [b * n, 4, 8])\n"
                     "%y = matmul(%r, %w)\n"),
            "%r is a view, %h[b, n, 4, 8] strides [32*n, 8, 8*n, 1]");
}

TEST(Segment, OperandsThatAreComputedSayWhy) {
  EXPECT_EQ(
      operands("%s = slice(%x, dim = 1, stop = 7, step = 2)\n%t = slice(%w, dim = 0, stop = 4)\n%y = matmul(%s, %t)\n"),
      "%s is computed, not a view, for %y: a matrix of %s has neither dense rows nor dense columns; "
      "%t is a view, %w[4, n] strides [n, 1]");
  EXPECT_EQ(
      operands("%p = permute(%h, dims = [0, 2, 3, 1])\n%r = reshape(%p, shape = [b, n, 4, 8])\n%y = matmul(%r, %w)\n"),
      "%p is computed, not a view, for %r: dims of %p that it parts are no neighbours in memory");
  // What a kernel or the user reads too is in memory for them.
  EXPECT_EQ(operands("%s = slice(%x, dim = 1, start = 4)\n%t = slice(%w, dim = 0, stop = 4)\n%p = matmul(%s, %t)\n"
                     "%z = sum(%s)\n%y = add(%p, %z)\n"),
            "%t is a view, %w[4, n] strides [n, 1]");
}

TEST(Segment, ConstantsAreDuplicatedIntoTheirReaders) {
  Fusion f;
  TensorView *x = f.input("x", {4, 4}, f32), *w = f.input("w", {4, 4}, f32), *s = f.input("s", {}, f32);
  TensorView* half = full(f, {}, 0.5, f32);
  TensorView* scale = add(half, s);  // a scalar from inputs
  TensorView* a = mul(x, scale);
  TensorView* p = linear(a, w);
  f.output("y", mul(p, scale));
  segment(f, {});
  verify(f);
  EXPECT_EQ(f.segments.size(), 3u);
  EXPECT_EQ(f.segments[0].ops.size(), 3u);
  EXPECT_EQ(f.segments[2].ops.size(), 3u);
  EXPECT_EQ(f.segments[0].outputs.size(), 1u);
  EXPECT_EQ(f.segments[2].inputs, (std::vector<TensorView*>{s, f.segments[1].outputs[0]}));
}

TEST(Segment, ConstantThatIsAnOutputOrFeedsAProductIsComputed) {
  Fusion f;
  TensorView* x = f.input("x", {4, 4}, f32);
  TensorView* c = full(f, {4, 4}, 2, f32);
  f.output("y", linear(x, c));
  TensorView* d = f.output("d", full(f, {4, 4}, 3, f32));
  f.output("z", add(x, d));
  segment(f, {});
  verify(f);
  for (const Segment& s : f.segments) EXPECT_FALSE(s.outputs.empty());
}

TEST(Segment, CyclesAreNotMade) {
  // a -> contraction -> b, and a -> b: one group of a and b would wait for itself.
  Fusion f;
  TensorView *x = f.input("x", {4, 4}, f32), *w = f.input("w", {4, 4}, f32);
  TensorView* a = relu(x);
  f.output("y", add(a, linear(a, w)));
  segment(f, {});
  verify(f);
  EXPECT_EQ(f.segments.size(), 3u);
  EXPECT_EQ(f.segments[1].inputs[0], a);
}

TEST(Segment, SmallerProducersAreInlinedWhereAllReadersAre) {
  Fusion f;
  TensorView *x = f.input("x", {4, 8}, f32), *b = f.input("b", {8}, f32);
  TensorView* c = neg(b);
  TensorView* y = add(x, c);
  f.output("z", mul(y, c));
  segment(f, {});
  EXPECT_EQ(f.segments.size(), 1u);
  Fusion g;
  TensorView *gx = g.input("x", {4, 8}, f32), *gb = g.input("b", {8}, f32);
  TensorView* gc = g.output("c", neg(gb));  // an output of another domain: its own group
  g.output("z", add(gx, gc));
  segment(g, {});
  EXPECT_EQ(g.segments.size(), 2u);
  verify(g);
}

TEST(Segment, GroupsOfEqualDomainMerge) {
  Fusion f;
  TensorView *x = f.input("x", {4, 8}, f32), *y = f.input("y", {4, 8}, f32), *z = f.input("z", {8, 4}, f32);
  f.output("a", relu(x));
  f.output("b", neg(y));
  f.output("c", neg(z));
  segment(f, {});
  EXPECT_EQ(summary(f), "s1 pointwise: a b; s2 pointwise: c");
}

TEST(Segment, PinsAreObeyedOrRefused) {
  const auto run = [](const std::map<std::string, std::string>& pins) {
    auto f = parse_fusion(kTpMlp);
    SegmentOptions options;
    options.contractions = "nest";
    for (const auto& [tensor, text] : pins) options.pins[tensor] = parse_schedule(text);
    segment(*f, options);
    return f->segments;
  };
  EXPECT_EQ(run({{"gelu", "pointwise(vector = 4, split = 1, block = 0)"}})[1].schedule,
            parse_schedule("pointwise(vector = 4, unroll = 1, split = 1, block = 0)"));
  EXPECT_EQ(run({{"p", "nest()"}})[0].schedule.index(), Schedule(schedules::Nest()).index());
  EXPECT_EQ(run({{"r", "collective"}})[3].schedule, Schedule(schedules::Collective()));
  const auto refused = [&](const char* tensor, const char* text, const char* why) {
    const std::string m = message([&] { run({{tensor, text}}); });
    EXPECT_NE(m.find(why), std::string::npos) << m;
  };
  refused("keep", "nest()", "is no output of a segment");
  refused("nothing", "nest()", "is no output of a segment");
  refused("gelu", "library", "does not fit");
  refused("gelu", "nest()", "a nest computes a single one");
  refused("p", "pointwise()", "is not elementwise");
  refused("p", "library", "there is no library");
  refused("r", "nest()", "its schedule is collective");
  refused("gelu", "pointwise(split = 2)", "leaves no dim");
  refused("gelu", "pointwise(vectors = 2)", "vector");
  refused("gelu", "pointwise(vector = 3)", "out of range");
  refused("gelu", "tiled()", "there is no scheduler tiled");
  refused("gelu", "pointwise(vector = )", "expected a number");
  const std::string two =
      message([&] { run({{"gelu", "pointwise(vector = 4)"}, {"linear1", "pointwise(vector = 8)"}}); });
  EXPECT_NE(two.find("both are of one segment"), std::string::npos) << two;
}

TEST(Segment, DeterministicText) {
  auto a = parse_fusion(kTpMlp), b = parse_fusion(kTpMlp);
  segment(*a, {});
  segment(*b, {});
  EXPECT_EQ(print(*a), print(*b));
}

TEST(Segment, TwoThousandOpsInAsManyKernelsAsTheirLimitsAsk) {
  Fusion chain;
  TensorView* t = chain.input("x", {"n", "h"}, f32);
  for (int i = 0; i < 2000; ++i) t = i % 3 ? relu(t) : add(t, t);
  chain.output("y", t);
  segment(chain, {});
  EXPECT_EQ(chain.segments.size(), 16u);

  Fusion blocks;  // contractions, biases of their own, residuals
  TensorView* r = blocks.input("x", {"n", "h"}, f32);
  for (int i = 0; i < 285; ++i) {
    TensorView* w = blocks.input("w" + std::to_string(i), {"h", "h"}, f32);
    TensorView* b = blocks.input("b" + std::to_string(i), {"h"}, f32);
    TensorView* p = relu(add(linear(r, w), cast(b, f64)));
    r = cast(add(mul(p, 0.5), r), f32);
  }
  blocks.output("y", r);
  segment(blocks, {});
  EXPECT_EQ(blocks.segments.size(), 2u * 285);

  Fusion wide;  // unrelated groups of two domains
  for (int i = 0; i < 1000; ++i) {
    TensorView* x = wide.input("x" + std::to_string(i), {i % 2 ? "n" : "h"}, f32);
    wide.output("y" + std::to_string(i), relu(neg(x)));
  }
  segment(wide, {});
  EXPECT_EQ(wide.segments.size(), 2u * 16);  // of 32 outputs each
}

// Against plain reachability on a copy of the graph.
TEST(GroupOrder, RandomMergesKeepATopologicalOrder) {
  uint64_t state = 88172645463325252u;
  const auto pick = [&](int n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<int>(state % static_cast<uint64_t>(n));
  };
  for (int round = 0; round < 300; ++round) {
    const int n = 2 + pick(14);
    GroupOrder order(n);
    std::vector<std::set<int>> edges(static_cast<size_t>(n));
    std::vector<int> of(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) of[static_cast<size_t>(i)] = i;
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j)
        if (pick(4) == 0) {
          order.add_edge(i, j);
          edges[static_cast<size_t>(i)].insert(j);
        }
    const auto path_through_third = [&](int a, int b) {
      std::set<int> seen;
      std::vector<std::pair<int, bool>> work = {{a, false}};  // group, whether a third was visited
      while (!work.empty()) {
        const auto [g, third] = work.back();
        work.pop_back();
        for (int i = 0; i < n; ++i)
          for (int j : edges[static_cast<size_t>(i)]) {
            if (of[static_cast<size_t>(i)] != g) continue;
            const int h = of[static_cast<size_t>(j)];
            if (h == g) continue;
            if (h == b && third) return true;
            if (h != b && h != a && seen.insert(h).second) work.emplace_back(h, true);
          }
      }
      return false;
    };
    for (int step = 0; step < 20; ++step) {
      const int a = of[static_cast<size_t>(pick(n))], b = of[static_cast<size_t>(pick(n))];
      if (a == b) continue;
      const bool around = path_through_third(a, b) || path_through_third(b, a);
      ASSERT_EQ(order.path_around(a, b), around);
      if (around) continue;
      order.merge(a, b);
      for (int& g : of)
        if (g == b) g = a;
      for (int i = 0; i < n; ++i)
        for (int j : edges[static_cast<size_t>(i)]) {
          const int g = of[static_cast<size_t>(i)], h = of[static_cast<size_t>(j)];
          ASSERT_TRUE(g == h || order.position(g) < order.position(h));
        }
    }
  }
}

}  // namespace
}  // namespace plait
