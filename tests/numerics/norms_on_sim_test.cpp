// Rows and columns on GPUs, with moves and lookups in front: what one kernel computes of them agrees with the reference
// at the ends of warps, blocks and vectors, in every dtype, and is one kernel.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <regex>
#include <tuple>

#include "backend/cuda/nvrtc.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

struct RowCase {
  const char* name;
  const char* inputs;  // of dtype T
  const char* outputs;
  const char* body;
};

constexpr RowCase kRowsOfGpus[] = {
    {"softmax", "%x: T[b, n]", "%y", "%y = softmax(%x, dim = 1)"},
    {"log_softmax", "%x: T[b, n]", "%y", "%y = log_softmax(%x, dim = 1)"},
    {"layer_norm", "%x: T[b, n], %w: T[n], %v: T[n]", "%y", "%y = layer_norm(%x, %w, %v, dims = 1, eps = 0.00001)"},
    {"rms_norm", "%x: T[b, n], %w: T[n]", "%y", "%y = rms_norm(%x, %w, dims = 1, eps = 0.00001)"},
    {"var_mean", "%x: T[b, n]", "%m, %v", "%m, %v = var_mean(%x, dims = [1], correction = 0)"},
    {"statistics", "%x: T[b, n]", "%s, %m, %k, %l",
     "%s = sum(%x, dims = [1])\n%m = amax(%x, dims = [1])\n%k = argmin(%x, dims = [1])\n%q = gt(%x, 0.5)\n"
     "%l = any(%q, dims = [1])"},
    {"backward", "%x: T[b, n], %g: T[b, n]", "%d",
     "%p = mul(%x, %g)\n%s = sum(%p, dims = [1], keepdim = true)\n%t = sub(%g, %s)\n%d = mul(%x, %t)"},
    {"everything", "%x: T[b, n]", "%y",
     "%q = square(%x)\n%s = sum(%q, dims = [0, 1], keepdim = true)\n%r = rsqrt(add(%s, 1.0))\n%y = mul(%x, %r)"},
    {"rows_apart", "%x: T[b, 3, n]", "%y",
     "%m = mean(%x, dims = [0, 2], keepdim = true)\n%d = sub(%x, %m)\n%q = square(%d)\n"
     "%v = mean(%q, dims = [0, 2], keepdim = true)\n%r = rsqrt(add(%v, 0.25))\n%y = mul(%d, %r)"},
    {"target_of_row", "%x: T[b, n], %t: i64[b] in 0..n", "%y",
     "%l = log_softmax(%x, dim = 1)\n%u = unsqueeze(%t, dims = [1])\n%g = gather(%l, %u, dim = 1)\n%y = neg(%g)"},
    {"lookup_in_front", "%e: T[7, n], %i: i64[b] in 0..7, %w: T[n]", "%y",
     "%x = index_select(%e, %i, dim = 0)\n%y = rms_norm(%x, %w, dims = 1, eps = 0.00001)"},
    {"moves_in_front", "%x: T[b, n]", "%y",
     "%f = flip(%x, dims = [1])\n%c = cat(%f, %x, dim = 1)\n%y = softmax(%c, dim = 1)"},
    {"scan_of_softmax", "%x: T[b, n]", "%y", "%p = softmax(%x, dim = 1)\n%c = cumsum(%p, dim = 1)\n%y = mul(%c, %x)"},
    {"scans_of_scans", "%x: T[b, n]", "%y, %z",
     "%z = cumsum(%x, dim = 1, exclusive = true)\n%k = mul(%z, 0.125)\n"
     "%l = logcumsumexp(%k, dim = 1)\n%y = neg(%l)"},
    {"from_the_end", "%x: T[b, n]", "%y",
     "%e = cumsum(%x, dim = 1, exclusive = true, reverse = true)\n%t = tanh(%e)\n"
     "%y = cumsum(%t, dim = 1, reverse = true)"},
    {"extremes_so_far", "%x: T[b, n]", "%m, %i, %y",
     "%m, %i = cummax(%x, dim = 1)\n%d = sub(%m, %x)\n%y = amax(%d, dims = [1], keepdim = true)"},
};

