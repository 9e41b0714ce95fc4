#include "graph/passes.h"

namespace plait {
namespace {

template <class T>
std::vector<T> in_order(const std::vector<T>& dims, const std::vector<int>& order) {
  std::vector<T> out;
  for (int d : order) out.push_back(dims[size_t(d)]);
  return out;
}

// The input as it lies, and the op that gives its dims their places again.
Op* lay(Fusion& fusion, TensorView& input, const std::vector<int>& order) {
  const std::vector<Op*> readers = fusion.readers(&input);
  TensorView* whole = fusion.add_tensor(input.name + "_laid", input.shape(), input.dtype);
  whole->dtype_alias = input.dtype_alias;
  input.domain.logical = in_order(input.domain.logical, order);
  input.layout.dims = in_order(input.layout.dims, order);
  if (input.stored) input.stored->dims = in_order(input.stored->dims, order);
  auto permute = std::make_unique<Permute>();
  permute->in = &input;
  permute->dims.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) permute->dims[size_t(order[i])] = int64_t(i);
  Op* op = fusion.add_op(std::move(permute), whole);
  for (Op* reader : readers) replace_input(*reader, &input, whole);
  return op;
}

}  // namespace

void lay_inputs(Fusion& fusion, const InputOrders& orders) {
  const std::vector<Op*> before = fusion.ops();
  std::vector<Op*> order;
  for (TensorView* t : fusion.inputs())
    if (const auto it = orders.find(t->name); it != orders.end() && !fusion.is_output(t))
      order.push_back(lay(fusion, *t, it->second));
  order.insert(order.end(), before.begin(), before.end());
  fusion.set_order(std::move(order));
}

}  // namespace plait
