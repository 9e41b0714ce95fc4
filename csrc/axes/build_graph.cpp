#include "axes/build_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "axes/coordinate_test.h"
#include "axes/own_recipe.h"
#include "base/error.h"

namespace plait {

std::span<const Edge> AxisGroup::edges_of(const Op& op) const {
  const auto [first, count] = op_edges.at(&op);
  return std::span(edges).subspan(first, count);
}

bool AxisGroup::computes(const TensorView* tensor) const {
  return tensor->definition != nullptr && op_edges.contains(tensor->definition);
}

int AxisGroup::root_class(const Op& op, int place) const {
  const TensorAxes& t = axes.at(op.results[0]);
  const size_t at = static_cast<size_t>(place), kept = t.logical.size();
  return graph.find(at < kept ? t.logical[at] : t.reduction[at - kept]);
}

namespace {

class Builder {
 public:
  Builder(sym::Pool& pool, std::span<Op* const> ops, const BuildGraphOptions& options)
      : group_(pool), options_(options) {
    for (const Op* op : ops)
      if (!is_read(*op)) group_.ops.push_back(op);
  }

  AxisGroup build() {
    make_axes();
    number_tensors();
    for (bool hard : {true, false})
      for (Edge& edge : group_.edges)
        if (edge.hard == hard) connect(edge);
    return std::move(group_);
  }

 private:
  sym::Expr extent(sym::Expr e) const { return options_.extent ? options_.extent(e) : e; }
  bool is_read(const Op& op) const { return options_.reads != nullptr && options_.reads->contains(&op); }

  TensorAxes& axes_of(const TensorView* tensor) {
    const auto [it, fresh] = group_.axes.try_emplace(tensor);
    if (fresh)
      for (const Axis& a : tensor->domain.logical) it->second.logical.push_back(group_.graph.axis(extent(a.extent)));
    return it->second;
  }

  void make_axes() {
    for (const Op* op : group_.ops) group_.op_edges[op] = {0, 0};
    for (const Op* op : group_.ops) {
      const std::vector<Factor> all = factors(*op);
      for (const TensorView* t : op->results) axes_of(t);
      TensorAxes& out = axes_of(op->results[0]);
      const std::vector<TensorView*> operands = inputs(*op);
      const size_t first = group_.edges.size();
      for (const TensorView* t : operands)
        group_.edges.push_back({op, t, std::vector<int>(t->rank(), -1), {}, false, group_.computes(t), false, {}});
      for (const Factor& f : all) {
        int place = f.result_dim[0];
        if (place < 0 && !is_summed(*op, f)) continue;
        join_results(*op, f);
        if (place < 0) {
          place = static_cast<int>(out.logical.size() + out.reduction.size());
          out.reduction.push_back(group_.graph.axis(extent(f.extent)));
        }
        const bool scaled = f.result_scale != 1 || !f.operand_scale.empty();  // the axes are not the same
        for (size_t i = 0; i < operands.size() && i < f.operand_dim.size() && !scaled && f.keeps_places(); ++i)
          if (f.operand_dim[i] >= 0) group_.edges[first + i].pairing[static_cast<size_t>(f.operand_dim[i])] = place;
      }
      for (size_t i = 0; i < operands.size(); ++i) add_roots(group_.edges[first + i], i, out);
      if (options_.reads != nullptr) add_reads(*op, first, out);
      group_.op_edges[op] = {first, group_.edges.size() - first};
      for (const TensorView* t : operands) axes_of(t);
    }
  }

  static void pair_roots(Edge& edge, const TensorAxes& out) {
    for (const int place : edge.pairing) {
      const size_t at = static_cast<size_t>(place), kept = out.logical.size();
      edge.root.push_back(place < 0 ? -1 : at < kept ? out.logical[at] : out.reduction[at - kept]);
    }
  }

