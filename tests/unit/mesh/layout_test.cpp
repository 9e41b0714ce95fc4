#include "ir/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace plait {
namespace {

Piece on(int axis, int64_t granule = 1) { return {axis, granule, 0}; }
Piece local(int64_t parts) { return {-1, 1, parts}; }

std::vector<int64_t> sizes_on_ranks(int64_t extent, const DimLayout& dim, const DeviceMesh& mesh) {
  std::vector<int64_t> out;
  for (int64_t r = 0; r < mesh.ranks(); ++r)
    out.push_back(static_cast<int64_t>(owned_indices(extent, dim, mesh, mesh.coordinates(r), "x").size()));
  return out;
}

std::vector<int64_t> owned(int64_t extent, const DimLayout& dim, const DeviceMesh& mesh, int64_t rank) {
  return owned_indices(extent, dim, mesh, mesh.coordinates(rank), "x");
}

using Sizes = std::vector<int64_t>;

TEST(Owned, CeilDivision) {
  EXPECT_EQ(sizes_on_ranks(32, {{on(0)}}, DeviceMesh({3})), (Sizes{11, 11, 10}));
  EXPECT_EQ(sizes_on_ranks(5, {{on(0)}}, DeviceMesh({4})), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(sizes_on_ranks(0, {{on(0)}}, DeviceMesh({3})), (Sizes{0, 0, 0}));
  EXPECT_EQ(sizes_on_ranks(1, {{on(0)}}, DeviceMesh({3})), (Sizes{1, 0, 0}));
  EXPECT_EQ(sizes_on_ranks(7, {}, DeviceMesh({2})), (Sizes{7, 7}));
}

TEST(Owned, NestedIsNotFlat) {
  EXPECT_EQ(sizes_on_ranks(5, {{on(0), on(1)}}, DeviceMesh({2, 2})), (Sizes{2, 1, 1, 1}));
  EXPECT_EQ(owned(5, {{on(0), on(1)}}, DeviceMesh({2, 2}), 2), (Sizes{3}));
  EXPECT_EQ(owned(5, {{on(1), on(0)}}, DeviceMesh({2, 2}), 2), (Sizes{2}));  // dp cuts what tp left
}

TEST(Owned, GranulesKeepHeadsWhole) {
  EXPECT_EQ(sizes_on_ranks(768, {{on(0, 64)}}, DeviceMesh({5})), (Sizes{192, 192, 192, 192, 0}));
  EXPECT_EQ(sizes_on_ranks(770, {{on(0, 64)}}, DeviceMesh({4})), (Sizes{256, 256, 256, 2}));
  EXPECT_EQ(sizes_on_ranks(3, {{on(0, 64)}}, DeviceMesh({2})), (Sizes{3, 0}));
}

TEST(Owned, LocalPiecesAreKept) {
  DimLayout merged{{local(2), on(0)}};  // gate and up
  EXPECT_EQ(owned(8, merged, DeviceMesh({2}), 0), (Sizes{0, 1, 4, 5}));
  EXPECT_EQ(owned(8, merged, DeviceMesh({2}), 1), (Sizes{2, 3, 6, 7}));
  EXPECT_EQ(owned(6, merged, DeviceMesh({2}), 1), (Sizes{2, 5}));
  DimLayout between{{on(0), local(2), on(1)}};
  EXPECT_EQ(owned(8, between, DeviceMesh({2, 2}), 3), (Sizes{5, 7}));
  EXPECT_EQ(owned(16, {{local(2), local(2), on(0)}}, DeviceMesh({2}), 1), (Sizes{2, 3, 6, 7, 10, 11, 14, 15}));
}

TEST(Owned, RefusesALocalPieceThatDoesNotDivide) {
  EXPECT_THROW(owned(7, {{local(2), on(0)}}, DeviceMesh({2}), 0), UserError);
  EXPECT_THROW(owned(7, {{local(2), on(0)}}, DeviceMesh({1}), 0), UserError);
  EXPECT_NO_THROW(owned(6, {{on(0), local(3), on(1)}}, DeviceMesh({2, 2}), 0));
  EXPECT_THROW(owned(8, {{on(0), local(3), on(1)}}, DeviceMesh({2, 2}), 0), UserError);
}

// Every list of pieces: local_extent counts what owned_indices lists, and the ranks of the axes in the list hold every
// index once.
TEST(Owned, AgreesWithLocalExtentAndCoversTheDim) {
  const std::vector<DimLayout> lists = {
      {},
      {{on(0)}},
      {{on(1)}},
      {{on(0), on(1)}},
      {{on(1), on(0)}},
      {{on(0, 3)}},
      {{on(0, 2), on(1, 3)}},
      {{local(2), on(1)}},
      {{on(0), local(2), on(1)}},
      {{local(3), on(1), on(0)}},
  };
  int checked = 0;
  for (int64_t a : {1, 2, 3})
    for (int64_t b : {1, 2, 4})
      for (const auto& list : lists)
        for (int64_t n = 0; n <= 13; ++n) {
          DeviceMesh device({a, b});
          Mesh mesh("m", {{"dp", a, ""}, {"tp", b, ""}});
          sym::Pool pool;
          sym::Expr extent =
              local_extent(pool.symbol("n", {.lo = 0}), list, mesh, {pool.constant(a), pool.constant(b)});
          std::vector<int64_t> times(static_cast<size_t>(n));
          bool fits = true;
          for (int64_t r = 0; r < device.ranks() && fits; ++r) {
            auto at = device.coordinates(r);
            try {
              auto held = owned_indices(n, list, device, at, "x");
              for (int64_t i : held) ++times[static_cast<size_t>(i)];
              EXPECT_TRUE(std::is_sorted(held.begin(), held.end()));
              EXPECT_EQ(sym::evaluate(extent, {{"n", n}, {"rank.dp", at[0]}, {"rank.tp", at[1]}}),
                        static_cast<int64_t>(held.size()));
            } catch (const UserError&) {
              fits = false;
            }
          }
          if (!fits) continue;
          int64_t copies = device.ranks();
          for (const Piece& p : list.pieces)
            if (!p.is_local()) copies /= device.size(p.mesh_axis);
          for (int64_t t : times) EXPECT_EQ(t, copies);
          ++checked;
        }
  EXPECT_GT(checked, 900);
}

TEST(Layout, UsesAndNormalize) {
  Layout layout = Layout::replicated(2);
  EXPECT_TRUE(layout.is_replicated());
  layout.dims[1].pieces = {local(2), on(1), local(4)};
  layout.partial[0] = ReduceOp::max;
  EXPECT_TRUE(layout.uses(0));
  EXPECT_TRUE(layout.uses(1));
  EXPECT_EQ(layout.dim_of(0), -1);
  EXPECT_EQ(layout.dim_of(1), 1);
  layout.normalize();
  EXPECT_EQ(layout.dims[1].pieces.size(), 2u);
  EXPECT_FALSE(layout.is_replicated());
  Mesh mesh("m", {{"dp", 2, ""}, {"tp", 0, "t"}});
  EXPECT_EQ(print(layout, mesh), "{1: [local 2, tp]} partial(dp: max)");
  EXPECT_EQ(print(Layout::replicated(3), mesh), "{}");
  layout.dims[0].pieces = {on(0, 64)};
  layout.partial.clear();
  EXPECT_EQ(print(layout, mesh), "{0: dp granule 64, 1: [local 2, tp]}");
}

}  // namespace
}  // namespace plait
