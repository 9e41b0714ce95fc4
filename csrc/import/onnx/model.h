#pragma once
// ONNX models as plain structs, read from the bytes of a file (import/onnx/wire.h).
// The messages: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/tensor.h"

namespace plait::onnx {

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
  std::string op;    // with its domain where that is not ONNX's own: "ai.onnx.preview.training.Adam"
  std::string name;  // may be empty
  std::vector<std::string> in, out;
  std::map<std::string, Attribute, std::less<>> attributes;
  // Its name, else that of its first result.
  std::string label() const;
};

// An extent: a number, the name of one, or neither.
struct Dim {
  std::optional<int64_t> value;
  std::string name;
};

// What a graph says of an input or output.
struct ValueInfo {
  std::string name;
  int64_t type = 0;     // of elements, ONNX's number; 0: not said, or no tensor
  std::string foreign;  // "string", "sequence", "optional", "map", "sparse", or empty
  std::optional<std::vector<Dim>> shape;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::map<std::string, Data, std::less<>> initializers;
  std::vector<ValueInfo> inputs, outputs;  // inputs without the initializers
};

struct Model {
  Graph graph;
  int64_t opset = 0;
  std::string producer;
  std::set<std::string> functions;  // with their domains
};

// The type of that number in ONNX's files, or nothing.
std::optional<DType> dtype_of(int64_t onnx);
// The type's name where plait has none like it: "string", "int4", "type 99"; else "".
std::string foreign_name(int64_t onnx);

// UserError: the bytes are no such message, a tensor holds another number of elements than its shape says, names are
// given twice, graphs are nested over 100 deep; a file of weights that lies outside of `folder`, is not there or too
// short, or any where `folder` is empty.
Model read_model(std::string_view bytes, const std::string& folder);
Data read_tensor(std::string_view bytes);

}  // namespace plait::onnx
