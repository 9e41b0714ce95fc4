#include "schedule/scheduled_group.h"

#include <algorithm>

#include "base/error.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"
#include "schedule/reads.h"

namespace plait {

std::string KeyLimit::print(const Op& op) const {
  const char *what = by_keys ? "queries" : "keys", *lane = by_keys ? "key" : "query";
  std::string out;
  if (const auto& before = by_keys ? ahead : behind)
    out += fmt::format("{} of %{} begin at {} floordiv({}, {}) - {}\n", what, op.results[0]->name, step, lane, step,
                       sym::print(*before));
  if (const auto& after = by_keys ? behind : ahead)
    out += fmt::format("{} of %{} end at {} floordiv({}, {}) + {}\n", what, op.results[0]->name, step, lane, step,
                       sym::print(*after + step));
  return out;
}

sym::Expr PanelLayout::place(sym::Expr element) const {
  if (pad == 0 && !transposed) return element;
  const sym::Expr along = sym::mod(element, row), across = sym::floordiv(element, row);
  return transposed ? along * (rows + pad) + across : across * (row + pad) + along;
}

std::string PanelLayout::print() const {
  return fmt::format("{}{} rows of {}{}", transposed ? "transposed " : "", rows, row,
                     turned    ? ", turned"
                     : pad > 0 ? fmt::format(", {} elements between", pad)
                               : "");
}

std::string ScheduledGroup::print() const {
  std::string out = plait::print(*graph);
  if (!is_open(schedule)) out += "schedule " + plait::print(schedule) + "\n";
  if (reference) out += fmt::format("reference %{}\n", reference->name);
  for (const Op* op : graph->ops())
    if (reads.contains(op)) out += fmt::format("read %{}\n", op->results[0]->name);
  const auto by_name = [](const auto& table) {
    std::map<std::string, typename std::decay_t<decltype(table)>::mapped_type> sorted;
    for (const auto& [tensor, value] : table) sorted[tensor->name] = value;
    return sorted;
  };
  if (phases) out += fmt::format("phases by loop {}\n", *phases);
  for (const Op* op : graph->ops())
    if (column_sums.contains(op)) out += fmt::format("%{} is summed by tasks, then over them\n", op->results[0]->name);
  for (const auto& [name, depth] : by_name(inline_at)) out += fmt::format("inline %{} {}\n", name, depth);
  for (const auto& [name, most] : by_name(kept)) out += fmt::format("keep %{} {}\n", name, sym::print(most));
  for (const auto& [name, panel] : by_name(panels)) out += fmt::format("panel %{}: {}\n", name, panel.print());
  if (stages > 1) out += fmt::format("stages {}\n", stages);
  for (sym::Expr extent : row) out += fmt::format("row of {}, at most {} in all\n", sym::print(extent), most);
  for (const Op* op : graph->ops())
    if (keys && keys->ops.contains(op)) out += keys->print(*op);
  for (const Op* op : graph->ops())
    if (const auto it = totals.find(op); it != totals.end())
      out += fmt::format("total %{} of %{}\n", it->second->results[0]->name, op->results[0]->name);
  for (const auto& [name, of] : by_name(copies)) out += fmt::format("copy %{} of %{}\n", name, of->name);
  return out;
}

ScheduledGroup make_group(const Fusion& fusion, const Segment& segment) {
  ScheduledGroup out;
  out.graph = clone_segment(fusion, segment);
  out.schedule = segment.schedule;
  for (const TensorView* t : segment.outputs) out.outputs.push_back(t->name);
  return out;
}

std::vector<sym::Expr> left_of_row(const ScheduledGroup& group, sym::Expr row) {
  sym::Expr left = row;
  for (int64_t cut : group.cuts) left = sym::ceildiv(left, cut);
  return {sym::ceildiv(row, group.most), left};
}

Op* copy_of(Fusion& graph, TensorView& t, const char* name) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = Pointwise::cast;
  op->in = {&t};
  op->to = t.dtype;
  TensorView* copy = graph.add_tensor(t.name + name, t.shape(), t.dtype);
  copy->domain.allocation = t.domain.allocation;
  copy->dtype_alias = t.dtype_alias;
  return graph.add_op(std::move(op), copy);
}

