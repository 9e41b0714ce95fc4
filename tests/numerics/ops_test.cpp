// Every primitive op over shapes and dtypes, on every device, against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "api/check_program.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "support/op_cases.h"
#include "support/run_case.h"

namespace plait {
namespace {

// Every output is right, or NaN throughout on both sides, as variances of nothing are.
void expect_right(const ProgramCheck& check) {
  for (const OutputCheck& output : check.outputs) {
    const bool is_nan = output.reference.message.find("nothing was compared") != std::string::npos;
    EXPECT_TRUE(output.reference.ok || is_nan) << output.reference.message;
  }
}

using Shape = std::array<int64_t, 4>;  // a, b, c, d

// One compiled program serves all sizes from 2 on; 0 and 1 have programs of their own.
const std::vector<Shape> kGeneral = {{2, 3, 5, 4}, {3, 2, 17, 2}, {2, 4, 33, 3}, {5, 7, 8, 2}, {3, 8, 31, 9}};
const std::vector<Shape> kSpecial = {{2, 3, 0, 2}, {0, 3, 4, 2}, {1, 1, 1, 1}, {3, 1, 16, 0}, {2, 5, 1, 3}};

// No index lies within an extent of 0: with lookups that are not checked.
std::string unchecked(const std::string& text) {
  return std::regex_replace(text, std::regex("((gather|index_select|scatter)\\([^)]*)\\)"), "$1, bounds = assume)");
}

void check(const test::OpCase& c, const std::string& device, const std::string& dtype,
           const std::vector<Shape>& shapes) {
  if (!c.takes(*parse_dtype(dtype))) return;
  ParseOptions parse;
  parse.set["T"] = dtype;
  parse.set["I"] = size_of(*parse_dtype(dtype)) < 4 ? "i32" : "i64";
  const bool empty =
      std::any_of(shapes.begin(), shapes.end(), [](const Shape& s) { return std::ranges::count(s, 0) > 0; });
  const auto fusion = parse_fusion(empty ? unchecked(c.text) : c.text, parse);
  CompileOptions how;
  how.device = device;
  Compiled program = compile(*fusion, how);
  for (const Shape& s : shapes) {
    SCOPED_TRACE(
        fmt::format("{} of {} on {}, a = {}, b = {}, c = {}, d = {}", c.name, dtype, device, s[0], s[1], s[2], s[3]));
    reference::DrawOptions draw;
    draw.sizes = {{"a", s[0]}, {"b", s[1]}, {"c", s[2]}, {"d", s[3]}};
    draw.seed = static_cast<uint64_t>(s[2]);
    const auto drawn = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(drawn.begin(), drawn.end());
    try {
      const Tensors outputs = program.run(inputs);
      expect_right(check_program(*fusion, how, program, inputs, outputs, {.one_rank = false}));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what() << "\n" << print(*fusion);
    }
  }
}

void check_all(const std::string& device, const std::string& dtype, const std::vector<Shape>& shapes) {
  if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  for (const test::OpCase& c : test::op_cases()) check(c, device, dtype, shapes);
}

class OpsOnCpu : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, OpsOnCpu,
                         ::testing::Values("f32", "f64", "bf16", "f16", "f8e4m3", "i64", "i8", "u16", "u64", "bool"),
                         [](const auto& info) { return std::string(info.param); });
TEST_P(OpsOnCpu, GeneralShapes) { check_all("cpu", GetParam(), kGeneral); }

TEST(OpsOfSpecialShapes, Cpu) {
  for (const Shape& s : kSpecial) check_all("cpu", "f32", {s});
}

// Half of the types on each architecture.
TEST(OpsOnSim, Sm80) {
  for (const char* dtype : {"f32", "i64"}) check_all("sim:sm_80", dtype, {kGeneral.begin(), kGeneral.begin() + 2});
}
TEST(OpsOnSim, Sm90a) {
  for (const char* dtype : {"bf16", "bool"}) check_all("sim:sm_90a", dtype, {kGeneral.begin(), kGeneral.begin() + 2});
}
TEST(OpsOnSim, EmptyAndSingle) {
  for (const Shape& s : {kSpecial[0], kSpecial[2]}) check_all("sim:sm_90a", "f64", {s});
}

TEST(OpsLongRun, EveryDTypeShapeAndDevice) {
  for (const char* device : {"cpu", "sim:sm_80", "sim:sm_90a"})
    for (int i = 0; i < kDTypeCount; ++i) {
      const std::string dtype(name(static_cast<DType>(i)));
      check_all(device, dtype, kGeneral);
      for (const Shape& s : kSpecial) check_all(device, dtype, {s});
    }
}

class OpsOnEveryDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  // Runs the text on inputs of its own and checks the outputs, but for bits of NaN, which the reference leaves open.
  Tensors run(const std::string& text, const Tensors& inputs, bool check = true) {
    const auto fusion = parse_fusion(text);
    CompileOptions how;
    how.device = GetParam();
    Compiled program = compile(*fusion, how);
    Tensors outputs = program.run(inputs);
    if (!check) return outputs;
    const ProgramCheck result = check_program(*fusion, how, program, inputs, outputs, {.one_rank = false});
    expect_right(result);
    return outputs;
  }
};
INSTANTIATE_TEST_SUITE_P(All, OpsOnEveryDevice, ::testing::Values("cpu", "sim:sm_80", "sim:sm_90a"),
                         [](const auto& info) {
                           const std::string device = info.param;
                           return device == "cpu" ? device : device.substr(4);
                         });

