// Bytes that are no model, or one that means harm: refused by a UserError, whatever they are.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "import/onnx/import_onnx.h"
#include "plait.h"
#include "support/scratch_folder.h"
#include "unit/import/onnx/onnx_bytes.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using namespace testing::onnx_bytes;  // NOLINT: the words of the models below

// Imported, or refused by a UserError: the text, or "".
std::string survives(const std::string& bytes, const ImportOptions& options = {}) {
  try {
    const Imported made = import_onnx(bytes, options);
    verify(*made.fusion);
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

void expect_refused(const std::string& bytes, const std::string& words, const ImportOptions& options = {}) {
  const std::string text = survives(bytes, options);
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

std::string with_weight(const std::string& tensor) {
  return model({{node("Add", {"x", "w"}, {"y"})}, {value("x", {2})}, {value("y", {2})}, {tensor}});
}

TEST(HostileOnnx, EveryPrefixOfAModel) {
  const std::string whole = perceptron();
  EXPECT_EQ(survives(whole), "");
  for (size_t n = 0; n + 1 < whole.size(); ++n) survives(whole.substr(0, n));
  expect_refused(whole.substr(0, 60), "bytes are announced");
  expect_refused("", "it has no graph");
  expect_refused("plait", "the file is no ONNX model");
}

TEST(HostileOnnx, FlippedBits) {
  std::vector<std::string> models = {perceptron()};
  for (const char* name :
       {"test_loop11", "test_resize_upsample_scales_cubic", "test_averagepool_2d_ceil", "test_gru_defaults",
        "test_scan9_sum", "test_slice", "test_top_k", "test_gathernd_example_int32", "test_convtranspose_dilations"})
    if (std::ifstream file("/usr/share/libonnx-testdata/data/node/" + std::string(name) + "/model.onnx",
                           std::ios::binary);
        file)
      models.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  std::mt19937 random(7);
  for (const std::string& whole : models)
    for (int trial = 0; trial < 400; ++trial) {
      std::string bytes = whole;
      for (uint32_t flips = 1 + random() % 3; flips > 0; --flips)
        bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      survives(bytes);
    }
}

TEST(HostileOnnx, TensorsThatAreLargerThanTheirBytes) {
  expect_refused(with_weight(tensor("w", kFloat, {2}, "1234")), "tensor `w` has 4 bytes, its shape needs 8");
  expect_refused(with_weight(tensor("w", kFloat, {int64_t{1} << 40}, "")), "its shape needs");
  expect_refused(with_weight(tensor("w", kFloat, {int64_t{1} << 62, 4}, "")), "more elements than memory");
  expect_refused(with_weight(tensor("w", kFloat, {-1}, "")), "more elements than memory");
  expect_refused(with_weight(tensor("w", kFloat, std::vector<int64_t>(65, 1), "1234")), "65 dims");
  expect_refused(with_weight(tensor("w", 99, {1}, "1234")), "dtype type 99");
  expect_refused(with_weight(number(1, 3) + number(2, kFloat) + bytes(8, "w") + bytes(4, "123")),
                 "3 bytes of packed numbers");
}

TEST(HostileOnnx, DeepGraphs) {
  std::string inside = graph({{node("Relu", {"x"}, {"z"})}, {}, {value("z", {2})}});
  for (int depth = 0; depth < 300; ++depth)
    inside =
        graph({{node("If", {"c"}, {"z"},
                     graph_attribute("then_branch", inside) + graph_attribute("else_branch", graph({{}, {}, {}})))},
               {},
               {value("z", {2})}});
  expect_refused(number(1, 8) + bytes(7, inside), "nested over 100 deep");
}

TEST(HostileOnnx, NumbersFarOut) {
  const auto with = [](const std::string& op, const std::string& attributes, std::vector<Extent> shape) {
    return model({{node(op, {"x"}, {"y"}, attributes)}, {value("x", std::move(shape))}, {value("y", {})}});
  };
  const int64_t far = int64_t{1} << 62, least = std::numeric_limits<int64_t>::min();
  for (const int64_t n : {far, least, int64_t{0}, int64_t{-1}}) {
    for (const char* name : {"kernel_shape", "strides", "pads"})
      survives(with("MaxPool",
                    attribute("kernel_shape", std::vector<int64_t>{2}) +
                        (std::string(name) == "kernel_shape" ? "" : attribute(name, std::vector<int64_t>{n, n})),
                    {1, 1, 8}));
    survives(with("MaxPool", attribute("kernel_shape", std::vector<int64_t>{n}), {1, 1, 8}));
    for (const char* op : {"Softmax", "Flatten", "ArgMax", "Concat", "Hardmax"})
      survives(with(op, attribute("axis", n), {2, 2}));
    survives(with("LRN", attribute("size", n), {1, 2, 8}));
    survives(with("DepthToSpace", attribute("blocksize", n), {1, 4, 2, 2}));
    survives(with("Transpose", attribute("perm", std::vector<int64_t>{n, 0}), {2, 2}));
    survives(with("Cast", attribute("to", n), {2}));
    survives(with("Shape", attribute("start", n), {2, 3}));
    survives(with("EyeLike", attribute("k", n), {2, 3}));
    survives(with("Relu", "", {n}));
    survives(model({{node("Slice", {"x", "a", "b", "c", "d"}, {"y"})},
                    {value("x", {4})},
                    {value("y", {})},
                    {integers("a", {n}), integers("b", {-n}), integers("c", {0}), integers("d", {n})}}));
    survives(
        model({{node("Expand", {"x", "a"}, {"y"})}, {value("x", {1})}, {value("y", {})}, {integers("a", {n, n})}}));
    survives(model({{node("Tile", {"x", "a"}, {"y"})}, {value("x", {4})}, {value("y", {})}, {integers("a", {n})}}));
    survives(model({{node("Range", {"a", "b", "c"}, {"y"})},
                    {},
                    {value("y", {})},
                    {integers("a", {n}), integers("b", {far}), integers("c", {n})}}));
    survives(model({{node("ConstantOfShape", {"a"}, {"y"})}, {}, {value("y", {})}, {integers("a", {n, n, n})}}));
    survives(
        model({{node("TopK", {"x", "a"}, {"y", "z"})}, {value("x", {4})}, {value("y", {})}, {integers("a", {n})}}));
    survives(
        model({{node("Reshape", {"x", "a"}, {"y"})}, {value("x", {4})}, {value("y", {})}, {integers("a", {n, n})}}));
  }
}

TEST(HostileOnnx, WeightsInOtherFiles) {
  testing::ScratchFolder scratch;
  fs::create_directory(scratch.path() / "model");
  const auto write = [](const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  };
  write(scratch.path() / "model" / "w.bin", std::string(4, 'x') + raw(std::vector<float>{1, 2}));
  write(scratch.path() / "secret.bin", std::string(12, 's'));
  fs::create_symlink(scratch.path() / "secret.bin", scratch.path() / "model" / "link.bin");
  const auto lies_in = [](const std::string& file, const std::string& offset = "4", const std::string& length = "8") {
    const auto entry = [](const std::string& key, const std::string& value) {
      return bytes(13, bytes(1, key) + bytes(2, value));
    };
    return with_weight(number(1, 2) + number(2, kFloat) + bytes(8, "w") + entry("location", file) +
                       entry("offset", offset) + entry("length", length) + number(14, 1));
  };
  ImportOptions options;
  options.folder = scratch.path() / "model";
  EXPECT_EQ(import_onnx(lies_in("w.bin"), options).weights.at("w").to_doubles(), (std::vector<double>{1, 2}));
  EXPECT_EQ(import_onnx(lies_in("./w.bin"), options).weights.size(), 1u);
  for (const char* outside : {"../secret.bin", "link.bin", "x/../../secret.bin", "/etc/passwd", ".."})
    expect_refused(lies_in(outside), "outside of the model's folder", options);
  expect_refused(lies_in((scratch.path() / "model" / "w.bin").string()), "outside of the model's folder", options);
  for (const char* none : {"nothing.bin", ".", ""}) expect_refused(lies_in(none), "", options);
  EXPECT_NE(survives(lies_in("nothing.bin"), options), "");
  expect_refused(lies_in("w.bin", "8"), "needs 8 bytes from 8 of `w.bin`, which has 12", options);
  expect_refused(lies_in("w.bin", "18446744073709551615"), "needs 8 bytes", options);
  expect_refused(lies_in("w.bin", "99999999999999999999"), "is no offset", options);
  expect_refused(lies_in("w.bin", "-4"), "is no offset", options);
  expect_refused(lies_in("w.bin", "4", "4"), "4 bytes of external data, its shape needs 8", options);
  expect_refused(lies_in("w.bin"), "give the model as the path of its file");
}

}  // namespace
}  // namespace plait
