#include "schedule/scan_groups.h"

#include <algorithm>

#include "axes/transforms.h"
#include "ir/factors.h"

namespace plait {

namespace {

template <class Extremum>
Op* add_extremum(Fusion& graph, const ScanOf& scan, const std::string& name, const std::vector<sym::Expr>& shape) {
  auto total = std::make_unique<Extremum>();
  total->in = const_cast<TensorView*>(scan.in);
  total->dims = {scan.dim};
  return graph.add_op(std::move(total), {graph.add_tensor(name + "_extremum", shape, scan.in->dtype),
                                         graph.add_tensor(name + "_place", shape, DType::i64)});
}

Op* add_sum(Fusion& graph, const ScanOf& scan, const std::string& name, const std::vector<sym::Expr>& shape,
            Reduction function) {
  const DType sums = accumulation_type(scan.in->dtype), type = is_float(sums) ? DType::f64 : sums;
  auto widen = std::make_unique<PointwiseOp>();
  widen->function = Pointwise::cast;
  widen->in = {const_cast<TensorView*>(scan.in)};
  widen->to = type;
  TensorView* wide = graph.add_tensor(name + "_wide", scan.in->shape(), type);
  graph.add_op(std::move(widen), wide);
  auto total = std::make_unique<Reduce>();
  total->in = wide;
  total->function = function;
  total->dims = {scan.dim};
  return graph.add_op(std::move(total), graph.add_tensor(name + "_total", shape, type));
}

}  // namespace

std::vector<Op*> add_totals(ScheduledGroup& group) {
  Fusion& graph = *group.graph;
  std::vector<Op*> out;
  const std::vector<Op*> ops = graph.ops();
  for (const Op* op : ops) {
    const auto scan = scan_of(*op);
    if (!scan || group.reads.contains(op)) continue;
    const std::string& name = op->results[0]->name;
    std::vector<sym::Expr> shape = scan->in->shape();
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(scan->dim));
    if (op->kind == OpKind::CumMax)
      out.push_back(add_extremum<MaxWithArgmax>(graph, *scan, name, shape));
    else if (op->kind == OpKind::CumMin)
      out.push_back(add_extremum<MinWithArgmin>(graph, *scan, name, shape));
    else
      out.push_back(add_sum(graph, *scan, name, shape, op->kind == OpKind::CumProd ? Reduction::prod : Reduction::sum));
    group.totals[op] = out.back();
  }
  return out;
}

const TensorView* totalled(const Op& total) {
  const TensorView* in = inputs(total)[0];
  return total.kind == OpKind::Reduce ? inputs(*in->definition)[0] : in;
}

void share_totals(ScheduledGroup& group) {
  if (group.totals.empty()) return;
  for (const Op* op : group.graph->ops()) {
    const auto of = group.copies.find(op->results[0]);
    if (is_scan(op->kind) && of != group.copies.end()) group.totals[op] = group.totals.at(of->second->definition);
  }
}

void place_vectors(ScheduledGroup& group) {
  sym::Expr row = group.graph->pool().constant(1);
  for (sym::Expr e : group.row) row = row * e;
  const std::vector<sym::Expr> left = group.row.empty() ? std::vector<sym::Expr>() : left_of_row(group, row);
  const auto is_one = [&](sym::Expr extent) {
    return extent.constant() == 1 || std::ranges::find(left, extent) != left.end();
  };
  int around = -1;  // loops, without the lanes
  for (const Axis& a : loop_axes(group.reference->domain)) around += is_one(a.extent) ? 0 : 1;
  std::map<const Op*, const Op*> loops;  // over vectors in which an op reads, by one that stands there
  const std::vector<Op*>& ops = group.graph->ops();
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& op = *ops[i];
    if (group.reads.contains(&op)) continue;
    std::set<const Op*> readers;
    bool own = combines(op), scanned = false;
    for (const TensorView* t : op.results) {
      own = own || group.graph->is_output(t) || group.inline_at.contains(t);
      for (const Op* r : group.graph->readers(t)) {
        scanned = scanned || is_scan(r->kind);
        if (loops.contains(r)) readers.insert(loops.at(r));
      }
    }
    const bool one = !own && readers.size() == 1 && !(scanned && is_elementwise(op));
    if (!own && !one && !readers.empty())
      for (const TensorView* t : op.results) group.inline_at[t] = around;
    loops[&op] = one && !is_scan(op.kind) ? *readers.begin() : &op;
  }
}

}  // namespace plait