TEST_P(OpsOnEveryDevice, NansAndInfinities) {
  const double nan = NAN, inf = INFINITY;
  const std::vector<double> x = {1,    nan, -inf, 2,    nan, 0,   // rows of 6
                                 inf,  2,   -inf, -inf, 3,   -1,  //
                                 -inf, 5,   -inf, nan,  -2,  inf};
  for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const std::string text = fmt::format(R"(
fusion @f (%x: {}[3, 6]) -> (%a, %b, %c, %d, %e, %g, %h, %i, %j, %k) {{
  %a = amax(%x, dims = [0])
  %b = amin(%x, dims = [1])
  %c = argmax(%x, dims = [0])
  %d = argmin(%x, dims = [0])
  %e = argmax(%x, dims = [1])
  %g = argmin(%x)
  %h = sum(%x, dims = [0])
  %i = prod(%x, dims = [0])
  %j = cumsum(%x, dim = 1)
  %k = var(%x, dims = [1])
}}
)",
                                         name(dtype));
    const Tensors out = run(text, {{"x", Tensor::from_doubles(dtype, {3, 6}, x)}});
    EXPECT_EQ(out.at("c").to_doubles(), (std::vector<double>{1, 0, 0, 2, 0, 2}));
    EXPECT_EQ(out.at("e").to_doubles(), (std::vector<double>{1, 0, 3}));
    EXPECT_EQ(out.at("g").to_doubles(), (std::vector<double>{1}));
  }
}

// Products that differ in f32 and tie as their type holds them: the first is found.
TEST_P(OpsOnEveryDevice, ExtremaTieAfterRounding) {
  for (DType dtype : {DType::f16, DType::bf16}) {
    const double step = dtype == DType::f16 ? 0x1p-10 : 0x1p-7;  // (1 + step)^2 rounds to 1 + 2 step, from above
    const std::vector<double> low = {1 + 2 * step, 1 + step, 1}, ones = {1, 1 + step, 1};
    const std::string text = fmt::format(R"(
fusion @f (%x: {}[3], %y: {}[3]) -> (%a, %b, %c, %d) {{
  %p = mul(%x, %y)
  %a = argmax(%p, dims = [0])
  %q = neg(%p)
  %b = argmin(%q, dims = [0], keepdim = true)
  %r = flip(%p, dims = [0])
  %c = argmax(%r, dims = [0])
  %m = amax(%p, dims = [0])
  %e = eq(%p, %m)
  %i = cast(%e, to = i32)
  %d = sum(%i, dims = [0])
}}
)",
                                         name(dtype), name(dtype));
    const Tensors out =
        run(text, {{"x", Tensor::from_doubles(dtype, {3}, low)}, {"y", Tensor::from_doubles(dtype, {3}, ones)}});
    EXPECT_EQ(out.at("a").to_doubles(), std::vector<double>{0});
    EXPECT_EQ(out.at("b").to_doubles(), std::vector<double>{0});
    EXPECT_EQ(out.at("c").to_doubles(), std::vector<double>{1});
    EXPECT_EQ(out.at("d").to_doubles(), std::vector<double>{2});
  }
}

