#include "import/onnx/model.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "import/onnx/wire.h"
#include "scalar/convert.h"

namespace plait::onnx {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 100;
constexpr size_t kMostDims = 64;

[[noreturn]] void refuse_model(const std::string& what, const std::string& remedy = "") {
  throw UserError(what, "", remedy.empty() ? "give a file that an exporter of ONNX wrote, whole" : remedy);
}

// ---- Types. The numbers are those of TensorProto.DataType.
struct TypeRow {
  int64_t number;
  DType dtype;
};
constexpr TypeRow kTypes[] = {{1, DType::f32},   {2, DType::u8},      {3, DType::i8},     {4, DType::u16},
                              {5, DType::i16},   {6, DType::i32},     {7, DType::i64},    {9, DType::boolean},
                              {10, DType::f16},  {11, DType::f64},    {12, DType::u32},   {13, DType::u64},
                              {16, DType::bf16}, {17, DType::f8e4m3}, {19, DType::f8e5m2}};
struct ForeignRow {
  int64_t number;
  const char* name;
};
constexpr ForeignRow kForeign[] = {{8, "string"},          {14, "complex64"},      {15, "complex128"},
                                   {18, "float8e4m3fnuz"}, {20, "float8e5m2fnuz"}, {21, "uint4"},
                                   {22, "int4"},           {23, "float4e2m1"}};

// ---- Tensors.
struct TensorFields {
  std::vector<int64_t> dims, int32s, int64s, uint64s;
  std::vector<float> floats;
  std::vector<double> doubles;
  int64_t type = 0;
  std::string name;
  std::optional<std::string_view> raw;
  bool external = false;
  std::map<std::string, std::string> place;
};

std::pair<std::string, std::string> read_entry(std::string_view bytes) {
  std::pair<std::string, std::string> out;
  WireReader reader(bytes, "of external data");
  for (Field f; reader.next(f);) {
    if (f.number == 1) out.first = text_of(f, "of external data");
    if (f.number == 2) out.second = text_of(f, "of external data");
  }
  return out;
}

TensorFields read_fields(std::string_view bytes) {
  constexpr const char* kMessage = "of a tensor";
  TensorFields out;
  WireReader reader(bytes, kMessage);
  for (Field f; reader.next(f);) {
    switch (f.number) {
      case 1:
        add_integers(f, kMessage, out.dims);
        break;
      case 2:
        out.type = integer_of(f, kMessage);
        break;
      case 3:
        refuse_model("a tensor is stored in segments");
      case 4:
        add_floats(f, kMessage, out.floats);
        break;
      case 5:
        add_integers(f, kMessage, out.int32s);
        break;
      case 7:
        add_integers(f, kMessage, out.int64s);
        break;
      case 8:
        out.name = text_of(f, kMessage);
        break;
      case 9:
        out.raw = bytes_of(f, kMessage);
        break;
      case 10:
        add_doubles(f, kMessage, out.doubles);
        break;
      case 11:
        add_integers(f, kMessage, out.uint64s);
        break;
      case 13:
        out.place.insert(read_entry(bytes_of(f, kMessage)));
        break;
      case 14:
        out.external = integer_of(f, kMessage) == 1;
        break;
      default:
        break;
    }
  }
  return out;
}

std::string label_of(const TensorFields& from) {
  return from.name.empty() ? "a tensor" : fmt::format("tensor `{}`", from.name);
}

void check_count(const TensorFields& from, size_t found, size_t wanted, const char* what) {
  if (found != wanted)
    refuse_model(fmt::format("{} has {} {}, its shape needs {}", label_of(from), found, what, wanted));
}

// Numbers of a typed field. Narrow types lie in wider fields by value, floats of 8 and 16 bits by their bits; these
// files and hosts are little endian.
template <class Number>
void copy_numbers(const TensorFields& from, const std::vector<Number>& numbers, Tensor& to) {
  auto* at = static_cast<char*>(to.data());
  for (const Number& number : numbers) {
    std::memcpy(at, &number, size_of(to.dtype));
    at += size_of(to.dtype);
  }
  (void)from;
}

size_t numbers_in(const TensorFields& from, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return from.floats.size();
    case DType::f64:
      return from.doubles.size();
    case DType::i64:
      return from.int64s.size();
    case DType::u32:
    case DType::u64:
      return from.uint64s.size();
    default:
      return from.int32s.size();
  }
}

