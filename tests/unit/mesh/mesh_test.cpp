#include "mesh/mesh.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(mesh.team(7, 0), (std::vector<int64_t>{1, 7}));
  EXPECT_EQ(mesh.team(7, 1), (std::vector<int64_t>{7, 9, 11}));
  EXPECT_EQ(mesh.team(7, 2), (std::vector<int64_t>{6, 7}));
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
      auto team = mesh.team(r, axis);
      ASSERT_EQ(static_cast<int64_t>(team.size()), mesh.size(axis));
      EXPECT_EQ(team[mesh.coordinates(r)[axis]], r);
      for (int64_t member : team) ++seen[member];
    }
    for (int count : seen) EXPECT_EQ(count, mesh.size(axis));
  }
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
