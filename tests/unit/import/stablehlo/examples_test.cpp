// Functions as jax lowers them, with inputs and what jax computes for them (make_examples.py), in both text forms.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "import/stablehlo/import_stablehlo.h"
#include "plait.h"
#include "reference/evaluate.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

struct StatedTensor {
  std::string kind, name;
  Tensor tensor;
};

// `// input arg0 f32[2,3] 1 2 3 4 5 6`
StatedTensor stated(const std::string& line) {
  std::istringstream words(line.substr(3));
  StatedTensor out;
  std::string type, number;
  words >> out.kind >> out.name >> type;
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  std::istringstream extents(type.substr(type.find('[') + 1, type.size() - type.find('[') - 2));
  for (std::string each; std::getline(extents, each, ',');) shape.push_back(std::stoll(each));
  while (words >> number) numbers.push_back(std::stod(number));
  out.tensor = Tensor::from_doubles(*parse_dtype(type.substr(0, type.find('['))), shape, numbers);
  return out;
}

std::vector<StatedTensor> stated_in(const std::string& text) {
  std::vector<StatedTensor> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("// input ") || line.starts_with("// output ")) out.push_back(stated(line));
  return out;
}

// Both are in the radius of the exact result.
void expect_near(const reference::Array& computed, const Tensor& want, const std::string& where) {
  const Tensor got = reference::to_tensor(computed);
  ASSERT_EQ(got.dtype, want.dtype) << where;
  ASSERT_EQ(got.shape, want.shape) << where;
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double a = computed.value[static_cast<size_t>(i)], b = want.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)) || computed.excused_at(i)) continue;
    EXPECT_LE(std::abs(a - b), 2 * computed.radius[static_cast<size_t>(i)])
        << where << ", element " << i << ": " << a << ", not " << b;
  }
}

std::string read_example(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> example_names() {
  std::vector<std::string> out;
  for (const auto& each : fs::directory_iterator(PLAIT_SOURCE_DIR "/tests/unit/import/stablehlo/examples"))
    out.push_back(each.path().stem().string());
  std::ranges::sort(out);
  return out;
}

class Examples : public ::testing::TestWithParam<std::string> {};

TEST_P(Examples, GiveWhatJaxComputes) {
  const std::string text =
      read_example(fs::path(PLAIT_SOURCE_DIR "/tests/unit/import/stablehlo/examples") / (GetParam() + ".mlir"));
  const Imported imported = import_stablehlo(text, {.file = GetParam()});
  verify(*imported.fusion);
  EXPECT_EQ(print(*parse_fusion(print(*imported.fusion))), print(*imported.fusion));
  std::map<std::string, Tensor> inputs = imported.weights;
  std::vector<Tensor> given, want;
  for (const StatedTensor& each : stated_in(text)) (each.kind == "input" ? given : want).push_back(each.tensor);
  size_t next = 0;
  for (const TensorView* t : imported.fusion->inputs())  // arguments, and weights, which come when they are read
    if (t->role == TensorRole::input) inputs[t->name] = given.at(next++);
  EXPECT_EQ(next, given.size());
  const reference::Results got = reference::evaluate(*imported.fusion, inputs);
  ASSERT_EQ(imported.fusion->outputs().size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    expect_near(got.at(imported.fusion->outputs()[i]->name), want[i], fmt::format("result {}", i));
}

INSTANTIATE_TEST_SUITE_P(OfJax, Examples, ::testing::ValuesIn(example_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace plait
