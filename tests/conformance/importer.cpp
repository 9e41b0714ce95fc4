#include "conformance/importer.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "reference/evaluate.h"
#include "scalar/convert.h"

namespace plait::conformance {

namespace {

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

const OpRow& row_of(const Node& node) {
  const OpRow* row = find_op(node.op);
  if (!row) throw Unsupported{"op " + node.op};
  for (const auto& [name, attribute] : node.attributes) {
    if (obeys(*row, name, attribute.text.empty() ? std::to_string(attribute.integer) : attribute.text)) continue;
    if (obeys(*row, name + "?", "")) continue;  // the handler's
    throw Unsupported{
        fmt::format("attribute {}{} of {}", name, attribute.text.empty() ? "" : "=" + attribute.text, node.op)};
  }
  return *row;
}

}  // namespace

const OpRow* find_op(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
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

ValuePtr Importer::constant(Tensor tensor) { return std::make_shared<Value>(Value{std::move(tensor), nullptr}); }
ValuePtr Importer::result(TensorView* view) { return std::make_shared<Value>(Value{{}, view}); }

TensorView* Importer::view(Value& value) {
  if (value.view) return value.view;
  const std::string name = fmt::format("in{}", inputs_.size());
  value.view = fusion_->input(name, extents(value.known->shape), value.known->dtype);
  inputs_[name] = *value.known;
  return value.view;
}

const Tensor& Importer::known(Value& value) {
  if (!value.known) {
    reference::EvaluateOptions how;
    how.radius = false;
    how.keep = {value.view->name};
    value.known =
        reference::to_tensor(reference::evaluate(*fusion_, {inputs_.begin(), inputs_.end()}, how).at(value.view->name));
  }
  return *value.known;
}

std::vector<ValuePtr> Importer::run(const Graph& graph, const std::vector<ValuePtr>& inputs, const Scope* outer) {
  Scope scope;
  scope.outer = outer;
  for (const auto& [name, data] : graph.initializers) {
    if (!data.tensor) throw Unsupported{"dtype " + data.foreign};
    scope.values[name] = constant(*data.tensor);
  }
  PLAIT_CHECK(inputs.size() <= graph.inputs.size(), "{} inputs for {}", inputs.size(), graph.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) scope.values[graph.inputs[i]] = inputs[i];
  for (const Node& node : graph.nodes) {
    Call call(*this, node, scope);
    row_of(node).handler(call);
  }
  std::vector<ValuePtr> out;
  for (const std::string& name : graph.outputs) {
    out.push_back(scope.find(name));
    PLAIT_CHECK(out.back(), "no node gives {}", name);
  }
  return out;
}

void Importer::import(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<ValuePtr> values;
  for (const Tensor& t : inputs) values.push_back(constant(t));
  size_t count = 0;
  for (const ValuePtr& value : run(graph, values, nullptr)) {
    TensorView* t = view(*value);
    if (!t->definition || fusion_->is_output(t)) t = set(t);
    fusion_->output(fmt::format("o{}", count++), t);
  }
}

ValuePtr Call::value(size_t i) const {
  PLAIT_CHECK(has(i), "{} has no operand {}", node.op, i);
  ValuePtr found = scope.find(node.in[i]);
  PLAIT_CHECK(found, "no node gives {}", node.in[i]);
  return found;
}

std::vector<TensorView*> Call::all() {
  std::vector<TensorView*> out;
  for (size_t i = 0; i < count(); ++i) out.push_back(in(i));
  return out;
}

std::vector<int64_t> Call::integers(size_t i) {
  const Tensor t = known(i).contiguous();
  std::vector<int64_t> out;
  for (int64_t k = 0; k < t.elements(); ++k) {
    const char* at = static_cast<const char*>(t.data()) + k * static_cast<int64_t>(size_of(t.dtype));
    out.push_back(is_float(t.dtype) ? static_cast<int64_t>(t.at(k)) : load_int64(t.dtype, at));
  }
  return out;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.integer;
}
double Call::number(std::string_view name, double otherwise) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.number;
}
std::string Call::text(std::string_view name, std::string otherwise) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.text;
}
std::vector<int64_t> Call::integers(std::string_view name) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? std::vector<int64_t>{} : found->second.integers;
}
std::vector<int64_t> Call::integers(std::string_view name, size_t operand) {
  return has_attribute(name) ? integers(name) : has(operand) ? integers(operand) : std::vector<int64_t>{};
}
int64_t Call::axis(int64_t otherwise, int64_t rank) const {
  const int64_t out = integer("axis", otherwise);
  return out < 0 ? out + rank : out;
}

void Call::give(ValuePtr value, size_t i) {
  if (wants(i)) scope.values[node.out[i]] = std::move(value);
}

TensorView* Call::constant(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  return importer.view(*Importer::constant(Tensor::from_doubles(dtype, std::move(shape), values)));
}

int64_t extent(const TensorView* t, int64_t dim) { return sym::evaluate(t->extent(static_cast<size_t>(dim)), {}); }
std::vector<int64_t> shape_of(const TensorView* t) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < t->rank(); ++d) out.push_back(sym::evaluate(t->extent(d), {}));
  return out;
}
std::vector<Fusion::Extent> extents(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }
TensorView* reshape_to(TensorView* t, const std::vector<int64_t>& shape) { return reshape(t, extents(shape)); }
TensorView* expand_to(TensorView* t, const std::vector<int64_t>& shape) { return expand(t, extents(shape)); }
std::vector<int64_t> iota_dims(int64_t begin, int64_t end) {
  std::vector<int64_t> out(static_cast<size_t>(std::max<int64_t>(end - begin, 0)));
  std::iota(out.begin(), out.end(), begin);
  return out;
}
int64_t product(const std::vector<int64_t>& shape, int64_t begin, int64_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, int64_t{1}, std::multiplies<>());
}

}  // namespace plait::conformance
