// Contractions of few rows on CPUs, for which nothing is packed: around the sizes of tiles and lanes, operands that lie
// otherwise, matrices that are opened on the way, all widths of floats.
#include <fmt/format.h>
#include <gtest/gtest.h>

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

constexpr ContractionCase kCases[] = {
    {"transposed_weight", "%a: T[m, k], %w: T[k, n]", "%y = linear(%a, permute(%w, dims = [1, 0]))"},
    {"wide_result", "%a: T[m, k], %w: T[n, k]", "%y = exp(cast(linear(%a, %w), to = f32))"},
    {"scaled_columns", "%a: T[m, k], %w: i8[n, k], %s: T[n, 1]", "%y = linear(%a, mul(cast(%w, to = T), %s))"},
    {"scaled_rows", "%a: T[m, k], %w: u8[k, n], %s: T[k, 1], %z: T[n]",
     "%o = sub(cast(%w, to = T), %z)\n%y = matmul(%a, mul(%o, %s))"},
    {"of_f8", "%a: T[m, k], %w: f8e4m3[n, k]", "%y = linear(%a, cast(%w, to = T))"},
    {"casts_on_both_sides", "%a: bf16[m, k], %w: bf16[n, k]", "%y = linear(cast(%a, to = T), cast(%w, to = T))"},
    {"matrix_times_vector", "%a: T[n, k], %w: T[k, 1], %r: T[n, 1]", "%y = add(matmul(%a, %w), %r)"},
    {"matrices_times_vector", "%a: T[m, n, k], %w: T[1, k]", "%y = silu(linear(%a, %w))"},
    {"transposed_times_vector", "%a: T[k, n], %w: T[k, 1]", "%y = matmul(permute(%a, dims = [1, 0]), %w)"},
    {"one_row_of_no_dim", "%a: T[k], %w: T[n, k], %c: T[n]", "%y = relu(linear(%a, %w, %c))"},
};

class FewRows : public ::testing::TestWithParam<ContractionCase> {};