// With columns as long as the rows are short.
constexpr RowCase kColumnsOfGpus[] = {
    {"sum", "%x: T[b, n]", "%y", "%y = sum(%x, dims = [0])"},
    {"softmax", "%x: T[b, n]", "%y", "%y = softmax(%x, dim = 0)"},
    {"var_mean", "%x: T[b, n]", "%m, %v", "%m, %v = var_mean(%x, dims = [0], correction = 0)"},
    {"statistics", "%x: T[b, n]", "%s, %m, %k, %l",
     "%s = mean(%x, dims = [0])\n%m = amin(%x, dims = [0])\n%k = argmax(%x, dims = [0])\n%q = gt(%x, 0.5)\n"
     "%l = all(%q, dims = [0])"},
    {"inner_dims", "%x: T[2, b, 2, n], %g: T[n]", "%y",
     "%m = mean(%x, dims = [0, 1, 2], keepdim = true)\n%d = sub(%x, %m)\n%q = square(%d)\n"
     "%v = mean(%q, dims = [0, 1, 2], keepdim = true)\n%r = rsqrt(add(%v, 0.25))\n%z = mul(%d, %r)\n%y = mul(%z, %g)"},
    {"kept_outside", "%x: T[3, b, n]", "%y", "%y = logsumexp(%x, dims = [1])"},
    {"short_rows", "%x: T[b, 5]", "%y", "%y = softmax(%x, dim = 1)"},
    {"scans", "%x: T[b, n]", "%y, %m, %i",
     "%c = cumsum(%x, dim = 0)\n%s = sum(%c, dims = [0], keepdim = true)\n%y = sub(%c, %s)\n"
     "%m, %i = cummin(%x, dim = 0)"},
};

std::string text_of(const RowCase& c) {
  return fmt::format("let b = 3, n = 5, T = f32\nfusion @f ({}) -> ({}) {{\n{}\n}}\n", c.inputs, c.outputs, c.body);
}

class RowsOnSim : public ::testing::TestWithParam<RowCase> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
  }
};

INSTANTIATE_TEST_SUITE_P(All, RowsOnSim, ::testing::ValuesIn(kRowsOfGpus),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RowsOnSim, AgreeWithTheReferenceInOneKernel) {
  const RowCase& c = GetParam();
  const std::string text = text_of(c);
  const char* dtypes[] = {"f32", "bf16", "f16", "f64"};
  int number = 0;
  for (int64_t n : {1, 2, 31, 32, 33, 128, 255, 257, 1023, 4097, 65537})
    for (bool even : {false, true}) {
      const int64_t size = even ? (n + 15) / 16 * 16 : n;
      const std::string dtype = n == 65537 ? "f32" : dtypes[number++ % 4];
      CaseOptions how;
      how.device = number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
      how.seed = static_cast<uint64_t>(n);
      how.set = {{"T", dtype}, {"b", n == 65537 ? "1" : "3"}, {"n", std::to_string(size)}};
      how.options.poison = true;
      const CaseResult result = run_case(text, how);
      EXPECT_TRUE(result.ok) << c.name << " of " << size << " in " << dtype << ": " << result.message;
      EXPECT_EQ(result.kernels, 1) << c.name << " of " << size;
    }
}

TEST_P(RowsOnSim, NoRowsAndRowsOfNothing) {
  const RowCase& c = GetParam();
  const std::string text = text_of(c);
  for (const auto& [b, n] : {std::pair{"0", "7"}, std::pair{"3", "0"}}) {
    const bool needs =
        std::string(c.body).find("arg") != std::string::npos || std::string(c.inputs).find("0..n") != std::string::npos;
    if (std::string(n) == "0" && needs) continue;  // refused: no element
    CaseOptions how;
    how.device = "sim:sm_80";
    how.set = {{"b", b}, {"n", n}};
    const CaseResult result = run_case(text, how);
    EXPECT_TRUE(result.ok || result.undecided) << c.name << ", " << b << " rows of " << n << ": " << result.message;
  }
}

