// Groups of rows on the CPU: every case over sizes and dtypes against the reference, schedules that are pinned, rows
// that are not numbers, numbers of threads.
#include <gtest/gtest.h>

#include <algorithm>
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

using NormSizes = std::array<int64_t, 3>;  // a, b, n

// Whose reduced dims are not the innermost in memory: they have no rows to put together, and keep none.
bool of_columns(const test::NormCase& c) { return std::string(c.name).starts_with("columns"); }

std::unique_ptr<Fusion> parse_norm(const test::NormCase& c, const std::string& dtype) {
  ParseOptions parse;
  parse.set["T"] = dtype;
  parse.set["W"] = dtype == "f64" ? "f64" : "f32";
  return parse_fusion(c.text, parse);
}

Tensors draw_norm(const Fusion& fusion, const NormSizes& s, bool exact = false) {
  reference::DrawOptions how;
  how.sizes = {{"a", s[0]}, {"b", s[1]}, {"n", s[2]}};
  how.seed = static_cast<uint64_t>(s[2] + s[1]);
  how.exact = exact;
  const auto drawn = reference::draw_inputs(fusion, how);
  return {drawn.begin(), drawn.end()};
}

// Every output is right, or NaN throughout on both sides, as variances of nothing are.
void expect_right_norm(const ProgramCheck& check) {
  for (const OutputCheck& output : check.outputs) {
    const bool is_nan = output.reference.message.find("nothing was compared") != std::string::npos;
    EXPECT_TRUE(output.reference.ok || is_nan) << output.reference.message;
  }
}

void check_norm(const test::NormCase& c, const std::string& dtype, const std::vector<NormSizes>& sizes,
                bool exact = false) {
  const auto fusion = parse_norm(c, dtype);
  CompileOptions how;
  how.device = "cpu";
  Compiled program = compile(*fusion, how);
  for (const NormSizes& s : sizes) {
    if (s[2] > c.most) continue;
    SCOPED_TRACE(fmt::format("{} of {}, a = {}, b = {}, n = {}", c.name, dtype, s[0], s[1], s[2]));
    const Tensors inputs = draw_norm(*fusion, s, exact);
    const Tensors outputs = program.run(inputs);
    EXPECT_EQ(program.report().kernels.size(), 1u);
    EXPECT_EQ(program.report().kernels[0].schedule.rfind("norm(", 0), 0u);
    expect_right_norm(check_program(*fusion, how, program, inputs, outputs, {.exact = exact, .one_rank = false}));
  }
}

// One less and one more than vectors, parts and what a buffer holds.
const std::vector<NormSizes> kNormSizes = {{2, 3, 2},   {3, 2, 7},    {2, 5, 63},   {2, 3, 64},   {2, 3, 65},
                                           {5, 7, 129}, {2, 2, 2047}, {3, 2, 2048}, {2, 2, 2049}, {2, 3, 20001}};
const std::vector<NormSizes> kSpecialNormSizes = {{2, 3, 0}, {0, 0, 5}, {1, 1, 1}, {3, 1, 40}, {1, 4, 1}};

class Norms : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Norms, ::testing::Values("f32", "f64", "bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Norms, GeneralSizes) {
  for (const test::NormCase& c : test::norm_cases()) check_norm(c, GetParam(), kNormSizes);
}

TEST(NormsOfSpecialSizes, Cpu) {
  for (const test::NormCase& c : test::norm_cases())
    for (const NormSizes& s : kSpecialNormSizes) check_norm(c, "f32", {s});
}

TEST(NormsOfIntegers, Cpu) {
  for (const test::NormCase& c : test::norm_cases())
    if (!c.floats_only)
      for (const char* dtype : {"i32", "i8", "u16", "u64"}) check_norm(c, dtype, {kNormSizes[1], kNormSizes[5]});
}

TEST_P(Norms, Scans) {
  for (const test::NormCase& c : test::scan_cases()) {
    check_norm(c, GetParam(), kNormSizes);
    check_norm(c, GetParam(), kSpecialNormSizes);
  }
}

TEST(ScansOfIntegers, Cpu) {
  for (const test::NormCase& c : test::scan_cases())
    if (!c.floats_only)
      for (const char* dtype : {"i32", "i8", "u16", "u64"}) check_norm(c, dtype, {kNormSizes[1], kNormSizes[5]});
}

TEST(ScansThatArePinned, Cpu) {
  for (const char* numbers : {"vector = 1, parts = 1", "vector = 4, rows = 3, parts = 2, keep = 256", "parts = 1",
                              "vector = 16, parts = 3, keep = 0"})
    for (const test::NormCase& c : test::scan_cases(numbers))
      if ((!of_columns(c) || std::string(numbers).find("rows") == std::string::npos) &&
          ((c.name != std::string("moving_means") && c.name != std::string("turned")) ||
           std::string(numbers).find("keep = 0") == std::string::npos))
        check_norm(c, "f32", {{2, 3, 5}, {3, 4, 100}, {2, 3, 200}});
}

