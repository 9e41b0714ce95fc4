// Which tensors of a sharded fusion are pending sums or products, and which terms each rank adds.
#include "base/error.h"
#include "reference/evaluate.h"

namespace plait::reference {
namespace {

// The operand and the dims that an op adds (or multiplies) up; no tensor for other ops.
struct Contracted {
  const TensorView* tensor = nullptr;
  std::vector<size_t> dims;
};

Contracted contracted(const Op& op) {
  // Terms that are pending themselves are added on every rank.
  const auto is_whole = [](const TensorView* t) { return t->layout.partial.empty(); };
  const Linear* linear = as<Linear>(op);
  if (linear && is_whole(linear->x) && is_whole(linear->w)) return {linear->x, {linear->x->rank() - 1}};
  const Matmul* matmul = as<Matmul>(op);
  if (matmul && is_whole(matmul->a) && is_whole(matmul->b)) return {matmul->a, {matmul->a->rank() - 1}};
  if (const Reduce* reduce = as<Reduce>(op); reduce && reduce->in->layout.partial.empty())
    return {reduce->in, {reduce->dims.begin(), reduce->dims.end()}};
  return {};
}

// Row-major positions among the contracted dims that the rank at `position` adds.
std::vector<int64_t> terms_of_rank(const Contracted& sum, const DeviceMesh& mesh, const std::vector<int64_t>& position,
                                   const sym::Environment& sizes) {
  std::vector<int64_t> terms{0};
  for (size_t dim : sum.dims) {
    const int64_t extent = sym::evaluate(sum.tensor->extent(dim), sizes);
    const std::string where = fmt::format("%{} dim {}", sum.tensor->name, dim);
    const auto owned = owned_indices(extent, sum.tensor->layout.dims[dim], mesh, position, where);
    std::vector<int64_t> longer;
    for (int64_t term : terms)
      for (int64_t index : owned) longer.push_back(term * extent + index);
    terms = std::move(longer);
  }
  return terms;
}

// Terms that each combination of positions on the partial axes adds.
std::vector<std::vector<int64_t>> rank_indices(const Contracted& sum, const std::vector<int>& axes,
                                               const DeviceMesh& mesh, const sym::Environment& sizes) {
  std::vector<std::vector<int64_t>> indices;
  std::vector<int64_t> position(mesh.sizes().size(), 0);
  for (bool more = true; more;) {
    indices.push_back(terms_of_rank(sum, mesh, position, sizes));
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

// Axes longer than 1 over which sums, products or sums of exponentials are pending.
std::vector<int> summed_axes(const Op& op, const TensorView& out, const DeviceMesh& mesh) {
  std::vector<int> axes;
  for (const auto& [axis, reduce] : out.layout.partial)
    if ((reduce == ReduceOp::sum || reduce == ReduceOp::prod || op.kind == OpKind::LogSumExp) && mesh.size(axis) > 1)
      axes.push_back(axis);
  return axes;
}

// The tensor that a reshard makes of another one, or null: it has the name of the written graph where the op's own
// result was renamed.
const TensorView* resharded(const Fusion& sharded, const TensorView* tensor) {
  for (const Op* reader : sharded.readers(tensor))
    if (reader->kind == OpKind::Reshard) return reader->out();
  return nullptr;
}

}  // namespace

PartialInfo partials(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes) {
  PartialInfo info;
  for (const Op* op : sharded.ops()) {
    for (const TensorView* out : op->results) {
      const std::vector<int> axes = summed_axes(*op, *out, mesh);
      const bool unbiased = !out->unbiased_of.empty();
      Partial partial;
      partial.logsumexp = op->kind == OpKind::LogSumExp;
      for (int axis : axes) partial.ranks *= mesh.size(axis);
      partial.roundings = static_cast<int64_t>(axes.size());
      const Contracted sum = contracted(*op);
      if (!axes.empty() && sum.tensor) partial.indices = rank_indices(sum, axes, mesh, sizes);
      // Of a contraction without its bias the rounding counts, pending or not.
      if (unbiased && (!axes.empty() || is_narrow(out->dtype))) info.unbiased.emplace(out->unbiased_of, partial);
      for (const TensorView* t = out; t && !axes.empty(); t = resharded(sharded, t))
        info.tensors.emplace(t->name, partial);
    }
  }
  return info;
}

}  // namespace plait::reference
