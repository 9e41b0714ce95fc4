// Coordinates, buffer indices and predicates of a finished tree, as expressions of its loop variables.
#include <algorithm>

#include "axes/operand_read.h"
#include "axes/placement.h"
#include "base/error.h"

namespace plait::placement {

namespace {

class Fill {
 public:
  explicit Fill(State& state) : state_(state), graph_(state.group.graph) {}

  void run() {
    for (const Op* op : state_.group.ops) own(state_.tree.ops.at(op));
    for (const Op* op : state_.group.ops) read(state_.tree.ops.at(op));
  }

 private:
  const TreeLoop& loop(int id) const { return state_.tree.loops[static_cast<size_t>(id)]; }
  const TensorAxes& axes(const PlacedOp& p) const { return state_.group.axes.at(p.op->results[0]); }

  // With values: one walk per place.
  const Walk& walk_at(int id) {
    auto& walk = walks_[id];
    if (!walk) {
      walk = std::make_unique<Walk>(graph_, state_.off(Rule::plain_loops));
      for (int l : state_.tree.path(id)) walk->seed(loop(l).cls, loop(l).var);
      walk->run();
    }
    return *walk;
  }

  std::vector<int> own_loops(const PlacedOp& p) const {
    const std::vector<int> path = state_.tree.path(p.loop);
    return {path.begin() + p.shared, path.end()};
  }

  // Own loops of one op may be reduction loops of another that runs along, so the op's own axes tell.
  std::vector<int> kept_loops(const PlacedOp& p, const Walk& walk) const {
    const std::set<int> kept = walk.use(axes(p).logical).seeds;
    std::vector<int> out;
    for (int l : own_loops(p))
      if (kept.contains(graph_.find(loop(l).cls))) out.push_back(l);
    return out;
  }

  void own(PlacedOp& p) {
    const Walk& walk = walk_at(p.loop);
    for (int a : axes(p).logical) p.own.push_back(walk.value(a));
    for (int a : axes(p).reduction) p.reduced.push_back(walk.value(a));
    predicates(p, walk);
    if (p.home == Home::buffer) {
      for (int l : kept_loops(p, walk)) {
        p.dims.push_back(loop(l).extent);
        p.index.push_back(loop(l).var);
      }
    }
    if (p.home == Home::logical) {
      for (int a : axes(p).logical) p.dims.push_back(graph_.extent(a));
      p.index = p.own;
    }
  }

  void lossy(const Walk& walk, const Walk::Use& use, std::vector<RangeTerm>& out) const {
    if (state_.off(Rule::lossy_terms)) return;
    for (int c : use.lossy) out.push_back({walk.value(c), graph_.extent(c)});
  }

  // Against repetition: of what is left over only the first iteration counts.
  void once(const Walk& walk, const std::vector<int>& classes, std::vector<RangeTerm>& out) const {
    if (state_.off(Rule::once_terms)) return;
    for (int c : classes) out.push_back({walk.value(c), graph_.pool().constant(1)});
  }

  void predicates(PlacedOp& p, const Walk& walk) {
    const TensorAxes& a = axes(p);
    const Walk::Use kept = walk.use(a.logical), summed = walk.use(a.reduction);
    std::vector<int> all = a.logical;
    all.insert(all.end(), a.reduction.begin(), a.reduction.end());
    const Walk& determined = state_.walks.from(all, !state_.off(Rule::total_steps));
    lossy(walk, kept, p.write);
    lossy(walk, summed, p.reduce);
    once(walk, left_over(walk, determined, summed.classes, summed.classes, {}), p.reduce);
    if (p.home == Home::logical || p.home == Home::memory) {
      std::set<int> used = kept.classes;
      used.insert(summed.classes.begin(), summed.classes.end());
      once(walk, left_over(walk, determined, used, kept.classes, state_.classes(state_.tree.path(p.loop))), p.once);
    }
    p.write = needed(p.write);
    p.once = needed(p.once);
    p.reduce = needed(p.reduce);
  }

  void read(PlacedOp& p) {
    const auto extent = [&](sym::Expr e) { return state_.extent(e); };
    const std::span<const Edge> edges = state_.group.edges_of(*p.op);
    for (size_t i = 0; i < edges.size(); ++i) {
      PlacedOperand o = operand_read(state_.group, *p.op, i, {p.own, p.reduced}, extent);
      if (edges[i].hard && state_.tree.home(*edges[i].operand) == Home::buffer) buffer_index(p, {&edges[i], i}, o);
      p.operands.push_back(std::move(o));
    }
  }

  void buffer_index(const PlacedOp& reader, const Reader& r, PlacedOperand& o) {
    const PlacedOp& producer = state_.tree.ops.at(r.edge->operand->definition);
    const TensorAxes& operand = state_.group.axes.at(r.edge->operand);
    Walk from_coordinates(graph_);
    for (size_t d = 0; d < operand.logical.size(); ++d) {
      sym::Expr at = o.at[d];
      if (!at) at = o.loaded = loaded(graph_.extent(operand.logical[d]));
      from_coordinates.seed(operand.logical[d], at);
    }
    const std::vector<int> path = state_.tree.path(producer.loop);
    for (int i = 0; i < producer.shared; ++i)
      from_coordinates.seed(loop(path[static_cast<size_t>(i)]).cls, loop(path[static_cast<size_t>(i)]).var);
    from_coordinates.run(!state_.off(Rule::total_steps));
    const Walk &from_loops = walk_at(reader.loop), &own = walk_at(producer.loop);
    for (int l : kept_loops(producer, own)) {
      const int c = graph_.find(loop(l).cls);
      const IndexSource source = index_source(from_coordinates, from_loops, own, state_, r, c);
      PLAIT_CHECK(source != IndexSource::none || state_.off(Rule::v7_buffer), "{} has no index into the buffer of %{}",
                  describe(*reader.op), r.edge->operand->name);
      if (source == IndexSource::coordinates)
        o.buffer.push_back(from_coordinates.value(c));
      else  // none: some index, as if it were the reader's
        o.buffer.push_back(from_loops.knows(c) ? from_loops.value(c) : graph_.pool().constant(0));
    }
  }

  sym::Expr loaded(sym::Expr extent) {
    const sym::SymbolInfo facts = sym::index_facts(extent);
    if (state_.options.variable) return state_.options.variable(facts);
    std::string name;
    do name = fmt::format("j{}", next_++);
    while (graph_.pool().find_symbol(name));
    return graph_.pool().symbol(name, facts);
  }

  State& state_;
  const AxisGraph& graph_;
  std::map<int, std::unique_ptr<Walk>> walks_;
  int next_ = 0;
};

}  // namespace

void fill_coordinates(State& state) { Fill(state).run(); }

}  // namespace plait::placement
