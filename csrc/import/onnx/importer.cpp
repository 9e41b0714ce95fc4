#include "import/onnx/importer.h"

#include <algorithm>
#include <sstream>

#include "import/onnx/import_onnx.h"

namespace plait::onnx {

namespace {

constexpr int64_t kNewestOpset = 23;
constexpr int kMostNested = 20;  // of loops and branches in import

const std::map<std::string, OpRow, std::less<>>& table() {
  static const auto rows = [] {
    std::map<std::string, OpRow, std::less<>> out;
    for (auto part : {pointwise_rows, reduction_rows, movement_rows, creation_rows, indexing_rows, layer_rows,
                      loss_rows, window_rows, loop_rows, optimizer_rows, resize_rows})
      for (const OpRow& row : part()) PLAIT_CHECK(out.emplace(row.name, row).second, "two rows of {}", row.name);
    return out;
  }();
  return rows;
}

// A graph in import inside of others.
struct Nested {
  explicit Nested(int& depth) : depth(depth) {
    require(depth < kMostNested, "loops and branches are nested over {} deep", kMostNested);
    ++depth;
  }
  ~Nested() { --depth; }
  Nested(const Nested&) = delete;
  int& depth;
};

}  // namespace

const OpRow* find_op(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> op_names() {
  std::vector<std::string> out;
  for (const auto& [name, row] : table()) out.push_back(name);
  return out;
}

bool obeys(const OpRow& row, std::string_view attribute, std::string_view value) {
  std::istringstream words(row.attributes);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (word.substr(0, equals) != attribute) continue;
    if (equals == word.npos) return true;
    std::istringstream values(word.substr(equals + 1));
    for (std::string each; std::getline(values, each, '|');)
      if (each == value) return true;
  }
  return false;
}

ValuePtr Scope::find(const std::string& name) const {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  return outer ? outer->find(name) : nullptr;
}

ValuePtr Importer::constant(Tensor tensor, std::string name) {
  return std::make_shared<Value>(Value{std::move(tensor), nullptr, false, std::move(name)});
}
ValuePtr Importer::result(TensorView* view) { return std::make_shared<Value>(Value{{}, view}); }

Importer::Importer(const Model& model, const ImportOptions& options)
    : model_(model), options_(options), builder_(options) {}

TensorView* Importer::view(Value& value) {
  if (value.bad) throw ReadsBad{};
  if (!value.view) value.view = builder_.tensor_of(*value.known, value.name);
  return value.view;
}

const Tensor& Importer::known(Value& value) {
  if (value.bad) throw ReadsBad{};
  if (!value.known) value.known = builder_.known(value.view);
  return *value.known;
}

void Importer::check_values(const std::vector<ValueInfo>& values, const char* what) {
  for (const ValueInfo& each : values)
    if (!each.foreign.empty()) problems_.note("dtype " + each.foreign, "", fmt::format("{} {}", what, each.name));
}

void Importer::check_node(const Node& node) {
  const auto refuse = [&](const std::string& reason, const std::string& remedy = "") {
    problems_.note(reason, node.op, node.label(), remedy);
    refused_.insert(&node);
  };
  const OpRow* row = find_op(node.op);
  if (!row) {
    if (model_.functions.contains(node.op))
      refuse("op " + node.op + ", a function of the model", "export it inlined");
    else
      refuse("op " + node.op, likely_name(node.op, op_names()));
    return;
  }
  for (const auto& [name, attribute] : node.attributes) {
    if (attribute.data && !attribute.data->tensor) refuse("dtype " + attribute.data->foreign);
    if (obeys(*row, name, attribute.text.empty() ? std::to_string(attribute.integer) : attribute.text)) continue;
    if (obeys(*row, name + "?", "")) continue;  // the handler's
    refuse(fmt::format("attribute {}{} of {}", name, attribute.text.empty() ? "" : "=" + attribute.text, node.op));
  }
}

// All that can be said without building, so that one import tells all of it.
void Importer::check_nodes(const Graph& graph) {
  for (const auto& [name, data] : graph.initializers)
    if (!data.tensor) problems_.note("dtype " + data.foreign, "", "initializer " + name);
  check_values(graph.inputs, "input");
  check_values(graph.outputs, "output");
  for (const Node& node : graph.nodes) {
    check_node(node);
    for (const auto& [name, attribute] : node.attributes)
      if (attribute.graph) check_nodes(*attribute.graph);
  }
}

void Importer::run_node(const Node& node, Scope& scope) {
  for (const std::string& each : node.out)
    if (!each.empty() && scope.values.contains(each))
      throw UserError(fmt::format("`{}` is given twice", each), options_.file, kValidModel);
  const auto spoil = [&] {
    for (const std::string& each : node.out)
      if (!each.empty()) scope.values[each] = std::make_shared<Value>(Value{{}, nullptr, true});
  };
  if (refused_.contains(&node)) return spoil();
  try {
    Call call(*this, node, scope);
    find_op(node.op)->handler(call);
    call.check_all_seen();
    builder_.check_growth();
  } catch (const ReadsBad&) {
    spoil();
  } catch (const UserError& e) {
    const std::string where = e.where().empty() ? "" : ", at " + e.where();
    problems_.note(e.message() + where, node.op, node.label(), e.remedy());
    spoil();
  }
}

std::vector<ValuePtr> Importer::run(const Graph& graph, const std::vector<ValuePtr>& inputs, const Scope* outer) {
  const Nested nested(depth_);
  Scope scope;
  scope.outer = outer;
  for (const auto& [name, data] : graph.initializers)
    scope.values[name] = data.tensor ? constant(*data.tensor, name) : std::make_shared<Value>(Value{{}, nullptr, true});
  require(inputs.size() <= graph.inputs.size(), "a body takes {} values and gets {}", graph.inputs.size(),
          inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!scope.values.emplace(graph.inputs[i].name, inputs[i]).second)
      throw UserError(fmt::format("input `{}` is there twice", graph.inputs[i].name), options_.file, kValidModel);
  for (const Node& node : graph.nodes) run_node(node, scope);
  std::vector<ValuePtr> out;
  for (const ValueInfo& output : graph.outputs) {
    out.push_back(scope.find(output.name));
    if (!out.back()) throw ImportRefusal(fmt::format("no node gives the output `{}`", output.name), kValidModel);
  }
  return out;
}

ValuePtr Importer::input(const ValueInfo& info) {
  auto bad = std::make_shared<Value>(Value{{}, nullptr, true});
  if (!info.foreign.empty()) return bad;  // which check_values() notes
  const auto given = options_.constants.find(info.name);
  if (given != options_.constants.end() && info.type != 0) {
    const DType dtype = *dtype_of(info.type);
    Tensor value = given->second(dtype);
    if (value.dtype != dtype)
      throw UserError(
          fmt::format("the constant `{}` is {}, and the model has {}", info.name, name(value.dtype), name(dtype)),
          options_.file, "give a constant of the model's type");
    return constant(std::move(value), info.name);
  }
  if (info.type == 0 || !info.shape) {
    problems_.note("an input without type or shape", "", info.name, "run ONNX's shape inference first");
    return bad;
  }
  std::vector<Fusion::Extent> shape;
  for (size_t d = 0; d < info.shape->size(); ++d) {
    const Dim& dim = (*info.shape)[d];
    if (dim.value && *dim.value >= 0)
      shape.emplace_back(*dim.value);
    else
      shape.push_back(builder_.size_named(dim.name.empty() ? fmt::format("{}_{}", info.name, d) : dim.name));
  }
  return result(builder_.input(info.name, shape, *dtype_of(info.type)));
}

void Importer::import() {
  check_nodes(model_.graph);
  const bool has_own_ops = std::any_of(model_.graph.nodes.begin(), model_.graph.nodes.end(),
                                       [](const Node& node) { return node.op.find('.') == node.op.npos; });
  if ((has_own_ops && model_.opset < 1) || model_.opset > kNewestOpset)
    problems_.note(fmt::format("opset {}", model_.opset), "", "",
                   fmt::format("export the model with an opset of 1 to {}", kNewestOpset));
  for (const auto& [name, value] : options_.constants)
    if (std::none_of(model_.graph.inputs.begin(), model_.graph.inputs.end(),
                     [&, &name = name](const ValueInfo& each) { return each.name == name; }))
      throw UserError(fmt::format("the model has no input `{}`", name), options_.file, "name an input of the model");
  std::vector<ValuePtr> inputs;
  for (const ValueInfo& each : model_.graph.inputs) inputs.push_back(input(each));
  const std::vector<ValuePtr> outputs = run(model_.graph, inputs, nullptr);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i]->bad) builder_.output(model_.graph.outputs[i].name, view(*outputs[i]));
}

}  // namespace plait::onnx

namespace plait {

Imported import_onnx(std::string_view bytes, const ImportOptions& given) {
  ImportOptions options = given;
  onnx::Model model;
  try {
    model = onnx::read_model(bytes, options.folder);
    if (options.name.empty()) options.name = model.graph.name;
    onnx::Importer importer(model, options);
    importer.import();
    importer.problems().raise(options.file);
    return importer.builder().finish(
        fmt::format("ONNX, opset {}{}", model.opset, model.producer.empty() ? "" : ", of " + model.producer));
  } catch (const ImportError&) {
    throw;
  } catch (UserError& e) {
    if (e.where().empty()) e.add_place(options.file);
    throw;
  }
}

}  // namespace plait