class ColumnsOnSim : public RowsOnSim {};

INSTANTIATE_TEST_SUITE_P(All, ColumnsOnSim, ::testing::ValuesIn(kColumnsOfGpus),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ColumnsOnSim, AgreeWithTheReferenceInOneKernel) {
  const RowCase& c = GetParam();
  const char* dtypes[] = {"f32", "bf16", "f16", "f64"};
  int number = 0;
  for (int64_t b : {0, 1, 2, 15, 16, 17, 257, 1025})
    for (int64_t n : {1, 31, 32, 33, 64, 130}) {
      if (b * n > 40'000 || (b == 0 && std::string(c.body).find("arg") != std::string::npos)) continue;
      const std::string dtype = dtypes[number++ % 4];
      CaseOptions how;
      how.device = number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
      how.seed = static_cast<uint64_t>(b * 1000 + n);
      how.set = {{"T", dtype}, {"b", std::to_string(b)}, {"n", std::to_string(n)}};
      how.options.poison = true;
      const CaseResult result = run_case(text_of(c), how);
      EXPECT_TRUE(result.ok || (b == 0 && result.undecided))
          << c.name << " of " << b << " x " << n << " in " << dtype << ": " << result.message;
      EXPECT_EQ(result.kernels, 1) << c.name << " of " << b << " x " << n;
    }
}

// What has no loop of its own, or another one than its neighbours.
TEST(RowsOnSim, DimsOfOneElementAndSquares) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const char* texts[] = {
      "let a = 1000\nfusion @f (%x: f16[a, 2]) -> (%y) {\n%y = sum(%x, dims = [0])\n}",
      "let a = 1000\nfusion @f (%x: i8[a, 4]) -> (%y) {\n%y = sum(%x, dims = [0])\n}",
      "let a = 1, c = 20\ngiven a = 1\nfusion @f (%x: f32[a, c]) -> (%y) {\n%y = sum(%x, dims = [1])\n}",
      "let n = 300, b = 1\ngiven b = 1\nfusion @f (%x: f32[n, b]) -> (%y) {\n%y = sum(%x, dims = [0])\n}",
      "let a = 500\nfusion @f (%x: bf16[a, 2]) -> (%y) {\n%y = softmax(%x, dim = 0)\n}",
      "let b = 2, a = 100\ngiven b: 2 in 0..2\nfusion @f (%x: f16[a, b]) -> (%y) {\n%y = sum(%x, dims = [0])\n}",
      "let a = 48\nfusion @f (%x: f32[a, a]) -> (%y) {\n"
      "%y = sub(%x, mean(permute(%x, dims = [1, 0]), dims = [1], keepdim = true))\n}",
      "let a = 8\nfusion @f (%x: f32[a, a]) -> (%y) {\n"
      "%y = sub(softmax(%x, dim = 1), softmax(permute(%x, dims = [1, 0]), dim = 1))\n}",
      "let a = 8, c = 20\nfusion @f (%x: f32[a, a, c]) -> (%y) {\n"
      "%y = sub(permute(%x, dims = [1, 0, 2]), amax(%x, dims = [2], keepdim = true))\n}",
      "let a = 500, b = 64\nfusion @f (%x: i8[a, b]) -> (%y, %z, %w) {\n%y = argmax(%x, dims = [0])\n"
      "%z = argmin(%x, dims = [0])\n%w = sum(%x, dims = [0])\n}",
      "let a = 500, b = 64\nfusion @f (%x: f8e4m3[a, b]) -> (%m, %v) {\n%m, %v = var_mean(%x, dims = [0])\n}",
      "let a = 3, b = 4, n = 5\nfusion @f (%x: f32[a, b, n], %z: f32[a, b, n]) -> (%t1, %t3, %m, %v) {\n"
      "segment @s (%x, %z) -> (%t1, %t3, %m, %v) schedule norm(vector = 4, rows = 1, parts = 1, threads = 256) {\n"
      "%t1 = amax(%x, dims = [0, 1, 2], keepdim = true)\n%t3 = sum(%z, dims = [0, 1, 2], keepdim = true)\n"
      "%t4 = sub(%z, %t1)\n%m, %v = var_mean(%t4, dims = [0, 1, 2], keepdim = true, correction = 0)\n}\n}",
      "let a = 0, b = 7\nfusion @f (%x: f32[a, b]) -> (%y) {\n"
      "segment @s (%x) -> (%y) schedule norm(split = 256) {\n%y = sum(%x, dims = [0])\n}\n}",
  };
  for (const char* text : texts)
    for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
      CaseOptions how;
      how.device = device;
      how.options.poison = true;
      const CaseResult result = run_case(text, how);
      EXPECT_TRUE(result.ok) << text << ": " << result.message;
      for (const KernelReport& k : result.report.kernels)
        EXPECT_LE(k.facts.shared_bytes.value_or(0), 49152) << text << ": more than any block has without asking";
    }
  CaseOptions how;
  how.device = "sim:sm_80";
  EXPECT_THROW(
      run_case("let b = 70000, n = 4\nfusion @f (%x: i8[b, n]) -> (%y) {\nsegment @s (%x) -> (%y) schedule "
               "norm(vector = 1, rows = 1, parts = 1, threads = 32, split = 32) {\n%y = sum(%x, dims = [1])\n}\n}",
               how),
      UserError)
      << "more rows than a grid has";
}