INSTANTIATE_TEST_SUITE_P(All, FewRows, ::testing::ValuesIn(kContractions),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Own, FewRows, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(FewRows, AgreeWithTheReferenceInOneKernel) {
  for (const Extents& z : {Extents{1, 64, 64}, {3, 70, 90}, {8, 33, 257}})
    for (const char* dtype : {"f32", "f64", "bf16", "f16"}) expect_one_kernel(GetParam(), dtype, z, own_contractions());
}

TEST_P(FewRows, AreTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_threads(contraction_text(GetParam(), "f32", {5, 300, 90}));
}

std::string insisted(const char* op, const Extents& z, const std::string& numbers, const char* dtype = "f32") {
  const bool linear = std::string(op) == "linear";
  return fmt::format(
      "fusion @f (%a: {0}[{1}, {3}], %w: {0}[{2}], %r: {0}[{1}, {4}]) -> (%y) {{\n  segment @s (%a, %w, %r) -> (%y) "
      "schedule contraction({5}) {{\n    %p = {6}(%a, %w)\n    %y = add(%p, %r)\n  }}\n}}\n",
      dtype, z.m, linear ? fmt::format("{}, {}", z.n, z.k) : fmt::format("{}, {}", z.k, z.n), z.k, z.n, numbers, op);
}

// No rows, columns or terms; less than a vector of them, one more than whole ones; more rows than a tile has.
TEST(FewRows, OfSizesAroundTiles) {
  for (const char* op : {"linear", "matmul"})
    for (const Extents& z : {Extents{1, 1, 1},
                             {1, 5, 0},
                             {0, 5, 5},
                             {2, 0, 7},
                             {1, 1, 100},
                             {1, 17, 15},
                             {2, 64, 16},
                             {3, 65, 17},
                             {4, 31, 33},
                             {7, 130, 64},
                             {9, 48, 100},
                             {13, 20, 40},
                             {23, 513, 3},
                             {1, 1025, 31}})
      for (const char* dtype : {"f32", "f64", "bf16"}) {
        const CaseResult result = run_case(insisted(op, z, "stages = 0", dtype), {});
        EXPECT_TRUE(result.ok) << op << " " << dtype << " " << z.m << ", " << z.n << ", " << z.k << ": "
                               << result.message;
      }
}

TEST(FewRows, OfNarrowerVectors) {
  for (const int lanes : {1, 4, 8})
    for (const char* op : {"linear", "matmul"})
      for (const char* dtype : {"f32", "f16"}) {
        CaseOptions how;
        how.options.cpu_lanes = lanes;
        const CaseResult result = run_case(insisted(op, {3, 70, 50}, "stages = 0", dtype), how);
        EXPECT_TRUE(result.ok) << lanes << " lanes, " << op << ": " << result.message;
      }
}

TEST(FewRows, NumbersOfAScheduleAreObeyedOrRefused) {
  for (const char* numbers : {"stages = 0", "rows = 1, stages = 0", "rows = 3, columns = 2, width = 32, stages = 0",
                              "columns = 8, depth = 4, stages = 0", "depth = 1, stages = 0",
                              "rows = 2, columns = 1, width = 1, stages = 0"}) {
    const CaseResult result = run_case(insisted("linear", {7, 50, 33}, numbers), {});
    EXPECT_TRUE(result.ok) << numbers << ": " << result.message;
  }
  for (const char* numbers :
       {"rows = 1, columns = 512, stages = 0", "rows = 2, columns = 16, width = 128, stages = 0"}) {
    const CaseResult result = run_case(insisted("matmul", {7, 600, 33}, numbers), {});
    EXPECT_TRUE(result.ok) << numbers << result.message;
  }
  const auto why = [&](const char* op, const std::string& numbers) {
    return testing::refusal([&] { run_case(insisted(op, {7, 50, 33}, numbers), {}); });
  };
  EXPECT_NE(why("linear", "columns = 4, width = 2, stages = 0").find("no multiple of columns"), std::string::npos);
  EXPECT_NE(why("matmul", "depth = 8, stages = 0").find("lanes run along the columns"), std::string::npos);
  EXPECT_NE(why("linear", "rows = 7, columns = 64, width = 64, stages = 0").find("vectors of sums"), std::string::npos);
  EXPECT_NE(why("linear", "rows = 100, columns = 1, width = 1024, stages = 0").find("vectors of sums"),
            std::string::npos);
  EXPECT_NE(why("linear", "mma = 1, stages = 0").find("GPUs"), std::string::npos);
  EXPECT_NE(why("linear", "columns = 128, stages = 1").find("more than 64"), std::string::npos);
}

// Of rows that are a symbol one thing is asked: whether they are few.
TEST(FewRows, ThatAreASymbolAreOneGuard) {
  const auto guards = [](int rows) {
    CompileOptions how;
    how.device = "cpu";
    const auto fusion = parse_fusion(fmt::format(
        "let m = {}\nfusion @f (%x: f32[m, 256], %w: f32[512, 256], %b: f32[512]) -> (%y) {{\n%y = relu(linear(%x, %w, "
        "%b))\n}}\n",
        rows));
    std::vector<std::string> out;
    Compiled program = compile(*fusion, how);
    program.prepare(testing::metadata_of(*fusion));
    for (const auto& answer : program.guards()) out.push_back(print(answer));
    return out;
  };
  for (const int rows : {1, 3, 4}) EXPECT_EQ(guards(rows), std::vector<std::string>{"m < 5"});
  EXPECT_EQ(guards(5).front(), "not (m < 5)");
  const std::string text =
      "let m = 3\nfusion @f (%x: f32[m, 256], %w: f32[512, 256]) -> (%y) {\n%y = linear(%x, "
      "%w)\n}\n";
  for (const char* rows : {"1", "2", "4", "5"}) {
    CaseOptions how;
    how.set = {{"m", rows}};
    const CaseResult result = run_case(text, how);
    EXPECT_TRUE(result.ok) << rows << ": " << result.message;
    EXPECT_EQ(result.report.library_calls, std::string(rows) == "5" ? 1 : 0);
  }
}

// Nobody asks for own kernels; sizes are numbers.
TEST(FewRows, AreTakenWhereTheyCostLess) {
  const auto calls = [](const ContractionCase& c, const char* dtype, const Extents& z) {
    std::string inputs = c.inputs;
    for (const auto& [name, extent] : {std::pair("m", z.m), {"n", z.n}, {"k", z.k}})
      inputs =
          std::regex_replace(inputs, std::regex(fmt::format("([[ ]){}([\\],])", name)), fmt::format("$01{}$2", extent));
    const CaseResult result =
        run_case(fmt::format("let T = {}\nfusion @f ({}) -> (%y) {{\n{}\n}}\n", dtype, inputs, c.body), {});
    EXPECT_TRUE(result.ok) << result.message;
    return result.report.library_calls;
  };
  const ContractionCase &matmul = kContractions[0], &linear = kContractions[1];
  EXPECT_EQ(calls(linear, "f32", {1, 256, 256}), 0);
  EXPECT_EQ(calls(linear, "f32", {8, 256, 256}), 0);
  EXPECT_EQ(calls(linear, "bf16", {4, 256, 256}), 0);
  EXPECT_EQ(calls(matmul, "f32", {2, 512, 256}), 0);
  EXPECT_EQ(calls(kCases[6], "f32", {1, 256, 256}), 0);
  EXPECT_EQ(calls(kCases[2], "f32", {1, 1024, 64}), 0) << "the matrix would be opened in memory";
  EXPECT_EQ(calls(linear, "f32", {9, 256, 256}), 1) << "too many rows";
  EXPECT_EQ(calls(linear, "f32", {1, 255, 256}), 1) << "too small";
  EXPECT_EQ(calls(linear, "f32", {1, 2048, 64}), 1) << "short lines";
  EXPECT_EQ(calls(matmul, "f32", {1, 300, 1000}), 1) << "columns are no whole vectors";
}

// Rows that lie across memory, matrices that two read through the same moves, rows that are a symbol over columns.
TEST(FewRows, OfOperandsThatLieOtherwise) {
  const auto agree = [](const char* text, int64_t launches) {
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.launches, launches) << text;
    EXPECT_EQ(result.report.library_calls, 0) << text;
  };
  agree("fusion @f (%x: f32[600, 4], %w: f32[512, 600]) -> (%y) {\n%y = linear(permute(%x, dims = [1, 0]), %w)\n}\n",
        2);
  agree(
      "fusion @f (%x: f32[2, 600], %u: f32[1, 600], %w: f32[600, 512]) -> (%y, %z) {\n%t = permute(%w, dims = [1, "
      "0])\n%y = linear(%x, %t)\n%z = linear(%u, %t)\n}\n",
      2);
  for (const char* m : {"1", "2", "3"})
    agree(fmt::format(
              "let m = {}\nfusion @f (%x: f32[m, 600], %w: f32[600, 512]) -> (%y) {{\n%y = matmul(%x, %w)\n}}\n", m)
              .c_str(),
          1);
}

