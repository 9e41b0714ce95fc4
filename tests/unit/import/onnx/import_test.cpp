// Models of ONNX as fusions: names, sizes, weights, and what is refused, all of it at once. The ops: tests/conformance.
#include <gtest/gtest.h>

#include "import/onnx/import_onnx.h"
#include "plait.h"
#include "reference/evaluate.h"
#include "unit/import/onnx/onnx_bytes.h"

namespace plait {
namespace {

using namespace testing::onnx_bytes;  // NOLINT: the words of the models below

std::vector<ImportProblem> problems_of(const std::string& model, const ImportOptions& options = {}) {
  try {
    import_onnx(model, options);
  } catch (const ImportError& e) {
    return e.problems();
  }
  ADD_FAILURE() << "it is imported";
  return {};
}

std::string refusal_of(const std::string& model, const ImportOptions& options = {}) {
  try {
    import_onnx(model, options);
  } catch (const UserError& e) {
    return e.what();
  }
  return "it is imported";
}

void expect_refusal(const std::string& model, const std::string& words, const ImportOptions& options = {}) {
  const std::string text = refusal_of(model, options);
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(ImportOnnx, OpenDimsBecomeSizes) {
  const Imported made = import_onnx(perceptron());
  verify(*made.fusion);
  EXPECT_EQ(print(*made.fusion),
            "fusion @g (\n"
            "  %x: f32[batch, 2],\n"
            "  param %fc_weight: f32[2, 3]\n"
            ") -> (%y) {\n"
            "  %matmul: f32[batch, 3] = matmul(%x, %fc_weight)\n"
            "  %full: f32[3] = full(shape = [3], value = 0.5, dtype = f32)\n"
            "  %add: f32[batch, 3] = add(%matmul, %full)\n"
            "  %reshape: f32[batch, 3, 1] = reshape(%add, shape = [batch, 3, 1])\n"
            "  %y: f32[batch, 3, 1] = softmax(%reshape, dim = 2)\n"
            "}\n");
  EXPECT_EQ(made.format, "ONNX, opset 17, of tests");
  EXPECT_EQ(made.renamed.at("fc_weight"), "fc.weight");
  EXPECT_EQ(made.weights.size(), 1u);
  EXPECT_EQ(made.weights.at("fc_weight").to_doubles(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(ImportOnnx, SizesMayBeNumbers) {
  const Imported made = import_onnx(perceptron(), {.sizes = {{"batch", 4}}});
  EXPECT_EQ(type_text(*made.fusion->outputs()[0]), "f32[4, 3, 1]");
  expect_refusal(perceptron(), "the model has no size `bach`", {.sizes = {{"bach", 4}}});
}

TEST(ImportOnnx, DimsWithoutANameAreCalledAfterTheInput) {
  const Imported made =
      import_onnx(model({{node("Relu", {"x.1"}, {"y"})}, {value("x.1", {"", "and", "a b"})}, {value("y", {})}}));
  EXPECT_EQ(type_text(*made.fusion->inputs()[0]), "f32[x_1_0, and_, a_b]");
  EXPECT_EQ(made.fusion->inputs()[0]->name, "x_1");
}

TEST(ImportOnnx, AllProblemsAreToldAtOnce) {
  const auto all = problems_of(model(
      {{node("NonZero", {"x"}, {"a"}), node("Det", {"x"}, {"b"}), node("NonZero", {"a"}, {"c"}),
        node("Relu", {"b"}, {"d"}), node("Resize", {"x", "", "s"}, {"e"}, attribute("mode", std::string("other"))),
        node("Sum", {"x"}, {"f"})},
       {value("x", {2, 2}), value("s", {4}, kString)},
       {value("f", {})}}));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].reason, "dtype string");
  EXPECT_EQ(all[1].reason, "op NonZero");
  EXPECT_EQ(all[1].count, 2);
  EXPECT_EQ(all[1].nodes, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(all[2].reason, "op Det");
  EXPECT_EQ(all[3].reason, "attribute mode=other of Resize");
  const std::string text = ImportError(all, "m.onnx").what();
  EXPECT_NE(text.find("for 4 reasons"), std::string::npos) << text;
  EXPECT_NE(text.find("op NonZero, 2 times (a, c)"), std::string::npos) << text;
}

TEST(ImportOnnx, NumbersAtImport) {
  const std::string reshape =
      model({{node("Reshape", {"x", "to"}, {"y"})}, {value("x", {4}), value("to", {2}, kInt64)}, {value("y", {})}});
  const auto asked = problems_of(reshape);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].remedy, "give its value: --constant to=VALUE, or constants={\"to\": value} in Python");
  ImportOptions options;
  options.constants["to"] = [](DType dtype) { return Tensor::from_doubles(dtype, {2}, {2, -1}); };
  EXPECT_EQ(type_text(*import_onnx(reshape, options).fusion->outputs()[0]), "f32[2, 2]");
  options.constants["to"] = [](DType) { return Tensor::from_doubles(DType::f32, {2}, {2, -1}); };
  expect_refusal(reshape, "the constant `to` is f32, and the model has i64", options);
  options.constants.clear();
  options.constants["two"] = [](DType dtype) { return Tensor::from_doubles(dtype, {}, {2}); };
  expect_refusal(reshape, "the model has no input `two`", options);
}

TEST(ImportOnnx, SizesThatAreAskedFor) {
  const std::string text =
      model({{node("LRN", {"x"}, {"y"}, attribute("size", 3))}, {value("x", {"n", "c", 4})}, {value("y", {})}});
  const auto asked = problems_of(text);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].remedy, "--set c=1");
  EXPECT_EQ(type_text(*import_onnx(text, {.sizes = {{"c", 5}}}).fusion->outputs()[0]), "f32[n, 5, 4]");
}

TEST(ImportOnnx, OpsetsOfARange) {
  const auto of = [](int64_t opset) {
    return model({{node("Relu", {"x"}, {"y"})}, {value("x", {2})}, {value("y", {2})}}, opset);
  };
  for (const int64_t opset : {1, 13, 23}) EXPECT_EQ(import_onnx(of(opset)).fusion->ops().size(), 1u);
  for (const int64_t opset : {0, -1, 24, 99}) expect_refusal(of(opset), fmt::format("opset {}", opset));
}

TEST(ImportOnnx, OperandsAndResultsThatNobodyKnowsAreRefused) {
  expect_refusal(model({{node("Relu", {"x", "x"}, {"y"})}, {value("x", {2})}, {value("y", {2})}}), "Relu");
  expect_refusal(model({{node("Flatten", {"x", "x"}, {"y"})}, {value("x", {2})}, {value("y", {2})}}),
                 "operand 1 of Flatten");
  expect_refusal(model({{node("Relu", {"x"}, {"y", "z"})}, {value("x", {2})}, {value("y", {2})}}), "result 1 of Relu");
}

TEST(ImportOnnx, GraphsThatAreNone) {
  const std::vector<std::string> x = {value("x", {2})}, y = {value("y", {2})};
  expect_refusal(model({{node("Relu", {"b"}, {"y"}), node("Relu", {"x"}, {"b"})}, x, y}),
                 "no node before it gives `b`");
  expect_refusal(model({{node("Add", {"x", "y"}, {"y"})}, x, y}), "no node before it gives `y`");
  expect_refusal(model({{node("Relu", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}, x, y}), "`y` is given twice");
  expect_refusal(model({{node("Relu", {"x"}, {"x"})}, x, x}), "`x` is given twice");
  expect_refusal(model({{node("Relu", {"x"}, {"y"})}, {x[0], x[0]}, y}), "`x` is there twice");
  expect_refusal(model({{}, x, y}), "no node gives the output `y`");
  expect_refusal(model({{node("Relu", {}, {"y"})}, x, y}), "it has no operands");
  expect_refusal(model({{node("Relu", {"x"}, {"y"})}, {bytes(1, "x")}, y}), "an input without type or shape");
  expect_refusal(model({{node("Relu", {"x"}, {"y"})}, x, y, {floats("w", {1}, {1}), floats("w", {1}, {2})}}),
                 "initializer `w` is there twice");
}

TEST(ImportOnnx, AnInputMayBeAnOutputAndAnOutputTwo) {
  const Imported made = import_onnx(model({{node("Relu", {"x"}, {"y"}), node("Identity", {"y"}, {"z"})},
                                           {value("x", {2})},
                                           {value("x", {2}), value("y", {2}), value("z", {2})}}));
  verify(*made.fusion);
  EXPECT_EQ(made.fusion->outputs().size(), 3u);
}

TEST(ImportOnnx, LoopsOfManyStepsAreRefused) {
  const std::string body = graph({{node("Identity", {"go"}, {"next"}), node("Add", {"v", "v"}, {"w"})},
                                  {value("i", {}, kInt64), value("go", {}, 9), value("v", {2})},
                                  {value("next", {}, 9), value("w", {2})}});
  const auto loop = [&](int64_t trips) {
    return model({{node("Loop", {"trips", "", "x"}, {"y"}, graph_attribute("body", body))},
                  {value("x", {2})},
                  {value("y", {2})},
                  {tensor("trips", kInt64, {}, raw(std::vector<int64_t>{trips}))}});
  };
  EXPECT_EQ(import_onnx(loop(5)).fusion->ops().size(), 5u);
  expect_refusal(loop(int64_t{1} << 40), "more than 1000 trips");
}

TEST(ImportOnnx, WhatNoOutputNeedsIsLeftOut) {
  const Imported made = import_onnx(model({{node("Relu", {"x"}, {"y"}), node("Mul", {"x", "w"}, {"z"})},
                                           {value("x", {2}), value("unread", {3})},
                                           {value("y", {2})},
                                           {floats("w", {2}, {1, 2})}}));
  EXPECT_TRUE(made.weights.empty());
  EXPECT_EQ(made.fusion->ops().size(), 1u);
  EXPECT_EQ(made.fusion->inputs().size(), 2u);  // of the model, read or not
}

}  // namespace
}  // namespace plait
