// Placement: ops in reverse topological order, each at the deepest place that all of its readers share and that is
// valid, first among what stands there. Producers placed later stand before it, readers below: no sort is needed.
#include <algorithm>

#include "axes/coordinate_test.h"
#include "axes/operand_read.h"
#include "axes/placement.h"
#include "axes/project.h"
#include "base/error.h"

namespace plait {

namespace placement {

std::vector<int> known_classes(const AxisGraph& graph, const std::vector<int>& axes) {
  std::vector<int> out;
  for (int a : axes)
    if (!graph.unit(a)) out.push_back(graph.find(a));
  return out;
}

std::vector<int> Walks::key(const std::vector<int>& classes) {
  if (version_ != graph_.version()) {
    walks_.clear();
    conflicts_.clear();
    version_ = graph_.version();
  }
  std::vector<int> out = known_classes(graph_, classes);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

const Walk& Walks::from(const std::vector<int>& classes, bool total_only) {
  auto& walk = walks_[{key(classes), total_only}];
  if (!walk) {
    walk = std::make_unique<Walk>(graph_, fixed_);
    for (int c : classes) walk->seed(c);
    walk->run(total_only);
  }
  return *walk;
}

bool Walks::conflict(const std::vector<int>& classes) {
  const std::vector<int> domain = key(classes);
  const auto [it, fresh] = conflicts_.try_emplace(domain, false);
  if (fresh) it->second = coordinates_conflict(graph_, domain, 60);
  return it->second;
}

std::vector<int> State::classes(const std::vector<int>& loops) const {
  std::vector<int> out;
  for (int l : loops) out.push_back(group.graph.find(tree.loops[static_cast<size_t>(l)].cls));
  return out;
}

bool State::in_memory(const Op& op) const {
  return std::any_of(op.results.begin(), op.results.end(), [&](const TensorView* t) {
    return std::find(tree.outputs.begin(), tree.outputs.end(), t) != tree.outputs.end();
  });
}

namespace {

class Placer {
 public:
  Placer(State& state, const TensorView& reference) : state_(state), graph_(state.group.graph), reference_(reference) {}

  std::optional<Refusal> run() {
    for (const Op* op : state_.group.ops) {
      if (std::string reason = unplaceable(*op); !reason.empty())
        return Refusal{Rule::v2_known, op->results[0], std::move(reason)};
      state_.readers[op];
    }
    for (const Edge& e : state_.group.edges) {
      const size_t first = state_.group.op_edges.at(e.op).first;
      if (e.hard)
        state_.readers[e.operand->definition].push_back({&e, static_cast<size_t>(&e - &state_.group.edges[first])});
    }
    project_all();
    for (size_t i = state_.group.ops.size(); i-- > 0;)
      if (auto refusal = place(*state_.group.ops[i])) return refusal;
    return std::nullopt;
  }

 private:
  using Projected = std::vector<OwnLoop>;

  // Every op's loops before any walk is cached: projection adds to the graph.
  void project_all() {
    loops_ = loop_classes(state_.group, reference_, state_.options.extent);
    for (const Op* op : state_.group.ops)
      if (state_.options.own_loops.contains(op->results[0])) projected_[op] = own_loops(*op->results[0]);
    std::map<std::vector<std::vector<int>>, Projected> known;
    for (const Op* op : state_.group.ops) {
      if (projected_.contains(op)) continue;
      const auto key = domains(state_.group, *op->results[0]);
      const auto [it, fresh] = known.try_emplace(key);
      if (fresh) it->second = project(*op->results[0]);
      projected_[op] = it->second;
    }
  }

  // Loops that the tensor's own transforms make.
  Projected own_loops(const TensorView& tensor) {
    Projected out;
    for (const LoopClass& l : loop_classes(state_.group, tensor, state_.options.extent)) {
      if (graph_.unit(l.cls)) continue;
      const auto same = [&](const LoopClass& r) { return graph_.find(r.cls) == graph_.find(l.cls); };
      const auto it = std::find_if(loops_.begin(), loops_.end(), same);
      out.push_back({l.cls, l.parallel, it == loops_.end() ? -1 : static_cast<int>(it - loops_.begin())});
    }
    return out;
  }

  Projected project(const TensorView& tensor) {
    Projected out;
    Projection projection(state_.group, reference_, tensor);
    for (size_t j = 0; j < loops_.size(); ++j) {
      const std::optional<int> cls = projection.project(loops_[j].cls);
      if (!cls || graph_.unit(*cls)) continue;
      const bool twice = std::any_of(out.begin(), out.end(),
                                     [&](const OwnLoop& l) { return graph_.find(l.cls) == graph_.find(*cls); });
      if (!twice) out.push_back({*cls, loops_[j].parallel, static_cast<int>(j)});
    }
    return out;
  }

  // Loops that all readers stand in.
  std::vector<int> common_prefix(const Op& op) const {
    std::vector<const Op*> all;
    for (const Reader& r : state_.readers.at(&op)) all.push_back(r.edge->op);
    for (const auto& [scan, total] : state_.options.totals)
      if (total == &op) all.push_back(scan);
    std::vector<int> out;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::vector<int> path = state_.path_of(*all[i]);
      if (i == 0) out = path;
      const auto [end, _] = std::mismatch(out.begin(), out.end(), path.begin(), path.end());
      out.erase(end, out.end());
    }
    return out;
  }

  bool reads(const Op& reader, const Op& op) const {
    const auto& all = state_.readers.at(&op);
    return std::any_of(all.begin(), all.end(), [&](const Reader& r) { return r.edge->op == &reader; });
  }

  bool stands_in(const Op& op, const TreeItem& item) const {
    if (!state_.tree.ops.contains(&op)) return false;
    if (item.kind != TreeItem::Kind::loop) return item.op == &op;
    const std::vector<int> path = state_.path_of(op);
    return std::find(path.begin(), path.end(), item.loop) != path.end();
  }

  // Whether a reader of the op stands in the item. Initial values read nothing.
  bool reader_in(const TreeItem& item, const Op& op) const {
    for (const auto& [scan, total] : state_.options.totals)
      if (total == &op && stands_in(*scan, item)) return true;
    if (item.kind != TreeItem::Kind::loop) return item.kind == TreeItem::Kind::op && reads(*item.op, op);
    for (const Reader& r : state_.readers.at(&op)) {
      const std::vector<int> path = state_.path_of(*r.edge->op);
      if (std::find(path.begin(), path.end(), item.loop) != path.end()) return true;
    }
    return false;
  }

  // Loops at a place that stand before every reader of the op and hold none: its own loops may run along with them.
  std::vector<int> neighbours(int at, const Op& op) {
    std::vector<int> out;
    for (const TreeItem& item : state_.items(at)) {
      if (reader_in(item, op)) break;
      if (item.kind == TreeItem::Kind::loop && !repeats_.contains(item.loop)) out.push_back(item.loop);
    }
    return out;
  }

  std::vector<int> deepest_place(const Op& op) {
    std::vector<int> at = common_prefix(op);
    const std::optional<int> asked = asked_depth(op);
    if (!asked) return trimmed(op, std::move(at));
    const size_t depth = static_cast<size_t>(*asked);
    while (state_.in_memory(op) && at.size() < depth) {
      const std::vector<int> beside = neighbours(at.empty() ? -1 : at.back(), op);
      if (beside.empty()) break;
      at.push_back(beside.front());
    }
    if (at.size() > depth) at.resize(depth);
    return at;
  }

  std::optional<int> asked_depth(const Op& op) const {
    std::optional<int> out;
    for (const TensorView* t : op.results)
      if (const auto it = state_.options.inline_at.find(t); it != state_.options.inline_at.end())
        out = std::min(out.value_or(it->second), it->second);
    return out;
  }

  // What needs loops of its own stands in loops that drive it, and is computed once for each of their iterations. A
  // value stands no deeper than the last loop that drives it; where none does, where it is read.
  std::vector<int> trimmed(const Op& op, std::vector<int> at) {
    const TensorAxes& axes = state_.group.axes.at(op.results[0]);
    const Walk& walk = state_.walks.from(state_.classes(at));
    bool is_value = axes.reduction.empty();
    std::set<int> driving;
    for (int a : axes.logical) {
      is_value = is_value && walk.knows(a);
      if (walk.knows(a)) driving.merge(walk.use({{a}}).seeds);
    }
    const std::vector<int> classes = state_.classes(at);
    const auto drives = [&](int c) { return driving.contains(c); };
    size_t depth = at.size();
    if (is_value)
      while (depth > 0 && !drives(classes[depth - 1])) --depth;
    else
      depth = static_cast<size_t>(std::find_if_not(classes.begin(), classes.end(), drives) - classes.begin());
    if (depth > 0 || !is_value) at.resize(depth);
    return at;
  }

  std::optional<Refusal> place(const Op& op) {
    std::vector<int> at = deepest_place(op);
    Plan plan;
    plan.by_coordinates = state_.in_memory(op);
    for (std::optional<Refusal> last;;) {
      for (std::vector<OwnLoop>& own : candidates(op, at)) {
        plan.shared = at;
        plan.own = std::move(own);
        last = check_plan(state_, op, plan);
        if (last) {
          if (state_.options.declined) state_.options.declined->emplace(op.results[0], *last);
          continue;
        }
        insert(op, plan);
        return std::nullopt;
      }
      if (!at.empty()) {
        at.pop_back();
      } else if (!plan.by_coordinates) {
        plan.by_coordinates = true;
      } else {
        return last;
      }
    }
  }

  // A: the op's projection of the reference's loops, less those around. B: loops of its first reader, and the
  // reference's, which it has no part in itself. C: its axes as plain loops.
  std::vector<std::vector<OwnLoop>> candidates(const Op& op, const std::vector<int>& at) {
    std::vector<std::vector<OwnLoop>> out(1);
    const std::vector<int> around = state_.classes(at);
    const auto taken = [&](int cls) {
      return std::find(around.begin(), around.end(), graph_.find(cls)) != around.end();
    };
    std::set<int> positions;
    for (int l : at) positions.insert(state_.positions[static_cast<size_t>(l)]);
    // Loops of its own that those around determine are theirs.
    const auto determined = [&](int cls) { return says_loops(op) && state_.walks.from(around).knows(cls); };
    for (const OwnLoop& l : projected_.at(&op))
      if (!taken(l.cls) && !determined(l.cls) && (l.position < 0 || !positions.contains(l.position)))
        out[0].push_back(l);
    if (!at.empty()) {
      for (const Reader& r : state_.readers.at(&op)) {
        out.emplace_back();
        for (int l : state_.path_of(*r.edge->op)) {
          const TreeLoop& loop = state_.tree.loops[static_cast<size_t>(l)];
          if (!taken(loop.cls))
            out.back().push_back({loop.cls, loop.parallel, state_.positions[static_cast<size_t>(l)]});
        }
        break;
      }
      out.emplace_back();
      for (size_t j = 0; j < loops_.size(); ++j)
        if (!taken(loops_[j].cls)) out.back().push_back({loops_[j].cls, loops_[j].parallel, static_cast<int>(j)});
    }
    out.emplace_back();
    if (at.empty())
      for (int a : plain_axes(op)) out.back().push_back({a});
    for (std::vector<OwnLoop>& own : out) complete(op, around, own);
    if (scanned_dim(op) < 0) return out;
    for (size_t i = 0, count = out.size(); i < count; ++i) {
      out.push_back(out[i]);
      scan_last(op, around, out.back());
    }
    return out;
  }

  std::vector<int> plain_axes(const Op& op) const {
    const TensorAxes& axes = state_.group.axes.at(op.results[0]);
    std::vector<int> out = known_classes(graph_, axes.logical);
    for (int a : known_classes(graph_, axes.reduction)) out.push_back(a);
    return out;
  }

  // Where the loops do not follow the scanned dim in its order, one does, the innermost.
  void scan_last(const Op& op, const std::vector<int>& around, std::vector<OwnLoop>& own) {
    const int dim = scanned_dim(op);
    const std::vector<int>& axes = state_.group.axes.at(op.results[0]).logical;
    if (dim < 0 || graph_.unit(axes[static_cast<size_t>(dim)])) return;
    std::vector<int> seeds = around;
    for (const OwnLoop& l : own) seeds.push_back(l.cls);
    std::vector<int> others = axes;
    others.erase(others.begin() + dim);
    const std::set<int> driving = state_.walks.from(seeds).use(others).seeds;
    std::erase_if(own, [&](const OwnLoop& l) { return !driving.contains(graph_.find(l.cls)); });
    own.push_back({graph_.find(axes[static_cast<size_t>(dim)])});
  }

  // Axes that do not follow yet become plain loops, so that V2 holds.
  void complete(const Op& op, const std::vector<int>& around, std::vector<OwnLoop>& own) {
    if (state_.off(Rule::plain_loops)) return;
    std::vector<int> seeds = around;
    for (const OwnLoop& l : own) seeds.push_back(l.cls);
    const TensorAxes& axes = state_.group.axes.at(op.results[0]);
    for (const auto* list : {&axes.logical, &axes.reduction}) {
      for (int a : *list) {
        if (state_.walks.from(seeds).knows(a)) continue;
        own.push_back({graph_.find(a)});
        seeds.push_back(a);
      }
    }
  }

  // How an own loop runs. Loops over threads stand outermost; lanes are those of the reference, of a reduction
  // the innermost loop.
  ParallelType parallel_of(const Op& op, const Plan& plan, size_t i) {
    const OwnLoop& l = plan.own[i];
    const std::vector<int> scan = scan_loops(op, plan);
    const bool same = l.position < 0 || graph_.same_extent(l.cls, loops_[static_cast<size_t>(l.position)].cls);
    if (std::find(scan.begin(), scan.end(), graph_.find(l.cls)) != scan.end())
      return same && l.parallel == ParallelType::thread_x ? l.parallel : ParallelType::serial;
    switch (l.parallel) {
      case ParallelType::serial:
        return l.parallel;
      case ParallelType::vectorize:
        return same && (!l.reduction || i + 1 == plan.own.size()) ? l.parallel : ParallelType::serial;
      case ParallelType::unroll:
      case ParallelType::thread_x:  // of a block, whose other threads have parts of the same row
      case ParallelType::thread_y:
      case ParallelType::cluster:
        return same ? l.parallel : ParallelType::serial;
      default:
        return plan.shared.empty() && !l.reduction ? l.parallel : ParallelType::serial;
    }
  }

  sym::Expr variable(int cls) {
    const sym::Expr extent = graph_.extent(cls);
    const sym::SymbolInfo facts = sym::index_facts(extent);
    if (state_.options.variable) return state_.options.variable(facts);
    std::string name;
    do name = fmt::format("i{}", next_variable_++);
    while (graph_.pool().find_symbol(name));
    return graph_.pool().symbol(name, facts);
  }

  int add_loop(int parent, size_t at_item, TreeLoop loop, int position) {
    const int id = static_cast<int>(state_.tree.loops.size());
    loop.parent = parent;
    state_.tree.loops.push_back(std::move(loop));
    state_.positions.push_back(position);
    auto& items = state_.items(parent);
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(at_item), {TreeItem::Kind::loop, id});
    return id;
  }

  bool says_loops(const Op& op) const { return state_.options.own_loops.contains(op.results[0]); }

  // A loop beside that runs over the same, with which the own loop can be one. What one op sums over and another one
  // does not is one loop where one of those in it says its loops.
  int mate(int at, const Op& op, const OwnLoop& l, ParallelType parallel) {
    for (int other : neighbours(at, op)) {
      const TreeLoop& t = state_.tree.loops[static_cast<size_t>(other)];
      if (graph_.find(t.cls) != graph_.find(l.cls) || t.parallel != parallel) continue;
      const bool said = parallel == ParallelType::serial && (says_loops(op) || said_.contains(other));
      if (t.reduction == l.reduction || said) return other;
    }
    return -1;
  }

  // The loops in which the first readers stand, where the own loops can be one with all of them: what an iteration
  // writes, its readers there ask for. Empty: they cannot.
  std::vector<int> reader_mates(const Op& op, const Plan& plan) {
    std::vector<int> out;
    if (asked_depth(op)) return out;
    int at = plan.shared.empty() ? -1 : plan.shared.back();
    for (size_t i = 0; i < plan.own.size(); ++i) {
      const auto& items = state_.items(at);
      const auto it = std::find_if(items.begin(), items.end(), [&](const TreeItem& x) { return reader_in(x, op); });
      if (it == items.end() || it->kind != TreeItem::Kind::loop || repeats_.contains(it->loop)) return {};
      const TreeLoop& t = state_.tree.loops[static_cast<size_t>(it->loop)];
      const OwnLoop& l = plan.own[i];
      if (l.reduction || graph_.find(t.cls) != graph_.find(l.cls) || t.parallel != parallel_of(op, plan, i)) return {};
      if (scanned_dim(op) >= 0 && !runs_as(it->loop, order_of_scan(op))) return {};
      out.push_back(at = it->loop);
    }
    if (out.empty() || !asked_in(state_, op, plan, out)) return {};
    return out;
  }

  // Classes of the loops that carry the op's scan.
  std::vector<int> scan_loops(const Op& op, const Plan& plan) {
    if (scanned_dim(op) < 0) return {};
    std::vector<int> seeds = state_.classes(plan.shared);
    for (const OwnLoop& l : plan.own) seeds.push_back(l.cls);
    return scan_order(state_.walks.from(seeds), state_, op);
  }

  void insert(const Op& op, const Plan& plan) {
    const int place = plan.shared.empty() ? -1 : plan.shared.back();
    PlacedOp placed;
    placed.op = &op;
    placed.shared = static_cast<int>(plan.shared.size());
    int node = place, outermost_sum = -1;
    bool together = true;
    const std::vector<int> with_readers = reader_mates(op, plan), scan = scan_loops(op, plan);
    const auto scans = [&](int cls) { return std::find(scan.begin(), scan.end(), graph_.find(cls)) != scan.end(); };
    for (int l : plan.shared) {
      if (!scans(state_.tree.loops[static_cast<size_t>(l)].cls)) continue;
      state_.tree.loops[static_cast<size_t>(l)].order = order_of_scan(op);
      if (outermost_sum < 0) outermost_sum = l;
    }
    for (size_t i = 0; i < plan.own.size(); ++i) {
      const OwnLoop& l = plan.own[i];
      const ParallelType parallel = parallel_of(op, plan, i);
      int beside = together ? mate(node, op, l, parallel) : -1;
      if (beside >= 0 && scans(l.cls) && !runs_as(beside, order_of_scan(op))) beside = -1;
      if (!with_readers.empty()) beside = with_readers[i];
      together = beside >= 0;
      if (beside >= 0) {
        node = beside;
        TreeLoop& shared = state_.tree.loops[static_cast<size_t>(node)];
        shared.reduction = shared.reduction || l.reduction;
      } else {
        node = add_loop(node, 0,
                        {graph_.find(l.cls), parallel, l.reduction, -1, &op, variable(l.cls), graph_.extent(l.cls), {}},
                        l.position);
      }
      if (says_loops(op)) said_.insert(node);
      const bool carries = l.reduction || scans(l.cls);
      if (scans(l.cls)) state_.tree.loops[static_cast<size_t>(node)].order = order_of_scan(op);
      if (carries && outermost_sum < 0) outermost_sum = node;
      if (!carries && outermost_sum >= 0) placed.state_loops.push_back(node);
    }
    placed.loop = node;
    auto& inner = state_.items(node);
    inner.insert(inner.begin(), {TreeItem::Kind::op, -1, &op});
    if (!state_.group.axes.at(op.results[0]).reduction.empty() || scanned_dim(op) >= 0)
      add_state(op, placed, outermost_sum);
    set_home(plan, placed);
    if (placed.home != Home::memory) placed.scope = place;
    if (placed.home == Home::buffer || placed.home == Home::logical) {
      auto& around = state_.items(place);
      around.insert(around.begin(), {TreeItem::Kind::alloc, -1, &op});
    }
    state_.tree.ops[&op] = std::move(placed);
  }

  bool runs_as(int loop, LoopOrder order) const {
    const LoopOrder own = state_.tree.loops[static_cast<size_t>(loop)].order;
    return own == LoopOrder::any || own == order;
  }

  void set_home(const Plan& plan, PlacedOp& placed) {
    placed.home = Home::buffer;
    if (plan.by_coordinates) placed.home = state_.in_memory(*placed.op) ? Home::memory : Home::logical;
    const bool kept = std::any_of(plan.own.begin(), plan.own.end(), [](const OwnLoop& l) { return !l.reduction; });
    if (placed.home == Home::buffer && !kept) placed.home = Home::value;
  }

  // Initial values before the outermost loop of the sum, the result behind it, each under its own repetition of the
  // kept loops within.
  void add_state(const Op& op, const PlacedOp& placed, int outermost_sum) {
    const bool none = outermost_sum < 0;
    const int parent = none ? placed.loop : state_.tree.loops[static_cast<size_t>(outermost_sum)].parent;
    const auto place_of_sum = [&] {
      const auto& items = state_.items(parent);
      const auto it = std::find_if(items.begin(), items.end(), [&](const TreeItem& i) {
        return none ? i.kind == TreeItem::Kind::op && i.op == &op
                    : i.kind == TreeItem::Kind::loop && i.loop == outermost_sum;
      });
      return static_cast<size_t>(it - items.begin());
    };
    repeat(op, placed, parent, place_of_sum(), TreeItem::Kind::init);
    if (scanned_dim(op) < 0) repeat(op, placed, parent, place_of_sum() + 1, TreeItem::Kind::finish);
  }

  void repeat(const Op& op, const PlacedOp& placed, int parent, size_t at_item, TreeItem::Kind kind) {
    for (int l : placed.state_loops) {
      TreeLoop copy = state_.tree.loops[static_cast<size_t>(l)];
      copy.items.clear();
      copy.owner = &op;
      parent = add_loop(parent, at_item, std::move(copy), state_.positions[static_cast<size_t>(l)]);
      repeats_.insert(parent);
      at_item = 0;
    }
    auto& items = state_.items(parent);
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(at_item), {kind, -1, &op});
  }

  State& state_;
  AxisGraph& graph_;
  const TensorView& reference_;
  std::vector<LoopClass> loops_;
  std::map<const Op*, Projected> projected_;
  std::set<int> repeats_;  // loops around an init or a finish
  std::set<int> said_;     // loops that an op which says its loops stands in
  int next_variable_ = 0;
};

}  // namespace
}  // namespace placement

std::optional<Refusal> place_tree(AxisGroup& group, const TensorView& reference, std::span<TensorView* const> outputs,
                                  const TreeOptions& options, LoopTree& out) {
  out = {};
  out.reference = &reference;
  out.outputs.assign(outputs.begin(), outputs.end());
  placement::State state{group, options, out, placement::Walks(group.graph, options.off(Rule::plain_loops))};
  if (auto refusal = placement::Placer(state, reference).run()) return refusal;
  placement::fill_coordinates(state);
  return std::nullopt;
}

}  // namespace plait
