// A node in import, and what handlers share.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/onnx/importer.h"
#include "scalar/convert.h"

namespace plait::onnx {

ValuePtr Call::value(size_t i) const {
  require(has(i), "it has no operand {}", i);
  ValuePtr found = scope.find(node.in[i]);
  if (!found) throw ImportRefusal(fmt::format("no node before it gives `{}`", node.in[i]), kValidModel);
  if (found->bad) throw ReadsBad{};
  return found;
}

std::vector<TensorView*> Call::all() {
  require(count() > 0, "it has no operands");
  std::vector<TensorView*> out;
  for (size_t i = 0; i < count(); ++i) out.push_back(in(i));
  return out;
}

double Call::number_of(size_t i, int64_t place) {
  const Tensor& t = known(i);
  require(place < t.elements(), "its operand {} has {} numbers", i, t.elements());
  return t.at(place);
}

std::vector<int64_t> Call::integers(size_t i) {
  const ValuePtr from = value(i);
  if (!from->known)
    if (const auto sizes = importer.builder().sizes_in(from->view)) {
      std::vector<int64_t> out;
      for (const sym::Expr each : *sizes) out.push_back(static_number(each));
      return out;
    }
  const Tensor t = known(i).contiguous();
  std::vector<int64_t> out;
  for (int64_t k = 0; k < t.elements(); ++k) {
    const char* at = static_cast<const char*>(t.data()) + k * static_cast<int64_t>(size_of(t.dtype));
    out.push_back(is_float(t.dtype) ? std::llround(std::clamp(std::trunc(t.at(k)), -9e18, 9e18))
                                    : load_int64(t.dtype, at));
  }
  return out;
}

int64_t Call::integer(size_t i) {
  const std::vector<int64_t> out = integers(i);
  require(!out.empty(), "its operand {} has no numbers", i);
  return out[0];
}

std::vector<sym::Expr> Call::sizes(size_t i) {
  const ValuePtr from = value(i);
  if (from->view && !from->known)
    if (auto found = importer.builder().sizes_in(from->view)) return *found;
  std::vector<sym::Expr> out;
  for (const int64_t each : integers(i)) out.push_back(fusion().pool().constant(each));
  return out;
}

const Attribute& Call::attribute(std::string_view name) const {
  const auto found = node.attributes.find(name);
  require(found != node.attributes.end(), "it has no attribute {}", name);
  return found->second;
}
int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  return has_attribute(name) ? attribute(name).integer : otherwise;
}
double Call::number(std::string_view name, double otherwise) const {
  return has_attribute(name) ? attribute(name).number : otherwise;
}
std::string Call::text(std::string_view name, std::string otherwise) const {
  return has_attribute(name) ? attribute(name).text : otherwise;
}
std::vector<int64_t> Call::integers(std::string_view name) const {
  return has_attribute(name) ? attribute(name).integers : std::vector<int64_t>{};
}
std::vector<int64_t> Call::integers(std::string_view name, size_t operand) {
  return has_attribute(name) ? integers(name) : has(operand) ? integers(operand) : std::vector<int64_t>{};
}
std::vector<sym::Expr> Call::sizes(std::string_view name, size_t operand) {
  if (!has_attribute(name)) return has(operand) ? sizes(operand) : std::vector<sym::Expr>{};
  std::vector<sym::Expr> out;
  for (const int64_t each : integers(name)) out.push_back(fusion().pool().constant(each));
  return out;
}

int64_t Call::axis(int64_t otherwise, size_t rank, bool end) const {
  const int64_t given = integer("axis", otherwise), dims = static_cast<int64_t>(rank);
  if (given < -dims || given >= dims + (end ? 1 : 0))
    throw ImportRefusal(fmt::format("axis {} of {} dims", given, dims), kValidModel);
  return given < 0 ? given + dims : given;
}

DType Call::dtype_attribute(std::string_view name, int64_t otherwise) const {
  const int64_t number = integer(name, otherwise);
  const auto dtype = dtype_of(number);
  require(dtype.has_value(), "dtype {}", foreign_name(number));
  return *dtype;
}

const Graph& Call::body(std::string_view name) const {
  const Attribute& out = attribute(name);
  require(out.graph != nullptr, "its attribute {} is no graph", name);
  return *out.graph;
}

void Call::give(ValuePtr value, size_t i) {
  given_.insert(i);
  if (wants(i)) scope.values[node.out[i]] = std::move(value);
}

void Call::check_all_seen() const {
  for (size_t i = looked_; i < node.in.size(); ++i) require(node.in[i].empty(), "operand {} of {}", i, node.op);
  for (size_t i = 0; i < node.out.size(); ++i)
    require(given_.contains(i) || node.out[i].empty(), "result {} of {}", i, node.op);
}

TensorView* Call::constant(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  return importer.view(*Importer::constant(Tensor::from_doubles(dtype, std::move(shape), values), node.label()));
}

sym::Expr size_of_dim(const TensorView* t, int64_t dim) {
  require(dim >= 0 && dim < static_cast<int64_t>(t->rank()), "a tensor {} has no dim {}", type_text(*t), dim);
  return t->extent(static_cast<size_t>(dim));
}
TensorView* reshape_to(TensorView* t, const std::vector<int64_t>& shape) { return reshape(t, extents_of(shape)); }
TensorView* reshape_to(TensorView* t, const Sizes& shape) { return reshape(t, extents_of(shape)); }
TensorView* expand_to(TensorView* t, const std::vector<int64_t>& shape) { return expand(t, extents_of(shape)); }
TensorView* expand_to(TensorView* t, const Sizes& shape) { return expand(t, extents_of(shape)); }

std::vector<int64_t> iota_dims(int64_t begin, int64_t end) {
  require(end - begin < 1000, "{} dims", end - begin);
  std::vector<int64_t> out(static_cast<size_t>(std::max<int64_t>(end - begin, 0)));
  std::iota(out.begin(), out.end(), begin);
  return out;
}
int64_t product(const std::vector<int64_t>& shape, int64_t begin, int64_t end) {
  require(begin <= end && end <= static_cast<int64_t>(shape.size()), "it has {} dims", shape.size());
  return element_count({shape.begin() + begin, shape.begin() + end});
}
sym::Expr product(Fusion& fusion, const Sizes& shape, int64_t begin, int64_t end) {
  require(begin <= end && end <= static_cast<int64_t>(shape.size()), "it has {} dims", shape.size());
  sym::Expr out = fusion.pool().constant(1);
  for (int64_t d = begin; d < end; ++d) out = out * shape[static_cast<size_t>(d)];
  return out;
}

}  // namespace plait::onnx