// Lengths that are known, of which the last vector is cut, so that threads of a warp have other numbers of vectors.
TEST(RowsOnSim, ScansOfConstantLengths) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* op : {"cumsum(%x, dim = 1)", "cumsum(%x, dim = 1, reverse = true)", "logcumsumexp(%x, dim = 1)"})
    for (int n : {28, 29, 31, 32, 33, 253, 255, 1023, 4095}) {
      CaseOptions how;
      how.device = n % 2 == 0 ? "sim:sm_90a" : "sim:sm_80";
      how.compare_one_rank = false;
      const CaseResult result =
          run_case(fmt::format("fusion @f (%x: f32[5, {}]) -> (%y) {{\n%y = {}\n}}\n", n, op), how);
      EXPECT_TRUE(result.ok) << op << " of " << n << ": " << result.message;
    }
}

// Indices that are smaller than their constant part: what is subtracted lies further from the start than the rest.
TEST(RowsOnSim, ScansOfReversedRows) {
  for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
    for (const char* dims : {"[3]", "[0, 3]", "[0, 1, 3]", "[0, 1, 2, 3]"})
      for (const char* op : {"logcumsumexp(%f, dim = 3)", "cumsum(%f, dim = 3)", "sum(%f, dims = [3])", "neg(%f)"})
        for (const char* shape : {"[3, 9, 5, 4]", "[2, 3, 4, 5]", "[5, 1, 7, 6]"}) {
          CaseOptions how;
          how.device = device;
          how.compare_one_rank = false;
          const CaseResult result = run_case(
              fmt::format("fusion @f (%x: f32{}) -> (%y) {{\n%f = flip(%x, dims = {})\n%y = {}\n}}\n", shape, dims, op),
              how);
          EXPECT_TRUE(result.ok) << op << " of " << shape << " turned round in " << dims << ": " << result.message;
        }
  }
}

// What goes through a running sum in place and, behind an elementwise op, at other places of its row.
TEST(RowsOnSim, ScansThatAreReadInPlaceAndElsewhere) {
  for (const char* device : {"cpu", "sim:sm_80"}) {
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
    for (const char* made : {"%c", "neg(%c)", "sub(%c, amax(%c, dims = [1], keepdim = true))"})
      for (const char* moved : {"roll(%e, shifts = [1], dims = [1])", "flip(%e, dims = [1])",
                                "slice(pad(%e, low = [0, 1], high = [0, 0]), dim = 1, start = 0, stop = 37)"})
        for (const char* outputs : {"%s", "%y", "%c, %y"}) {
          CaseOptions how;
          how.device = device;
          how.compare_one_rank = false;
          const CaseResult result =
              run_case(fmt::format("fusion @f (%x: f32[6, 37]) -> ({}) {{\n%c = cumsum(%x, dim = 1)\n%e = {}\n%s = {}\n"
                                   "%y = add(%e, %s)\n}}\n",
                                   outputs, std::string(made) == "%c" ? "mul(%c, 1.0)" : made, moved),
                       how);
          EXPECT_TRUE(result.ok) << device << ", " << made << ", " << moved << ", " << outputs << ": "
                                 << result.message;
        }
  }
}

