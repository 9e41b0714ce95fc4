#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

void expect_round_trip(const Fusion& fusion) {
  std::string text = print(fusion);
  auto again = parse_fusion(text);
  verify(*again);
  EXPECT_TRUE(equal(fusion, *again)) << text;
  EXPECT_EQ(print(*again), text);
}

TEST(Text, ExamplesRoundTrip) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PLAIT_SOURCE_DIR "/docs/examples")) {
    auto fusion = parse_fusion(read(entry.path()), {.file = entry.path().filename()});
    verify(*fusion);
    expect_round_trip(*fusion);
    expect_round_trip(*clone(*fusion));
    EXPECT_TRUE(equal(*fusion, *clone(*fusion)));
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(Text, EveryOpAndAnnotationRoundTrips) {
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
  EXPECT_EQ(fusion->segments[0].schedule, "pointwise(vector = 8,unroll = 2)");
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
  %g: f32[4, 12] = all_gather(%x, axis = tp, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1)
  %r: f32[4, chunk(12, 3, rank.tp)] = reduce_scatter(%g, axis = tp, reduce = sum, outer = 4, count = chunk(12, 3, rank.tp), total = 12, inner = 1)
  %a = all_reduce(%r, axis = tp, reduce = max)
  %l: f32[4, chunk(12, 3, rank.tp)] = local_slice(%g, outer = 4, start = chunk_start(12, 3, rank.tp), count = chunk(12, 3, rank.tp), total = 12, inner = 1)
}
)");
  verify(*fusion);
  expect_round_trip(*fusion);
}

}  // namespace
}  // namespace plait