void copy_typed(const TensorFields& from, Tensor& to) {
  switch (to.dtype) {
    case DType::f32:
      return copy_numbers(from, from.floats, to);
    case DType::f64:
      return copy_numbers(from, from.doubles, to);
    case DType::i64:
      return copy_numbers(from, from.int64s, to);
    case DType::u32:
    case DType::u64:
      return copy_numbers(from, from.uint64s, to);
    default:
      return copy_numbers(from, from.int32s, to);
  }
}

// ---- Weights in files beside the model.
uint64_t number_at(const TensorFields& from, const char* key, uint64_t otherwise) {
  const auto found = from.place.find(key);
  if (found == from.place.end()) return otherwise;
  uint64_t out = 0;
  for (const char c : found->second) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(out, uint64_t{10}, &out) ||
        __builtin_add_overflow(out, static_cast<uint64_t>(c - '0'), &out))
      refuse_model(fmt::format("{}: `{}` is no {} of external data", label_of(from), found->second, key));
  }
  return out;
}

// The file, which lies in the folder, links resolved.
fs::path external_file(const TensorFields& from, const std::string& folder) {
  const auto location = from.place.find("location");
  if (location == from.place.end() || location->second.empty())
    refuse_model(fmt::format("{} lies in a file that is not named", label_of(from)));
  if (folder.empty())
    refuse_model(fmt::format("{} lies in the file `{}` beside the model", label_of(from), location->second),
                 "give the model as the path of its file");
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const fs::path written = location->second;
  const fs::path file = fs::weakly_canonical(root / written, error);
  const fs::path inside = file.lexically_relative(root);
  if (error || written.is_absolute() || inside.empty() || *inside.begin() == "..")
    refuse_model(fmt::format("{} lies in `{}`, outside of the model's folder", label_of(from), location->second),
                 "put the model's files into one folder");
  if (!fs::is_regular_file(file, error))
    refuse_model(fmt::format("{} lies in `{}`, which is no file beside the model", label_of(from), location->second),
                 "put the model's files into one folder");
  return file;
}

void check_external(const TensorFields& from, const fs::path& file, uint64_t offset, uint64_t bytes) {
  const uint64_t length = number_at(from, "length", bytes);
  if (length != bytes) check_count(from, length, bytes, "bytes of external data");
  std::error_code error;
  const uint64_t there = fs::file_size(file, error);
  if (error || offset > there || bytes > there - offset)
    refuse_model(fmt::format("{} needs {} bytes from {} of `{}`, which has {}", label_of(from), bytes, offset,
                             file.filename().string(), there));
}

void read_external(const TensorFields& from, const fs::path& file, uint64_t offset, Tensor& to) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(static_cast<char*>(to.data()), static_cast<std::streamsize>(to.bytes()));
  if (!stream) refuse_model(fmt::format("{}: `{}` cannot be read", label_of(from), file.string()));
}

void settle_booleans(Tensor& tensor) {
  auto* bytes = static_cast<unsigned char*>(tensor.data());
  for (int64_t i = 0; i < tensor.elements(); ++i) bytes[i] = bytes[i] != 0;
}

uint64_t bytes_needed(const TensorFields& from, DType dtype) {
  uint64_t out = size_of(dtype);
  if (from.dims.size() > kMostDims) refuse_model(fmt::format("{} has {} dims", label_of(from), from.dims.size()));
  for (const int64_t dim : from.dims)
    if (dim < 0 || __builtin_mul_overflow(out, static_cast<uint64_t>(dim), &out) || out > (uint64_t{1} << 48))
      refuse_model(fmt::format("{} has more elements than memory", label_of(from)));
  return out;
}

