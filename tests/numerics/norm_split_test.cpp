// Rows that several tasks share, on the CPU: every case at the boundaries of its parts, dtypes, numbers of threads,
// elements that are no numbers, several sizes of one specialization.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "api/check_program.h"
#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "support/norm_cases.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

using SplitSizes = std::array<int64_t, 3>;  // a, b, n

struct SplitRun {
  std::unique_ptr<Fusion> fusion;
  Compiled program;
};

SplitRun compile_split(const std::string& text, const std::string& dtype, const CompileOptions& how) {
  ParseOptions parse;
  parse.set = {{"T", dtype}, {"W", dtype == "f64" ? "f64" : "f32"}};
  auto fusion = parse_fusion(text, parse);
  Compiled program = compile(*fusion, how);
  return {std::move(fusion), std::move(program)};
}

CompileOptions on_cpu() {
  CompileOptions how;
  how.device = "cpu";
  return how;
}

Tensors draw_split(const Fusion& fusion, const SplitSizes& s, bool exact = false) {
  reference::DrawOptions how;
  how.sizes = {{"a", s[0]}, {"b", s[1]}, {"n", s[2]}};
  how.seed = static_cast<uint64_t>(s[2] * 31 + s[1]);
  how.exact = exact;
  const auto drawn = reference::draw_inputs(fusion, how);
  return {drawn.begin(), drawn.end()};
}

void expect_right_split(const ProgramCheck& check) {
  for (const OutputCheck& output : check.outputs) {
    const bool is_nan = output.reference.message.find("nothing was compared") != std::string::npos;
    EXPECT_TRUE(output.reference.ok || is_nan) << output.reference.message;
  }
}

void check_split(const std::string& numbers, const std::string& dtype, const std::vector<SplitSizes>& sizes,
                 bool exact = false) {
  for (const test::NormCase& c : test::norm_cases(numbers)) {
    if ((dtype[0] == 'i' || dtype[0] == 'u') && c.floats_only) continue;
    SplitRun run = compile_split(c.text, dtype, on_cpu());
    for (const SplitSizes& s : sizes) {
      if (s[2] > c.most) continue;
      SCOPED_TRACE(fmt::format("{} of {}, {}, a = {}, b = {}, n = {}", c.name, dtype, numbers, s[0], s[1], s[2]));
      const Tensors inputs = draw_split(*run.fusion, s, exact);
      const Tensors outputs = run.program.run(inputs);
      ASSERT_EQ(run.program.report().kernels.size(), 1u);
      EXPECT_NE(run.program.report().kernels[0].schedule.find("split = "), std::string::npos);
      expect_right_split(
          check_program(*run.fusion, on_cpu(), run.program, inputs, outputs, {.exact = exact, .one_rank = false}));
    }
  }
}

constexpr const char* kNumbers = "vector = 8, parts = 2, split = 32";
constexpr const char* kSmallNumbers = "vector = 1, parts = 1, split = 1";

// Fewer elements than a vector, one less and one more than a part and than several, all of one specialization.
const std::vector<SplitSizes> kSplitSizes = {{2, 3, 2},   {3, 2, 31},  {2, 5, 32},  {1, 1, 33},
                                             {40, 70, 9}, {2, 33, 97}, {3, 1, 640}, {2, 3, 1001}};

