#include "conformance/cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/ranges.h>

#include "api/check_program.h"
#include "base/error.h"
#include "reference/check.h"
#include "reference/evaluate.h"
#include "scalar/convert.h"

namespace plait::conformance {
namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

std::vector<Tensor> read_tensors(const fs::path& folder, const std::string& kind, const Graph& graph,
                                 const std::vector<std::string>& names) {
  std::vector<Tensor> out;
  for (const std::string& name : names) {
    const fs::path file = folder / fmt::format("{}_{}.pb", kind, out.size());
    if (!fs::exists(file)) break;
    out.push_back(read_tensor(file));
    if (out.back().dtype == DType::u16 && graph.bf16.contains(name)) out.back().dtype = DType::bf16;
  }
  return out;
}

// Every node, those of loops and branches too.
bool any_node(const Graph& graph, const std::function<bool(const Node&)>& is) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
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
  Case out{name, read_model(folder / "model.onnx"), {}, {}};
  if (!out.model.foreign.empty()) return out;
  const Graph& graph = out.model.graph;
  out.inputs = read_tensors(folder / "test_data_set_0", "input", graph, graph.inputs);
  out.outputs = read_tensors(folder / "test_data_set_0", "output", graph, graph.outputs);
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

// All outputs. Radii are computed where some number is not as near as ONNX wants it.
void compare(Importer& importer, const Tensors& got, const std::vector<Tensor>& want, Outcome& out) {
  if (got.size() != want.size()) out.failure = fmt::format("{} outputs, not {}", got.size(), want.size());
  reference::Results computed;
  for (size_t i = 0; i < want.size() && out.failure.empty(); ++i) {
    const std::string name = fmt::format("o{}", i);
    if (difference({}, got.at(name), want[i], out).empty()) continue;
    if (computed.empty())
      computed = reference::evaluate(importer.fusion(), {importer.inputs().begin(), importer.inputs().end()});
    const std::string wrong = difference(computed.at(name), got.at(name), want[i], out);
    if (!wrong.empty()) out.failure = fmt::format("output {} {}", i, wrong);
  }
}

}  // namespace

Outcome run_case(const Case& c, const std::string& device) {
  if (!c.model.foreign.empty()) return {"dtype " + *c.model.foreign.begin(), ""};
  Outcome out;
  try {
    Importer importer(c.model);
    importer.import(c.model.graph, c.inputs);
    CompileOptions how;
    how.device = device;
    Compiled program = compile(importer.fusion(), how);
    const Tensors got = program.run(importer.inputs());
    const ProgramCheck check =
        check_program(importer.fusion(), how, program, importer.inputs(), got, {.one_rank = false});
    if (!check.all.ok) return {"", "against the reference: " + check.all.message};
    compare(importer, got, c.outputs, out);
  } catch (const Unsupported& e) {
    out.unsupported = e.reason;
  } catch (const std::exception& e) {
    out.failure = e.what();
  }
  return out;
}

bool holds(const std::string& reason, const Model& model) {
  const auto after = [&](std::string_view head) {
    return reason.starts_with(head) ? reason.substr(head.size()) : std::string();
  };
  if (const std::string type = after("dtype "); !type.empty())
    return model.foreign.contains(type) && !parse_dtype(type);
  if (const std::string op = after("op "); !op.empty())
    return !find_op(op) && any_node(model.graph, [&](const Node& n) { return n.op == op; });
  const std::string attribute = after("attribute ");
  const size_t of = attribute.find(" of ");
  if (attribute.empty() || of == attribute.npos) return false;
  const std::string op = attribute.substr(of + 4), written = attribute.substr(0, of);
  const size_t equals = written.find('=');
  const std::string name = written.substr(0, equals);
  const std::string value = equals == written.npos ? "" : written.substr(equals + 1);
  return find_op(op) && !obeys(*find_op(op), name, value) && any_node(model.graph, [&](const Node& n) {
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