struct Special {
  const char* call;
  std::vector<double> want;
};

// What docs/ops.md says of nothing, of zeros, of denormals and of infinities. A zero wanted is one of either sign.
const std::vector<Special> kSpecials = {
    {"matmul(%rows, %cols)", {0, 0, 0, 0}},
    {"linear(%rows, %rows, %two)", {1, 2, 1, 2}},
    {"sum(%e)", {0}},
    {"prod(%e)", {1}},
    {"amax(%e)", {-INFINITY}},
    {"amin(%e)", {INFINITY}},
    {"argmax(%e)", {0}},
    {"argmin(%e)", {0}},
    {"any(%e)", {0}},
    {"all(%e)", {1}},
    {"mean(%e)", {NAN}},
    {"var(%e)", {NAN}},
    {"std(%e, correction = 0)", {NAN}},
    {"logsumexp(%e)", {-INFINITY}},
    {"logsumexp(%none)", {-448}},
    {"norm(%none, p = -1)", {448}},
    {"norm(%e, p = 0)", {0}},
    {"norm(%e, p = 1)", {0}},
    {"norm(%e)", {0}},
    {"norm(%e, p = 3)", {0}},
    {"norm(%e, p = inf)", {0}},
    {"norm(%e, p = -inf)", {INFINITY}},
    {"norm(%e, p = -1)", {INFINITY}},
    {"mse(%e, %e)", {NAN}},
    {"mse(%e, %e, reduction = sum)", {0}},
    {"cross_entropy(%logits, %targets)", {NAN}},
    {"cross_entropy(%logits, %targets, reduction = sum)", {0}},
    {"scaled_dot_product_attention(%q, %k, %k)", {0, 0}},
    {"scatter(%two, %targets, %e, dim = 0, update = add)", {1, 2}},
    {"argmax(%zeros)", {0}},
    {"argmin(%zeros)", {0}},
    {"amax(%zeros)", {0}},
    {"sum(%zeros)", {0}},
    {"any(%zeros)", {0}},
    {"reciprocal(%moved)", {-INFINITY, -INFINITY, INFINITY}},
    {"sum(%small)", {0x1p-147}},
    {"prod(%halves)", {0x1p-148}},
    {"mean(%small)", {0x1p-148}},
    {"cumsum(%small, dim = 0)", {0x1p-149, 0x1p-147}},
    {"amax(%small)", {0x3p-149}},
    {"matmul(%column, %row)", {0x3p-149, 0x1p-130}},
    {"linear(%row, %row)", {0x1p-134}},
    {"scatter(%small, %index, %small, dim = 0, update = add)", {0x5p-149, 0x3p-149}},
    {"norm(%small, p = 1)", {0x1p-147}},
    {"norm(%small)", {0}},
    {"norm(%infinite)", {INFINITY}},
    {"sum(%infinite)", {NAN}},
    {"logsumexp(%infinite)", {INFINITY}},
    {"softmax(%infinite, dim = 0)", {NAN, NAN, NAN}},
    {"norm(%nan, p = 0)", {2}},
    {"norm(%nan, p = inf)", {NAN}},
    {"any(%nan)", {1}},
    {"argmax(%nan)", {0}},
    {"tril(%square)", {1, 0, 2, 3}},
    {"matmul(%square, %weights)", {NAN, 2}},
};