// Rows that a block has one after another, behind whose last there may be none, with what is the same for all of them.
TEST(RowsOnSim, OneAfterAnotherAgree) {
  struct Case {
    const char *inputs, *outputs, *body;
  };
  const Case cases[] = {
      {"%x: T[b, n], %w: T[n], %v: T[n]", "%y", "%y = layer_norm(%x, %w, %v, dims = 1, eps = 0.00001)"},
      {"%x: T[b, n], %r: T[b, n], %w: T[n]", "%y, %h",
       "%h = add(%x, %r)\n%z = rms_norm(%h, %w, dims = 1, eps = 0.00001)\n%y = softmax(%z, dim = 1)"},
      {"%x: T[c, b, n], %w: T[n], %i: i64[b] in 0..7, %t: T[7, n]", "%y",
       "%e = embedding(%i, %t)\n%a = add(%x, broadcast(%e, shape = [c, b, n], dims = [1, 2]))\n"
       "%m = amax(mul(%a, broadcast(%w, shape = [c, b, n], dims = [2])), dims = [2], keepdim = true)\n"
       "%y = sub(%a, %m)"},
  };
  for (const auto& [device, dtype] : {std::pair("sim:sm_80", "f32"), {"sim:sm_90a", "bf16"}}) {
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
    for (const Case& c : cases)
      for (const auto& [b, n, each] : {std::tuple(33, 768, 16), {33, 100, 4}, {5, 8, 8}, {1, 256, 4}}) {
        CaseOptions how;
        how.device = device;
        how.compare_one_rank = false;
        how.set = {{"b", std::to_string(b)}, {"n", std::to_string(n)}, {"T", dtype}};
        const std::string names = std::regex_replace(c.inputs, std::regex(": [^%]*(, |$)"), "$1");
        const CaseResult result = run_case(
            fmt::format("let b = 2, n = 2, c = 3, T = f32\nfusion @f ({}) -> ({}) {{\nsegment @s ({}) -> ({}) schedule "
                        "norm(each = {}) {{\n{}\n}}\n}}\n",
                        c.inputs, c.outputs, names, c.outputs, each, c.body),
            how);
        EXPECT_TRUE(result.ok) << device << " " << c.body << " " << b << " x " << n << ", each = " << each << " of "
                               << dtype << ": " << result.message;
      }
  }
}

// Of two zeros each is the greatest and the least: all threads of a row have the same one.
TEST(RowsOnSim, ThreadsAgreeOnTheSignOfZero) {
  std::string why_not;
  if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
  for (const char* op : {"amax", "amin"})
    for (DType dtype : {DType::f32, DType::f64}) {
      std::vector<double> zeros;
      for (int i = 0; i < 300; ++i) zeros.push_back(i % 3 == 0 ? 0.0 : -0.0);
      const Tensor x = Tensor::from_doubles(dtype, {1, 300}, zeros);
      const std::string text = fmt::format(
          "fusion @f (%x: {}[1, 300]) -> (%y) {{\n%k = {}(%x, dims = [1], keepdim = true)\n%o = add(abs(%x), 1.0)\n"
          "%y = div(%o, %k)\n}}\n",
          name(dtype), op);
      const std::vector<double> y = testing::run_text(text, x, "sim:sm_80", 1).at("y").to_doubles();
      EXPECT_EQ(y, std::vector<double>(300, y[0])) << op << " of " << name(dtype);
    }
}

}  // namespace
}  // namespace plait
