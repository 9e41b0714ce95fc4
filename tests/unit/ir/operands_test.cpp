// Numbers and calls where an operand may stand.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/refusal.h"
#include "support/round_trip.h"

namespace plait {
namespace {

std::string body(const std::string& statements) {
  return "fusion @f (%x: f32[4], %w: bf16[4], %i: i32[4], %b: bool[4], %seed: u64[]) -> (%y) {\n" + statements +
         "\n}\n";
}

// The text of the body's statements, read and printed.
std::string printed(const std::string& statements) {
  const auto fusion = parse_fusion(body(statements), {.file = "a.plait"});
  verify(*fusion);
  EXPECT_EQ(test::round_trip_problem(*fusion), "");
  const std::string text = print(*fusion);
  const size_t begin = text.find(") {\n") + 4;
  return text.substr(begin, text.rfind("}\n") - begin);
}

std::string refused(const std::string& statements) {
  return testing::refusal([&] { parse_fusion(body(statements), {.file = "a.plait"}); });
}

TEST(Operands, CallsBecomeNamedValues) {
  EXPECT_EQ(printed("%y = add(mul(%x, %x), neg(abs(%x)))"),
            "  %y_mul: f32[4] = mul(%x, %x)\n  %y_abs: f32[4] = abs(%x)\n  %y_neg: f32[4] = neg(%y_abs)\n"
            "  %y: f32[4] = add(%y_mul, %y_neg)\n");
  // Names that the text has, above or below, are not taken.
  EXPECT_EQ(printed("%t = neg(mul(%x, %x))\n%t_mul = abs(%t)\n%y = add(%t_mul, %t)"),
            "  %t_mul_1: f32[4] = mul(%x, %x)\n  %t: f32[4] = neg(%t_mul_1)\n  %t_mul: f32[4] = abs(%t)\n"
            "  %y: f32[4] = add(%t_mul, %t)\n");
}

TEST(Operands, NumbersTakeThePromotedDtype) {
  const auto dtype = [](const std::string& call) {
    const auto fusion = parse_fusion(body("%y = " + call), {.file = "a.plait"});
    EXPECT_EQ(test::round_trip_problem(*fusion), "");
    std::string out;
    for (const Op* op : fusion->ops()) out += (out.empty() ? "" : " ") + std::string(name(op->out()->dtype));
    return out;
  };
  EXPECT_EQ(dtype("mul(%x, 0.5)"), "f32 f32");
  EXPECT_EQ(dtype("mul(2, %w)"), "bf16 bf16");
  EXPECT_EQ(dtype("add(%i, 3)"), "i32 i32");
  EXPECT_EQ(dtype("mul(%i, 0.5)"), "f32 f32");
  EXPECT_EQ(dtype("add(%b, 1)"), "i64 i64");
  EXPECT_EQ(dtype("where(%b, %w, 0)"), "bf16 bf16");
  EXPECT_EQ(dtype("where(%b, 1.5, -inf)"), "f32 f32 f32");
  EXPECT_EQ(dtype("clamp(%x, -1, 1e-3)"), "f32 f32 f32");
  EXPECT_EQ(dtype("logical_and(%b, true)"), "bool bool");
  EXPECT_EQ(printed("%y = mul(%x, 0.5)"),
            "  %y_full: f32[] = full(shape = [], value = 0.5, dtype = f32)\n  %y: f32[4] = mul(%x, %y_full)\n");
}

TEST(Operands, StandWhereNamedOnesDo) {
  EXPECT_NE(printed("%y = dropout(mul(%x, 2), p = 0.5, seed = add(%seed, 1))").find("seed = %y_add"),
            std::string::npos);
}

TEST(Operands, OfStatementsAlone) {
  Fusion f(Mesh(), "f");
  f.input("x", {4}, DType::f32);
  EXPECT_EQ(parse_statement(f, "mul(neg(%x), 2)")[0]->name, "mul");
  const size_t count = f.tensor_count();
  EXPECT_THROW(parse_statement(f, "%t = add(neg(%x), relu(%x), %x)"), UserError);
  EXPECT_EQ(f.tensor_count(), count);
}

TEST(Operands, StandInSegments) {
  const auto fusion =
      parse_fusion("fusion @f (%x: f32[4]) -> (%y) {\n  segment @s (%x) -> (%y) {\n    %y = mul(neg(%x), 2)\n  }\n}\n",
                   {.file = "a.plait"});
  ASSERT_EQ(fusion->segments.size(), 1u);
  EXPECT_EQ(fusion->segments[0].ops.size(), 3u);
  EXPECT_EQ(test::round_trip_problem(*fusion), "");
}

TEST(Operands, BadOnesAreRefusedWithTheirLine) {
  EXPECT_EQ(refused("%y = add(%x, nag(%x))"),
            "there is no op `nag`\n  at: a.plait:2:14\n  help: did you mean `neg`?\n  | %y = add(%x, nag(%x))\n"
            "  |              ^");
  EXPECT_NE(refused("%y = add(%x, neg(%y))").find("%y is used in its own definition"), std::string::npos);
  EXPECT_NE(refused("%y = cat(%x, 2, dim = 0)").find("cat takes tensors, found the number `2`"), std::string::npos);
  EXPECT_NE(refused("%y = cast(2, to = f32)").find("cast takes tensors"), std::string::npos);
  EXPECT_NE(refused("%y = add(%x, 1.5x)").find("`1.5x` is no f32 constant"), std::string::npos);
  EXPECT_NE(refused("%y = add(%i, 99999999999)").find("`99999999999` is no i32 constant"), std::string::npos);
  EXPECT_NE(refused("%y = add(%x, neg %x)").find("`neg` stands without the name of its attribute"), std::string::npos);
}

TEST(Operands, DeepNestingIsRefused) {
  const auto nested = [](size_t depth) {
    std::string out = "%y = ";
    for (size_t i = 0; i < depth; ++i) out += "neg(";
    return out + "%x" + std::string(depth, ')');
  };
  EXPECT_EQ(refused(nested(100)), "not refused");
  EXPECT_NE(refused(nested(100000)).find("more than 100 calls within each other"), std::string::npos);
  std::string open = "%y = ";
  for (int i = 0; i < 100000; ++i) open += "add(";
  EXPECT_NE(refused(open).find("more than 100 calls"), std::string::npos);
}

}  // namespace
}  // namespace plait
