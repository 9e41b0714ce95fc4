// What scatters cost as nests: the copy and the updates, each once; with ranges, a visit of every index by each of
// them. That the updates of a place go in order, in kernels of every kind.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "lower/lower.h"
#include "segment/segment.h"
#include "support/kir_interpreter.h"

namespace plait {
namespace {

using Values = std::vector<double>;

struct Ran {
  test::Counts counts;
  std::string schedule;
  Values out;
};

// A scatter with `call` behind its operands, of what the buffers hold; `pin`: its schedule, a nest without one.
Ran run(const std::string& x, const std::string& i, const std::string& call, std::vector<Values> buffers,
        const std::string& pin = "", bool cuda = false) {
  auto fusion = parse_fusion(fmt::format(
      "fusion @f (%x: f32{}, %i: i64{}, %s: f32{}) -> (%y) {{\n  %y = scatter(%x, %i, %s, {})\n}}\n", x, i, i, call));
  SegmentOptions options;
  if (cuda) options.target = target_named("sm_90a");
  options.pins["y"] = parse_schedule(pin.empty() ? "nest()" : pin);
  segment(*fusion, options);
  const LoweredKernel k = lower(*fusion, fusion->segments.at(0), {.target = cuda ? TargetKind::cuda : TargetKind::cpu});
  buffers.emplace_back();
  Ran out;
  std::vector<int64_t> integers;
  for (sym::Expr e : k.arguments) integers.push_back(sym::evaluate(e, {}));
  out.counts = test::interpret(k.kernel, buffers, integers);
  out.schedule = k.kernel.schedule;
  out.out = buffers[3];
  return out;
}

// `updates` rows of ones along a dim of `places`, over `columns`; index k goes to place (7 k) % places.
Ran scatter(int64_t places, int64_t updates, int64_t columns, int64_t dim, const std::string& update, bool cuda) {
  const auto shape = [&](int64_t n) {
    return dim == 0 ? fmt::format("[{}, {}]", n, columns) : fmt::format("[{}, {}]", columns, n);
  };
  Values index(static_cast<size_t>(updates * columns));
  for (int64_t u = 0; u < updates; ++u)
    for (int64_t c = 0; c < columns; ++c)
      index[static_cast<size_t>(dim == 0 ? u * columns + c : c * updates + u)] = static_cast<double>(7 * u % places);
  return run(shape(places), shape(updates), fmt::format("dim = {}, update = {}", dim, update),
             {Values(static_cast<size_t>(places * columns), 0), index, Values(index.size(), 1)}, "", cuda);
}

TEST(ScatterCost, IsTheCopyAndTheUpdates) {
  struct Row {
    int64_t places, updates, columns, dim;
  };
  for (const Row& r : {Row{500, 300, 1, 0}, {40, 300, 70, 0}, {300, 40, 5, 0}, {300, 200, 3, 1}, {1, 50, 2, 1}})
    for (const char* update : {"add", "set", "max"})
      for (bool cuda : {false, true}) {
        const Ran ran = scatter(r.places, r.updates, r.columns, r.dim, update, cuda);
        const int64_t copied = r.places * r.columns, updated = r.updates * r.columns;
        const int64_t ranges = cuda && r.columns == 70 ? 8 : 1, read = update == std::string("set") ? 1 : 2;
        EXPECT_NE(ran.schedule.find(fmt::format("ranges = {}", ranges)), std::string::npos) << ran.schedule;
        EXPECT_EQ(ran.counts.stores, copied + updated);
        EXPECT_EQ(ran.counts.loads, copied + (ranges + read) * updated);  // the index, src, what is there
        // Loops around the elements: tasks, and rows of a tile; on a GPU the threads of a block that have no column.
        EXPECT_LE(ran.counts.iterations,
                  copied + ranges * updated + 5 * (r.places + 2 * r.updates) + 2 * r.columns + 1024)
            << r.places << " places, " << r.updates << " updates, " << r.columns << " columns, cuda " << cuda;
        const double sum = std::accumulate(ran.out.begin(), ran.out.end(), 0.0);
        const int64_t met = std::min(r.places, r.updates) * r.columns;
        EXPECT_EQ(sum, static_cast<double>(update == std::string("add") ? updated : met));
      }
}

TEST(ScatterCost, EachRangeVisitsTheIndexOnce) {
  const int64_t places = 60000, updates = 300;
  for (bool cuda : {false, true}) {
    const int64_t ranges = cuda ? 256 : 8;
    const Ran ran = scatter(places, updates, 1, 0, "add", cuda);
    EXPECT_NE(ran.schedule.find(fmt::format("ranges = {}", ranges)), std::string::npos) << ran.schedule;
    EXPECT_EQ(ran.counts.stores, places + updates);
    EXPECT_EQ(ran.counts.loads, places + ranges * updates + 2 * updates);
    EXPECT_LE(ran.counts.iterations, 2 * (places + ranges * updates + ranges) + 1024);
    EXPECT_EQ(ran.counts.atomics, 0);
  }
}

double step(const std::string& update, double there, double x) {
  if (update == "add") return there + x;
  if (update == "mul") return there * x;
  if (update == "max") return std::isnan(there) || there >= x ? there : x;
  if (update == "min") return std::isnan(there) || there <= x ? there : x;
  return x;
}

bool same(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x == y || (x != x && y != y); });
}

