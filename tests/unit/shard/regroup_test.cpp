// Pieces across a reshape: what ranks own on both sides, for random runs.
#include "shard/regroup.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "ir/fusion.h"
#include "shard/normal_form.h"

namespace plait {
namespace {

using Pieces = std::vector<Piece>;
using Lists = std::vector<Pieces>;

Piece over(int axis, int64_t granule = 1) { return {axis, granule, 0}; }
Piece parts(int64_t count) { return {-1, 1, count}; }

RunDims dims_of(const std::vector<int64_t>& extents, Lists lists = {}) {
  RunDims out;
  out.tensor = "x";
  out.extents.assign(extents.begin(), extents.end());
  lists.resize(extents.size());
  out.pieces = std::move(lists);
  return out;
}

Regrouped regrouped(const std::vector<int64_t>& extents, const Lists& lists, const std::vector<int64_t>& other,
                    const Mesh& mesh) {
  RunDims dims = dims_of(extents, lists);
  for (size_t d = 0; d < extents.size(); ++d) dims.pieces[d] = normal_pieces(extents[d], dims.pieces[d], mesh);
  return regroup(dims, dims_of(other), mesh);
}

// Places in the run of what a rank owns, in its order.
std::vector<int64_t> owned(const RunDims& dims, const DeviceMesh& mesh, int64_t rank) {
  std::vector<int64_t> out = {0};
  for (size_t d = 0; d < dims.extents.size(); ++d) {
    const auto here = owned_indices(*dims.extents[d], {dims.pieces[d]}, mesh, mesh.coordinates(rank), "a dim");
    std::vector<int64_t> next;
    for (int64_t outer : out)
      for (int64_t i : here) next.push_back(outer * *dims.extents[d] + i);
    out = std::move(next);
  }
  return out;
}

const Mesh& mesh_of_numbers() {
  static const Mesh mesh("m", {{"a", 2, ""}, {"b", 2, ""}, {"c", 3, ""}});
  return mesh;
}

TEST(Regroup, SplitsAndJoinsLists) {
  struct Case {
    std::vector<int64_t> extents;
    Lists lists;
    std::vector<int64_t> other;
    Lists made;
    size_t kept;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{8}, {{over(0), over(1)}}, {2, 4}, {{over(0)}, {over(1)}}, 2},  // heads of each group
           {{2, 4}, {{over(0)}, {over(1)}}, {8}, {{over(0), over(1)}}, 2},  // and back
           {{8, 64}, {{over(0)}, {over(1)}}, {512}, {{over(0), parts(4), over(1)}}, 2},
           {{512}, {{over(0), parts(4), over(1)}}, {8, 64}, {{over(0)}, {over(1)}}, 2},
           {{8, 64}, {{}, {over(1)}}, {512}, {{parts(8), over(1)}}, 1},
           {{384}, {{parts(3), over(0)}}, {3, 8, 16}, {{}, {over(0)}, {}}, 1},  // queries, keys, values
           {{384}, {{parts(6), over(0)}}, {3, 8, 16}, {{}, {parts(2), over(0)}, {}}, 1},
           {{128}, {{over(0)}}, {8, 16}, {{over(0)}, {}}, 1},
           {{96}, {{over(2)}}, {6, 16}, {{over(2)}, {}}, 1},
           {{80}, {{over(2, 16)}}, {5, 16}, {{over(2)}, {}}, 1},       // 2, 2 and 1 heads
           {{80}, {{over(2)}}, {5, 16}, {{}, {}}, 0},                  // ends within a head
           {{7, 4}, {{over(0)}, {over(1)}}, {28}, {{over(0, 4)}}, 1},  // of several lengths
           {{4, 6}, {{over(0)}, {}}, {3, 8}, {{}, {}}, 0},
           {{4, 6}, {{over(0)}, {}}, {2, 12}, {{over(0)}, {}}, 1},
           {{2, 6}, {{over(0)}, {over(2)}}, {2, 3, 2}, {{over(0)}, {over(2)}, {}}, 2},
       }) {
    const Regrouped out = regrouped(c.extents, c.lists, c.other, mesh_of_numbers());
    EXPECT_EQ(out.made.pieces, c.made);
    EXPECT_EQ(out.kept.mesh_pieces(), c.kept);
    const bool all = dims_of(c.extents, c.lists).mesh_pieces() == c.kept;
    EXPECT_EQ(out.why.empty(), all) << out.why;
  }
}

