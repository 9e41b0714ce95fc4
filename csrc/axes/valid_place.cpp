// Rules of validity of one plan, V1 to V7: a function each, the reason or nothing.
#include <algorithm>

#include "axes/coordinate_test.h"
#include "axes/operand_read.h"
#include "axes/placement.h"
#include "base/error.h"

namespace plait::placement {

namespace {

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class Check {
 public:
  Check(State& state, const Op& op, Plan& plan)
      : state_(state),
        graph_(state.group.graph),
        op_(op),
        plan_(plan),
        axes_(state.group.axes.at(op.results[0])),
        shared_(state.classes(plan.shared)) {}

  std::optional<Refusal> run() {
    if (auto r = apart(); !r.empty()) return refuse(Rule::v1_independent, std::move(r));
    walk_ = &state_.walks.from(seeds());
    if (auto r = known(); !r.empty() && !state_.off(Rule::v2_known)) return refuse(Rule::v2_known, std::move(r));
    drop_idle();
    const std::pair<Rule, std::string (Check::*)()> rules[] = {{Rule::v1_independent, &Check::independent},
                                                               {Rule::v3_reduction, &Check::reduction},
                                                               {Rule::v4_readers, &Check::readers},
                                                               {Rule::v5_covers, &Check::covers_all},
                                                               {Rule::v6_once, &Check::once},
                                                               {Rule::v7_buffer, &Check::buffer}};
    for (const auto& [rule, check] : rules) {
      if (state_.off(rule)) continue;
      if (std::string reason = (this->*check)(); !reason.empty()) return refuse(rule, std::move(reason));
    }
    return std::nullopt;
  }

 private:
  Refusal refuse(Rule rule, std::string reason) const { return {rule, op_.results[0], std::move(reason)}; }

  std::vector<int> own() const {
    std::vector<int> out;
    for (const OwnLoop& l : plan_.own) out.push_back(graph_.find(l.cls));
    return out;
  }
  std::vector<int> seeds() const {
    std::vector<int> out = shared_;
    for (int c : own()) out.push_back(c);
    return out;
  }

  std::string apart() {
    std::erase_if(plan_.own, [&](const OwnLoop& l) { return graph_.unit(l.cls); });
    std::set<int> seen;
    for (int c : seeds())
      if (!seen.insert(c).second) return "two loops are the same axis";
    return "";
  }

  std::string known() {
    for (const auto* list : {&axes_.logical, &axes_.reduction})
      for (int a : *list)
        if (!walk_->knows(a)) return "an axis follows from no loop";
    return "";
  }

  // Own loops that drive no axis; what is left derives the axes as before.
  void drop_idle() {
    for (size_t before = plan_.own.size() + 1; plan_.own.size() != before;) {
      before = plan_.own.size();
      walk_ = &state_.walks.from(seeds());
      kept_ = walk_->use(axes_.logical);
      summed_ = walk_->use(axes_.reduction);
      std::erase_if(plan_.own, [&](const OwnLoop& l) {
        const int c = graph_.find(l.cls);
        return !kept_.seeds.contains(c) && !summed_.seeds.contains(c);
      });
    }
    for (OwnLoop& l : plan_.own) l.reduction = summed_.seeds.contains(graph_.find(l.cls));
  }

  std::string independent() { return state_.walks.conflict(seeds()) ? "two loops disagree on an axis" : ""; }

  // A scan carries a state through the innermost loops, in turn or by threads that tell each other, which drive its dim
  // in its order and nothing else.
  std::string scan() {
    const int dim = scanned_dim(op_);
    if (dim < 0 || graph_.unit(axes_.logical[static_cast<size_t>(dim)])) return "";
    const std::vector<int> order = scan_order(*walk_, state_, op_), all = seeds();
    if (order.empty()) return "its loops do not follow the scanned axis in its order";
    std::vector<int> others = axes_.logical;
    others.erase(others.begin() + dim);
    const std::set<int> elsewhere = walk_->use(others).seeds;
    for (int c : order)
      if (elsewhere.contains(c)) return "the loop of a scan drives another axis";
    if (all.size() < order.size() || !std::equal(order.rbegin(), order.rend(), all.rbegin()))
      return "the loops of a scan are not the innermost ones, in its order";
    for (int l : plan_.shared) {
      const TreeLoop& loop = state_.tree.loops[static_cast<size_t>(l)];
      if (!contains(order, graph_.find(loop.cls))) continue;
      if (!carries_scans(loop.parallel)) return "a loop around that a scan would follow runs at once";
      if (loop.order != LoopOrder::any && loop.order != order_of_scan(op_))
        return "a loop around runs against the order of the scan";
    }
    return "";
  }

  std::string reduction() {
    if (std::string reason = scan(); !reason.empty()) return reason;
    for (int c : summed_.seeds) {
      if (kept_.seeds.contains(c)) return "a loop drives a kept and a summed axis";
      if (contains(shared_, c)) return "a loop around drives the summed axis";
    }
    std::vector<int> outside = shared_;
    for (int c : own())
      if (!summed_.seeds.contains(c)) outside.push_back(c);
    const Walk& fixed = state_.walks.from(outside);
    for (int a : axes_.reduction)
      if (!graph_.unit(a) && fixed.knows(a) && clash(outside, {a}))
        return "the summed axis is fixed by loops outside of the sum";
    return stands_for_all(left_over(*walk_, determined(), summed_.classes, summed_.classes, {}));
  }

  // Steps out of range may derive an axis from loops that say nothing of it: whether they really do.
  bool clash(const std::vector<int>& loops, const std::vector<int>& others) {
    std::vector<int> all = known_classes(graph_, loops);
    for (int c : known_classes(graph_, others)) {
      if (contains(all, c)) return true;
      all.push_back(c);
    }
    return state_.walks.conflict(all);
  }

  std::vector<int> all_axes() const {
    std::vector<int> all = axes_.logical;
    all.insert(all.end(), axes_.reduction.begin(), axes_.reduction.end());
    return all;
  }

  // What the op's coordinates say of the loops.
  const Walk& determined() { return state_.walks.from(all_axes(), !state_.off(Rule::total_steps)); }

  // Whether the first iterations of what is left over compute all elements: there must be one, whatever the element.
  std::string stands_for_all(const std::vector<int>& left) {
    for (int c : left)
      if (!sym::proven(sym::ge(graph_.extent(c), 1))) return "a loop that does not drive it may have no iteration";
    return !left.empty() && clash(all_axes(), left) ? "not every element has a first iteration" : "";
  }

  // As V4, of the readers in the first of `loops`, which are the op's own and around them.
 public:
  bool asked_in(const std::vector<int>& loops) {
    walk_ = &state_.walks.from(seeds());
    shared_ = seeds();
    for (const Reader& r : state_.readers.at(&op_)) {
      const std::vector<int> path = state_.path_of(*r.edge->op);
      if (!contains(path, loops.front())) continue;
      if (!contains(path, loops.back()) || !reader(r).empty()) return false;
    }
    return true;
  }

 private:
  // A loop around that drives an axis must drive each reader's coordinate on it; an axis that is whole for a reader is
  // driven by no loop around.
  std::string readers() {
    for (const Reader& r : state_.readers.at(&op_))
      if (std::string reason = reader(r); !reason.empty()) return reason;
    return "";
  }

  std::string reader(const Reader& r) {
    const Walk& walk = state_.walks.from(state_.classes(state_.path_of(*r.edge->op)));
    const TensorAxes& axes = state_.group.axes.at(r.edge->operand);
    for (size_t d = 0; d < axes.logical.size(); ++d)
      if (std::string reason = asked(r, walk, axes.logical[d], r.edge->root[d]); !reason.empty()) return reason;
    return "";
  }

  std::string asked(const Reader& r, const Walk& reader, int axis, int root) {
    if (graph_.unit(axis)) return "";
    const Walk::Use use = walk_->use({{axis}});
    const bool whole = r.edge->cut || root < 0;
    std::set<int> driving;
    if (whole && !use.shrunk.empty()) return "an axis that a reader needs whole is not covered";
    if (!whole) {
      if (!reader.knows(root) && !state_.off(Rule::v2_known)) return "a reader's coordinate follows from no loop";
      driving = reader.use({{root}}).seeds;
    }
    for (int c : use.seeds)
      if (contains(shared_, c) && !driving.contains(c))
        return whole ? "a loop around drives an axis that a reader needs whole"
                     : "a loop around drives the axis and not what a reader asks for";
    return "";
  }

  // A step that loses elements is fine only where a loop around asks for what is left.
  std::string covers_all() {
    if (!summed_.shrunk.empty()) return "not every summed element is reached";
    for (int c : kept_.shrunk) {
      if (plan_.by_coordinates) return "not every element is reached";
      const std::set<int> from = walk_->use({{c}}).seeds;
      if (std::none_of(from.begin(), from.end(), [&](int s) { return contains(shared_, s); }))
        return "not every element is reached";
    }
    return "";
  }

  std::string once() {
    if (!plan_.by_coordinates) return "";
    const Walk& own = determined();
    std::set<int> used = kept_.classes;
    used.insert(summed_.classes.begin(), summed_.classes.end());
    if (auto r = stands_for_all(left_over(*walk_, own, used, kept_.classes, seeds())); !r.empty()) return r;
    for (int c : shared_)
      if (!kept_.seeds.contains(c) && !summed_.seeds.contains(c) && own.knows(c))
        return "a loop around follows from its coordinates and does not drive them";
    if (state_.readers.at(&op_).empty()) return "";
    for (int c : seeds())
      if (!own.knows(c)) return "it is stored once and read back in other iterations";
    return "";
  }

  std::string buffer() {
    if (plan_.by_coordinates) return "";
    std::vector<int> kept;
    for (const OwnLoop& l : plan_.own)
      if (!l.reduction) kept.push_back(graph_.find(l.cls));
    if (kept.empty()) return "";
    for (const Reader& r : state_.readers.at(&op_)) {
      std::vector<int> coordinates = known_classes(graph_, state_.group.axes.at(r.edge->operand).logical);
      coordinates.insert(coordinates.end(), shared_.begin(), shared_.end());
      const Walk& from_coordinates = state_.walks.from(coordinates, !state_.off(Rule::total_steps));
      const Walk& from_loops = state_.walks.from(state_.classes(state_.path_of(*r.edge->op)));
      for (int c : kept)
        if (index_source(from_coordinates, from_loops, *walk_, state_, r, c) == IndexSource::none)
          return "a reader has no index along a loop of the buffer";
    }
    return "";
  }

  State& state_;
  const AxisGraph& graph_;
  const Op& op_;
  Plan& plan_;
  const TensorAxes& axes_;
  std::vector<int> shared_;
  const Walk* walk_ = nullptr;
  Walk::Use kept_, summed_;
};

}  // namespace

std::optional<Refusal> check_plan(State& state, const Op& op, Plan& plan) { return Check(state, op, plan).run(); }

bool asked_in(State& state, const Op& op, const Plan& plan, const std::vector<int>& loops) {
  Plan copy = plan;
  return Check(state, op, copy).asked_in(loops);
}

namespace {

bool follow(const Walk& walk, int cls, std::vector<int>& out) {
  cls = walk.graph().find(cls);
  if (walk.graph().unit(cls)) return true;
  const Walk::Step* step = walk.step(cls);
  if (step == nullptr) return false;
  if (step->relation < 0) {
    out.push_back(cls);
    return true;
  }
  const Relation& r = walk.graph().relation(step->relation);
  if (r.kind == RelationKind::shift || step->direction != Direction::up) return false;
  return follow(walk, r.outer, out) && follow(walk, r.inner, out);
}

}  // namespace

std::vector<int> scan_order(const Walk& walk, const State& state, const Op& op) {
  const int dim = scanned_dim(op);
  std::vector<int> out;
  if (dim < 0 || !follow(walk, state.group.axes.at(op.results[0]).logical[static_cast<size_t>(dim)], out)) return {};
  return out;
}

LoopOrder order_of_scan(const Op& op) { return scan_of(op)->reverse ? LoopOrder::backward : LoopOrder::forward; }

std::vector<int> left_over(const Walk& walk, const Walk& determined, const std::set<int>& used,
                           const std::set<int>& steps, const std::vector<int>& loops) {
  const AxisGraph& graph = walk.graph();
  std::vector<int> out;
  const auto add = [&](int c) {
    c = graph.find(c);
    if (!graph.unit(c) && !determined.knows(c) && !used.contains(c) && !contains(out, c)) out.push_back(c);
  };
  for (int c : steps) {
    const Walk::Step* step = walk.step(c);
    if (step->relation < 0 || step->direction == Direction::up) continue;
    const Relation& r = graph.relation(step->relation);
    if (r.kind == RelationKind::shift) continue;
    add(r.outer);
    add(r.inner);
  }
  for (int c : loops) add(c);
  return out;
}

// A dim of the buffer that does not follow from the coordinates read is a loop of the reader's that the producer took
// over. The reader has it only if it reaches every axis that the loop drives through this same class.
IndexSource index_source(const Walk& from_coordinates, const Walk& from_loops, const Walk& producer, const State& state,
                         const Reader& reader, int cls) {
  if (from_coordinates.knows(cls)) return IndexSource::coordinates;
  if (!from_loops.knows(cls)) return IndexSource::none;
  if (state.off(Rule::tied_buffers)) return IndexSource::loops;
  const std::vector<int>& axes = state.group.axes.at(reader.edge->operand).logical;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (state.group.graph.unit(axes[d]) || !producer.use({{axes[d]}}).seeds.contains(cls)) continue;
    const int root = reader.edge->root[d];
    if (reader.edge->cut || root < 0 || !from_loops.knows(root)) return IndexSource::none;
    if (!from_loops.use({{root}}).classes.contains(cls)) return IndexSource::none;
  }
  return IndexSource::loops;
}

}  // namespace plait::placement
