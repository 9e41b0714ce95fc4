// Contractions as tiles over packed panels, with what is elementwise behind: around the sizes of tiles, stacks that
// broadcast, operands that lie otherwise. Of f64, which no library computes, and of f32 where own kernels are asked
// for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "support/contraction_cases.h"
#include "support/refusal.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::contraction_text;
using testing::ContractionCase;
using testing::expect_one_kernel;
using testing::expect_same_bits_on_threads;
using testing::Extents;
using testing::kContractions;
using testing::own_contractions;
using testing::run_case;
using testing::stage_text;

class ContractionKernels : public ::testing::TestWithParam<ContractionCase> {};

INSTANTIATE_TEST_SUITE_P(All, ContractionKernels, ::testing::ValuesIn(kContractions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ContractionKernels, AgreeWithTheReferenceInOneKernel) {
  for (const Extents& z : {Extents{24, 8, 8}, {25, 9, 70}, {48, 33, 9}, {49, 64, 16}, {101, 31, 257}, {400, 16, 8}}) {
    expect_one_kernel(GetParam(), "f64", z, {});
    expect_one_kernel(GetParam(), "f32", z, own_contractions());
  }
}

TEST_P(ContractionKernels, AreTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_threads(contraction_text(GetParam(), "f32", {101, 70, 90}));
}

TEST(ContractionKernels, OfNarrowerVectors) {
  for (const int lanes : {1, 4, 8})
    for (const int which : {2, 4, 8}) {
      CaseOptions how = own_contractions();
      how.options.cpu_lanes = lanes;
      const CaseResult result = run_case(contraction_text(kContractions[which], "f32", {70, 37, 50}), how);
      EXPECT_TRUE(result.ok) << lanes << " lanes: " << result.message;
      EXPECT_EQ(result.report.launches, 1) << lanes;
    }
}

// Tasks are of rows, of columns, of matrices of a stack alone, or there is one.
TEST(ContractionKernels, OfOneBlockOrOneGroupOfColumns) {
  for (const char* operands : {"%a: T[2, m, k], %b: T[2, k, n]", "%a: T[2, m, k], %b: T[k, n]",
                               "%a: T[1, m, k], %b: T[2, k, n]", "%a: T[1, m, k], %b: T[1, k, n]"})
    for (const Extents& z : {Extents{24, 9, 30}, {24, 200, 30}, {48, 200, 17}, {200, 9, 16}, {24, 70, 1500}}) {
      const std::string numbers = z.m < 200 ? "(block = 48)" : "(block = 24)";
      const CaseResult result = run_case(
          fmt::format("let T = f32, m = {}, n = {}, k = {}\nfusion @f ({}) -> (%y) {{\n  segment @a (%a, %b) -> (%y) "
                      "schedule contraction{} {{\n    %y = matmul(%a, %b)\n  }}\n}}\n",
                      z.m, z.n, z.k, operands, numbers),
          own_contractions());
      EXPECT_TRUE(result.ok) << operands << " " << z.m << ", " << z.n << ": " << result.message;
      EXPECT_EQ(result.report.launches, 1);
    }
}

// Sums of 2,048 terms fill the panel of f64.
TEST(ContractionKernels, LongSums) {
  for (const int k : {2047, 2048}) {
    const CaseResult result = run_case(contraction_text(kContractions[2], "f64", {30, 20, k}), {});
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_EQ(result.report.launches, 1);
  }
}

std::string contraction_segments(const std::string& text, const CaseOptions& how) {
  return stage_text("segments", text, how);
}

std::string linear_text(const char* dtype, const Extents& z) {
  return fmt::format("fusion @f (%a: {0}[{1}, {3}], %w: {0}[{2}, {3}]) -> (%y) {{\n%y = linear(%a, %w)\n}}\n", dtype,
                     z.m, z.n, z.k);
}

// Panels of a kernel, those of what is cut off included, are 256 KiB on the stack together.
TEST(ContractionKernels, PanelsFitTheStack) {
  const auto bytes = [](const Extents& z, const char* dtype) {
    CaseOptions how = own_contractions();
    how.options.cpu_lanes = 16;
    const std::string text = stage_text("kir", linear_text(dtype, z), how);
    std::map<std::string, int64_t> buffers;
    const std::regex alloc("alloc %([A-Za-z0-9_.]+): f(32|64)\\[([0-9]+)\\] stack");
    for (std::sregex_iterator it(text.begin(), text.end(), alloc), end; it != end; ++it)
      buffers[(*it)[1]] = std::stoll((*it)[2]) / 8 * std::stoll((*it)[3]);
    int64_t all = 0, panels = 0;
    for (const auto& [name, size] : buffers) {
      all += size;
      if (name.find("packed") != std::string::npos) panels += size;
    }
    EXPECT_GT(panels, 0) << text;
    EXPECT_LE(panels, 256 << 10) << z.m << ", " << z.n << ", " << z.k;
    EXPECT_LE(all, 320 << 10) << z.m << ", " << z.n << ", " << z.k;
  };
  for (const Extents& z : {Extents{512, 512, 2048},
                           {511, 500, 2047},
                           {257, 256, 511},
                           {512, 96, 512},
                           {100, 33, 1025},
                           {1001, 100, 700},
                           {30, 20, 2048}})
    for (const char* dtype : {"f32", "f64"}) bytes(z, dtype);
}

// All rows read a panel that is packed once, where there are tasks for the cores; panels of a task are packed together
// where the stack holds them.
TEST(ContractionKernels, PanelsArePackedOnce) {
  const auto numbers_of = [](const std::string& fusion) {
    CaseOptions how = own_contractions();
    how.options.cpu_lanes = 16;
    const std::string text = contraction_segments(fusion, how);
    const size_t begin = text.find("contraction(rows");
    return begin == std::string::npos ? text : text.substr(begin, text.find(')', begin) + 1 - begin);
  };
  const auto numbers = [&](const Extents& z) { return numbers_of(linear_text("f32", z)); };
  EXPECT_EQ(numbers({512, 512, 512}), "contraction(rows = 12, columns = 32, block = 3072, width = 64, stages = 2)");
  EXPECT_EQ(numbers({2048, 2048, 512}), "contraction(rows = 12, columns = 32, block = 3072, width = 128, stages = 4)");
  EXPECT_EQ(numbers({512, 512, 2048}), "contraction(rows = 12, columns = 32, block = 3072, width = 64, stages = 1)");
  EXPECT_EQ(numbers({4096, 64, 512}), "contraction(rows = 12, columns = 32, block = 384, width = 64, stages = 2)");
  EXPECT_EQ(numbers({24, 64, 512}), "contraction(rows = 12, columns = 32, block = 12, width = 64, stages = 2)");
  // Where sizes are symbols, one choice serves all.
  for (const Extents& z : {Extents{24, 64, 512}, {512, 512, 512}, {4096, 64, 1500}})
    EXPECT_EQ(numbers_of(contraction_text(kContractions[1], "f32", z)),
              "contraction(rows = 12, columns = 32, block = 192, width = 64, stages = 1)");
}

// Without facts long sums are none for the stack; small ones do not pay; other types have no tiles.
TEST(ContractionKernels, WhatIsNoneOfThemIsANest) {
  const auto has_tiles = [](const std::string& text, const CaseOptions& how) {
    return contraction_segments(text, how).find("schedule contraction") != std::string::npos;
  };
  EXPECT_TRUE(has_tiles(contraction_text(kContractions[0], "f64", {24, 8, 8}), {}));
  EXPECT_FALSE(has_tiles(contraction_text(kContractions[0], "f32", {24, 8, 8}), {}));  // the library's
  EXPECT_TRUE(has_tiles(contraction_text(kContractions[0], "f32", {24, 8, 8}), own_contractions()));
  for (const Extents& z : {Extents{23, 8, 8}, {24, 7, 8}, {24, 8, 7}})
    EXPECT_FALSE(has_tiles(contraction_text(kContractions[0], "f64", z), {})) << z.m << ", " << z.n << ", " << z.k;
  EXPECT_FALSE(has_tiles(contraction_text(kContractions[0], "i32", {24, 8, 8}), own_contractions()));
  EXPECT_FALSE(has_tiles("fusion @f (%a: f64[64, 9000], %b: f64[9000, 64]) -> (%y) { %y = matmul(%a, %b) }", {}));
  EXPECT_FALSE(has_tiles("fusion @f (%a: f64[64, 64]) -> (%y) { %y = matmul(%a, %a) }", {}));
  CaseOptions nest;
  nest.options.contractions = "nest";
  EXPECT_FALSE(has_tiles(contraction_text(kContractions[0], "f64", {24, 8, 8}), nest));
}

// Others that read the product, or what comes of it, get it from memory.
TEST(ContractionKernels, ResultsThatOthersReadAreStored) {
  const CaseResult result = run_case(
      "fusion @f (%a: f64[100, 50], %b: f64[50, 60]) -> (%y, %z) {\n"
      "%p = matmul(%a, %b)\n%e = exp(%p)\n%y = add(%e, 1)\n%z = sum(%p, dims = [0])\n}\n",
      {});
  EXPECT_TRUE(result.ok) << result.message;
  const CaseResult both = run_case(
      "fusion @f (%a: f64[100, 50], %b: f64[50, 60]) -> (%p, %y) {\n%p = matmul(%a, %b)\n%y = exp(%p)\n}\n", {});
  EXPECT_TRUE(both.ok) << both.message;
}

// A block of a perceptron: product, bias and gelu; product, bias and residual.
TEST(ContractionKernels, AnMlpIsTwoKernels) {
  for (const char* dtype : {"f32", "f64"}) {
    const CaseResult result =
        run_case(fmt::format("let T = {}\nfusion @mlp (%x: T[4, 32, 48], %u: T[96, 48], %c: T[96], %w: T[48, 96], %d: "
                             "T[48]) -> (%y) {{\n"
                             "%h = gelu(linear(%x, %u, %c))\n%y = add(linear(%h, %w, %d), %x)\n}}\n",
                             dtype),
                 own_contractions());
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_EQ(result.report.launches, 2) << dtype;
    EXPECT_EQ(result.report.library_calls, 0) << dtype;
  }
}

// So is one with short sums where nothing is asked for: each kernel behind the library costs more than tiles.
TEST(ContractionKernels, AnMlpOfShortSumsIsTwoKernelsByCost) {
  const CaseResult result = run_case(
      "fusion @mlp (%x: f32[1024, 96], %u: f32[192, 96], %c: f32[192], %w: f32[96, 192], %d: f32[96]) -> (%y) {\n"
      "%h = gelu(linear(%x, %u, %c))\n%y = add(linear(%h, %w, %d), %x)\n}\n",
      {});
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.report.launches, 2);
  EXPECT_EQ(result.report.library_calls, 0);
}