TEST_P(OpsOnEveryDevice, NothingZerosAndDenormals) {
  const auto f32 = [](std::vector<int64_t> shape, const std::vector<double>& values) {
    return Tensor::from_doubles(DType::f32, std::move(shape), values);
  };
  const auto i64 = [](const std::vector<double>& values) {
    return Tensor::from_doubles(DType::i64, {int64_t(values.size())}, values);
  };
  const Tensors inputs = {{"e", f32({0}, {})},
                          {"none", Tensor::from_doubles(DType::f8e4m3, {0}, std::vector<double>{})},
                          {"rows", f32({2, 0}, {})},
                          {"cols", f32({0, 2}, {})},
                          {"two", f32({2}, {1, 2})},
                          {"logits", f32({0, 3}, {})},
                          {"targets", i64({})},
                          {"q", f32({1, 1, 2}, {1, 2})},
                          {"k", f32({1, 0, 2}, {})},
                          {"zeros", f32({3}, {-0.0, 0.0, -0.0})},
                          {"small", f32({2}, {0x1p-149, 0x3p-149})},
                          {"halves", f32({2}, {0x1p-100, 0x1p-48})},
                          {"column", f32({1, 1}, {0x1p-63})},
                          {"row", f32({1, 2}, {0x3p-86, 0x1p-67})},
                          {"index", i64({0, 0})},
                          {"infinite", f32({3}, {INFINITY, -INFINITY, 1})},
                          {"nan", f32({3}, {NAN, 0, 1})},
                          {"square", f32({2, 2}, {1, NAN, 2, 3})},
                          {"weights", f32({2, 1}, {1, 0})}};
  std::string text =
      "fusion @f (%e: f32[0], %none: f8e4m3[0], %rows: f32[2, 0], %cols: f32[0, 2], %two: f32[2], %logits: f32[0, 3], "
      "%targets: i64[0], %q: f32[1, 1, 2], %k: f32[1, 0, 2], %zeros: f32[3], %small: f32[2], "
      "%halves: f32[2], %column: f32[1, 1], %row: f32[1, 2], %index: i64[2], %infinite: f32[3], "
      "%nan: f32[3], %square: f32[2, 2], %weights: f32[2, 1]) -> (";
  for (size_t i = 0; i < kSpecials.size(); ++i) text += fmt::format("{}%r{}", i ? ", " : "", i);
  text += ") {\n  %moved = roll(%zeros, shifts = [1], dims = [0])\n";
  for (size_t i = 0; i < kSpecials.size(); ++i) text += fmt::format("  %r{} = {}\n", i, kSpecials[i].call);
  const Tensors out = run(text + "}\n", inputs);
  for (size_t i = 0; i < kSpecials.size(); ++i) {
    const std::vector<double> got = out.at(fmt::format("r{}", i)).to_doubles();
    ASSERT_EQ(got.size(), kSpecials[i].want.size()) << kSpecials[i].call;
    for (size_t k = 0; k < got.size(); ++k) {
      const double want = kSpecials[i].want[k];
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got[k]) : got[k] == want) << kSpecials[i].call << ": " << got[k];
    }
  }
}

// What a bitcast gives holds the same bits, quiet or not.
TEST_P(OpsOnEveryDevice, BitsStay) {
  std::vector<double> words = {0x7f800001, 0x7fc00000, -0x7fffff, -1, 0, 1, 0x3f800000};
  const Tensors out = run(R"(
fusion @f (%i: i32[7], %h: i16[3], %d: f64[2], %b: bool[3]) -> (%i_again, %h_again, %h_other, %l, %u) {
  %f = bitcast(%i, to = f32)
  %i_again = bitcast(%f, to = i32)
  %bf = bitcast(%h, to = bf16)
  %h_again = bitcast(%bf, to = i16)
  %half = bitcast(%bf, to = f16)
  %h_other = bitcast(%half, to = u16)
  %l = bitcast(%d, to = i64)
  %u = bitcast(%b, to = u8)
}
)",
                          {{"i", Tensor::from_doubles(DType::i32, {7}, words)},
                           {"h", Tensor::from_doubles(DType::i16, {3}, {0x7f81, -127, 0x7c01})},
                           {"d", Tensor::from_doubles(DType::f64, {2}, {1, -0.0})},
                           {"b", Tensor::from_doubles(DType::boolean, {3}, {1, 0, 1})}},
                          false);
  EXPECT_EQ(out.at("i_again").to_doubles(), words);
  EXPECT_EQ(out.at("h_again").to_doubles(), (std::vector<double>{0x7f81, -127, 0x7c01}));
  EXPECT_EQ(out.at("h_other").to_doubles(), (std::vector<double>{0x7f81, 65536 - 127, 0x7c01}));
  EXPECT_EQ(out.at("l").to_doubles(), (std::vector<double>{0x3ff0000000000000, -0x1p63}));
  EXPECT_EQ(out.at("u").to_doubles(), (std::vector<double>{1, 0, 1}));
}