// Tasks that share rows: one less and one more than their parts.
TEST(ScansOfSharedRows, Cpu) {
  for (const test::NormCase& c : test::scan_cases()) check_norm(c, "f32", {{1, 2, 40003}, {2, 300, 5}, {1, 3, 32768}});
  for (const test::NormCase& c : test::scan_cases("vector = 8, parts = 2, split = 48"))
    if (c.name != std::string("moving_means") && c.name != std::string("turned") &&
        c.name != std::string("extrema_and_where") && c.name != std::string("log_of_sums") &&
        c.name != std::string("columns"))
      for (const char* dtype : {"f32", "f64", "bf16"})
        check_norm(c, dtype, {{2, 3, 0}, {0, 2, 5}, {2, 3, 1}, {3, 47, 48}, {2, 3, 49}, {2, 97, 96}, {1, 50, 500}});
}

// Sums of small integers are exact.
TEST(ScansOfExactIntegers, Cpu) {
  for (const test::NormCase& c : test::scan_cases())
    if (c.name == std::string("normalised_from_the_end") || c.name == std::string("extrema_and_where"))
      check_norm(c, "f32", {{2, 3, 7}, {3, 5, 130}}, true);
}

// Numbers that a file pins: few lanes, rows together, short parts, buffers and none.
TEST(NormsThatArePinned, Cpu) {
  for (const char* numbers : {"vector = 1, parts = 1, keep = 0", "vector = 4, rows = 3, parts = 2, keep = 256",
                              "vector = 8, rows = 2", "vector = 16, parts = 3, keep = 0", "parts = 1"})
    for (const test::NormCase& c : test::norm_cases(numbers))
      if ((!of_columns(c) || (std::string(numbers).find("rows") == std::string::npos)) &&
          (c.name != std::string("softmax_of_dims_apart") || std::string(numbers).find("256") == std::string::npos))
        check_norm(c, "f32", {{2, 3, 5}, {3, 4, 100}, {2, 3, 200}});
}

// Sums of small integers are exact in any order.
TEST(NormsOfExactIntegers, Cpu) {
  for (const test::NormCase& c : test::norm_cases()) {
    const std::string name = c.name;
    if (name == "dims_apart" || name == "several_of_two" || name == "everything" || name == "greatest_and_where")
      check_norm(c, "f32", {{2, 3, 7}, {3, 5, 130}}, true);
  }
}

TEST(NormsOnThreads, GiveEqualBits) {
  std::vector<test::NormCase> all = test::norm_cases();
  for (test::NormCase& c : test::scan_cases()) all.push_back(std::move(c));
  for (const test::NormCase& c : all) {
    const auto fusion = parse_norm(c, "f32");
    const Tensors inputs = draw_norm(*fusion, {9, 40, 3001});
    std::vector<char> first;
    for (int threads : {1, 2, 3, 8}) {
      const auto device = make_cpu_device({.threads = threads});
      CompileOptions how;
      how.device_override = device.get();
      const std::vector<char> found = testing::bits_of(compile(*fusion, how).run(inputs));
      if (first.empty()) first = found;
      EXPECT_TRUE(found == first) << c.name << " on " << threads << " threads";
    }
  }
}

// A row with a NaN or an infinity is wrong by itself: the others keep their bits.
TEST(NormsOfRowsThatAreNoNumbers, LeaveTheOthersAlone) {
  for (const test::NormCase& c : test::norm_cases()) {
    const std::string name = c.name;
    if (of_columns(c) || name == "everything" || name == "dims_apart" || name == "norm_of_two_dims" ||
        name == "rms_norm_of_tanh" || name == "softmax_of_dims_apart")
      continue;
    const auto fusion = parse_norm(c, "f32");
    CompileOptions how;
    how.device = "cpu";
    Compiled program = compile(*fusion, how);
    const int64_t n = 131;
    const Tensors inputs = draw_norm(*fusion, {2, 5, n});
    const Tensors before = program.run(inputs);
    for (const float bad : {NAN, INFINITY, -INFINITY})
      for (const int64_t at : {int64_t{0}, int64_t{70}, n - 1}) {
        SCOPED_TRACE(fmt::format("{}, {} at {}", c.name, bad, at));
        Tensors changed = inputs;
        Tensor& x = changed.at("x");
        Tensor copy = Tensor::empty(x.dtype, x.shape);
        std::memcpy(copy.data(), x.data(), x.bytes());
        static_cast<float*>(copy.data())[2 * n + at] = bad;
        x = copy;
        const Tensors outputs = program.run(changed);
        expect_right_norm(check_program(*fusion, how, program, changed, outputs, {.one_rank = false}));
        for (const auto& [output, t] : outputs) {
          const size_t row = t.bytes() / 5;
          const char *now = static_cast<const char*>(t.data()),
                     *then = static_cast<const char*>(before.at(output).data());
          for (size_t r : {0, 1, 3, 4})
            EXPECT_EQ(std::memcmp(now + r * row, then + r * row, row), 0) << output << " row " << r;
        }
      }
  }
}

}  // namespace
}  // namespace plait
