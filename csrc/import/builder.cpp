#include "import/builder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "build/ops.h"
#include "reference/evaluate.h"
#include "scalar/convert.h"

namespace plait {
namespace {

constexpr size_t kMostTensors = 200'000;
constexpr int64_t kMostKnown = int64_t{1} << 22, kLongestName = 200;

Tensor to_tensor_of(const reference::Results& results, const std::string& name) {
  return reference::to_tensor(results.at(name));
}

// Whether all elements have the bits of the first.
bool is_splat(const Tensor& t) {
  const auto* bytes = static_cast<const char*>(t.data());
  const size_t size = size_of(t.dtype), all = t.bytes();
  return all > 0 && (all == size || std::memcmp(bytes, bytes + size, all - size) == 0);
}

// A number of C++ that gives exactly this constant, or nothing.
std::optional<Scalar> scalar_of(DType dtype, const Constant& value) {
  if (dtype == DType::u64) return Scalar(value.bits);
  if (!is_float(dtype)) return Scalar(value.to_int64());
  const Scalar out(value.to_double());
  if (out.as(dtype).bits == value.bits) return out;
  return std::nullopt;
}

}  // namespace

std::string identifier(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept || (!out.empty() && out.back() != '_')) out += kept ? c : '_';
    if (static_cast<int64_t>(out.size()) == kLongestName) break;
  }
  while (!out.empty() && out.back() == '_' && !name.ends_with('_')) out.pop_back();
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "v" + out;
  return out;
}

ImportBuilder::ImportBuilder(const ImportOptions& options) : options_(options) {
  out_.fusion = std::make_unique<Fusion>(Mesh(), identifier(options.name.empty() ? "model" : options.name));
}

std::string ImportBuilder::fresh(const std::string& name) { return fusion().unique_name(identifier(name)); }

TensorView* ImportBuilder::input(const std::string& name, const std::vector<Fusion::Extent>& shape, DType dtype) {
  const std::string mine = fresh(name);
  TensorView* t = fusion().input(mine, shape, dtype);
  out_.renamed[mine] = name;
  return t;
}

TensorView* ImportBuilder::tensor_of(const Tensor& given, const std::string& name) {
  const Tensor numbers = given.contiguous();
  if (numbers.elements() > 0 && is_splat(numbers))
    if (const auto value = scalar_of(numbers.dtype, Constant::load(numbers.dtype, numbers.data())))
      return full(fusion(), extents_of(numbers.shape), *value, numbers.dtype);
  const std::string mine = fresh(name.empty() ? "constant" : name);
  TensorView* t = fusion().parameter(mine, extents_of(numbers.shape), numbers.dtype);
  out_.weights[mine] = numbers;
  out_.renamed[mine] = name;
  return t;
}

void ImportBuilder::output(const std::string& name, TensorView* tensor) {
  if (!tensor->definition || fusion().is_output(tensor)) tensor = set(tensor);
  std::string mine = identifier(name);
  if (const TensorView* taken = fusion().find(mine); taken && !taken->named_by_op) mine = fresh(name);
  fusion().output(mine, tensor);
  out_.renamed[mine] = name;
}

Fusion::Extent ImportBuilder::size_named(const std::string& name) {
  std::string mine = identifier(name);
  sym::Expr symbol;
  try {
    symbol = fusion().pool().symbol(mine, {.lo = 0});
  } catch (const UserError&) {  // a word of the text form
    mine += "_";
    symbol = fusion().pool().symbol(mine, {.lo = 0});
  }
  const auto given = options_.sizes.find(mine);
  if (given == options_.sizes.end()) return symbol;
  given_sizes_.insert(mine);
  return given->second;
}

std::vector<Op*> ImportBuilder::needed_for(const std::vector<TensorView*>& outputs,
                                           std::set<const TensorView*>& leaves) {
  std::set<const Op*> needed;
  std::vector<const TensorView*> todo(outputs.begin(), outputs.end());
  while (!todo.empty()) {
    const TensorView* t = todo.back();
    todo.pop_back();
    if (!t->definition)
      leaves.insert(t);
    else if (needed.insert(t->definition).second)
      for (const TensorView* in : inputs(*t->definition)) todo.push_back(in);
  }
  std::vector<Op*> out(needed.size());
  std::transform(needed.begin(), needed.end(), out.begin(), [](const Op* op) { return const_cast<Op*>(op); });
  std::sort(out.begin(), out.end(), [](const Op* a, const Op* b) { return a->id < b->id; });
  return out;
}

