// What lies in memory when, in words and as a picture.
#include "run/memory_picture.h"

#include <gtest/gtest.h>

#include "plait.h"

namespace plait {
namespace {

size_t count_of(const std::string& text, const std::string& what) {
  size_t out = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}

struct Told {
  std::string words, picture;
};

Told told(const std::string& text, const CompileOptions& options, const Metadata& inputs) {
  const auto fusion = parse_fusion(text);
  Compiled program = compile(*fusion, options);
  program.compile_for(inputs);
  RankValues values(program.program(), program.sizes());
  return {explain_memory(program.program(), values), memory_picture(program.program(), values)};
}

// Two products that are alive when the third is made.
TEST(MemoryPicture, NamesThePeak) {
  const Told out = told(
      "fusion @f (%x: f32[16, 16]) -> (%y) {\n  %a = matmul(%x, %x)\n  %b = matmul(%a, %x)\n"
      "  %c = matmul(%a, %b)\n  %y = neg(%c)\n}\n",
      {.device = "reference"}, {{"x", {DType::f32, {16, 16}}}});
  EXPECT_EQ(out.words.find("rank 0: arena 3 KiB (at most 3 KiB alive at once), inputs 1 KiB, outputs 1 KiB, "
                           "peak 5 KiB\nmost are alive at step "),
            0u)
      << out.words;
  for (const char* name : {"%a", "%b", "%c"}) EXPECT_NE(out.words.find(std::string("\n") + name), out.words.npos);
  EXPECT_EQ(count_of(out.picture, "class=\"buffer"), 3u);
  EXPECT_EQ(count_of(out.picture, "class=\"peak\"/>"), 1u);
  EXPECT_NE(out.picture.find("<title>%a: 1 KiB at 0, steps "), out.picture.npos) << out.picture;
  EXPECT_EQ(count_of(out.picture, "<g>"), count_of(out.picture, "</g>"));
  EXPECT_EQ(count_of(out.picture, "<text"), count_of(out.picture, "</text>"));
}

TEST(MemoryPicture, OfNothing) {
  const Told none = told("fusion @f (%x: f32[16]) -> (%y) {\n  %y = neg(%x)\n}\n", {.device = "reference"},
                         {{"x", {DType::f32, {16}}}});
  EXPECT_NE(none.words.find("no temporaries"), none.words.npos) << none.words;
  EXPECT_EQ(count_of(none.picture, "class=\"buffer"), 0u);
  const Told empty = told("fusion @f (%x: f32[n, n]) -> (%y) {\n  %a = matmul(%x, %x)\n  %y = matmul(%a, %x)\n}\n",
                          {.device = "reference"}, {{"x", {DType::f32, {0, 0}}}});
  EXPECT_EQ(count_of(empty.picture, "class=\"buffer"), 0u);
  EXPECT_EQ(count_of(empty.picture, "nan"), 0u);
}

// Ranks that have the same are drawn once.
TEST(MemoryPicture, OfRanksThatDiffer) {
  const char* text =
      "mesh @m (tp = t)\nfusion @f on @m (%x: f32[n, 4] {0: tp}, %w: f32[4, 4]) -> (%y) {\n"
      "  %a = matmul(%x, %w)\n  %y = matmul(%a, %w)\n}\n";
  const Metadata inputs = {{"x", {DType::f32, {130, 4}}}, {"w", {DType::f32, {4, 4}}}};
  const Told two = told(text, {.device = "reference", .ranks = 4}, inputs);
  EXPECT_EQ(count_of(two.words, "arena"), 2u) << two.words;
  EXPECT_EQ(count_of(two.picture, "class=\"peak\"/>"), 2u);
}

}  // namespace
}  // namespace plait