Data make_data(const TensorFields& from, const std::string& folder) {
  if (std::string foreign = foreign_name(from.type); !foreign.empty()) return {{}, foreign};
  const DType dtype = *dtype_of(from.type);
  const uint64_t bytes = bytes_needed(from, dtype);
  Tensor out;
  if (from.external) {
    const fs::path file = external_file(from, folder);
    const uint64_t offset = number_at(from, "offset", 0);
    check_external(from, file, offset, bytes);
    out = Tensor::empty(dtype, from.dims);
    read_external(from, file, offset, out);
  } else if (from.raw && !(from.raw->empty() && bytes != 0)) {
    check_count(from, from.raw->size(), bytes, "bytes");
    out = Tensor::empty(dtype, from.dims);
    if (bytes > 0) std::memcpy(out.data(), from.raw->data(), bytes);
  } else {
    check_count(from, numbers_in(from, dtype), bytes / size_of(dtype), "numbers");
    out = Tensor::empty(dtype, from.dims);
    copy_typed(from, out);
  }
  if (dtype == DType::boolean) settle_booleans(out);
  return {std::move(out), ""};
}

// ---- Types of values.
std::vector<Dim> read_shape(std::string_view bytes) {
  std::vector<Dim> out;
  WireReader reader(bytes, "of a shape");
  for (Field f; reader.next(f);) {
    if (f.number != 1) continue;
    Dim& dim = out.emplace_back();
    WireReader inside(bytes_of(f, "of a shape"), "of a dim");
    for (Field g; inside.next(g);) {
      if (g.number == 1) dim.value = integer_of(g, "of a dim");
      if (g.number == 2) dim.name = text_of(g, "of a dim");
    }
  }
  if (out.size() > kMostDims) refuse_model(fmt::format("a value has {} dims", out.size()));
  return out;
}

void read_type(std::string_view bytes, ValueInfo& to) {
  WireReader reader(bytes, "of a type");
  for (Field f; reader.next(f);) {
    if (f.number == 4) to.foreign = "sequence";
    if (f.number == 5) to.foreign = "map";
    if (f.number == 8) to.foreign = "sparse";
    if (f.number == 9) to.foreign = "optional";
    if (f.number != 1) continue;
    WireReader inside(bytes_of(f, "of a type"), "of a type");
    for (Field g; inside.next(g);) {
      if (g.number == 1) to.type = integer_of(g, "of a type");
      if (g.number == 2) to.shape = read_shape(bytes_of(g, "of a type"));
    }
    if (to.type != 0) to.foreign = foreign_name(to.type);
  }
}

ValueInfo read_value(std::string_view bytes) {
  ValueInfo out;
  WireReader reader(bytes, "of a value");
  for (Field f; reader.next(f);) {
    if (f.number == 1) out.name = text_of(f, "of a value");
    if (f.number == 2) read_type(bytes_of(f, "of a value"), out);
  }
  return out;
}

// ---- Graphs.
class GraphReader {
 public:
  explicit GraphReader(const std::string& folder) : folder_(folder) {}

  Graph graph(std::string_view bytes) {
    if (++depth_ > kDeepest) refuse_model(fmt::format("graphs are nested over {} deep", kDeepest));
    constexpr const char* kMessage = "of a graph";
    Graph out;
    std::vector<ValueInfo> inputs;
    WireReader reader(bytes, kMessage);
    for (Field f; reader.next(f);) {
      if (f.number == 1) out.nodes.push_back(node(bytes_of(f, kMessage)));
      if (f.number == 2) out.name = text_of(f, kMessage);
      if (f.number == 5) add_initializer(out, bytes_of(f, kMessage));
      if (f.number == 11) inputs.push_back(read_value(bytes_of(f, kMessage)));
      if (f.number == 12) out.outputs.push_back(read_value(bytes_of(f, kMessage)));
      if (f.number == 15) refuse_model("the model has sparse initializers", "export them dense");
    }
    for (ValueInfo& input : inputs)
      if (!out.initializers.contains(input.name)) out.inputs.push_back(std::move(input));
    --depth_;
    return out;
  }

 private:
  void add_initializer(Graph& to, std::string_view bytes) {
    const TensorFields fields = read_fields(bytes);
    if (!to.initializers.emplace(fields.name, make_data(fields, folder_)).second)
      refuse_model(fmt::format("initializer `{}` is there twice", fields.name));
  }