// Of axes and extents without numbers, what is so for all of them.
TEST(Regroup, OfSizesThatAreNotKnown) {
  const Mesh mesh("m", {{"t", 0, "t"}, {"a", 2, ""}});
  EXPECT_EQ(regrouped({384}, {{parts(3), over(0, 16)}}, {3, 8, 16}, mesh).made.pieces, (Lists{{}, {over(0)}, {}}));
  EXPECT_EQ(regrouped({384}, {{parts(3), over(0)}}, {3, 8, 16}, mesh).kept.mesh_pieces(), 0u);
  EXPECT_EQ(regrouped({4, 8}, {{over(0)}, {}}, {32}, mesh).made.pieces, (Lists{{over(0, 8)}}));
  EXPECT_EQ(regrouped({4, 8}, {{}, {over(0)}}, {32}, mesh).made.pieces, (Lists{{parts(4), over(0)}}));
  EXPECT_EQ(regrouped({4, 8}, {{over(0)}, {over(1)}}, {32}, mesh).made.pieces, (Lists{{over(0, 8)}}));
  RunDims rows = dims_of({4, 8}, {{over(1)}, {}}), all = dims_of({32});
  rows.extents[0].reset(), all.extents[0].reset();
  EXPECT_EQ(regroup(rows, all, mesh).made.pieces, (Lists{{over(1, 8)}}));
  rows.pieces = {{}, {over(1)}};
  EXPECT_EQ(regroup(rows, all, mesh).kept.mesh_pieces(), 0u);
}

TEST(Regroup, OfRandomRunsOwnsTheSame) {
  const DeviceMesh device({2, 2, 3});
  std::mt19937 random(7);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const std::vector<std::vector<int64_t>> kShapes[] = {
      {{24}, {2, 12}, {4, 6}, {6, 4}, {2, 3, 4}, {3, 8}, {1, 24}, {2, 2, 6}, {12, 2}},
      {{30}, {5, 6}, {6, 5}, {2, 15}, {2, 3, 5}, {5, 3, 2}},
      {{16}, {4, 4}, {2, 8}, {2, 2, 2, 2}, {8, 2}}};
  int full = 0, part = 0, none = 0, with_parts = 0;
  for (int i = 0; i < 30000; ++i) {
    const auto& shapes = kShapes[pick(std::size(kShapes))];
    const auto &from = shapes[pick(shapes.size())], &to = shapes[pick(shapes.size())];
    Lists lists(from.size());
    for (int axis : {0, 1, 2}) {
      if (pick(2)) continue;
      Pieces& list = lists[pick(from.size())];
      if (pick(6) == 0) list.push_back(parts(static_cast<int64_t>(2 + pick(2))));
      list.push_back(over(axis, static_cast<int64_t>(pick(3) ? 1 : 1 + pick(6))));
    }
    RunDims dims = dims_of(from, lists);
    for (size_t d = 0; d < from.size(); ++d) dims.pieces[d] = normal_pieces(from[d], dims.pieces[d], mesh_of_numbers());
    const Regrouped out = regroup(dims, dims_of(to), mesh_of_numbers());
    const size_t kept = out.kept.mesh_pieces(), all = dims.mesh_pieces();
    ASSERT_EQ(out.made.mesh_pieces(), kept);
    full += all > 0 && kept == all, part += kept > 0 && kept < all, none += all > 0 && kept == 0;
    if (kept == 0) continue;
    for (const Pieces& list : out.made.pieces) with_parts += std::ranges::any_of(list, &Piece::is_local);
    for (int64_t r = 0; r < device.ranks(); ++r)
      ASSERT_EQ(owned(out.kept, device, r), owned(out.made, device, r)) << "case " << i << ", rank " << r;
    const Regrouped back = regroup(out.made, dims_of(from), mesh_of_numbers());
    EXPECT_EQ(back.made.pieces, out.kept.pieces) << "case " << i;
  }
  EXPECT_GT(full, 5000);
  EXPECT_GT(part, 1000);
  EXPECT_GT(none, 1000);
  EXPECT_GT(with_parts, 500);
}

}  // namespace
}  // namespace plait
