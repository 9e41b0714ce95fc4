// The normal form of pieces against what ranks own, for all small sizes.
#include "shard/normal_form.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

using Pieces = std::vector<Piece>;
using Owned = std::vector<std::vector<int64_t>>;  // by rank

Piece over(int axis, int64_t granule = 1) { return {axis, granule, 0}; }
Piece parts(int64_t count) { return {-1, 1, count}; }

Owned owned(int64_t extent, const Pieces& pieces, const DeviceMesh& mesh) {
  Owned out;
  for (int64_t r = 0; r < mesh.ranks(); ++r)
    out.push_back(owned_indices(extent, {pieces}, mesh, mesh.coordinates(r), "a dim"));
  return out;
}

TEST(NormalForm, OfOneAxisIsOneListForEachWayToCut) {
  for (int64_t members = 1; members <= 5; ++members) {
    const Mesh mesh("m", {{"a", members, ""}});
    const DeviceMesh device({members});
    for (int64_t extent = 1; extent <= 40; ++extent) {
      std::map<Owned, Pieces> lists;
      for (int64_t granule = 1; granule <= 45; ++granule) {
        const Pieces given = {over(0, granule)}, normal = normal_pieces(extent, given, mesh);
        const Owned cut = owned(extent, given, device);
        EXPECT_EQ(owned(extent, normal, device), cut) << extent << " in " << members << " by " << granule;
        EXPECT_EQ(normal_pieces(extent, normal, mesh), normal);
        const auto [known, fresh] = lists.emplace(cut, normal);
        EXPECT_EQ(known->second, normal) << extent << " in " << members << " by " << granule;
        EXPECT_LE(normal[0].granule, granule);  // the first granule of them that cuts so is the least
      }
    }
  }
}

TEST(NormalForm, OfSeveralPiecesCutsAlike) {
  const Mesh mesh("m", {{"a", 2, ""}, {"b", 3, ""}});
  const DeviceMesh device({2, 3});
  std::mt19937 random(1);
  const auto pick = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  std::map<std::pair<int64_t, std::vector<int>>, std::map<Owned, Pieces>> all;
  for (int i = 0; i < 20000; ++i) {
    const int64_t extent = 1 + pick(30);
    Pieces list;
    std::vector<int> axes = {0, 1}, order;
    if (pick(2)) std::swap(axes[0], axes[1]);
    if (pick(5) == 0) axes.pop_back();
    for (int axis : axes) {
      const int64_t local = pick(4) ? 1 : 2;
      list.push_back(parts(local)), order.push_back(-static_cast<int>(local));
      list.push_back(over(axis, 1 + pick(8))), order.push_back(axis);
    }
    try {
      const Owned cut = owned(extent, list, device);
      const Pieces normal = normal_pieces(extent, list, mesh);
      EXPECT_EQ(owned(extent, normal, device), cut);
      EXPECT_EQ(normal_pieces(extent, normal, mesh), normal);
      const auto [known, fresh] = all[{extent, order}].emplace(cut, normal);
      EXPECT_EQ(known->second, normal) << extent;
    } catch (const UserError&) {  // parts that do not divide
    }
  }
}

TEST(NormalForm, LeavesWhatIsNotKnown) {
  const Mesh mesh("m", {{"a", 2, ""}, {"t", 0, "t"}});
  EXPECT_EQ(normal_pieces({}, {over(0, 4)}, mesh), (Pieces{over(0, 4)}));
  EXPECT_EQ(normal_pieces(8, {over(1, 4)}, mesh), (Pieces{over(1, 4)}));
  EXPECT_EQ(normal_pieces(8, {over(0, 4), over(1, 2)}, mesh), (Pieces{over(0), over(1, 2)}));
  EXPECT_EQ(normal_pieces(8, {over(1, 4), over(0, 4)}, mesh), (Pieces{over(1, 4), over(0, 4)}));
  EXPECT_EQ(normal_pieces(8, {parts(3), over(0, 4)}, mesh), (Pieces{parts(3), over(0, 4)}));  // does not divide
  EXPECT_EQ(normal_pieces(0, {over(0, 4)}, mesh), (Pieces{over(0, 4)}));
  EXPECT_EQ(normal_pieces(int64_t{1} << 50, {over(0, 4)}, mesh), (Pieces{over(0, 4)}));
  EXPECT_EQ(normal_pieces(kMaxGranule, {over(0, kMaxGranule / 2)}, mesh), (Pieces{over(0)}));
  EXPECT_EQ(normal_pieces(8, {over(0, 3), parts(2)}, mesh), (Pieces{over(0, 3)}));
}

}  // namespace
}  // namespace plait
