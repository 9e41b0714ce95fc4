// The pictures of docs/pictures are those of the examples; awkward graphs have one too.
#include "shard/picture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "shard/insert_reshards.h"
#include "shard/propagate.h"

namespace plait {
namespace {

std::string picture_of(const std::string& text, std::optional<int64_t> ranks = {}) {
  const auto fusion = parse_fusion(text);
  propagate(*fusion);
  insert_reshards(*fusion);
  return sharding_picture(*fusion, resolve(fusion->mesh(), {}, ranks));
}

std::string read(const std::string& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

size_t count(const std::string& text, const std::string& what) {
  size_t out = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}

// BLESS=1 writes them.
TEST(Picture, OfTheDocument) {
  for (const char* name : {"two_axes", "fused_gradient", "stencil"}) {
    const std::string folder = PLAIT_SOURCE_DIR "/docs/", path = folder + "pictures/" + name + ".svg";
    const std::string picture = picture_of(read(folder + "examples/sharded/" + name + ".plait"), 4);
    if (std::getenv("BLESS") != nullptr) std::ofstream(path) << picture;
    EXPECT_EQ(read(path), picture) << "BLESS=1 writes " << path;
  }
}

// Which part of which box is whose: of 12 rows and 10 columns on 2 x 2 ranks.
TEST(Picture, DrawsWhatRanksHold) {
  const std::string picture = picture_of(
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: f32[12, 10] {0: dp, 1: [local 5, tp]}) -> (%y) {\n  %y = "
      "neg(%x)\n}\n");
  for (const char* title : {"rank 0 of %x; dim 0: 0 to 6; dim 1: 0 to 1, 2 to 3, 4 to 5, 6 to 7, 8 to 9",
                            "rank 3 of %y; dim 0: 6 to 12; dim 1: 1 to 2, 3 to 4, 5 to 6, 7 to 8, 9 to 10"})
    EXPECT_NE(picture.find(title), std::string::npos) << title << "\n" << picture;
  EXPECT_EQ(count(picture, "class=\"own\"/>"), 2u * 4 * 5);
  EXPECT_EQ(count(picture, "class=\"band\"/>"), 0u);
}

TEST(Picture, DrawsTeamsOfWhatMoves) {
  const std::string picture = picture_of(
      "mesh @m (dp = 2, tp = 2)\nfusion @f on @m (%x: f32[4, 6] {0: dp, 1: tp}, %w: f32[8, 6] {1: tp}) -> (%y) {\n"
      "  %y = linear(%x, %w)\n}\n");
  EXPECT_NE(picture.find("all-reduce over tp, 128 B: after linear: the sum over tp is pending"), std::string::npos)
      << picture;
  EXPECT_NE(picture.find("rank 1 of %y_pending; dim 0: 0 to 2; dim 1: 0 to 8; the sum over tp is pending"),
            std::string::npos)
      << picture;
  EXPECT_EQ(count(picture, "class=\"team\"/>"), 2u);
  EXPECT_EQ(count(picture, "class=\"member\"/>"), 4u);
}

// Names that XML does not bear, no ranks beside one, many ranks and tensors, sizes of 0 and beyond what is counted,
// none at all.
TEST(Picture, OfAwkwardGraphs) {
  EXPECT_NE(picture_of("fusion @f (%x: f32[n]) -> (%y) {\n  %y = neg(%x)\n}\n").find("rank 0 of %y; dim 0: 0 to 8"),
            std::string::npos);
  const std::string empty =
      picture_of("mesh @m (tp = 3)\nfusion @f on @m (%x: f32[0, 2] {0: tp}) -> (%y) {\n  %y = neg(%x)\n}\n");
  EXPECT_NE(empty.find("rank 2 of %x; dim 0: nothing; dim 1: 0 to 2"), std::string::npos) << empty;
  const std::string huge = picture_of(
      "mesh @m (tp = 4096)\nfusion @f on @m (%x: f32[9000000000000, 7] {0: [local 3, tp]}) -> (%y) {\n  %y = "
      "neg(%x)\n}\n");
  EXPECT_NE(huge.find("8 of 4096 ranks"), std::string::npos) << huge;
  EXPECT_LT(huge.size(), 20000u);
  std::string chain = "mesh @m (tp = 2)\nfusion @f on @m (%x0: f32[8] {0: tp}) -> (%x400) {\n";
  for (int i = 0; i < 400; ++i) chain += fmt::format("  %x{} = neg(%x{})\n", i + 1, i);
  const std::string longest = picture_of(chain + "}\n");
  EXPECT_NE(longest.find(">281 more tensors<"), std::string::npos);
}

}  // namespace
}  // namespace plait
