#pragma once
// Models of ONNX as bytes, for tests: the wire format from the numbers of onnx.proto's fields.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace plait::testing::onnx_bytes {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}
inline std::string number(uint32_t field, int64_t value) {
  return varint(uint64_t{field} << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string bytes(uint32_t field, const std::string& value) {
  return varint(uint64_t{field} << 3 | 2) + varint(value.size()) + value;
}
inline std::string real(uint32_t field, float value) {
  std::string out = varint(uint64_t{field} << 3 | 5);
  return out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline constexpr int64_t kFloat = 1, kInt64 = 7, kString = 8;

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
inline std::string tensor(const std::string& name, int64_t type, const std::vector<int64_t>& dims,
                          const std::string& data) {
  std::string out;
  for (const int64_t d : dims) out += number(1, d);
  return out + number(2, type) + bytes(8, name) + bytes(9, data);
}
inline std::string floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  return tensor(name, kFloat, dims, raw(values));
}
inline std::string integers(const std::string& name, const std::vector<int64_t>& values) {
  return tensor(name, kInt64, {static_cast<int64_t>(values.size())}, raw(values));
}

// An extent: a number, or a name.
struct Extent {
  Extent(int64_t value) : text(number(1, value)) {}                // NOLINT: converts on purpose
  Extent(const char* name) : text(*name ? bytes(2, name) : "") {}  // NOLINT
  std::string text;
};
inline std::string value(const std::string& name, const std::vector<Extent>& shape, int64_t type = kFloat) {
  std::string dims;
  for (const Extent& each : shape) dims += bytes(1, each.text);
  return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, dims)));
}

inline std::string attribute(const std::string& name, int64_t value) {
  return bytes(5, bytes(1, name) + number(3, value));
}
inline std::string attribute(const std::string& name, const std::string& text) {
  return bytes(5, bytes(1, name) + bytes(4, text));
}
inline std::string attribute(const std::string& name, const std::vector<int64_t>& values) {
  std::string out = bytes(1, name);
  for (const int64_t each : values) out += number(8, each);
  return bytes(5, out);
}
inline std::string graph_attribute(const std::string& name, const std::string& graph) {
  return bytes(5, bytes(1, name) + bytes(6, graph));
}
inline std::string node(const std::string& op, const std::vector<std::string>& in, const std::vector<std::string>& out,
                        const std::string& attributes = "") {
  std::string text;
  for (const std::string& each : in) text += bytes(1, each);
  for (const std::string& each : out) text += bytes(2, each);
  return text + bytes(4, op) + attributes;
}

struct Graph {
  std::vector<std::string> nodes, inputs, outputs, initializers;
};
inline std::string graph(const Graph& g) {
  std::string out = bytes(2, "g");
  for (const std::string& each : g.nodes) out += bytes(1, each);
  for (const std::string& each : g.initializers) out += bytes(5, each);
  for (const std::string& each : g.inputs) out += bytes(11, each);
  for (const std::string& each : g.outputs) out += bytes(12, each);
  return out;
}
inline std::string model(const Graph& g, int64_t opset = 17) {
  return number(1, 8) + bytes(2, "tests") + bytes(7, graph(g)) + bytes(8, number(2, opset));
}

// x[batch, 2] w[2, 3] + b, its softmax, and the shape of x by way of Shape, Gather and Concat.
inline std::string perceptron() {
  return model(
      {{node("MatMul", {"x", "fc.weight"}, {"p"}), node("Add", {"p", "fc.bias"}, {"h"}), node("Shape", {"h"}, {"s"}),
        node("Gather", {"s", "zero"}, {"n"}), node("Concat", {"n", "rest"}, {"to"}, attribute("axis", 0)),
        node("Reshape", {"h", "to"}, {"r"}), node("Softmax", {"r"}, {"y"}, attribute("axis", -1))},
       {value("x", {"batch", 2})},
       {value("y", {"batch", 3, 1})},
       {floats("fc.weight", {2, 3}, {1, 2, 3, 4, 5, 6}), floats("fc.bias", {3}, {0.5f, 0.5f, 0.5f}),
        integers("zero", {0}), integers("rest", {3, 1})}});
}

}  // namespace plait::testing::onnx_bytes
