// What scatters cost: the copy and the updates, each once.
#include <gtest/gtest.h>

#include "lower/lower.h"
#include "segment/segment.h"
#include "support/kir_interpreter.h"

namespace plait {
namespace {

struct Ran {
  test::Counts counts;
  std::vector<double> out;
};

// scatter_add of `updates` rows of ones along a dim of `places`, over `columns`; index k goes to place (7 k) % places.
Ran scatter(int64_t places, int64_t updates, int64_t columns, int64_t dim, bool cuda) {
  const auto shape = [&](int64_t n) {
    return dim == 0 ? fmt::format("[{}, {}]", n, columns) : fmt::format("[{}, {}]", columns, n);
  };
  auto fusion = parse_fusion(fmt::format(
      "fusion @f (%x: f32{}, %i: i64{}, %s: f32{}) -> (%y) {{\n  %y = scatter_add(%x, %i, %s, dim = {})\n}}\n",
      shape(places), shape(updates), shape(updates), dim));
  SegmentOptions options;
  if (cuda) options.target = target_named("sm_90a");
  segment(*fusion, options);
  const LoweredKernel k = lower(*fusion, fusion->segments.at(0), {.target = cuda ? TargetKind::cuda : TargetKind::cpu});
  std::vector<double> index(static_cast<size_t>(updates * columns));
  for (int64_t u = 0; u < updates; ++u)
    for (int64_t c = 0; c < columns; ++c)
      index[static_cast<size_t>(dim == 0 ? u * columns + c : c * updates + u)] = static_cast<double>(7 * u % places);
  std::vector<std::vector<double>> buffers = {
      std::vector<double>(static_cast<size_t>(places * columns), 0), index, std::vector<double>(index.size(), 1), {}};
  Ran out;
  out.counts = test::interpret(k.kernel, buffers, {});
  out.out = buffers[3];
  return out;
}

TEST(ScatterCost, IsTheCopyAndTheUpdates) {
  struct Row {
    int64_t places, updates, columns, dim;
  };
  for (const Row& r : {Row{500, 300, 1, 0}, {40, 300, 70, 0}, {300, 40, 5, 0}, {300, 200, 3, 1}, {1, 50, 2, 1}})
    for (bool cuda : {false, true}) {
      const Ran ran = scatter(r.places, r.updates, r.columns, r.dim, cuda);
      const int64_t copied = r.places * r.columns, updated = r.updates * r.columns;
      EXPECT_EQ(ran.counts.stores, copied + updated);
      EXPECT_EQ(ran.counts.loads, copied + 3 * updated);  // the index, what is added, what is there
      // Loops around the elements: tasks, and rows of a tile; on a GPU the threads of a block that have no column.
      EXPECT_LE(ran.counts.iterations, copied + updated + r.places + 3 * r.updates + 2 * r.columns + 1024)
          << r.places << " places, " << r.updates << " updates, " << r.columns << " columns, cuda " << cuda;
      double sum = 0;
      for (double v : ran.out) sum += v;
      EXPECT_EQ(sum, static_cast<double>(updated));
    }
}

TEST(ScatterCost, UpdatesGoInOrder) {
  auto fusion = parse_fusion(
      "fusion @f (%x: f32[2], %i: i64[4], %s: f32[4]) -> (%y) {\n  %y = scatter(%x, %i, %s, dim = 0, update = "
      "add)\n}\n");
  segment(*fusion, {});
  const LoweredKernel k = lower(*fusion, fusion->segments.at(0));
  // In doubles: only from left to right does 2^60 take the ones along.
  std::vector<std::vector<double>> buffers = {{0, 0x1p60}, {1, 0, 1, 1}, {-0x1p60, 5, 1, 2}, {}};
  test::interpret(k.kernel, buffers, {});
  EXPECT_EQ(buffers[3], (std::vector<double>{5, 3}));
}

}  // namespace
}  // namespace plait
