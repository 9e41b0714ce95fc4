// Lowering of a scheduled group is this page: one step per line, each in its own file.
#include "lower/tree/lower_tree.h"

#include "axes/transforms.h"
#include "base/error.h"
#include "kir/passes/passes.h"
#include "lower/tree/align_rows.h"
#include "lower/tree/attention_blocks.h"
#include "lower/tree/attention_gradient.h"
#include "lower/tree/column_sums.h"
#include "lower/tree/emitter.h"
#include "lower/tree/fuse_loops.h"
#include "lower/tree/scatter.h"
#include "lower/tree/split_phases.h"
#include "schedule/place_group.h"

namespace plait {

namespace {

// Totals of scans, whose parts follow one another as the scan does.
void find_totals(const ScheduledGroup& group, int cls, LoopTree& tree) {
  tree.totals = group.totals;
  for (const auto& [scan, total] : tree.totals)
    for (int l : tree.path(tree.ops.at(total).loop)) {
      TreeLoop& loop = tree.loops[static_cast<size_t>(l)];
      if (loop.cls == cls && scan_of(*scan)->reverse) loop.order = LoopOrder::backward;
    }
}

// Of what the limit is about: keys, or queries.
sym::Expr extent_of_other(const Op& op, const KeyLimit& keys, Limited limited) {
  const auto shape = [&](const TensorView& t, size_t from_end) { return t.shape()[t.rank() - from_end]; };
  if (limited != Limited::sum) return shape(*op.out(), keys.by_keys ? 2 : 1);
  if (op.kind == OpKind::Reduce) return shape(*inputs(op)[0], 1);
  return shape(*inputs(op)[1], 2);  // of a product's values
}

// What KeyLimit leaves out is neither computed nor summed.
void limit_keys(const KeyLimit& keys, KernelExtents& extents, LoopTree& tree) {
  const auto first_of = [](sym::Expr at, int64_t step) { return sym::floordiv(at, step) * step; };
  for (const auto& [op, limited] : keys.ops) {
    const auto at = tree.ops.find(op);
    if (at == tree.ops.end()) continue;
    PlacedOp& placed = at->second;
    const bool sums = limited == Limited::sum, over_lanes = limited == Limited::sum_over_lanes;
    const size_t rank = placed.own.size(), lane = keys.by_keys && !sums ? rank - 1 : rank - 2;
    const sym::Expr group = first_of(over_lanes ? placed.reduced.at(0) : placed.own[lane], keys.step);
    const sym::Expr other = sums         ? placed.reduced.at(0)
                            : over_lanes ? first_of(placed.own[rank - 2], keys.rows)
                                         : placed.own[keys.by_keys ? rank - 2 : rank - 1];
    std::vector<RangeTerm>& terms = sums || over_lanes ? placed.reduce : placed.write;
    const auto &before = keys.by_keys ? keys.ahead : keys.behind, &after = keys.by_keys ? keys.behind : keys.ahead;
    if (after && over_lanes) {  // the loop over groups stands inside
      const sym::Expr lanes = extents(inputs(*op)[1]->shape()[rank - 2]);
      terms.push_back({other - group + lanes, keys.step + extents(*after) + lanes});
    } else if (after) {
      terms.push_back({other, group + keys.step + extents(*after)});
    }
    if (before) {
      const sym::Expr shift = extents(*before);
      terms.push_back({other + shift - group, shift + extents(extent_of_other(*op, keys, limited))});
    }
  }
}

LoopTree place(const ScheduledGroup& group, AxisGroup& axes, sym::Pool& pool, KernelExtents& extents,
               const LowerOptions& options) {
  TreeOptions how;
  how.extent = [&](sym::Expr e) { return extents(e); };
  int loops = 0;
  how.variable = [&](const sym::SymbolInfo& facts) { return pool.symbol(fmt::format("i{}", loops++), facts); };
  how.rules_off = options.rules_off;
  LoopTree tree;
  const auto refusal = place_group(group, axes, how, tree);
  if (refusal)
    throw UserError(fmt::format("the schedule does not compute %{}: {} ({})", refusal->tensor->name, refusal->reason,
                                plait::name(refusal->rule)),
                    fmt::format("kernel {}", options.name),
                    "schedule it otherwise, or give the tensor a segment of its own");
  int parts = -1;  // the class of the loop over parts
  if (group.phases) parts = loop_classes(axes, *group.reference, how.extent).at(static_cast<size_t>(*group.phases)).cls;
  if (group.phases) find_totals(group, axes.graph.find(parts), tree);
  lowering::OnlineSums online;
  if (group.phases) {
    parts = axes.graph.find(parts);
    online = lowering::find_online_sums(group, options.strict_rounding);
  }
  std::set<const TensorView*> copied;
  for (const auto& [t, panel] : group.panels)
    if (!panel.filled) copied.insert(t);
  lowering::fuse_loops(tree, parts, online, copied,
                       !group.column_sums.empty());  // before statements: passes over one row meet in one body
  lowering::turn_loops(tree);                        // behind it: no two loops of different orders have become one
  lowering::align_rows(tree, group.align, !group.cuts.empty(), how);
  if (group.phases) {  // what is one loop over parts now is one phase
    lowering::go_online(tree, online, parts);
    lowering::split_phases(tree, parts, options.target == TargetKind::cuda);
  }
  if (!group.column_sums.empty())
    lowering::sum_columns_by_tasks(tree, group.column_sums, options.target == TargetKind::cuda);
  if (group.keys) limit_keys(*group.keys, extents, tree);
  if (options.offer) options.offer("place", PassSubject(tree));
  return tree;
}

// Scatters have loops of their own, and attention on GPUs.
template <class Emitter>
bool emit_own(const ScheduledGroup& group, const AxisGroup& axes, KernelExtents& extents, const LowerOptions& options,
              kir::Kernel& kernel) {
  LoopTree tree;
  Emitter emitter(group, tree, axes, extents, options, kernel);
  emitter.run();
  return emitter.has_status();
}

bool emit_loops(const ScheduledGroup& group, AxisGroup& axes, KernelExtents& extents, const LowerOptions& options,
                kir::Kernel& kernel, std::string* tree_text) {
  LoopTree tree = place(group, axes, *kernel.pool, extents, options);  // where each op is computed
  if (tree_text != nullptr) *tree_text = tree.print();
  lowering::TreeEmitter emitter(group, tree, extents, options, kernel);
  emitter.run();
  return emitter.has_status();
}

}  // namespace

LoweredKernel emit_tree(const ScheduledGroup& group, sym::Pool& pool, const LowerOptions& options,
                        std::string* tree_text) {
  const bool scatters = std::holds_alternative<schedules::Scatter>(group.schedule);
  const auto* attention = std::get_if<schedules::Attention>(&group.schedule);
  const bool by_blocks = attention != nullptr && attention->keys;
  PLAIT_CHECK(scatters || by_blocks || group.reference != nullptr, "group {} has no reference", options.name);
  LoweredKernel out;
  kir::Kernel& kernel = out.kernel;
  kernel.name = options.name;
  kernel.target = options.target;
  kernel.schedule = print(group.schedule);
  kernel.pool = std::make_shared<sym::Pool>();
  KernelExtents extents(kernel.pool, true);
  BuildGraphOptions build;
  build.extent = [&](sym::Expr e) { return extents(e); };
  build.test_unions = options.test_unions;
  build.reads = &group.reads;
  AxisGroup axes = build_axis_graph(*kernel.pool, group.graph->ops(), build);
  if (!group.row.empty()) {
    sym::Expr row = kernel.pool->constant(1);
    for (sym::Expr e : group.row) row = row * extents(e);
    for (sym::Expr left : left_of_row(group, row)) axes.graph.assume_one(left);
  }
  const bool gradient = by_blocks && attention_blocks::is_gradient(*group.graph);
  using lowering::AttentionEmitter, lowering::AttentionGradientEmitter, lowering::ScatterEmitter;
  out.status = scatters    ? emit_own<ScatterEmitter>(group, axes, extents, options, kernel)
               : gradient  ? emit_own<AttentionGradientEmitter>(group, axes, extents, options, kernel)
               : by_blocks ? emit_own<AttentionEmitter>(group, axes, extents, options, kernel)
                           : emit_loops(group, axes, extents, options, kernel, tree_text);
  kernel.integers = extents.integers();
  for (sym::Expr e : extents.arguments()) out.arguments.push_back(sym::import(pool, e));
  return out;
}

LoweredKernel lower_tree(const ScheduledGroup& group, sym::Pool& pool, const LowerOptions& options,
                         std::string* tree_text) {
  LoweredKernel out = emit_tree(group, pool, options, tree_text);
  const auto offer = [&](std::string_view pass, kir::Kernel& kernel) { options.offer(pass, PassSubject(kernel)); };
  kir::KernelPassHook hook;
  if (options.offer) hook = offer;
  if (hook) {
    hook("emit", out.kernel);
    kir::verify(out.kernel);
  }
  kir::run_passes(out.kernel, {}, hook);  // vectors, what is shared and hoisted, states as variables
  return out;
}

}  // namespace plait