TEST(ContractionKernels, NumbersOfAScheduleAreObeyedOrRefused) {
  const auto text = [](const std::string& numbers, int k) {
    return fmt::format(
        "fusion @f (%a: f32[70, {0}], %b: f32[{0}, 50]) -> (%y) {{\n"
        "  segment @a (%a, %b) -> (%y) schedule contraction{1} {{\n    %p = matmul(%a, %b)\n    %y = relu(%p)\n  "
        "}}\n}}\n",
        k, numbers);
  };
  for (const char* numbers : {"", "(rows = 1)", "(rows = 3, columns = 4, block = 9)", "(columns = 64, block = 600)",
                              "(columns = 8, width = 8)", "(rows = 4, columns = 8, width = 64, block = 8)",
                              "(columns = 16, width = 64, stages = 4)", "(columns = 32, width = 64, stages = 1)",
                              "(stages = 4)", "(stages = 2)", "(stages = 1)"}) {
    const CaseResult result = run_case(text(numbers, 33), {});
    EXPECT_TRUE(result.ok) << numbers << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << numbers;
  }
  const auto why = [&](const std::string& numbers, int k) {
    return testing::refusal([&] { run_case(text(numbers, k), {}); });
  };
  EXPECT_NE(why("(rows = 5, block = 12)", 33).find("no multiple of rows"), std::string::npos);
  EXPECT_NE(why("(columns = 24)", 33).find("columns"), std::string::npos);
  EXPECT_NE(why("(columns = 16, width = 64, stages = 2)", 33).find("neither 1 nor all panels"), std::string::npos);
  EXPECT_NE(why("(stages = 3)", 33).find("neither 1 nor all panels"), std::string::npos) << why("(stages = 3)", 33);
  EXPECT_NE(why("(columns = 16, width = 8)", 33).find("no multiple of columns"), std::string::npos);
  EXPECT_NE(why("", 5000).find("none for the stack"), std::string::npos) << why("", 5000);
}

}  // namespace
}  // namespace plait