// x [3, 37, 5] with an index that is shorter in one dim, repeats places and has some outside.
TEST(Scatters, GoInOrderWhateverTheRanges) {
  const int64_t extents[] = {3, 37, 5};
  for (int64_t dim = 0; dim < 3; ++dim)
    for (const char* update : {"set", "add", "mul", "max", "min"})
      for (const char* pin : {"", "nest(ranges = 2)", "nest(ranges = 3)", "scatter()"})
        for (bool cuda : {false, true}) {
          if (cuda && pin[0] == 's') continue;
          int64_t shape[] = {3, 37, 5};
          shape[dim] = 11;
          shape[(dim + 1) % 3] -= 1;
          const int64_t count = shape[0] * shape[1] * shape[2];
          Values x(3 * 37 * 5), index, src;
          for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 2;
          for (int64_t k = 0; k < count; ++k) {
            index.push_back(static_cast<double>(k * 7919 % 13 % (extents[dim] + 1)) - (k % 17 == 0 ? 1 : 0));
            src.push_back(k % 29 == 0 ? NAN
                                      : static_cast<double>(k * 31 % 9) - 4 + 0x1p-40 * static_cast<double>(k % 5));
          }
          Values want = x;
          for (int64_t k = 0; k < count; ++k) {
            int64_t at[] = {k / (shape[1] * shape[2]), k / shape[2] % shape[1], k % shape[2]};
            at[dim] = static_cast<int64_t>(index[static_cast<size_t>(k)]);
            if (at[dim] < 0 || at[dim] >= extents[dim]) continue;
            double& there = want[static_cast<size_t>((at[0] * 37 + at[1]) * 5 + at[2])];
            there = step(update, there, src[static_cast<size_t>(k)]);
          }
          const Ran ran =
              run("[3, 37, 5]", fmt::format("[{}, {}, {}]", shape[0], shape[1], shape[2]),
                  fmt::format("dim = {}, update = {}, bounds = assume", dim, update), {x, index, src}, pin, cuda);
          EXPECT_TRUE(same(ran.out, want)) << update << " along " << dim << ", " << ran.schedule;
        }
}

TEST(Scatters, SumsGoFromLeftToRight) {
  // In doubles: only from left to right does 2^60 take the ones along.
  for (const char* pin : {"", "nest(ranges = 2)", "scatter(rows = 0)", "scatter(rows = 1)"})
    EXPECT_EQ(run("[2]", "[4]", "dim = 0, update = add", {{0, 0x1p60}, {1, 0, 1, 1}, {-0x1p60, 5, 1, 2}}, pin).out,
              (Values{5, 3}));
}

TEST(Scatters, RangesThatDoNotApplyAreRefused) {
  const std::vector<Values> buffers = {{1, 2}, {0}, {5}};
  EXPECT_THROW(run("[2]", "[1]", "dim = 0", buffers, "nest(ranges = 3)"), UserError);
  EXPECT_EQ(run("[2]", "[1]", "dim = 0", buffers, "nest(ranges = 2)").out, (Values{5, 2}));
  EXPECT_EQ(run("[2]", "[0]", "dim = 0", {{1, 2}, {}, {}}).out, (Values{1, 2}));
  EXPECT_TRUE(run("[0]", "[0]", "dim = 0", {{}, {}, {}}).out.empty());
}

}  // namespace
}  // namespace plait
