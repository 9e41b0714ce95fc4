// Ops of ONNX that make tensors from nothing or from shapes.
#include <algorithm>
#include <cmath>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

Tensor wide(const std::vector<int64_t>& values, std::vector<int64_t> shape) {
  Tensor out = Tensor::empty(DType::i64, std::move(shape));
  std::ranges::copy(values, static_cast<int64_t*>(out.data()));
  return out;
}

const Tensor& tensor_in(const Attribute& attribute) {
  require(attribute.data && attribute.data->tensor, "its attribute is no tensor");
  return *attribute.data->tensor;
}

void constant_op(Call& c) {
  require(c.node.attributes.size() == 1, "it has {} values", c.node.attributes.size());
  const auto& [kind, a] = *c.node.attributes.begin();
  const auto give = [&](Tensor value) { c.give(Importer::constant(std::move(value), c.node.label()), 0); };
  if (kind == "value") return give(tensor_in(a));
  if (kind == "value_int") return give(wide({a.integer}, {}));
  if (kind == "value_ints") return give(wide(a.integers, {static_cast<int64_t>(a.integers.size())}));
  const std::vector<double> values = kind == "value_float" ? std::vector<double>{a.number} : a.numbers;
  std::vector<int64_t> shape;
  if (kind == "value_floats") shape = {static_cast<int64_t>(values.size())};
  give(Tensor::from_doubles(DType::f32, shape, values));
}

void constant_of_shape(Call& c) {
  const Sizes shape = c.sizes(0);
  if (!c.has_attribute("value")) return c.give(full(c.fusion(), extents_of(shape), 0, DType::f32));
  const Tensor& value = tensor_in(c.attribute("value"));
  require(value.elements() == 1, "its value has {} numbers", value.elements());
  TensorView* one = c.importer.view(*Importer::constant(value, c.node.label()));
  c.give(expand_to(reshape(one, {}), shape));
}

// Sizes are ops of the graph; what they are is known to the import.
void shape_op(Call& c) {
  const Sizes shape = c.in()->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  auto end = [&](const char* name, int64_t otherwise) {
    const int64_t at = std::clamp<int64_t>(c.integer(name, otherwise), -rank, rank);
    return at < 0 ? at + rank : at;
  };
  const int64_t start = end("start", 0), stop = std::max(end("end", rank), start);
  std::vector<TensorView*> sizes;
  for (int64_t d = start; d < stop; ++d) sizes.push_back(size(c.fusion(), shape[static_cast<size_t>(d)]));
  if (sizes.empty()) return c.give(Importer::constant(wide({}, {0})), 0);
  c.give(stack(sizes, 0));
}

void size_op(Call& c) {
  const Sizes shape = c.in()->shape();
  c.give(size(c.fusion(), product(c.fusion(), shape, 0, static_cast<int64_t>(shape.size()))));
}

void eye_like(Call& c) {
  TensorView* x = c.in();
  require(x->rank() == 2, "an operand of {} dims", x->rank());
  const std::vector<Fusion::Extent> shape = extents_of(x->shape());
  const DType dtype = c.has_attribute("dtype") ? c.dtype_attribute("dtype", 0) : x->dtype;
  TensorView* row = iota(c.fusion(), shape, 0);
  c.give(cast(eq(add(row, c.integer("k", 0)), iota(c.fusion(), shape, 1)), dtype));
}

// From 0 on in steps of 1 its end may be a size.
void range_op(Call& c) {
  const DType dtype = c.in()->dtype;
  if (!is_float(dtype)) {
    const Sizes start = c.sizes(0), limit = c.sizes(1), delta = c.sizes(2);
    require(start.size() == 1 && limit.size() == 1 && delta.size() == 1, "its operands are no numbers");
    if (delta[0].constant() == 1 && !limit[0].is_constant()) {
      TensorView* steps = iota(c.fusion(), {sym::max(limit[0] - start[0], 0)}, 0, dtype);
      return c.give(start[0].constant() == 0 ? steps : add(c.in(), steps));
    }
  }
  const double start = c.number(0), limit = c.number(1), delta = c.number(2);
  const double count = std::max(std::ceil((limit - start) / delta), 0.0);
  require(count < 1e15, "a range of {} elements", count);
  TensorView* steps = iota(c.fusion(), {static_cast<int64_t>(count)}, 0, dtype);
  c.give(add(c.in(), mul(steps, c.in(2))));
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), n counting the end only where the window is not periodic.
template <int kind>
void window(Call& c) {
  constexpr double kTerms[3][3] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};
  const int64_t n = c.integer(0);
  const DType dtype = c.dtype_attribute("output_datatype", 1);
  const auto divisor = static_cast<double>(c.integer("periodic", 1) ? n : n - 1);
  TensorView* angle = mul(iota(c.fusion(), {n}, 0, dtype), 2 * M_PI / divisor);
  const auto& a = kTerms[kind];
  c.give(add(sub(a[0], mul(cos(angle), a[1])), mul(cos(mul(angle, 2)), a[2])));
}

}  // namespace

std::vector<OpRow> creation_rows() {
  return {
      {"BlackmanWindow", window<2>, "periodic output_datatype"},
      {"Constant", constant_op, "value value_int value_ints value_float value_floats"},
      {"ConstantOfShape", constant_of_shape, "value"},
      {"EyeLike", eye_like, "dtype k"},
      {"HammingWindow", window<1>, "periodic output_datatype"},
      {"HannWindow", window<0>, "periodic output_datatype"},
      {"Range", range_op},
      {"Shape", shape_op, "start end"},
      {"Size", size_op},
  };
}

}  // namespace plait::onnx
