// Every pointwise op in a graph, on every dtype that it takes, with exact operands and with operands that carry an
// error: cpu and the simulated GPU stay within the reference's radius.
#include <gtest/gtest.h>

#include "scalar/pointwise.h"
#include "support/run_case.h"

namespace plait {
namespace {

std::string spelled(Pointwise op, const std::string& operands) {
  if (op == Pointwise::gelu_erf) return "gelu(" + operands + ")";
  if (op == Pointwise::gelu_tanh) return "gelu(" + operands + ", approx = tanh)";
  return fmt::format("{}({})", name(op), operands);
}

// The result of `op` on operands of `dtype`; empty where it refuses them.
std::string result_text(Pointwise op, DType dtype) {
  std::vector<DType> types(static_cast<size_t>(info(op).arity), dtype);
  if (op == Pointwise::where) types[0] = DType::boolean;
  if (op == Pointwise::cast) return "";
  try {
    return std::string(name(result_type(op, types)));
  } catch (const UserError&) {
    return "";
  }
}

// Graphs of up to 16 ops on x, y, z, or on products of them.
std::vector<std::string> graphs(DType dtype, bool products) {
  const std::string type(name(dtype)), given = fmt::format("{}[20, 20]", type);
  std::vector<std::string> out;
  std::string body, results;
  int count = 0;
  const auto finish = [&] {
    if (count == 0) return;
    std::string text = fmt::format("fusion @ops (%x: {0}, %y: {0}, %z: {0}, %c: bool[20, 20]) -> ({1}) {{\n", given,
                                   results.substr(2));
    if (products) text += "  %a = mul(%x, %y)\n  %b = mul(%y, %z)\n";
    out.push_back(text + body + "}\n");
    body.clear(), results.clear();
    count = 0;
  };
  for (int i = 0; i < kPointwiseCount; ++i) {
    const auto op = Pointwise(i);
    if (result_text(op, dtype).empty() || (products && info(op).discontinuous)) continue;
    const std::string x = products ? "%a" : "%x", y = products ? "%b" : "%y";
    const int arity = info(op).arity;
    const std::string operands = op == Pointwise::where ? fmt::format("%c, {}, {}", x, y)
                                 : arity == 1           ? x
                                 : arity == 2           ? x + ", " + y
                                                        : x + ", " + y + ", %z";
    body += fmt::format("  %r_{} = {}\n", name(op), spelled(op, operands));
    results += fmt::format(", %r_{}", name(op));
    if (++count == 16) finish();
  }
  finish();
  return out;
}

void check(const std::string& device, DType dtype, bool products) {
  if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  for (const std::string& text : graphs(dtype, products)) {
    testing::CaseOptions how;
    how.device = device;
    const testing::CaseResult result = testing::run_case(text, how);
    EXPECT_TRUE(result.ok) << device << " " << name(dtype) << ": " << result.message << "\n" << text;
    EXPECT_LE(result.max_error, 1) << device << " " << name(dtype) << "\n" << text;
  }
}

class PointwiseOps : public ::testing::TestWithParam<std::tuple<const char*, DType>> {};

TEST_P(PointwiseOps, ExactOperands) { check(std::get<0>(GetParam()), std::get<1>(GetParam()), false); }
TEST_P(PointwiseOps, OperandsWithErrors) {
  if (!is_float(std::get<1>(GetParam()))) GTEST_SKIP() << "integers carry no error";
  check(std::get<0>(GetParam()), std::get<1>(GetParam()), true);
}

// An op that stands alone may be computed in the type that it is stored in.
void check_alone(Pointwise op, DType dtype) {
  if (result_text(op, dtype).empty()) return;
  const char* const operands[] = {"%x", "%x, %y", "%x, %y, %x"};
  const std::string in = op == Pointwise::where ? "%c, %x, %y" : operands[info(op).arity - 1];
  const std::string text =
      fmt::format("fusion @op (%x: {0}[3, 17], %y: {0}[17], %c: bool[17]) -> (%r) {{\n  %r = {1}\n}}\n", name(dtype),
                  spelled(op, in));
  for (const int64_t lanes : {0, 1}) {
    testing::CaseOptions how;
    how.options.cpu_lanes = lanes;
    const testing::CaseResult result = testing::run_case(text, how);
    EXPECT_TRUE(result.ok) << lanes << " lanes: " << result.message << "\n" << text;
  }
}

TEST(PointwiseOpsAlone, OfTwoNarrowOperands) {
  for (const Pointwise op : {Pointwise::fmin, Pointwise::fmax, Pointwise::min, Pointwise::max, Pointwise::copysign})
    for (const DType dtype : {DType::f16, DType::bf16}) check_alone(op, dtype);
}
TEST(PointwiseOpsAlone, LongRunOfAllTypes) {
  for (int i = 0; i < kPointwiseCount; ++i)
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i8})
      check_alone(Pointwise(i), dtype);
}

INSTANTIATE_TEST_SUITE_P(All, PointwiseOps,
                         ::testing::Combine(::testing::Values("reference", "cpu", "sim:sm_90a"),
                                            ::testing::Values(DType::f32, DType::f64, DType::bf16, DType::i64,
                                                              DType::u8, DType::boolean)),
                         [](const auto& info) {
                           const std::string device = std::get<0>(info.param);
                           return fmt::format("{}_{}", device.substr(0, device.find(':')),
                                              name(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace plait
