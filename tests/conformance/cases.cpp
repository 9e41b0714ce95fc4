#include "conformance/cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/ranges.h>

#include "api/check_program.h"
#include "base/error.h"
#include "import/onnx/import_onnx.h"
#include "import/onnx/importer.h"
#include "reference/check.h"
#include "reference/evaluate.h"
#include "scalar/convert.h"

namespace plait::conformance {
namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

constexpr int64_t kBf16 = 16;  // in ONNX's files

std::string read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  PLAIT_CHECK(stream, "{} cannot be read", file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Files of data hold bf16 as u16.
std::vector<Tensor> read_tensors(const fs::path& folder, const std::string& kind,
                                 const std::vector<onnx::ValueInfo>& values) {
  std::vector<Tensor> out;
  for (const onnx::ValueInfo& value : values) {
    const fs::path file = folder / fmt::format("{}_{}.pb", kind, out.size());
    if (!fs::exists(file)) break;
    out.push_back(*onnx::read_tensor(read_bytes(file)).tensor);
    if (out.back().dtype == DType::u16 && value.type == kBf16) out.back().dtype = DType::bf16;
  }
  return out;
}

// Types of inputs, outputs and constants, those of bodies too, that plait has not.
void add_foreign(const onnx::Graph& graph, std::set<std::string>& to) {
  for (const auto* values : {&graph.inputs, &graph.outputs})
    for (const onnx::ValueInfo& each : *values) to.insert(each.foreign);
  for (const auto& [name, data] : graph.initializers) to.insert(data.foreign);
  for (const onnx::Node& node : graph.nodes)
    for (const auto& [name, attribute] : node.attributes) {
      if (attribute.data) to.insert(attribute.data->foreign);
      if (attribute.graph) add_foreign(*attribute.graph, to);
    }
}

std::set<std::string> foreign_types(const onnx::Model& model) {
  std::set<std::string> out;
  add_foreign(model.graph, out);
  out.erase("");
  return out;
}

// Every node, those of loops and branches too.
bool any_node(const onnx::Graph& graph, const std::function<bool(const onnx::Node&)>& is) {
  return std::ranges::any_of(graph.nodes, [&](const onnx::Node& node) {
    return is(node) || std::ranges::any_of(node.attributes, [&](const auto& each) {
             return each.second.graph && any_node(*each.second.graph, is);
           });
  });
}

// Of a dense tensor.
int64_t integer_at(const Tensor& t, int64_t i) {
  return load_int64(t.dtype, static_cast<const char*>(t.data()) + i * static_cast<int64_t>(size_of(t.dtype)));
}

// Integers are equal; at a discontinuity of the case's ops (a tie that is rounded) they may be off by one.
std::string difference_of(const Tensor& got, const Tensor& want, int64_t i, bool at_discontinuity,
                          int64_t& by_discontinuity) {
  if (!is_float(want.dtype)) {
    const int64_t a = integer_at(got, i), b = integer_at(want, i);
    if (a == b) return "";
    if (!at_discontinuity || std::max(a, b) - std::min(a, b) > 1)
      return fmt::format("element {} is {}, not {}", i, a, b);
    ++by_discontinuity;
    return "";
  }
  const double a = got.at(i), b = want.at(i);
  if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kAbsolute + kRelative * std::abs(b)) return "";
  return fmt::format("element {} is {:.9g}, not {:.9g}", i, a, b);
}

}  // namespace