  // What the group computes and the op reaches through reads.
  void add_reads(const Op& op, size_t first, const TensorAxes& out) {
    for (const ReadThrough& r : read_through(op, *options_.reads)) {
      if (!group_.computes(r.tensor)) continue;
      const std::vector<int> own = group_.edges[first + r.operand].pairing;
      Edge edge{&op, r.tensor, {}, {}, false, true, false, {}};
      for (int d : r.dims) edge.pairing.push_back(d < 0 ? -1 : own[static_cast<size_t>(d)]);
      pair_roots(edge, out);
      for (size_t d = 0; d < edge.root.size(); ++d) {
        if (edge.root[d] >= 0 || extent(r.tensor->extent(d)).constant() == 1) continue;
        edge.elsewhere = true;
        edge.reason = fmt::format("it is read elsewhere along dim {} than it is made", d);
      }
      group_.edges.push_back(std::move(edge));
    }
  }

  void add_roots(Edge& edge, size_t operand, const TensorAxes& out) {
    pair_roots(edge, out);
    edge.recipe =
        apply_recipe(group_.graph, *edge.op, operand, out.logical, [&](sym::Expr e) { return extent(e); }, edge.root);
  }

  void join_results(const Op& op, const Factor& f) {
    for (size_t r = 1; r < op.results.size(); ++r) {
      const int own = f.result_dim[r], first = f.result_dim[0];
      if (own < 0) continue;
      PLAIT_CHECK(first >= 0, "dim {} of %{} is none of %{}", own, op.results[r]->name, op.results[0]->name);
      group_.graph.unite(axes_of(op.results[r]).logical[static_cast<size_t>(own)],
                         axes_of(op.results[0]).logical[static_cast<size_t>(first)]);
    }
  }

  // Tensors linked by accepted edges form a set; an edge between two sets cannot conflict.
  void number_tensors() {
    for (const auto& [tensor, axes] : group_.axes) {
      index_[tensor] = members_.size();
      members_.push_back({tensor});
    }
    parent_.resize(members_.size());
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (const Op* op : group_.ops)
      for (const TensorView* t : op->results) link(set_of(op->results[0]), set_of(t));
  }
  size_t set_of(const TensorView* tensor) {
    size_t s = index_.at(tensor);
    while (parent_[s] != s) s = parent_[s] = parent_[parent_[s]];
    return s;
  }
  void link(size_t a, size_t b) {
    if (a == b) return;
    if (members_[a].size() > members_[b].size()) std::swap(a, b);
    parent_[a] = b;
    members_[b].insert(members_[b].end(), members_[a].begin(), members_[a].end());
    members_[a].clear();
  }

  void cut(Edge& edge, std::string reason) {
    edge.cut = true;
    edge.reason = std::move(reason);
  }

  void connect(Edge& edge) {
    if (edge.cut) return;
    AxisGraph& graph = group_.graph;
    const TensorAxes& operand = group_.axes.at(edge.operand);
    std::vector<std::pair<int, int>> joins;
    for (size_t d = 0; d < edge.pairing.size(); ++d) {
      if (edge.root[d] < 0 || graph.unit(operand.logical[d])) continue;
      const int root = graph.find(edge.root[d]);
      if (!graph.same_extent(operand.logical[d], root))
        return cut(edge, fmt::format("extent {} of dim {} of %{} is not proven to be {}",
                                     print(graph.extent(operand.logical[d])), d, edge.operand->name,
                                     print(graph.extent(root))));
      if (graph.find(operand.logical[d]) != root) joins.emplace_back(operand.logical[d], root);
    }
    const size_t a = set_of(edge.op->results[0]), b = set_of(edge.operand);
    const bool test = options_.test_unions && a == b && !joins.empty();
    const size_t mark = graph.mark();
    for (const auto& [x, y] : joins) graph.unite(x, y);
    if (test) {
      if (const TensorView* at = conflict(members_[a])) {
        graph.rollback(mark);
        return cut(edge, fmt::format("two axes of %{} would become one", at->name));
      }
    }
    link(a, b);
  }

  // A tensor of the set whose axes cannot vary independently, or null. Equal domains are tested once.
  const TensorView* conflict(const std::vector<const TensorView*>& tensors) {
    std::set<std::vector<int>> done;
    for (const TensorView* t : tensors)
      for (const std::vector<int>& domain : domains(group_, *t))
        if (done.insert(domain).second && coordinates_conflict(group_.graph, domain)) return t;
    return nullptr;
  }

