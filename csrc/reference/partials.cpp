// Which tensors of a sharded fusion are pending sums, and which terms each rank adds.
#include "base/error.h"
#include "reference/evaluate.h"

namespace plait::reference {
namespace {

struct Contracted {
  const TensorView* tensor = nullptr;
  size_t dim = 0;
};

// The operand and dim that a product sums over; no tensor for other ops.
Contracted contracted(const Op& op) {
  if (const Linear* linear = as<Linear>(op)) return {linear->x, linear->x->rank() - 1};
  if (const Matmul* matmul = as<Matmul>(op)) return {matmul->a, matmul->a->rank() - 1};
  return {};
}

// Indices of the contracted dim that each combination of positions on the partial axes adds.
std::vector<std::vector<int64_t>> rank_indices(const Contracted& sum, const std::vector<int>& axes,
                                               const DeviceMesh& mesh, const sym::Environment& sizes) {
  const int64_t extent = sym::evaluate(sum.tensor->extent(sum.dim), sizes);
  const std::string where = fmt::format("%{} dim {}", sum.tensor->name, sum.dim);
  std::vector<std::vector<int64_t>> indices;
  std::vector<int64_t> position(mesh.sizes().size(), 0);
  for (bool more = true; more;) {
    indices.push_back(owned_indices(extent, sum.tensor->layout.dims[sum.dim], mesh, position, where));
    more = false;
    for (int axis : axes) {
      if (++position[axis] < mesh.size(axis)) {
        more = true;
        break;
      }
      position[axis] = 0;
    }
  }
  return indices;
}

// The tensor that a reshard makes of another one, or null: it has the name of the written graph where the op's own
// result was renamed.
const TensorView* resharded(const Fusion& sharded, const TensorView* tensor) {
  for (const Op* reader : sharded.readers(tensor))
    if (reader->kind == OpKind::Reshard) return reader->out;
  return nullptr;
}

}  // namespace

PartialInfo partials(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes) {
  PartialInfo info;
  for (const Op* op : sharded.ops()) {
    const TensorView& out = *op->out;
    const Contracted sum = contracted(*op);
    std::vector<int> axes;
    for (const auto& [axis, reduce] : out.layout.partial)
      if (reduce == ReduceOp::sum && mesh.size(axis) > 1) axes.push_back(axis);
    Partial partial;
    for (int axis : axes) partial.ranks *= mesh.size(axis);
    partial.roundings = static_cast<int64_t>(axes.size());
    if (!axes.empty()) {
      if (sum.tensor) partial.indices = rank_indices(sum, axes, mesh, sizes);
      for (const TensorView* t = &out; t; t = resharded(sharded, t)) info.emplace(t->name, partial);
    } else if (sum.tensor && is_narrow(out.dtype) && out.name.find("_product") != std::string::npos) {
      info.emplace(out.name, std::move(partial));  // a product that is rounded before its bias joins
    }
  }
  return info;
}

}  // namespace plait::reference