std::vector<std::string> case_names() {
  std::vector<std::string> out;
  for (const char* kind : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    const fs::path folder = fs::path(kDataFolder) / kind;
    if (!fs::is_directory(folder)) continue;
    for (const auto& each : fs::directory_iterator(folder))
      if (fs::exists(each.path() / "model.onnx"))
        out.push_back(std::string(kind) + "/" + each.path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

Case read_case(const std::string& name) {
  const fs::path folder = fs::path(kDataFolder) / name;
  const std::string bytes = read_bytes(folder / "model.onnx");
  Case out{name, bytes, onnx::read_model(bytes, folder), {}, {}};
  if (!foreign_types(out.model).empty()) return out;
  const onnx::Graph& graph = out.model.graph;
  out.inputs = read_tensors(folder / "test_data_set_0", "input", graph.inputs);
  out.outputs = read_tensors(folder / "test_data_set_0", "output", graph.outputs);
  return out;
}

std::string difference(const reference::Array& computed, const Tensor& got, const Tensor& want, Outcome& counts) {
  if (got.dtype != want.dtype) return fmt::format("is {}, not {}", name(got.dtype), name(want.dtype));
  if (got.shape != want.shape)
    return fmt::format("is [{}], not [{}]", fmt::join(got.shape, ", "), fmt::join(want.shape, ", "));
  const Tensor a = got.contiguous(), b = want.contiguous();
  int64_t by_discontinuity = 0;
  for (int64_t i = 0; i < want.elements(); ++i)
    if (const std::string wrong = difference_of(a, b, i, computed.excused_at(i), by_discontinuity); !wrong.empty())
      return wrong;
  counts.by_discontinuity += by_discontinuity;
  const bool too_many = reference::too_many_excused(by_discontinuity, want.elements());
  return too_many ? fmt::format("has {} elements beyond a discontinuity", by_discontinuity) : "";
}

namespace {

// What runs take: weights, and the case's inputs that are no constants.
Tensors run_inputs(const Case& c, const Imported& imported) {
  Tensors out(imported.weights.begin(), imported.weights.end());
  for (const TensorView* t : imported.fusion->inputs()) {
    if (out.contains(t->name)) continue;
    for (size_t i = 0; i < c.inputs.size(); ++i)
      if (c.model.graph.inputs[i].name == imported.renamed.at(t->name)) out[t->name] = c.inputs[i];
  }
  return out;
}

// All outputs, in order. Radii are computed where some number is not as near as ONNX wants it.
void compare(const Fusion& fusion, const Tensors& inputs, const Tensors& got, const std::vector<Tensor>& want,
             Outcome& out) {
  if (got.size() != want.size()) out.failure = fmt::format("{} outputs, not {}", got.size(), want.size());
  reference::Results computed;
  for (size_t i = 0; i < want.size() && out.failure.empty(); ++i) {
    const std::string& name = fusion.outputs()[i]->name;
    if (difference({}, got.at(name), want[i], out).empty()) continue;
    if (computed.empty()) computed = reference::evaluate(fusion, {inputs.begin(), inputs.end()});
    const std::string wrong = difference(computed.at(name), got.at(name), want[i], out);
    if (!wrong.empty()) out.failure = fmt::format("output {} {}", i, wrong);
  }
}

// The input that a refusal asks the numbers of, or null.
const onnx::ValueInfo* asked_input(const Case& c, const ImportError& error) {
  for (const ImportProblem& problem : error.problems())
    for (const onnx::ValueInfo& each : c.model.graph.inputs)
      if (problem.remedy.starts_with(fmt::format("give its value: --constant {}=", each.name))) return &each;
  return nullptr;
}

// What plait or the importer has not, of all that was refused: a type first.
std::string unsupported_reason(const ImportError& error) {
  std::set<std::string> dtypes;
  for (const ImportProblem& problem : error.problems())
    if (problem.reason.starts_with("dtype ")) dtypes.insert(problem.reason);
  if (!dtypes.empty()) return *dtypes.begin();
  const std::string& first = error.problems().front().reason;
  return first.starts_with("op ") || first.starts_with("attribute ") ? first : "";
}

// Whether a run could take the tensor: some cases declare another shape than their data have.
bool fits(const onnx::ValueInfo& declared, const Tensor& data) {
  if (!declared.shape || declared.shape->size() != data.shape.size()) return false;
  for (size_t d = 0; d < data.shape.size(); ++d)
    if ((*declared.shape)[d].value.value_or(data.shape[d]) != data.shape[d]) return false;
  return true;
}

}  // namespace

Imported import_case(const Case& c) {
  ImportOptions options;
  options.file = c.name;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (const onnx::ValueInfo& declared = c.model.graph.inputs[i]; !fits(declared, c.inputs[i]))
      options.constants[declared.name] = [&c, i](DType) { return c.inputs[i]; };
  for (;;) try {
      return import_onnx(c.bytes, options);
    } catch (const ImportError& e) {
      const onnx::ValueInfo* asked = asked_input(c, e);
      if (!asked) throw;
      const auto at = static_cast<size_t>(asked - c.model.graph.inputs.data());
      if (at >= c.inputs.size() || options.constants.contains(asked->name)) throw;
      options.constants[asked->name] = [&c, at](DType) { return c.inputs[at]; };
    }
}

Outcome run_case(const Case& c, const std::string& device) {
  Outcome out;
  try {
    const Imported imported = import_case(c);
    const Tensors inputs = run_inputs(c, imported);
    CompileOptions how;
    how.device = device;
    Compiled program = compile(*imported.fusion, how);
    const Tensors got = program.run(inputs);
    const ProgramCheck check = check_program(*imported.fusion, how, program, inputs, got, {.one_rank = false});
    if (!check.all.ok) return {"", "against the reference: " + check.all.message};
    compare(*imported.fusion, inputs, got, c.outputs, out);
  } catch (const ImportError& e) {
    out.unsupported = unsupported_reason(e);
    if (out.unsupported.empty()) out.failure = e.what();
  } catch (const std::exception& e) {
    out.failure = e.what();
  }
  return out;
}

bool holds(const std::string& reason, const onnx::Model& model) {
  const auto after = [&](std::string_view head) {
    return reason.starts_with(head) ? reason.substr(head.size()) : std::string();
  };
  if (const std::string type = after("dtype "); !type.empty())
    return foreign_types(model).contains(type) && !parse_dtype(type);
  if (const std::string op = after("op "); !op.empty())
    return !onnx::find_op(op) && any_node(model.graph, [&](const onnx::Node& n) { return n.op == op; });
  const std::string attribute = after("attribute ");
  const size_t of = attribute.find(" of ");
  if (attribute.empty() || of == attribute.npos) return false;
  const std::string op = attribute.substr(of + 4), written = attribute.substr(0, of);
  const size_t equals = written.find('=');
  const std::string name = written.substr(0, equals);
  const std::string value = equals == written.npos ? "" : written.substr(equals + 1);
  return onnx::find_op(op) && !onnx::obeys(*onnx::find_op(op), name, value) &&
         any_node(model.graph, [&](const onnx::Node& n) {
           const auto found = n.attributes.find(name);
           return n.op == op && found != n.attributes.end() && found->second.text == value;
         });
}

std::map<std::string, std::string> read_list(const std::string& file) {
  std::ifstream stream(file);
  PLAIT_CHECK(stream, "{} cannot be read", file);
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    PLAIT_CHECK(colon != line.npos, "{}: no reason in: {}", file, line);
    PLAIT_CHECK(out.emplace(line.substr(0, colon), line.substr(colon + 2)).second, "{}: twice: {}", file, line);
  }
  return out;
}

}  // namespace plait::conformance