void store_outputs(ScheduledGroup& group) {
  Fusion& graph = *group.graph;
  std::vector<TensorView*> outputs = graph.outputs();
  for (TensorView*& out : outputs) {
    const std::vector<TensorView*> together = out->definition ? out->definition->results : std::vector{out};
    const auto is_unread = [&](const TensorView* t) { return graph.readers(t).empty(); };
    const bool read = out->definition != nullptr && group.reads.contains(out->definition);
    if (!read && std::all_of(together.begin(), together.end(), is_unread)) continue;
    out = copy_of(graph, *out, "_store")->out();
  }
  graph.set_outputs(std::move(outputs));
}

ScheduledGroup stored_group(const Fusion& fusion, const Segment& segment) {
  ScheduledGroup out = make_group(fusion, segment);
  out.reads = find_reads(out.graph->ops());
  store_outputs(out);
  return out;
}

namespace {

Op* duplicate(ScheduledGroup& group, const Op& op) {
  Fusion& graph = *group.graph;
  std::unique_ptr<Op> copy = blank_op(op.kind);
  copy_fields(op, *copy, [](const auto& value) { return value; });
  std::vector<TensorView*> results;
  for (const TensorView* t : op.results) {
    results.push_back(graph.add_tensor(t->name, t->shape(), t->dtype));
    results.back()->dtype_alias = t->dtype_alias;
    const auto of = group.copies.find(t);
    group.copies[results.back()] = of == group.copies.end() ? t : of->second;
  }
  return graph.add_op(std::move(copy), results);
}

class RootCopies {
 public:
  RootCopies(ScheduledGroup& group, const std::vector<Op*>& roots,
             const std::function<bool(const TensorView&)>& is_shared)
      : group_(group), roots_(roots.begin(), roots.end()), is_shared_(is_shared) {}

  void run(const std::vector<Op*>& roots) {
    for (Op* root : roots) {
      root_ = root;
      mine_.clear();
      visit_operands(*root);
      place(root);
    }
    group_.graph->set_order(std::move(order_));
  }

 private:
  // What the present root reads in place of the tensor, placed in front of it.
  TensorView* own(TensorView* t) {
    Op* op = t->definition;
    if (op == nullptr) return t;
    if (group_.reads.contains(op)) {
      if (!placed_.contains(op)) {
        visit_operands(*op);
        place(op);
      }
      return t;
    }
    if (roots_.contains(op)) {
      PLAIT_CHECK(placed_.contains(op), "{} comes before the root that makes %{}", describe(*root_), t->name);
      return t;
    }
    if (is_shared_(*t)) {
      if (!placed_.contains(op)) {
        visit_operands(*op);
        place(op);
      }
      return t;
    }
    if (const auto it = mine_.find(op); it != mine_.end()) return result(*it->second, *op, t);
    Op* copy = taken_.contains(op) ? duplicate(group_, *op) : op;
    taken_.insert(copy);
    mine_[op] = mine_[copy] = copy;
    visit_operands(*copy);
    place(copy);
    return result(*copy, *op, t);
  }

  static TensorView* result(const Op& copy, const Op& op, const TensorView* t) {
    const auto at = std::find(op.results.begin(), op.results.end(), t) - op.results.begin();
    return copy.results[static_cast<size_t>(at)];
  }

  void visit_operands(Op& op) {
    for (TensorView* in : inputs(op)) {
      TensorView* mine = own(in);
      if (mine != in) replace_input(op, in, mine);
    }
  }

  void place(Op* op) {
    if (placed_.insert(op).second) order_.push_back(op);
  }

  ScheduledGroup& group_;
  const std::set<const Op*> roots_;
  const std::function<bool(const TensorView&)>& is_shared_;
  const Op* root_ = nullptr;
  std::set<const Op*> taken_;      // ops that a root has for itself
  std::map<const Op*, Op*> mine_;  // of the present root: an op, and what computes it
  std::set<const Op*> placed_;
  std::vector<Op*> order_;
};

}  // namespace

void copy_for_roots(ScheduledGroup& group, const std::vector<Op*>& roots,
                    const std::function<bool(const TensorView&)>& is_shared) {
  RootCopies(group, roots, is_shared).run(roots);
}

}  // namespace plait
