#include "mesh/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace plait {
namespace {

using Bindings = std::map<std::string, int64_t, std::less<>>;

Mesh two(const char* dp, const char* tp) {
  auto axis = [](std::string name, std::string size) {
    bool number = size[0] >= '0' && size[0] <= '9';
    return number ? MeshAxis{name, std::stoll(size), ""} : MeshAxis{name, 0, size};
  };
  return {"m", {axis("dp", dp), axis("tp", tp)}};
}

std::string refused(const Mesh& mesh, const Bindings& bindings, std::optional<int64_t> ranks) {
  try {
    resolve(mesh, bindings, ranks);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Mesh, RanksAreRowMajor) {
  DeviceMesh mesh({2, 3, 2});
  EXPECT_EQ(mesh.ranks(), 12);
  for (int64_t r = 0; r < 12; ++r) EXPECT_EQ(mesh.rank(mesh.coordinates(r)), r);
  EXPECT_EQ(mesh.coordinates(7), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(mesh.team(7, {{0}}), (std::vector<int64_t>{1, 7}));
  EXPECT_EQ(mesh.team(7, {{1}}), (std::vector<int64_t>{7, 9, 11}));
  EXPECT_EQ(mesh.team(7, {{2}}), (std::vector<int64_t>{6, 7}));
}

TEST(Mesh, NoAxesIsOneRank) {
  EXPECT_EQ(DeviceMesh().ranks(), 1);
  EXPECT_TRUE(DeviceMesh().coordinates(0).empty());
  EXPECT_EQ(resolve(Mesh(), {}, std::nullopt).ranks(), 1);
  EXPECT_EQ(resolve(Mesh(), {}, 1).ranks(), 1);
  EXPECT_NE(refused(Mesh(), {}, 2), "");
}

TEST(Mesh, TeamsOfAnAxisPartitionTheRanks) {
  DeviceMesh mesh({2, 3, 2});
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int> seen(12);
    for (int64_t r = 0; r < 12; ++r) {
      auto team = mesh.team(r, {{axis}});
      ASSERT_EQ(static_cast<int64_t>(team.size()), mesh.size(axis));
      EXPECT_EQ(team[mesh.coordinates(r)[axis]], r);
      for (int64_t member : team) ++seen[member];
    }
    for (int count : seen) EXPECT_EQ(count, mesh.size(axis));
  }
}

TEST(Mesh, TeamsOfAnySubsetOfAxesInAnyOrder) {
  const DeviceMesh mesh({2, 3, 2, 2});
  size_t teams = 0;
  for (unsigned subset = 1; subset < 16; ++subset) {
    Team team;
    for (int axis = 0; axis < 4; ++axis)
      if (subset & (1u << axis)) team.axes.push_back(axis);
    do {
      std::vector<int> seen(24);
      for (int64_t r = 0; r < 24; ++r) {
        const std::vector<int64_t> members = mesh.team(r, team);
        ASSERT_EQ(std::ssize(members), mesh.members(team));
        EXPECT_EQ(members[mesh.position(r, team)], r);
        EXPECT_EQ(mesh.first_of_team(r, team), members[0]);
        const std::vector<int64_t> at = mesh.coordinates(r);
        for (size_t i = 0; i < members.size(); ++i) {
          const std::vector<int64_t> other = mesh.coordinates(members[i]);
          for (int axis = 0; axis < 4; ++axis) EXPECT_TRUE(team.has(axis) || other[axis] == at[axis]);
          EXPECT_EQ(mesh.position(members[i], team), static_cast<int64_t>(i));
          if (i > 0) {  // row-major over the axes of the team
            EXPECT_TRUE(std::ranges::lexicographical_compare(
                team.axes, team.axes, std::less<>(), [&](int a) { return mesh.coordinates(members[i - 1])[a]; },
                [&](int a) { return other[a]; }));
          }
          ++seen[members[i]];
        }
      }
      for (int count : seen) EXPECT_EQ(count, mesh.members(team));
      ++teams;
    } while (std::ranges::next_permutation(team.axes).found);
  }
  EXPECT_EQ(teams, 4u + 12u + 24u + 24u);
}

TEST(Mesh, GroupsNameSeveralAxes) {
  const Mesh mesh("m", {{"pp", 1, ""}, {"dp_replicate", 2, ""}, {"dp_shard", -1, ""}, {"cp", 2, ""}, {"tp", 4, ""}},
                  {{"dp", {"dp_replicate", "dp_shard"}}, {"dp_cp", {"cp", "dp_shard", "dp_replicate"}}});
  EXPECT_EQ(mesh.team("dp").axes, (std::vector<int>{1, 2}));
  EXPECT_EQ(mesh.team("dp_cp").axes, (std::vector<int>{3, 2, 1}));
  EXPECT_EQ(mesh.team("tp").axes, (std::vector<int>{4}));
  EXPECT_EQ(mesh["dp"].name, "dp");
  EXPECT_EQ(mesh.find("dp"), -1);
  EXPECT_EQ(print(mesh.team("dp"), mesh), "[dp_replicate, dp_shard]");
  EXPECT_EQ(print(Team{{4}}, mesh), "tp");
  EXPECT_EQ(print(Team{{7}}, mesh), "?7");
  EXPECT_EQ(resolve(mesh, {}, 48).sizes(), (std::vector<int64_t>{1, 2, 3, 2, 4}));  // -1: what is left
  EXPECT_NE(refused(mesh, {}, 40).find("dp_shard"), std::string::npos);
  const std::vector<MeshAxis> axes = {{"a", 2, ""}, {"b", 2, ""}};
  EXPECT_THROW(Mesh("m", axes, {{"a", {"b"}}}), UserError);
  EXPECT_THROW(Mesh("m", axes, {{"g", {}}}), UserError);
  EXPECT_THROW(Mesh("m", axes, {{"g", {"c"}}}), UserError);
  EXPECT_THROW(Mesh("m", axes, {{"g", {"a", "a"}}}), UserError);
  EXPECT_THROW(Mesh("m", axes, {{"g", {"a"}}, {"g", {"b"}}}), UserError);
  EXPECT_THROW(mesh.team("ep"), UserError);
}

TEST(Mesh, LinksAreOfAllAxesOrOfNone) {
  const Mesh mesh("m", {{"dp", 2, "", 50, 12}, {"tp", 4, "", 450, 0}});
  EXPECT_TRUE(mesh.has_links());
  EXPECT_FALSE(two("2", "2").has_links());
  EXPECT_FALSE(Mesh().has_links());
  EXPECT_NE(mesh, Mesh("m", {{"dp", 2, "", 50, 12}, {"tp", 4, "", 400, 0}}));
  EXPECT_THROW(Mesh("m", {{"dp", 2, ""}, {"tp", 4, "", 450, 3}}), UserError);
  EXPECT_THROW(Mesh("m", {{"dp", 2, "", 50, 12}, {"tp", 4, ""}}), UserError);
  EXPECT_THROW(Mesh("m", {{"dp", 2, "", -1, 12}}), UserError);
  EXPECT_THROW(Mesh("m", {{"dp", 2, "", 0, 12}}), UserError);
  EXPECT_THROW(Mesh("m", {{"dp", 2, "", 1, -12}}), UserError);
}

TEST(Mesh, NamesAreChecked) {
  EXPECT_THROW(Mesh("m", {{"tp", 2, ""}, {"tp", 2, ""}}), UserError);
  EXPECT_THROW(Mesh("m", {{"tp", 0, ""}}), UserError);
  EXPECT_THROW(Mesh("m", {{"tp", -3, ""}}), UserError);
  Mesh mesh = two("2", "2");
  EXPECT_EQ(mesh.index("tp"), 1);
  EXPECT_EQ(mesh.find("cp"), -1);
  EXPECT_THROW(mesh.index("cp"), UserError);
  EXPECT_THROW(mesh["t"], UserError);
}

TEST(Resolve, NumbersAndSymbols) {
  EXPECT_EQ(resolve(two("2", "4"), {}, std::nullopt).sizes(), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(resolve(two("2", "4"), {}, 8).sizes(), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(resolve(two("2", "t"), {}, std::nullopt).sizes(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(resolve(two("2", "t"), {}, 6).sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(resolve(two("2", "t"), {{"t", 5}}, std::nullopt).sizes(), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(resolve(two("d", "t"), {{"t", 5}}, 10).sizes(), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(resolve(two("d", "t"), {}, std::nullopt).sizes(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(resolve(two("t", "t"), {}, 9).sizes(), (std::vector<int64_t>{3, 3}));  // one symbol on two axes
}

TEST(Resolve, RefusesWhatDoesNotFit) {
  EXPECT_NE(refused(two("2", "2"), {}, 3).find("3 ranks do not fit"), std::string::npos);
  EXPECT_NE(refused(two("2", "2"), {}, 3).find("dp = 2, tp = 2"), std::string::npos);
  EXPECT_NE(refused(two("2", "t"), {}, 3).find("the other axes make 2: ranks are that times a size"),
            std::string::npos);
  EXPECT_NE(refused(two("2", "t"), {{"t", 2}}, 8), "");
  EXPECT_NE(refused(two("2", "t"), {{"t", 0}}, std::nullopt), "");
  EXPECT_NE(refused(two("2", "t"), {{"t", -1}}, 2), "");
  EXPECT_NE(refused(two("t", "t"), {}, 8), "");
  EXPECT_NE(refused(two("d", "t"), {}, 4).find("both free"), std::string::npos);
  EXPECT_NE(refused(two("2", "t"), {}, 0), "");
  EXPECT_NE(refused(two("2", "t"), {}, -2), "");
}

TEST(Mesh, HugeNumbersOfRanksAreRefusedAtOnce) {
  Mesh one("m", {{"tp", 0, "t"}}), two("m", {{"dp", 0, "d"}, {"tp", int64_t{1} << 40, ""}});
  EXPECT_THROW(resolve(one, {}, int64_t{1} << 60), UserError);
  EXPECT_THROW(resolve(one, {}, 0), UserError);
  EXPECT_THROW(resolve(one, {{"t", INT64_MAX}}, std::nullopt), UserError);
  EXPECT_THROW(resolve(two, {{"d", int64_t{1} << 40}}, std::nullopt), UserError);
  EXPECT_EQ(resolve(one, {}, 1000).ranks(), 1000);
}

}  // namespace
}  // namespace plait
