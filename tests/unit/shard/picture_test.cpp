// The pictures of docs/pictures are those of the examples; awkward graphs have one too.
#include "shard/picture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/passes.h"
#include "shard/insert_reshards.h"
#include "shard/propagate.h"
#include "support/examples.h"

namespace plait {
namespace {

std::string picture_of(const std::string& text, std::optional<int64_t> ranks = {}) {
  const auto fusion = parse_fusion(text);
  expand(*fusion, true);
  split_bias(*fusion);
  remove_dead_code(*fusion);
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

// What the comment in front of an example says, without its marks.
std::string sentences(const std::string& text) {
  std::string out;
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("# ") && !line.starts_with("# ranks ");)
    out += line.substr(2) + "\n";
  return out;
}

void expect_file(const std::string& path, const std::string& text) {
  if (std::getenv("BLESS") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(read(path), text) << "BLESS=1 writes " << path;
}

// A page of all examples with their pictures; BLESS=1 writes both.
TEST(Picture, OfEachExample) {
  const std::string folder = PLAIT_SOURCE_DIR "/docs/";
  std::string page =
      "# Sharded examples, in pictures\n\nWhat each rank holds of each tensor, and what moves, of the programs in "
      "`docs/examples/sharded`, as\n"
      "`plait explain FILE --shard --svg OUT` draws it; ranks in colours. The numbers are what an expert's collectives "
      "need, which a test holds\n"
      "plait to. [sharding.md](sharding.md) has the rules.\n";
  for (const testing::ShardedExample& e : testing::sharded_examples()) {
    expect_file(folder + "pictures/" + e.name + ".svg", picture_of(e.text, e.ranks));
    page += fmt::format(
        "\n## {0}\n\n{1}{2} ranks, {3} collective{4}, {5} bytes: "
        "[examples/sharded/{0}.plait](examples/sharded/{0}.plait)\n\n"
        "![who holds what of {0}](pictures/{0}.svg)\n",
        e.name, sentences(e.text), e.ranks, e.collectives, e.collectives == 1 ? "" : "s", e.bytes);
  }
  expect_file(folder + "sharded_examples.md", page);
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

TEST(Picture, DrawsNumbersThatRanksAddUp) {
  const std::string picture =
      picture_of("mesh @m (tp = 2)\nfusion @f on @m (%x: f32[4] {0: tp}) -> (%y) {\n  %y = mean(%x)\n}\n");
  EXPECT_NE(picture.find("all-reduce over tp, 4 B: "), std::string::npos) << picture;
  EXPECT_EQ(picture.find("%y_size"), std::string::npos) << picture;  // the same on every rank
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