// What another kernel makes is row-major, however its operands lie; a matrix that is not opened here is not looked
// through either.
TEST(FewRows, OfAMatrixThatAnotherKernelMakes) {
  for (const char* body : {"%h = exp(permute(%w, dims = [1, 0]))\n%y = linear(%x, %h)",
                           "%h = exp(permute(%w, dims = [1, 0]))\n%y = matmul(%x, %h)",
                           "%h = neg(permute(%w, dims = [1, 0]))\n%y = linear(%x, permute(%h, dims = [1, 0]))"}) {
    const CaseResult result =
        run_case(fmt::format("fusion @f (%x: f32[3, 256], %w: f32[256, 256]) -> (%y, %h) {{\n{}\n}}\n", body),
                 own_contractions());
    EXPECT_TRUE(result.ok) << body << result.message;
    EXPECT_EQ(result.report.launches, 2) << body;
    EXPECT_EQ(result.report.library_calls, 0) << body;
  }
}

// Terms of one sign, as exact as a few hundred additions are: one chain of all terms is off by ten times the bound.
TEST(FewRows, LongSumsHaveParts) {
  for (const char* op : {"linear", "matmul"})
    for (const int k : {65'536, 1 << 20}) {
      const auto fusion = parse_fusion(insisted(op, {1, 16, k}, "stages = 0"));
      Tensors inputs;
      uint32_t state = 1;
      for (const TensorView* t : fusion->inputs()) {
        Tensor& in = inputs[t->name] = Tensor::empty(DType::f32, testing::metadata_of(*fusion).at(t->name).shape);
        for (int64_t i = 0; i < in.elements(); ++i) {
          state = state * 1664525 + 1013904223;
          static_cast<float*>(in.data())[i] = t->name == "r" ? 0 : t->name == "a" ? 0.1f : float(state >> 8) * 0x1p-24f;
        }
      }
      CompileOptions how;
      how.device = "cpu";
      const Tensor y = compile(*fusion, how).run(inputs).at("y");
      const auto* w = static_cast<const float*>(inputs.at("w").data());
      const bool linear = std::string(op) == "linear";
      for (int64_t j = 0; j < 16; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += double(0.1f) * w[linear ? j * k + i : i * 16 + j];
        EXPECT_NEAR(static_cast<const float*>(y.data())[j] / sum, 1, 2e-6) << op << " of " << k << " terms";
      }
    }
}

// A block of two layers whose weights are bytes with a scale for each column.
TEST(FewRows, AnMlpOfBytesIsTwoKernels) {
  const CaseResult result = run_case(
      "fusion @mlp (%x: f32[1, 256], %u: i8[512, 256], %p: f32[512, 1], %c: f32[512], %w: i8[256, 512], %q: f32[256, "
      "1]) -> (%y) {\n%h = gelu(linear(%x, mul(cast(%u, to = f32), %p), %c))\n%y = add(linear(%h, mul(cast(%w, to = "
      "f32), %q)), %x)\n}\n",
      {});
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.report.launches, 2);
  EXPECT_EQ(result.report.library_calls, 0);
}

}  // namespace
}  // namespace plait
