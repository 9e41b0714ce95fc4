// plait import: models of others as files, and what runs take of them.
#include "command/shell_test.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

class Import : public ShellTest {
 protected:
  Import() {
    const fs::path tree = PLAIT_SOURCE_DIR;
    for (const char* file : {"shapes.onnx", "beyond.onnx"})
      fs::copy(tree / "docs/examples/import" / file, scratch_.path() / file);
    for (const char* file : {"mlp.mlir", "constants.mlir", "mlp_generic.mlir"})
      fs::copy(tree / "tests/unit/import/stablehlo/examples" / file, scratch_.path() / file);
  }
};

TEST_F(Import, WritesAFusionWithItsWeights) {
  expect_says("$plait import shapes.onnx", "wrote 4 weights, 188 bytes, to shapes.weights");
  expect_says("ls shapes.weights", "conv_bias.npy");
  expect_says("cat shapes.plait", "param %conv_weight: f32[2, 1, 3, 3]");
  expect_says("cat shapes.plait", "#   %conv_weight: conv.weight\n");
  expect_says("$plait run shapes.plait --weights shapes.weights --set batch=3 --check", "check ok");
  expect_says(
      "$plait run shapes.plait --weights shapes.weights --set batch=2 --input conv_bias=[0,0] --device reference",
      "classes: f32[2, 3]");
  expect_says("$plait view shapes.plait --weights shapes.weights --set batch=2 --device cpu", "wrote shapes.view.html");
  expect_says("$plait fmt --check shapes.plait && echo same", "same");
  expect_says("$plait import shapes.onnx --set batch=5 -o ./five.plait --weights w/five && grep -c batch five.plait",
              "0", true, 1);
}

TEST_F(Import, GoesThroughPipes) {
  expect_says("$plait import mlp.mlir -o - 2>/dev/null | $plait run - --check", "check ok");
  expect_says("$plait import - < mlp_generic.mlir && $plait run model.plait --device reference", "result: f32[4, 8]");
  expect_says("cat shapes.onnx | $plait import - -o x.plait && ls x.weights", "fc_bias.npy");
  expect_refuses("$plait import constants.mlir -o -", "nothing says where to write them");
  expect_says("$plait import constants.mlir -o - --weights w 2>/dev/null | $plait run - --weights w --check", "check");
}

TEST_F(Import, TellsAllThatItCannot) {
  expect_refuses("$plait import beyond.onnx", "op GridSample (warp)");
  expect_refuses("$plait import beyond.onnx", "op NonZero (where)");
  expect_says("$plait import beyond.onnx; ls", "beyond.plait", false);
  expect_says(
      "$plait import beyond.onnx --json b.json; python3 -c 'import json; d = json.load(open(\"b.json\")); "
      "print(d[\"ok\"], "
      "[(p[\"reason\"], p[\"count\"], p[\"nodes\"]) for p in d[\"import\"][\"problems\"]])'",
      "False [('op NonZero', 1, ['where']), ('op GridSample', 1, ['warp'])]");
  expect_says(
      "$plait import shapes.onnx --json s.json; python3 -c 'import json; d = json.load(open(\"s.json\"))[\"import\"]; "
      "print(d[\"inputs\"], d[\"weights_folder\"], d[\"weights\"][\"fc_bias\"][\"name\"])'",
      "{'image': {'name': 'image', 'type': 'f32[batch, 1, 4, 4]'}} shapes.weights fc.bias");
}

TEST_F(Import, SaysWhatToDo) {
  expect_says("sed s/stablehlo.add/stablehlo.ad/ mlp.mlir > m.mlir; $plait import m.mlir 2>&1", "did you mean `add`?",
              true, 1);
  expect_says("sed 's/stablehlo.add %[a-z0-9]*/stablehlo.add %nobody/' mlp.mlir > n.mlir; $plait import n.mlir 2>&1",
              "help: give a module that StableHLO's verifier takes", true, 1);
}

TEST_F(Import, RefusesWhatDoesNotFit) {
  expect_refuses("$plait import", "plait import needs a file");
  expect_refuses("$plait import nothing.onnx", "cannot read `nothing.onnx`");
  expect_refuses("$plait import shapes.onnx --set batsh=2", "the model has no size `batsh`");
  expect_refuses("$plait import shapes.onnx --set batch=-2", "`-2` is no size");
  expect_refuses("$plait import shapes.onnx --set batch=2 --set batch=3", "`batch` is set twice");
  expect_refuses("$plait import shapes.onnx --constant other=1", "the model has no input `other`");
  expect_refuses("$plait import shapes.onnx --constant image=[1,x]", "`x` is no value of f32");
  expect_refuses("$plait import shapes.onnx --format onxx", "help: did you mean `onnx`");
  expect_refuses("$plait import mlp.mlir --format onnx", "the file is no ONNX model");
  expect_refuses("cp $mlp x.plait; $plait import x.plait -o y.plait", "the file is no ONNX model");
  expect_refuses("$plait import shapes.onnx -o shapes.onnx", "would be overwritten");
  expect_refuses("$plait import shapes.onnx -o nowhere/x.plait --weights w", "cannot write `nowhere/x.plait`");
  expect_refuses("touch taken; $plait import shapes.onnx --weights taken", "cannot make the folder `taken`");
  expect_refuses("head -c 400 shapes.onnx > cut.onnx; $plait import cut.onnx", "bytes are announced");
}

TEST_F(Import, RunsAskForAllWeights) {
  expect_says("$plait import shapes.onnx", "wrote shapes.plait");
  expect_refuses("$plait run shapes.plait --weights nowhere --set batch=1", "`nowhere` is no folder");
  expect_refuses("rm shapes.weights/fc_bias.npy; $plait run shapes.plait --weights shapes.weights --set batch=1",
                 "has no file fc_bias.npy");
  expect_says("$plait run shapes.plait --weights shapes.weights --set batch=1 --input fc_bias=[1,2,3]",
              "classes: f32[1, 3]");
  expect_refuses(
      "cp shapes.weights/conv_bias.npy shapes.weights/fc_bias.npy; $plait run shapes.plait --weights shapes.weights "
      "--set batch=1",
      "expected 3, got 2");
}

TEST_F(Import, ConstantsAreInputsNoMore) {
  expect_says("$plait import mlp.mlir -o fixed.plait --constant arg2=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]",
              "wrote 1 weights");
  expect_says("$plait run fixed.plait --weights fixed.weights --check", "check ok");
  expect_refuses("$plait import mlp.mlir --constant arg2=[1]", "its constant is not tensor<16xf32>");
}

}  // namespace
}  // namespace plait::testing
