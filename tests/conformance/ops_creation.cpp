// Ops of ONNX that make tensors from nothing or from shapes.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "conformance/importer.h"

namespace plait::conformance {
namespace {

Tensor wide(const std::vector<int64_t>& values, std::vector<int64_t> shape) {
  Tensor out = Tensor::empty(DType::i64, std::move(shape));
  std::ranges::copy(values, static_cast<int64_t*>(out.data()));
  return out;
}

void constant(Call& c) {
  const Attribute& a = c.node.attributes.begin()->second;
  const std::string& kind = c.node.attributes.begin()->first;
  if (kind == "value") {
    if (!a.data->tensor) throw Unsupported{"dtype " + a.data->foreign};
    return c.give(Importer::constant(*a.data->tensor), 0);
  }
  if (kind == "value_int") return c.give(Importer::constant(wide({a.integer}, {})), 0);
  if (kind == "value_ints")
    return c.give(Importer::constant(wide(a.integers, {static_cast<int64_t>(a.integers.size())})), 0);
  const std::vector<double> values = kind == "value_float" ? std::vector<double>{a.number} : a.numbers;
  std::vector<int64_t> shape;
  if (kind == "value_floats") shape = {static_cast<int64_t>(values.size())};
  c.give(Importer::constant(Tensor::from_doubles(DType::f32, shape, values)), 0);
}

void constant_of_shape(Call& c) {
  const auto value = c.node.attributes.find("value");
  const std::vector<int64_t> shape = c.integers(0);
  if (value == c.node.attributes.end()) return c.give(full(c.importer.fusion(), extents(shape), 0, DType::f32));
  if (!value->second.data->tensor) throw Unsupported{"dtype " + value->second.data->foreign};
  TensorView* one = c.importer.view(*Importer::constant(*value->second.data->tensor));
  c.give(expand_to(reshape(one, {}), shape));
}

// Sizes are ops of the graph, whose values the import knows.
void shape_op(Call& c) {
  std::vector<int64_t> shape = shape_of(c.in());
  const auto rank = static_cast<int64_t>(shape.size());
  auto end = [&](const char* name, int64_t otherwise) {
    const int64_t at = c.integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = end("start", 0), stop = std::max(end("end", rank), start);
  shape = {shape.begin() + start, shape.begin() + stop};
  ValuePtr out = Importer::constant(wide(shape, {stop - start}));
  std::vector<TensorView*> sizes;
  for (int64_t d : shape) sizes.push_back(size(c.importer.fusion(), d));
  if (!sizes.empty()) out->view = stack(sizes, 0);
  c.give(out, 0);
}

void size_op(Call& c) {
  const std::vector<int64_t> shape = shape_of(c.in());
  const int64_t count = product(shape, 0, static_cast<int64_t>(shape.size()));
  ValuePtr out = Importer::constant(wide({count}, {}));
  out->view = size(c.importer.fusion(), count);
  c.give(out, 0);
}

void eye_like(Call& c) {
  TensorView* x = c.in();
  const int64_t rows = extent(x, 0), columns = extent(x, 1), k = c.integer("k", 0);
  const DType dtype = c.has_attribute("dtype") ? dtype_of(c.integer("dtype", 0)) : x->dtype;
  Fusion& f = c.importer.fusion();
  TensorView* row = iota(f, {rows, columns}, 0);
  c.give(cast(eq(add(row, k), iota(f, {rows, columns}, 1)), dtype));
}

void range(Call& c) {
  const double start = c.number(0), limit = c.number(1), delta = c.number(2);
  const auto count = static_cast<int64_t>(std::max(std::ceil((limit - start) / delta), 0.0));
  TensorView* steps = iota(c.importer.fusion(), {count}, 0, c.in()->dtype);
  c.give(add(c.in(), mul(steps, c.in(2))));
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), n counting the end only where the window is not periodic.
template <int kind>
void window(Call& c) {
  constexpr double kTerms[3][3] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};
  const int64_t n = c.integer(0);
  const DType dtype = dtype_of(c.integer("output_datatype", 1));
  const auto divisor = static_cast<double>(c.integer("periodic", 1) ? n : n - 1);
  TensorView* angle = mul(iota(c.importer.fusion(), {n}, 0, dtype), 2 * M_PI / divisor);
  const auto& a = kTerms[kind];
  c.give(add(sub(a[0], mul(cos(angle), a[1])), mul(cos(mul(angle, 2)), a[2])));
}

}  // namespace

std::vector<OpRow> creation_rows() {
  return {
      {"BlackmanWindow", window<2>, "periodic output_datatype"},
      {"Constant", constant, "value value_int value_ints value_float value_floats"},
      {"ConstantOfShape", constant_of_shape, "value"},
      {"EyeLike", eye_like, "dtype k"},
      {"HammingWindow", window<1>, "periodic output_datatype"},
      {"HannWindow", window<0>, "periodic output_datatype"},
      {"Range", range},
      {"Shape", shape_op, "start end"},
      {"Size", size_op},
  };
}

}  // namespace plait::conformance