  AxisGroup group_;
  const BuildGraphOptions& options_;
  std::map<const TensorView*, size_t> index_;
  std::vector<size_t> parent_;
  std::vector<std::vector<const TensorView*>> members_;
};

}  // namespace

AxisGroup build_axis_graph(sym::Pool& pool, std::span<Op* const> ops, const BuildGraphOptions& options) {
  return Builder(pool, ops, options).build();
}

std::vector<std::vector<int>> domains(const AxisGroup& group, const TensorView& tensor) {
  const AxisGraph& graph = group.graph;
  std::vector<std::vector<int>> out(1);
  const auto add = [&](const std::vector<int>& axes) {
    for (int a : axes)
      if (a >= 0 && !graph.unit(a)) out.back().push_back(graph.find(a));
  };
  const TensorAxes& axes = group.axes.at(&tensor);
  add(axes.logical);
  add(axes.reduction);
  if (group.computes(&tensor) && tensor.definition->results[0] == &tensor) {
    for (const Edge& e : group.edges_of(*tensor.definition)) {
      if (!e.recipe) continue;
      out.emplace_back();
      add(e.root);
    }
  }
  for (std::vector<int>& d : out) std::sort(d.begin(), d.end());
  return out;
}

std::vector<int> domain_classes(const AxisGroup& group, const TensorView& tensor) {
  std::vector<int> out;
  for (int a : group.axes.at(&tensor).logical)
    if (!group.graph.unit(a)) out.push_back(group.graph.find(a));
  return out;
}

namespace {

bool unite_domains(AxisGroup& group, const TensorView& a, const TensorView& b) {
  const std::vector<int> x = domain_classes(group, a), y = domain_classes(group, b);
  if (x.size() != y.size()) return false;
  for (size_t d = 0; d < x.size(); ++d)
    if (!group.graph.same_extent(x[d], y[d])) return false;
  for (size_t d = 0; d < x.size(); ++d) group.graph.unite(x[d], y[d]);
  return true;
}

bool any_conflict(const AxisGroup& group) {
  std::set<std::vector<int>> done;
  for (const auto& [tensor, axes] : group.axes)
    for (const std::vector<int>& domain : domains(group, *tensor))
      if (done.insert(domain).second && coordinates_conflict(group.graph, domain)) return true;
  return false;
}

}  // namespace

const TensorView* align(AxisGroup& group, std::span<TensorView* const> tensors) {
  const size_t mark = group.graph.mark();
  bool changed = false;
  for (const TensorView* t : tensors) {
    changed = changed || domain_classes(group, *tensors.front()) != domain_classes(group, *t);
    if (unite_domains(group, *tensors.front(), *t)) continue;
    group.graph.rollback(mark);
    return t;
  }
  if (!changed || !any_conflict(group)) return nullptr;
  group.graph.rollback(mark);
  for (const TensorView* t : tensors) {  // one at a time, to name the one that does not fit
    unite_domains(group, *tensors.front(), *t);
    if (!any_conflict(group)) continue;
    group.graph.rollback(mark);
    return t;
  }
  PLAIT_CHECK(false, "a conflict that no tensor makes");
}

void verify(const AxisGroup& group) {
  group.graph.verify();
  std::set<std::vector<int>> done;
  for (const auto& [tensor, axes] : group.axes)
    for (const std::vector<int>& domain : domains(group, *tensor))
      if (done.insert(domain).second)
        PLAIT_CHECK(!coordinates_conflict(group.graph, domain), "two axes of %{} are one", tensor->name);
  for (const Edge& edge : group.edges) {
    if (edge.cut) continue;
    for (size_t d = 0; d < edge.root.size(); ++d) {
      const int own = group.axes.at(edge.operand).logical[d];
      const bool joined =
          edge.root[d] < 0 || group.graph.unit(own) || group.graph.find(own) == group.graph.find(edge.root[d]);
      PLAIT_CHECK(joined, "dim {} of %{} is apart from {}", d, edge.operand->name, describe(*edge.op));
    }
  }
}

std::string explain_cuts(const AxisGroup& group) {
  std::string out;
  for (const Edge& edge : group.edges)
    if (edge.cut)
      out += fmt::format("{}: operand %{} ({}) keeps its own axes: {}\n", describe(*edge.op), edge.operand->name,
                         edge.hard ? "computed here" : "in memory", edge.reason);
  return out;
}

}  // namespace plait