class SplitNorms : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, SplitNorms, ::testing::Values("f32", "f64", "bf16", "f16", "i32", "i8", "u64"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(SplitNorms, Boundaries) { check_split(kNumbers, GetParam(), kSplitSizes); }

TEST(SplitNormsOfSpecialSizes, Cpu) {
  for (const char* numbers : {kNumbers, kSmallNumbers})
    check_split(numbers, "f32", {{2, 3, 0}, {0, 0, 5}, {1, 1, 1}, {3, 1, 40}, {1, 4, 1}, {5, 3, 7}});
}

TEST(SplitNormsOfExactIntegers, Cpu) {
  const std::set<std::string> exact = {"dims_apart", "several_of_two", "everything", "greatest_and_where"};
  for (const test::NormCase& c : test::norm_cases(kNumbers)) {
    if (!exact.contains(c.name)) continue;
    SplitRun run = compile_split(c.text, "f32", on_cpu());
    for (const SplitSizes& s : {SplitSizes{2, 3, 7}, {3, 5, 130}, {70, 2, 65}}) {
      const Tensors inputs = draw_split(*run.fusion, s, true);
      expect_right_split(check_program(*run.fusion, on_cpu(), run.program, inputs, run.program.run(inputs),
                                       {.exact = true, .one_rank = false}));
    }
  }
}

void expect_equal_bits(const std::string& text, const SplitSizes& sizes) {
  std::vector<char> first;
  for (int threads = 1; threads <= 8; ++threads) {
    const auto device = make_cpu_device({.threads = threads});
    CompileOptions how;
    how.device_override = device.get();
    SplitRun run = compile_split(text, "f32", how);
    const std::vector<char> found = testing::bits_of(run.program.run(draw_split(*run.fusion, sizes)));
    if (first.empty()) first = found;
    EXPECT_TRUE(found == first) << text << " on " << threads << " threads";
  }
}

TEST(SplitNormsOnThreads, GiveEqualBits) {
  for (const test::NormCase& c : test::norm_cases(kNumbers)) expect_equal_bits(c.text, {9, 40, 301});
}

// What the scheduler splits by itself.
TEST(SplitNormsOnThreads, ChosenOnesGiveEqualBits) {
  for (const char* body :
       {"(%x: f32[b, n]) -> (%s, %i) {\n%s = sum(%x, dims = [0, 1])\n%i = argmax(%x, dims = [0, 1])\n}\n",
        "(%x: f32[b, n]) -> (%y) {\n%y = softmax(%x, dim = -1)\n}\n",
        "(%x: f32[n, b]) -> (%m, %v) {\n%m, %v = var_mean(%x, dims = [0], correction = 0)\n}\n"}) {
    const std::string text = std::string("let b = 3, n = 100000\nfusion @f ") + body;
    SplitRun run = compile_split(text, "f32", on_cpu());
    const Tensors inputs = draw_split(*run.fusion, {1, 3, 70001});
    expect_right_split(
        check_program(*run.fusion, on_cpu(), run.program, inputs, run.program.run(inputs), {.one_rank = false}));
    ASSERT_EQ(run.program.report().kernels.size(), 1u);
    EXPECT_NE(run.program.report().kernels[0].schedule.find("split = "), std::string::npos) << text;
    expect_equal_bits(text, {1, 3, 70001});
  }
}

// A NaN or an infinity anywhere, in the first part, within and in the last.
TEST(SplitNormsOfNoNumbers, AreAsTheReferenceSays) {
  for (const test::NormCase& c : test::norm_cases(kNumbers)) {
    SplitRun run = compile_split(c.text, "f32", on_cpu());
    const Tensors inputs = draw_split(*run.fusion, {2, 5, 66});
    for (const float bad : {NAN, INFINITY, -INFINITY})
      for (const int64_t at : {0, 40, 65}) {
        SCOPED_TRACE(fmt::format("{}, {} at {}", c.name, bad, at));
        Tensors changed = inputs;
        Tensor& x = changed.at("x");
        Tensor copy = Tensor::empty(x.dtype, x.shape);
        std::memcpy(copy.data(), x.data(), x.bytes());
        static_cast<float*>(copy.data())[at] = bad;
        x = copy;
        expect_right_split(
            check_program(*run.fusion, on_cpu(), run.program, changed, run.program.run(changed), {.one_rank = false}));
      }
  }
}

// The first of equal extrema, whatever parts they lie in.
TEST(SplitNormsOfEqualElements, GiveTheFirst) {
  const std::string text =
      "fusion @f (%x: f32[n]) -> (%i, %j) {\n  segment @s (%x) -> (%i, %j) schedule norm(vector = 8, parts = 2, split "
      "= 16) {\n    %i = argmax(%x, dims = [0])\n    %j = argmin(%x, dims = [0])\n  }\n}\n";
  SplitRun run = compile_split(text, "f32", on_cpu());
  std::vector<double> values(100, 0.0);
  for (const int64_t at : {19, 20, 35, 90}) values[size_t(at)] = 1;
  for (const int64_t at : {50, 67, 99}) values[size_t(at)] = -1;
  Tensors inputs;
  inputs.emplace("x", Tensor::from_doubles(DType::f32, {100}, values));
  const Tensors outputs = run.program.run(inputs);
  EXPECT_EQ(outputs.at("i").to_doubles(), std::vector<double>{19});
  EXPECT_EQ(outputs.at("j").to_doubles(), std::vector<double>{50});
}

TEST(SplitNormsThatDoNotApply, AreRefused) {
  const auto refused = [](const std::string& numbers, const std::string& why) {
    try {
      SplitRun run = compile_split(test::norm_cases(numbers)[0].text, "f32", on_cpu());
      run.program.run(draw_split(*run.fusion, {2, 3, 100}));
      ADD_FAILURE() << numbers;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refused("vector = 8, parts = 2, split = 24", "give a multiple of 16");
  refused("vector = 8, parts = 2, keep = 4096, split = 32", "rows are kept in buffers");
}

}  // namespace
}  // namespace plait