// A pending maximum or minimum becomes whole, or cut, with its NaN, infinities and zeros of either sign; the last rank
// has no row, or a short one.
TEST_P(OpsOnEveryDevice, ExtremaOverRanks) {
  const double nan = NAN, inf = INFINITY;
  const std::vector<double> x = {nan, 1,   inf,  -0.0, -inf, 3,  nan, 0.5,   // rows of 8
                                 2,   nan, -inf, 0.0,  -inf, -5, nan, 0.25,  //
                                 1,   1,   4,    -0.0, -inf, 7,  1,   -inf};
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (size_t rows : {2, 3}) {
      const std::string text = fmt::format(R"(mesh @m (tp = 3)
fusion @f on @m (%x: {}[{}, 8] {{0: tp}}) -> (%most, %least, %most_cut {{0: tp}}, %least_cut {{0: tp}}) {{
  %most = amax(%x, dims = [0])
  %least = amin(%x, dims = [0])
  %most_cut = amax(%x, dims = [0])
  %least_cut = amin(%x, dims = [0])
}}
)",
                                           name(dtype), rows);
      CompileOptions how;
      how.device = std::string(GetParam()) + (std::string(GetParam()) == "cpu" ? "" : ":3");
      how.ranks = 3;
      const auto fusion = parse_fusion(text);
      Compiled program = compile(*fusion, how);
      const auto extent = static_cast<int64_t>(rows);
      const std::vector<double> mine(x.begin(), x.begin() + extent * 8);
      const Tensors out = program.run({{"x", Tensor::from_doubles(dtype, {extent, 8}, mine)}});
      // Devices without such reductions gather once for both.
      EXPECT_EQ(program.report().collectives, std::string(GetParam()) == "cpu" ? 4 : 2);
      for (const bool least : {false, true})
        for (const char* cut : {"", "_cut"}) {
          const std::vector<double> got = out.at(std::string(least ? "least" : "most") + cut).to_doubles();
          for (size_t c = 0; c < 8; ++c) {
            double want = least ? inf : -inf;
            for (size_t r = 0; r < rows; ++r) {
              const double v = x[r * 8 + c];
              want = std::isnan(v) || std::isnan(want) ? nan : least ? std::min(want, v) : std::max(want, v);
            }
            EXPECT_TRUE(got[c] == want || (std::isnan(got[c]) && std::isnan(want)))
                << name(dtype) << " " << rows << (least ? " least" : " most") << cut << " of column " << c << ": "
                << got[c] << ", want " << want;
          }
        }
    }
}

// Pieces that are uneven or empty, pending sums and maxima, numbers of global indices.
TEST_P(OpsOnEveryDevice, PiecesOfRanks) {
  const std::string text = R"(let a = 3, b = 5, c = 6, d = 4
mesh @m (tp = t)
fusion @f on @m (%x: f32[a, b, c] {1: tp}, %i: i64[d], %w: f32[a, b, c], %seed: u64[])
  -> (%s0, %s1, %m1, %v2, %p, %g, %k, %u, %f, %z, %y) {
  %s0 = sum(%x, dims = [0])
  %s1 = sum(%x, dims = [1])
  %m1 = amax(%x, dims = [1], keepdim = true)
  %v2 = var(%x, dims = [2])
  %p = permute(%x, dims = [1, 2, 0])
  %g = index_select(%x, %i, dim = 0)
  %k = cat(%x, %w, dim = 2)
  %u = cumsum(%x, dim = 0)
  %f = flip(%x, dims = [0, 2])
  %z = pad(%x, low = [0, 0, 1], high = [2, 0, 0], value = 7)
  %n = normal(shape = [a, b, c], seed = %seed)
  %count = iota(shape = [a, b, c], dim = 1, dtype = f32)
  %xn = mul(%x, %n)
  %y = add(%xn, %count)
}
)";
  const bool cpu = std::string(GetParam()) == "cpu";
  for (const char* b : {"5", "2"}) {
    testing::CaseOptions how;
    how.device = std::string(GetParam()) + (cpu ? "" : ":3");
    how.ranks = 3;
    how.set = {{"b", b}};
    const testing::CaseResult result = testing::run_case(text, how);
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_GT(result.collectives, 0);
    EXPECT_TRUE(result.uneven);
  }
}

}  // namespace
}  // namespace plait
