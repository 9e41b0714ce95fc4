#include "axes/own_recipe.h"

#include "base/error.h"

namespace plait {

namespace {

using Extent = std::function<sym::Expr(sym::Expr)>;

bool is_zero(sym::Expr e) { return e.constant() == 0; }

sym::Expr product(const std::vector<sym::Expr>& extents, size_t first, size_t end) {
  sym::Expr out = extents[first].pool().constant(1);
  for (size_t d = first; d < end; ++d) out = out * extents[d];
  return out;
}

int merged(AxisGraph& graph, const std::vector<int>& axes, size_t first, size_t end) {
  int out = axes[first];
  for (size_t d = first + 1; d < end; ++d) out = graph.merge(out, axes[d]);
  return out;
}

void relate(AxisGraph& graph, const Reshape& op, const std::vector<int>& logical, const Extent& extent,
            std::vector<int>& root) {
  std::vector<sym::Expr> in, out;
  for (sym::Expr e : op.in->shape()) in.push_back(extent(e));
  for (sym::Expr e : op.out()->shape()) out.push_back(extent(e));
  for (const DimGroup& g : reshape_groups(in, out)) {
    if (g.in_end == g.in + 1 && g.out_end == g.out + 1 && in[g.in] == out[g.out]) {
      root[g.in] = logical[g.out];
      continue;
    }
    for (size_t d = g.in; d < g.in_end; ++d) root[d] = -1;
    if (!g.proven || g.in == g.in_end || g.out == g.out_end) continue;
    for (size_t d = g.in; d < g.in_end; ++d) root[d] = graph.axis(in[d]);
    const int whole = merged(graph, root, g.in, g.in_end), own = merged(graph, logical, g.out, g.out_end);
    graph.unite(whole, own);
  }
}

// A dim of the operand that lies at `low` in the result's; none where either has one element.
int shifted(AxisGraph& graph, int logical, sym::Expr in_extent, sym::Expr low) {
  if (graph.unit(logical) || in_extent.constant() == 1) return -1;
  const int root = graph.axis(in_extent);
  graph.shift(root, logical, low);
  return root;
}

}  // namespace

std::vector<DimGroup> reshape_groups(const std::vector<sym::Expr>& in, const std::vector<sym::Expr>& out) {
  std::vector<DimGroup> groups;
  size_t i = 0, j = 0;
  while (i < in.size() && j < out.size()) {
    bool found = false;
    for (size_t length = 2; !found && length <= in.size() - i + out.size() - j; ++length) {
      for (size_t from_in = 1; !found && from_in < length; ++from_in) {
        const size_t i_end = i + from_in, j_end = j + length - from_in;
        if (i_end > in.size() || j_end > out.size() || product(in, i, i_end) != product(out, j, j_end)) continue;
        groups.push_back({i, i_end, j, j_end, true});
        i = i_end, j = j_end;
        found = true;
      }
    }
    if (found) continue;
    groups.push_back({i, in.size(), j, out.size(), false});
    return groups;
  }
  if (i < in.size() || j < out.size()) groups.push_back({i, in.size(), j, out.size(), false});
  return groups;
}

bool apply_recipe(AxisGraph& graph, const Op& op, size_t operand, const std::vector<int>& logical, const Extent& extent,
                  std::vector<int>& root) {
  if (const auto* reshape = as<Reshape>(op)) {
    relate(graph, *reshape, logical, extent, root);
    return true;
  }
  if (const auto* slice = as<Slice>(op)) {
    const size_t d = static_cast<size_t>(slice->dim);
    if (slice->step == 1) root[d] = shifted(graph, logical[d], extent(slice->in->extent(d)), -extent(slice->start));
    return true;
  }
  if (const auto* pad = as<Pad>(op)) {
    for (size_t d = 0; d < root.size(); ++d)
      if (!is_zero(pad->low[d]) || !is_zero(pad->high[d]))
        root[d] = shifted(graph, logical[d], extent(pad->in->extent(d)), extent(pad->low[d]));
    return true;
  }
  if (const auto scan = scan_of(op)) {
    root[static_cast<size_t>(scan->dim)] = logical[static_cast<size_t>(scan->dim)];
    return true;
  }
  if (const auto* cat = as<Cat>(op)) {
    const size_t d = static_cast<size_t>(cat->dim);
    sym::Expr start = graph.pool().constant(0);
    for (size_t i = 0; i < operand; ++i) start = start + extent(cat->in[i]->extent(d));
    root[d] = shifted(graph, logical[d], extent(cat->in[operand]->extent(d)), start);
    return true;
  }
  return false;
}

}  // namespace plait
