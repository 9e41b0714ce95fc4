// The schema says what a text may hold of every op: its parts are those that the parser knows.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "ir/fusion.h"
#include "ir/make_op.h"
#include "ir/schema.h"

namespace plait {
namespace {

std::map<std::string, OpSchema> by_name() {
  std::map<std::string, OpSchema> out;
  for (OpSchema& schema : op_schemas()) out.emplace(schema.name, std::move(schema));
  return out;
}

// "%in, dims: ints, keepdim: bool = false".
std::string text(const OpSchema& schema) {
  std::string out;
  for (const ParameterSchema& p : schema.parameters) {
    const bool tensor = p.type.starts_with("tensor");
    out += (out.empty() ? "" : ", ") + std::string(tensor ? "%" : "") + p.name;
    if (p.role == "optional" || p.role == "named") out += "?";
    if (p.role == "required") out += "!";
    if (!tensor) out += ": " + std::string(p.type) + (p.initial ? " = " + *p.initial : "");
  }
  return out;
}

TEST(Schema, HasEveryNameOnce) {
  const auto schemas = by_name();
  EXPECT_EQ(schemas.size(), op_schemas().size());
  for (const std::string& name : op_names()) {
    ASSERT_TRUE(schemas.count(name)) << name;
    EXPECT_EQ(schemas.at(name).kind, make_op(name)->kind) << name;
  }
}

TEST(Schema, PartsOfSomeOps) {
  const auto schemas = by_name();
  const std::map<std::string, std::string> wanted = {
      {"add", "%x, %y"},
      {"cast", "%x, to!: dtype"},
      {"gelu", "%x, approx: approx = none"},
      {"full", "shape!: extents, value!: constant, dtype!: dtype"},
      {"uniform", "shape!: extents, %seed!, offset: int"},
      {"linear", "%x, %w, %b?"},
      {"argmax", "%in, dims: ints, keepdim: bool = false"},
      {"var_mean", "%in, dims: ints, correction: int = 1, keepdim: bool = false"},
      {"pad", "%in, low: extents, high: extents, value: float = 0"},
      {"gather", "%in, %index, dim!: int, bounds: bounds = check"},
      {"mse", "%x, %y, reduction: reduction = mean"},
      {"batch_norm", "%x, %w?, %b?, %mean?, %var?, eps: float = 1e-05, statistics: bool = false"},
      {"all_reduce", "%in, team!: team, reduce: reduce = sum"},
  };
  for (const auto& [name, parts] : wanted) EXPECT_EQ(text(schemas.at(name)), parts) << name;
}

TEST(Schema, Results) {
  const auto schemas = by_name();
  using Names = std::vector<std::string>;
  EXPECT_EQ(schemas.at("tanh").results, Names{"tanh"});
  EXPECT_EQ(schemas.at("amin").results, Names{"amin"});
  EXPECT_EQ(schemas.at("var_mean").results, (Names{"mean", "var"}));
  EXPECT_EQ(schemas.at("var_mean").with, "");
  EXPECT_EQ(schemas.at("rms_norm").results, (Names{"rms_norm", "rms_norm_rstd"}));
  EXPECT_EQ(schemas.at("rms_norm").with, "statistics");
  EXPECT_TRUE(schemas.at("split").results.empty());  // as many as it has sizes
}

// A call with all operands and nothing else is refused for the first thing that the schema requires, by name.
TEST(Schema, WhatIsRequiredIsMissed) {
  for (const OpSchema& schema : op_schemas()) {
    std::string operands, required;
    for (const ParameterSchema& p : schema.parameters) {
      if (p.role == "operand") operands += operands.empty() ? "%x" : ", %x";
      if (p.role == "required" && required.empty()) required = p.name;
    }
    const bool own_words = schema.kind == OpKind::PointwiseOp || property(schema.kind) == OpProperty::communication;
    if (required.empty() || own_words) continue;
    Fusion f;
    f.input("x", {4, 4}, f32);
    std::string refusal;
    try {
      parse_statement(f, schema.name + "(" + operands + ")");
    } catch (const UserError& error) {
      refusal = error.message();
    }
    EXPECT_NE(refusal.find("lacks"), std::string::npos) << schema.name << ": " << refusal;
    EXPECT_NE(refusal.find("`" + required + "`"), std::string::npos) << schema.name << ": " << refusal;
  }
}

TEST(Schema, AsJson) {
  const std::string json = op_schemas_json();
  EXPECT_NE(
      json.find(R"({"name": "var_mean", "kind": "VarMean", "property": "reduction", "parameters": [{"name": "in", )"
                R"("role": "operand", "type": "tensor"}, )"),
      std::string::npos);
  EXPECT_NE(json.find(R"({"name": "keepdim", "role": "attribute", "type": "bool", "initial": "false"}], )"
                      R"("results": ["mean", "var"]})"),
            std::string::npos);
  EXPECT_NE(json.find(R"("results": ["rms_norm", "rms_norm_rstd"], "with": "statistics"})"), std::string::npos);
}

}  // namespace
}  // namespace plait
