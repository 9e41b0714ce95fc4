// StableHLO's text: what is read, what is refused and where. What ops compute: examples_test.cpp.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "import/stablehlo/import_stablehlo.h"
#include "plait.h"

namespace plait {
namespace {

// @main of one input x: tensor<2x3xf32> and these lines, which return %y of that type or of `result`.
std::string of_lines(const std::string& lines, const std::string& result = "tensor<2x3xf32>") {
  return "module @m {\n  func.func public @main(%x: tensor<2x3xf32>) -> " + result + " {\n" + lines +
         "\n    return %y : " + result + "\n  }\n}\n";
}

std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  try {
    const Imported made = import_stablehlo(text, options);
    verify(*made.fusion);
    return "it is imported";
  } catch (const UserError& e) {
    return e.what();
  }
}

void expect_refused(const std::string& text, const std::string& words) {
  const std::string said = refusal(text);
  EXPECT_NE(said.find(words), std::string::npos) << said;
}

std::string fusion_of(const std::string& text) {
  const Imported made = import_stablehlo(text);
  verify(*made.fusion);
  return print(*made.fusion);
}

TEST(ImportStablehlo, OneFunction) {
  EXPECT_EQ(
      fusion_of(
          "// A comment.\nmodule @jit_f {\n func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>)\n   -> "
          "(tensor<2x4xf32> "
          "{jax.result_info = \"out['y']\"}) {\n %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
          "(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc(#loc1)\n return %0 : tensor<2x4xf32>\n "
          "}\n}\n#loc1 = loc(\"f\")\n"),
      "fusion @f (\n  %x: f32[2, 3],\n  %w: f32[3, 4]\n) -> (%out_y) {\n  %out_y: f32[2, 4] = matmul(%x, %w)\n}\n");
  EXPECT_EQ(fusion_of("func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {\n return %x : tensor<2xf32>\n}"),
            "fusion @model (\n  %x: f32[2]\n) -> (%result) {\n  %result: f32[2] = set(%x)\n}\n");
}

TEST(ImportStablehlo, Constants) {
  const auto value = [](const std::string& dense, const std::string& type) {
    const Imported made = import_stablehlo("func.func @f() -> " + type + " {\n %c = stablehlo.constant " + dense +
                                           " : " + type + "\n return %c : " + type + "\n}");
    return made.weights.empty() ? print(*made.fusion->ops()[0], *made.fusion)
                                : fmt::format("{}", made.weights.begin()->second.at(1));
  };
  EXPECT_NE(value("dense<0x7F800000>", "tensor<f32>").find("value = inf"), std::string::npos);
  EXPECT_NE(value("dense<18446744073709551615>", "tensor<3xui64>").find("value = 18446744073709551615"),
            std::string::npos);
  EXPECT_EQ(value("dense<[1, -2]>", "tensor<2xi64>"), "-2");
  EXPECT_EQ(value("dense<\"0x0000803F00000040\">", "tensor<2xf32>"), "2");
  EXPECT_EQ(value("dense<\"0x02\">", "tensor<3xi1>"), "1");
  EXPECT_NE(value("dense<true>", "tensor<1000000x1000000xi1>").find("value = true"), std::string::npos);
  EXPECT_EQ(value("dense<[[0.5, 1.0e1], [0x40400000, 4]]>", "tensor<2x2xf32>"), "10");
}

TEST(ImportStablehlo, AllProblemsAreToldAtOnce) {
  try {
    import_stablehlo(
        of_lines("%0 = stablehlo.fft %x, type = FFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                 "%1 = stablehlo.custom_call @cusolver(%x) {api = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                 "%2 = stablehlo.custom_call @cusolver(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                 "%3 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf4E2M1FN>\n"
                 "%y = stablehlo.add %1, %2 : tensor<2x3xf32>"));
    FAIL();
  } catch (const ImportError& e) {
    ASSERT_EQ(e.problems().size(), 3u) << e.what();
    EXPECT_EQ(e.problems()[0].reason, "op fft");
    EXPECT_EQ(e.problems()[0].nodes, std::vector<std::string>{"%0, line 3"});
    EXPECT_EQ(e.problems()[1].reason, "custom_call @cusolver");
    EXPECT_EQ(e.problems()[1].count, 2);
    EXPECT_EQ(e.problems()[2].reason, "dtype f4E2M1FN");
  }
}

TEST(ImportStablehlo, ShardingsAreNoted) {
  const Imported made = import_stablehlo(
      "module @m attributes {mhlo.num_partitions = 2 : i32} {\n sdy.mesh @mesh = <[\"x\"=2]>\n func.func public "
      "@main(%x: tensor<4xf32> "
      "{mhlo.sharding = \"{replicated}\"}) -> (tensor<4xf32> {mhlo.sharding = \"{replicated}\"}) {\n %0 = "
      "stablehlo.custom_call @Sharding(%x) "
      "{mhlo.sharding = \"{devices=[2]<=[2]}\"} : (tensor<4xf32>) -> tensor<4xf32>\n %1 = sdy.sharding_constraint %0 "
      "<@mesh, [{\"x\"}]> : "
      "tensor<4xf32>\n return %1 : tensor<4xf32>\n }\n}");
  ASSERT_EQ(made.notes.size(), 2u);
  EXPECT_NE(made.notes[1].find("mhlo.sharding is left out"), std::string::npos);
}

TEST(ImportStablehlo, PlacesOfMistakes) {
  expect_refused("", "the module has no functions");
  expect_refused("module @m {", "expected `func.func`, and the text ends");
  expect_refused("module @m {}", "the module has no functions");
  expect_refused(of_lines("%y = stablehlo.add %x, : tensor<2x3xf32>"), "operands");
  expect_refused(of_lines("%y = stablehlo.abs %x : tensor<2x3f32>"), "<model>:3:35");
  expect_refused(of_lines("%y = stablehlo.iota dim = 9 : tensor<2x3xf32>"), "iota");
  expect_refused(of_lines("%y = stablehlo.abs %z : tensor<2x3xf32>"), "no op before it gives %z");
  expect_refused(of_lines("%y = stablehlo.abs %y : tensor<2x3xf32>"), "%y");
  expect_refused(of_lines("%x = stablehlo.abs %x : tensor<2x3xf32>"), "%x is given twice");
  expect_refused(of_lines("%y = stablehlo.abs %x : tensor<3x2xf32>", "tensor<3x2xf32>"),
                 "it gives [2, 3], and its type says tensor<3x2xf32>");
  expect_refused(of_lines("%y = stablehlo.abs %x : tensor<?x3xf32>", "tensor<?x3xf32>"), "open extents");
  expect_refused(of_lines("%y = stablehlo.constant dense_resource<w> : tensor<2x3xf32>"),
                 "expected the numbers of a constant");
  expect_refused(of_lines("%y = call @g(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "there is no function @g");
  expect_refused(of_lines("%y = call @main(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "nested over 100 deep");
  expect_refused(of_lines("%y = stablehlo.constant dense<" + std::string(5000, '[') + "> : tensor<2x3xf32>"),
                 "100 levels");
  expect_refused(of_lines("%y = stablehlo.gather(%x) : tensor<2x3xf32>"), "gather");
  expect_refused(of_lines("%y = stablehlo.slice %x [0:3, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
                 "[0:3:1] of 2 elements");
}

TEST(ImportStablehlo, LoopsWithoutAnEndAreRefused) {
  expect_refused(
      of_lines("%c = stablehlo.constant dense<true> : tensor<i1>\n"
               "%0:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i1>, tensor<2x3xf32>\n cond {\n stablehlo.return %i "
               ": tensor<i1>\n } do {\n"
               " stablehlo.return %i, %v : tensor<i1>, tensor<2x3xf32>\n }\n%y = stablehlo.abs %0#1 : tensor<2x3xf32>"),
      "more than 1000 trips");
  expect_refused(
      "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n %0 = stablehlo.while(%v = %x) : tensor<f32>\n cond {\n %c = "
      "stablehlo.compare GT, %v, "
      "%v : (tensor<f32>, tensor<f32>) -> tensor<i1>\n stablehlo.return %c : tensor<i1>\n } do {\n stablehlo.return %v "
      ": tensor<f32>\n }\n"
      " return %0 : tensor<f32>\n}",
      "depend on input `x`");
}

TEST(ImportStablehlo, MutatedExamples) {
  std::mt19937 random(3);
  const std::filesystem::path folder = PLAIT_SOURCE_DIR "/tests/unit/import/stablehlo/examples";
  const std::string pieces = "<>[]{}(),:=%#\"@x0-9";
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(each.path(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    for (int trial = 0; trial < 40; ++trial) {
      std::string text = whole;
      for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
        const size_t at = random() % text.size();
        if (random() % 3 == 0)
          text.erase(at, 1 + random() % 5);
        else if (random() % 2 == 0)
          text[at] = pieces[random() % pieces.size()];
        else
          text.insert(at, text.substr(random() % text.size(), 12));
      }
      refusal(text);
    }
    for (size_t n = 0; n < whole.size(); n += 97) refusal(whole.substr(0, n));
  }
}

}  // namespace
}  // namespace plait
