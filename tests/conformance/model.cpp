#include "conformance/model.h"

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "onnx.pb.h"

namespace plait::conformance {
namespace {

namespace pb = ::onnx;

template <class Message>
Message read_message(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  Message out;
  PLAIT_CHECK(stream && out.ParseFromIstream(&stream), "{} is not what it should be", file);
  return out;
}

// The type's name in lower case where plait has none like it, else nothing.
std::string foreign_name(int64_t onnx) {
  switch (onnx) {
    case pb::TensorProto::STRING:
      return "string";
    case pb::TensorProto::COMPLEX64:
      return "complex64";
    case pb::TensorProto::COMPLEX128:
      return "complex128";
    default:
      return "";
  }
}

// Numbers of a typed field, as many as the tensor has elements. Narrow types lie in wider fields by value, floats of 16
// bits by their bits; all of these machines and files are little endian.
template <class Field>
void copy_field(const Field& field, Tensor& to) {
  PLAIT_CHECK(field.size() == to.elements(), "a tensor of {} elements holds {}", to.elements(), field.size());
  auto* at = static_cast<char*>(to.data());
  for (const auto& number : field) {
    std::memcpy(at, &number, size_of(to.dtype));
    at += size_of(to.dtype);
  }
}

void copy_elements(const pb::TensorProto& from, Tensor& to) {
  if (to.elements() == 0) return;
  if (from.has_raw_data()) {
    PLAIT_CHECK(from.raw_data().size() == to.bytes(), "{} bytes for {}", from.raw_data().size(), to.bytes());
    std::memcpy(to.data(), from.raw_data().data(), to.bytes());
    return;
  }
  switch (to.dtype) {
    case DType::f32:
      return copy_field(from.float_data(), to);
    case DType::f64:
      return copy_field(from.double_data(), to);
    case DType::i64:
      return copy_field(from.int64_data(), to);
    case DType::u32:
    case DType::u64:
      return copy_field(from.uint64_data(), to);
    default:
      return copy_field(from.int32_data(), to);
  }
}

Data read_data(const pb::TensorProto& from) {
  if (std::string foreign = foreign_name(from.data_type()); !foreign.empty()) return {{}, foreign};
  Tensor tensor = Tensor::empty(dtype_of(from.data_type()), {from.dims().begin(), from.dims().end()});
  copy_elements(from, tensor);
  return {tensor, ""};
}

class Reader {
 public:
  explicit Reader(Model& model) : model_(model) {}

  Graph graph(const pb::GraphProto& from) {
    Graph out;
    for (const auto& node : from.node()) out.nodes.push_back(this->node(node));
    for (const auto& tensor : from.initializer()) {
      out.initializers[tensor.name()] = read_data(tensor);
      note(out.initializers[tensor.name()].foreign);
    }
    for (const auto& input : from.input()) {
      note_type(out, input);
      if (!out.initializers.count(input.name())) out.inputs.push_back(input.name());
    }
    for (const auto& output : from.output()) {
      note_type(out, output);
      out.outputs.push_back(output.name());
    }
    return out;
  }

 private:
  void note(const std::string& foreign) {
    if (!foreign.empty()) model_.foreign.insert(foreign);
  }
  void note_type(Graph& graph, const pb::ValueInfoProto& value) {
    const pb::TypeProto& type = value.type();
    if (type.has_tensor_type()) note(foreign_name(type.tensor_type().elem_type()));
    if (type.tensor_type().elem_type() == pb::TensorProto::BFLOAT16) graph.bf16.insert(value.name());
    if (type.has_sequence_type()) note("sequence");
    if (type.has_optional_type()) note("optional");
    if (type.has_map_type()) note("map");
    if (type.has_sparse_tensor_type()) note("sparse");
  }
  Node node(const pb::NodeProto& from) {
    Node out;
    out.op = from.domain().empty() ? from.op_type() : from.domain() + "." + from.op_type();
    out.in = {from.input().begin(), from.input().end()};
    out.out = {from.output().begin(), from.output().end()};
    for (const auto& each : from.attribute()) {
      Attribute a{each.f(),
                  each.i(),
                  each.s(),
                  {},
                  {},
                  {each.floats().begin(), each.floats().end()},
                  {each.ints().begin(), each.ints().end()}};
      if (each.has_t()) {
        a.data = read_data(each.t());
        note(a.data->foreign);
      }
      if (each.has_g()) a.graph = std::make_shared<Graph>(graph(each.g()));
      out.attributes[each.name()] = std::move(a);
    }
    return out;
  }

  Model& model_;
};

}  // namespace

DType dtype_of(int64_t onnx) {
  switch (onnx) {
    case pb::TensorProto::FLOAT:
      return DType::f32;
    case pb::TensorProto::UINT8:
      return DType::u8;
    case pb::TensorProto::INT8:
      return DType::i8;
    case pb::TensorProto::UINT16:
      return DType::u16;
    case pb::TensorProto::INT16:
      return DType::i16;
    case pb::TensorProto::INT32:
      return DType::i32;
    case pb::TensorProto::INT64:
      return DType::i64;
    case pb::TensorProto::BOOL:
      return DType::boolean;
    case pb::TensorProto::FLOAT16:
      return DType::f16;
    case pb::TensorProto::DOUBLE:
      return DType::f64;
    case pb::TensorProto::UINT32:
      return DType::u32;
    case pb::TensorProto::UINT64:
      return DType::u64;
    case pb::TensorProto::BFLOAT16:
      return DType::bf16;
    default:
      throw Unsupported{"dtype " + foreign_name(onnx)};
  }
}

Model read_model(const std::string& file) {
  const auto message = read_message<pb::ModelProto>(file);
  Model out;
  out.graph = Reader(out).graph(message.graph());
  for (const auto& set : message.opset_import())
    if (set.domain().empty()) out.opset = set.version();
  return out;
}

Tensor read_tensor(const std::string& file) { return *read_data(read_message<pb::TensorProto>(file)).tensor; }

}  // namespace plait::conformance
