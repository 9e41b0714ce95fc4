// Which contractions of few rows are kernels of their own, and which the library's.
#include <gtest/gtest.h>

#include "build/build.h"
#include "segment/segment.h"
#include "support/segment_summary.h"

namespace plait {
namespace {

using testing::summary;

// Under `auto` few rows of a large matrix with long lines come before the library, with what opens the matrix; more
// where the library has no instructions for the type.
TEST(Segment, FewRowsComeBeforeTheLibraryWhereTheyCostLess) {
  const auto explained = [](const char* inputs, const char* body, bool widens = false) {
    SegmentOptions options;
    std::string explain;
    options.explain = &explain;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    options.library_widens = [&](const Op&) { return widens; };
    auto f = parse_fusion(fmt::format("fusion @f ({}) -> (%y) {{\n{}\n}}\n", inputs, body));
    segment(*f, options);
    return summary(*f) + "\n" + explain;
  };
  const auto begins = [](const std::string& text, const char* with) { return text.rfind(with, 0) == 0; };
  const char *linear = "%y = linear(%x, %w)", *matmul = "%y = matmul(%x, %w)";
  const std::string text = explained("%x: f32[8, 256], %w: f32[256, 256]", linear);
  EXPECT_TRUE(begins(text, "s1 contraction: y\n")) << text;
  EXPECT_NE(text.find("few rows of %y, not library: each element of its matrix is read once"), std::string::npos)
      << text;
  EXPECT_TRUE(begins(explained("%x: f32[1, 256], %w: f32[256, 256]", matmul), "s1 contraction: y\n"));
  EXPECT_TRUE(begins(explained("%x: bf16[4, 256], %w: bf16[256, 256]", linear), "s1 contraction: y\n"));
  EXPECT_TRUE(begins(explained("%x: bf16[5, 256], %w: bf16[256, 256]", linear), "s1 library: y\n"));
  EXPECT_TRUE(begins(explained("%x: bf16[5, 256], %w: bf16[256, 256]", linear, true), "s1 contraction: y\n"));
  EXPECT_TRUE(begins(explained("%x: bf16[64, 256], %w: bf16[1024, 256]", linear), "s1 library: y\n"));
  const std::string wide = explained("%x: bf16[64, 256], %w: bf16[1024, 256]", linear, true);
  EXPECT_TRUE(begins(wide, "s1 contraction: y\n")) << wide;
  EXPECT_NE(wide.find("the library widens its operands in memory in each run"), std::string::npos) << wide;
  for (const auto& [inputs, body] : {std::pair("%x: f32[9, 256], %w: f32[256, 256]", linear),
                                     {"%x: f32[1, 255], %w: f32[256, 255]", linear},
                                     {"%x: f32[1, 128], %w: f32[4096, 128]", linear},
                                     {"%x: f32[1, 4096], %w: f32[32, 4096]", linear},
                                     {"%x: f32[1, 1000], %w: f32[1000, 300]", matmul},
                                     {"%x: f32[1, 1000], %w: f32[1000, 128]", matmul}}) {
    const std::string other = explained(inputs, body);
    EXPECT_TRUE(begins(other, "s1 library: y\n")) << inputs << "\n" << other;
  }
  const char* opened = "%f = cast(%q, to = f32)\n%w = mul(%f, %s)\n%y = linear(%x, %w)";
  EXPECT_TRUE(begins(explained("%x: f32[1, 128], %q: i8[4096, 128], %s: f32[4096, 1]", opened), "s1 contraction: y\n"));
  const char* narrow = "%w = cast(%q, to = bf16)\n%y = linear(%x, %w)";
  EXPECT_TRUE(begins(explained("%x: bf16[8, 128], %q: i8[4096, 128]", narrow), "s1 contraction: y\n"));
}

// Where lines are short for the rows that read them the library stays, whatever opens the matrix.
TEST(Segment, FewRowsAskForLinesThatAreLongForThem) {
  const auto own = [](const std::string& inputs, const std::string& body) {
    SegmentOptions options;
    options.target.vector_lanes = 16;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    auto f = parse_fusion("fusion @f (" + inputs + ") -> (%y) {\n" + body + "\n}\n");
    segment(*f, options);
    return std::ranges::none_of(f->segments,
                                [](const Segment& s) { return s.schedule == Schedule(schedules::Library()); });
  };
  const std::string linear = "%w = cast(%q, to = f32)\n%y = linear(%x, %w)",
                    matmul = "%w = cast(%q, to = f32)\n%y = matmul(%x, %w)";
  for (const auto& [rows, terms, pays] :
       {std::tuple{1, 8, false}, {1, 64, true}, {4, 64, false}, {4, 256, true}, {8, 256, false}, {8, 512, true}})
    EXPECT_EQ(own(fmt::format("%x: f32[{0}, {1}], %q: i8[8192, {1}]", rows, terms), linear), pays)
        << rows << " of " << terms;
  for (const auto& [rows, columns, pays] : {std::tuple{1, 8, false},
                                            {1, 16, true},
                                            {1, 24, false},
                                            {1, 300, true},
                                            {8, 32, true},
                                            {8, 300, false},
                                            {8, 1030, true}})
    EXPECT_EQ(own(fmt::format("%x: f32[{0}, 8192], %q: u8[8192, {1}]", rows, columns), matmul), pays)
        << rows << " of " << columns;
  // Columns side by side of what is not opened: the rows fit the nearest cache.
  for (const auto& [rows, terms, columns, pays] : {std::tuple{1, 1024, 256, true},
                                                   {1, 4096, 256, false},
                                                   {4, 256, 256, false},
                                                   {4, 4096, 512, true},
                                                   {4, 8192, 512, false},
                                                   {8, 2048, 512, true},
                                                   {8, 2048, 8192, false},
                                                   {8, 4096, 512, false}})
    EXPECT_EQ(own(fmt::format("%x: f32[{}, {}], %w: f32[{}, {}]", rows, terms, terms, columns), "%y = matmul(%x, %w)"),
              pays)
        << rows << " of " << terms << ", " << columns;
}

// What the library does badly for several narrow rows it does well for one and a large matrix.
TEST(Segment, NarrowRowsAskForOtherLines) {
  const auto own = [](const std::string& inputs, const char* body, bool widens) {
    SegmentOptions options;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    options.library_widens = [&](const Op&) { return widens; };
    auto f = parse_fusion("fusion @f (" + inputs + ") -> (%y) { " + body + " }");
    segment(*f, options);
    return f->segments[0].schedule != Schedule(schedules::Library());
  };
  for (const auto& [rows, terms, columns, pays] : {std::tuple{1, 1024, 1024, true},
                                                   {1, 2048, 2048, false},
                                                   {2, 2048, 2048, true},
                                                   {4, 1024, 256, true},
                                                   {4, 1024, 128, false}}) {
    const std::string inputs = fmt::format("%x: bf16[{0}, {1}], %w: bf16[{1}, {2}]", rows, terms, columns);
    EXPECT_EQ(own(inputs, "%y = matmul(%x, %w)", false), pays) << inputs;
    if (rows == 1) EXPECT_TRUE(own(inputs, "%y = matmul(%x, %w)", true)) << inputs;
  }
  EXPECT_FALSE(own("%x: bf16[1, 2048], %w: bf16[2048, 2048]", "%y = linear(%x, %w)", false));
  EXPECT_TRUE(own("%x: bf16[1000, 1000], %w: bf16[1000, 1]", "%y = matmul(%x, %w)", false));
  EXPECT_FALSE(own("%x: bf16[2000, 1000], %w: bf16[1000, 1]", "%y = matmul(%x, %w)", false));
  EXPECT_TRUE(own("%x: f32[4096, 16], %w: f32[16, 1]", "%y = matmul(%x, %w)", false));
  EXPECT_FALSE(own("%x: bf16[1, 64], %w: bf16[2048, 64]", "%y = linear(%x, %w)", false));
}

// Rows that lie across memory are turned in front where lanes run along the sum; what others read through moves, too,
// is no matrix of its own in memory.
TEST(Segment, FewRowsReadMovesOfTheirOwn) {
  const auto steps = [](const std::string& inputs, const char* outputs, const std::string& body) {
    SegmentOptions options;
    options.library_accepts = [](const Op&, std::string*) { return true; };
    auto f = parse_fusion("fusion @f (" + inputs + ") -> (" + outputs + ") {\n" + body + "\n}\n");
    segment(*f, options);
    return summary(*f);
  };
  const std::string turned = "%t = permute(%x, dims = [1, 0])\n";
  EXPECT_EQ(steps("%x: f32[512, 4], %w: f32[512, 512]", "%y", turned + "%y = linear(%t, %w)"),
            "s1 pointwise: t; s2 contraction: y");
  EXPECT_EQ(steps("%x: f32[512, 1], %w: f32[512, 512]", "%y", turned + "%y = linear(%t, %w)"), "s1 contraction: y");
  EXPECT_EQ(steps("%x: f32[512, 4], %w: f32[512, 512]", "%y", turned + "%y = matmul(%t, %w)"), "s1 contraction: y");
  const std::string two = "%t = permute(%w, dims = [1, 0])\n%y = linear(%x, %t)\n%z = linear(%u, %t)";
  EXPECT_EQ(steps("%x: f32[1, 512], %u: f32[2, 512], %w: f32[512, 512]", "%y, %z", two),
            "s1 contraction: z; s2 contraction: y");
}

}  // namespace
}  // namespace plait