Tensor ImportBuilder::known(TensorView* tensor) {
  if (const auto weight = out_.weights.find(tensor->name); weight != out_.weights.end() && !tensor->definition)
    return weight->second;
  std::set<const TensorView*> leaves;
  Segment needed;
  needed.name = "known";
  needed.outputs = {tensor};
  needed.ops = needed_for(needed.outputs, leaves);
  std::map<std::string, Tensor> given;
  for (const TensorView* leaf : leaves) {
    const auto weight = out_.weights.find(leaf->name);
    if (weight == out_.weights.end())
      throw ImportRefusal(
          fmt::format("numbers are needed at import that depend on input `{}`", out_.renamed.at(leaf->name)),
          fmt::format("give its value: --constant {0}=VALUE, or constants={{\"{0}\": value}} in Python",
                      out_.renamed.at(leaf->name)));
    given.emplace(*weight);
    needed.inputs.push_back(const_cast<TensorView*>(leaf));
  }
  for (const Op* op : needed.ops)
    for (const TensorView* t : op->results)
      if (element_count(static_shape(t)) > kMostKnown)
        throw ImportRefusal(fmt::format("numbers are needed at import that come from {} of more than {} elements",
                                        type_text(*t), kMostKnown));
  if (needed.ops.empty()) return given.at(tensor->name);
  const std::unique_ptr<Fusion> alone = clone_segment(fusion(), needed);
  reference::EvaluateOptions how;
  how.radius = false;
  return to_tensor_of(reference::evaluate(*alone, given, how), tensor->name);
}

void ImportBuilder::check_growth() {
  if (fusion().tensor_count() > kMostTensors)
    throw ImportRefusal(fmt::format("the graph would have more than {} tensors", kMostTensors),
                        "export loops with fewer steps");
}

Imported ImportBuilder::finish(std::string format) {
  std::set<const TensorView*> leaves;
  Fusion& f = fusion();
  if (f.outputs().empty())
    throw UserError("the model has no outputs", options_.file, "give a model that computes something");
  f.set_order(needed_for(f.outputs(), leaves));
  auto& all = f.mutable_inputs();
  std::erase_if(all, [&](const TensorView* t) {
    return !leaves.contains(t) && !f.is_output(t) && out_.weights.contains(t->name);
  });
  std::set<std::string> kept;
  for (const TensorView* t : all) kept.insert(t->name);
  std::erase_if(out_.weights, [&](const auto& each) { return !kept.contains(each.first); });
  for (const TensorView* t : f.outputs()) kept.insert(t->name);
  std::erase_if(out_.renamed, [&](const auto& each) { return !kept.contains(each.first); });
  std::vector<std::string> unknown;
  for (const auto& [name, value] : options_.sizes)
    if (!given_sizes_.contains(name)) unknown.push_back(name);
  if (!unknown.empty())
    throw UserError(fmt::format("the model has no size `{}`", unknown.front()), options_.file,
                    "name sizes that its inputs have");
  out_.format = std::move(format);
  return std::move(out_);
}

int64_t static_number(sym::Expr expr) {
  if (const auto value = expr.constant()) return *value;
  std::string flags;
  for (const std::string& name : sym::symbols(expr))
    flags += fmt::format("{}--set {}=1", flags.empty() ? "" : " ", name);
  throw ImportRefusal(fmt::format("the op needs a number for size {}", sym::print(expr)), flags);
}

int64_t static_extent(const TensorView* t, int64_t dim) {
  if (dim < 0 || dim >= static_cast<int64_t>(t->rank()))
    throw ImportRefusal(fmt::format("a tensor {} has no dim {}", type_text(*t), dim));
  return static_number(t->extent(static_cast<size_t>(dim)));
}

std::vector<int64_t> static_shape(const TensorView* t) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < t->rank(); ++d) out.push_back(static_number(t->extent(d)));
  return out;
}

std::vector<Fusion::Extent> extents_of(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }
std::vector<Fusion::Extent> extents_of(const std::vector<sym::Expr>& shape) { return {shape.begin(), shape.end()}; }

}  // namespace plait