  Attribute attribute(std::string_view bytes, std::string& name) {
    constexpr const char* kMessage = "of an attribute";
    Attribute out;
    std::vector<float> numbers;
    WireReader reader(bytes, kMessage);
    for (Field f; reader.next(f);) {
      if (f.number == 1) name = text_of(f, kMessage);
      if (f.number == 2) out.number = float_of(f, kMessage);
      if (f.number == 3) out.integer = integer_of(f, kMessage);
      if (f.number == 4) out.text = text_of(f, kMessage);
      if (f.number == 5) out.data = make_data(read_fields(bytes_of(f, kMessage)), folder_);
      if (f.number == 6) out.graph = std::make_shared<Graph>(graph(bytes_of(f, kMessage)));
      if (f.number == 7) add_floats(f, kMessage, numbers);
      if (f.number == 8) add_integers(f, kMessage, out.integers);
      if (f.number == 21) refuse_model("an attribute refers to one of a function");
      if (f.number == 22) out.data = Data{{}, "sparse"};
    }
    out.numbers = {numbers.begin(), numbers.end()};
    return out;
  }

  Node node(std::string_view bytes) {
    constexpr const char* kMessage = "of a node";
    Node out;
    std::string domain;
    WireReader reader(bytes, kMessage);
    for (Field f; reader.next(f);) {
      if (f.number == 1) out.in.push_back(text_of(f, kMessage));
      if (f.number == 2) out.out.push_back(text_of(f, kMessage));
      if (f.number == 3) out.name = text_of(f, kMessage);
      if (f.number == 4) out.op = text_of(f, kMessage);
      if (f.number == 7) domain = text_of(f, kMessage);
      if (f.number != 5) continue;
      std::string name;
      Attribute value = attribute(bytes_of(f, kMessage), name);
      if (!out.attributes.emplace(name, std::move(value)).second)
        refuse_model(fmt::format("attribute `{}` of a node {} is there twice", name, out.op));
    }
    if (!domain.empty() && domain != "ai.onnx") out.op = domain + "." + out.op;
    return out;
  }

  const std::string& folder_;
  int depth_ = 0;
};

void read_opset(std::string_view bytes, Model& to) {
  std::string domain;
  int64_t version = 0;
  WireReader reader(bytes, "of an opset");
  for (Field f; reader.next(f);) {
    if (f.number == 1) domain = text_of(f, "of an opset");
    if (f.number == 2) version = integer_of(f, "of an opset");
  }
  if (domain.empty() || domain == "ai.onnx") to.opset = version;
}

std::string read_function_name(std::string_view bytes) {
  std::string name, domain;
  WireReader reader(bytes, "of a function");
  for (Field f; reader.next(f);) {
    if (f.number == 1) name = text_of(f, "of a function");
    if (f.number == 10) domain = text_of(f, "of a function");
  }
  return domain + "." + name;
}

}  // namespace

std::string Node::label() const {
  if (!name.empty()) return name;
  for (const std::string& each : out)
    if (!each.empty()) return each;
  return "";
}

std::optional<DType> dtype_of(int64_t onnx) {
  for (const TypeRow& row : kTypes)
    if (row.number == onnx) return row.dtype;
  return std::nullopt;
}

std::string foreign_name(int64_t onnx) {
  for (const ForeignRow& row : kForeign)
    if (row.number == onnx) return row.name;
  return dtype_of(onnx) ? "" : fmt::format("type {}", onnx);
}

Model read_model(std::string_view bytes, const std::string& folder) {
  constexpr const char* kMessage = "of a model";
  Model out;
  bool has_graph = false;
  std::string version;
  WireReader reader(bytes, kMessage);
  for (Field f; reader.next(f);) {
    if (f.number == 2) out.producer = text_of(f, kMessage);
    if (f.number == 3) version = text_of(f, kMessage);
    if (f.number == 8) read_opset(bytes_of(f, kMessage), out);
    if (f.number == 25) out.functions.insert(read_function_name(bytes_of(f, kMessage)));
    if (f.number != 7) continue;
    if (has_graph) refuse_model("the model has two graphs");
    has_graph = true;
    out.graph = GraphReader(folder).graph(bytes_of(f, kMessage));
  }
  if (!has_graph) refuse_model("the file is no ONNX model: it has no graph");
  if (!version.empty()) out.producer += " " + version;
  return out;
}

Data read_tensor(std::string_view bytes) { return make_data(read_fields(bytes), ""); }

}  // namespace plait::onnx
