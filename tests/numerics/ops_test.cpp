// Every primitive op over shapes and dtypes, on every device, against the reference.
#include <gtest/gtest.h>

#include "base/error.h"
#include "check_program.h"
#include "reference/draw_inputs.h"
#include "support/op_cases.h"
#include "support/run_case.h"

namespace plait {
namespace {

using Shape = std::array<int64_t, 4>;  // a, b, c, d

// One compiled program serves all sizes from 2 on; 0 and 1 have programs of their own.
const std::vector<Shape> kGeneral = {{2, 3, 5, 4}, {3, 2, 17, 2}, {2, 4, 33, 3}, {5, 7, 8, 2}, {3, 8, 31, 9}};
const std::vector<Shape> kSpecial = {{2, 3, 0, 2}, {0, 3, 4, 2}, {1, 1, 1, 1}, {3, 1, 16, 0}, {2, 5, 1, 3}};

void check(const test::OpCase& c, const std::string& device, const std::string& dtype,
           const std::vector<Shape>& shapes) {
  if (!c.takes(*parse_dtype(dtype))) return;
  ParseOptions parse;
  parse.set["T"] = dtype;
  const auto fusion = parse_fusion(c.text, parse);
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
    const Tensors outputs = program.run(inputs);
    const ProgramCheck result = check_program(*fusion, how, program, inputs, outputs, {.one_rank = false});
    EXPECT_TRUE(result.all.ok) << result.all.message;
  }
}

void check_all(const std::string& device, const std::string& dtype, const std::vector<Shape>& shapes) {
  if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  for (const test::OpCase& c : test::op_cases()) check(c, device, dtype, shapes);
}

class OpsOnCpu : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, OpsOnCpu, ::testing::Values("f32", "f64", "bf16", "i64", "bool"),
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

}  // namespace
}  // namespace plait
