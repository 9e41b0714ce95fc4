#pragma once
// ONNX models as plain structs; model.cpp alone sees protobuf.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/tensor.h"

namespace plait::conformance {

// What a case needs and plait's tables or the importer's do not have; the text is the reason, "op NonZero".
struct Unsupported {
  std::string reason;
};

// A tensor of the file. `foreign` names its type where that is none of plait's: "string", "complex64".
struct Data {
  std::optional<Tensor> tensor;
  std::string foreign;
};

struct Graph;

// Only what the attribute holds is set.
struct Attribute {
  double number = 0;
  int64_t integer = 0;
  std::string text;
  std::optional<Data> data;
  std::shared_ptr<Graph> graph;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
};

struct Node {
  std::string op;  // with its domain where that is not ONNX's own: "ai.onnx.preview.training.Adam"
  std::vector<std::string> in, out;
  std::map<std::string, Attribute, std::less<>> attributes;
};

struct Graph {
  std::vector<Node> nodes;
  std::map<std::string, Data, std::less<>> initializers;
  std::vector<std::string> inputs, outputs;
  std::set<std::string, std::less<>> bf16;  // inputs and outputs of that type: files of data hold it as u16
};

struct Model {
  Graph graph;
  int64_t opset = 0;
  std::set<std::string> foreign;  // types of inputs, outputs and constants that plait has not: "string", "sequence"
};

// The type of that number in ONNX's files. Unsupported: "dtype string".
DType dtype_of(int64_t onnx);
Model read_model(const std::string& file);
Tensor read_tensor(const std::string& file);

}  // namespace plait::conformance
