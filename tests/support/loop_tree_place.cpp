#include "support/loop_tree_place.h"

#include "axes/transforms.h"
#include "lower/tree/fuse_loops.h"
#include "lower/tree/split_phases.h"

namespace plait::tree_oracle {

namespace {

void fuse(const Case& c, AxisGroup& group, LoopTree& tree) {
  int parts = -1;
  if (c.parts) parts = group.graph.find(loop_classes(group, *c.reference).at(static_cast<size_t>(*c.parts)).cls);
  if (c.parts) tree.totals = c.totals;
  for (const auto& [scan, total] : tree.totals)  // parts follow one another as the scan does
    for (int l : tree.path(tree.ops.at(total).loop))
      if (TreeLoop& loop = tree.loops[static_cast<size_t>(l)]; loop.cls == parts && scan_of(*scan)->reverse)
        loop.order = LoopOrder::backward;
  lowering::fuse_loops(tree, parts);
  lowering::turn_loops(tree);
  if (c.parts) lowering::split_phases(tree, parts, c.on_blocks);  // or it stays one phase
}

}  // namespace

std::optional<Refusal> place_case(const Case& c, LoopTree& tree, const PlaceCaseOptions& options) {
  BuildGraphOptions build;
  build.test_unions = options.test_unions;
  AxisGroup group = build_axis_graph(c.fusion->pool(), c.fusion->ops(), build);
  if (options.test_unions) verify(group);
  TreeOptions how;
  how.inline_at = c.inline_at;
  how.totals = c.totals;
  how.rules_off = options.rules_off;
  if (auto refusal = place_tree(group, *c.reference, c.fusion->outputs(), how, tree)) return refusal;
  if (c.fused) fuse(c, group, tree);
  return std::nullopt;
}

}  // namespace plait::tree_oracle
