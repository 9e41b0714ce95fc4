#include "schedule/place_group.h"

#include <algorithm>

#include "axes/walk.h"
#include "base/error.h"
#include "schedule/nest.h"

namespace plait {

std::string_view remedy(Rule rule) {
  switch (rule) {
    case Rule::v1_independent:
      return "split, merge or reorder so that no two loops stand for the same elements";
    case Rule::v2_known:
      return "give the tensor loops of its own that reach all of its dims, or a smaller inline position";
    case Rule::v3_reduction:
      return "keep loops over kept and over reduced dims apart, and compute the reduction outside of loops over what "
             "it "
             "reduces: a smaller inline position";
    case Rule::v4_readers:
      return "compute it outside of the loops in which its readers ask for other elements: a smaller inline position, "
             "or "
             "a cache";
    case Rule::v5_covers:
      return "split by a factor that divides the dim, or give the tensor loops of its own";
    case Rule::v6_once:
      return "reorder or split so that every loop around a tensor in memory is one over its own dims, or keep the "
             "tensor "
             "in a segment of its own";
    case Rule::v7_buffer:
      return "compute it in loops from which every reader has an index: a smaller inline position, or loops of its own "
             "that split its dims as the readers' do";
    default:
      return "schedule it otherwise";
  }
}

std::optional<Refusal> place_group(const ScheduledGroup& group, AxisGroup& axes, TreeOptions options, LoopTree& tree) {
  const std::vector<TensorView*>& aligned = group.aligned;
  for (size_t i = 1; i < aligned.size(); ++i) {
    TensorView* pair[] = {aligned[0], aligned[i]};
    if (axes.axes.contains(pair[0]) && axes.axes.contains(pair[1])) align(axes, pair);
  }
  options.inline_at = group.inline_at;
  options.own_loops = group.own_loops;
  options.totals = group.totals;
  return place_tree(axes, *group.reference, group.graph->outputs(), options, tree);
}

namespace {

constexpr int64_t kStackBytes = 256 << 10;     // of a buffer, at most
constexpr int64_t kStackBytesOfAll = 4 << 20;  // of all of a kernel

class Obeyed {
 public:
  Obeyed(const ScheduledGroup& group, const std::function<bool(sym::Expr)>& holds)
      : group_(group), holds_(holds), axes_(build_axis_graph(group.graph->pool(), group.graph->ops())) {}

  std::optional<Disobeyed> run() {
    TreeOptions options;
    options.declined = &declined_;
    if (const auto refusal = place_group(group_, axes_, options, tree_))
      return Disobeyed{
          fmt::format("no loops compute %{}: {} ({})", refusal->tensor->name, refusal->reason, name(refusal->rule)),
          std::string(remedy(refusal->rule))};
    if (auto found = check_threads()) return found;
    for (const Op* op : group_.graph->ops())
      if (tree_.ops.contains(op))
        if (auto found = check(*op->results[0])) return found;
    return check_stack();
  }

 private:
  // All buffers and states together, as if they lived at once.
  std::optional<Disobeyed> check_stack() const {
    int64_t bytes = 0;
    for (const auto& [op, placed] : tree_.ops) {
      const TensorView& t = *op->results[0];
      const auto kept = group_.kept.find(&t);
      const auto size = static_cast<int64_t>(size_of(compute_type(t.dtype)));
      const auto add = [&](sym::Expr count) {
        const int64_t hi = sym::bounds(kept != group_.kept.end() && !count.constant() ? kept->second : count).hi;
        bytes += std::min(hi, kStackBytes / size) * size;
      };
      if ((placed.home == Home::buffer || placed.home == Home::logical) && !group_.graph->readers(&t).empty())
        add(elements_of(t, placed));
      if (!placed.state_loops.empty())
        for (int copies = has_parts(*op) ? 2 : 1; copies > 0; --copies) add(states_of(placed));
    }
    if (bytes <= kStackBytesOfAll) return std::nullopt;
    return Disobeyed{
        fmt::format("its buffers and states need {} bytes of stack, and a task has {}", bytes, kStackBytesOfAll),
        "keep less, reduce inside of loops over kept dims, or part the segment"};
  }
  sym::Expr states_of(const PlacedOp& placed) const {
    sym::Expr count = group_.graph->pool().constant(1);
    for (int l : placed.state_loops) count = count * loop(l).extent;
    for (int l : tree_.path(placed.loop))
      if (sums_in_lanes(loop(l))) count = count * loop(l).extent;
    return count;
  }
  static bool sums_in_lanes(const TreeLoop& l) { return l.reduction && l.parallel == ParallelType::vectorize; }

  // A kernel has one loop over threads, and what threads read of one another is in memory.
  std::optional<Disobeyed> check_threads() const {
    const TreeLoop* first = nullptr;
    for (const TreeLoop& l : tree_.loops) {
      if (l.parallel != ParallelType::cpu_thread) continue;
      if (first != nullptr)
        return Disobeyed{fmt::format("%{} and %{} have a loop over threads each, and a kernel has one",
                                     first->owner->results[0]->name, l.owner->results[0]->name),
                         "compute one in the loops of the other: inline N; or give it serial loops of its own"};
      first = &l;
    }
    for (const auto& [op, placed] : tree_.ops)
      if (first != nullptr && placed.shared == 0 && (placed.home == Home::buffer || placed.home == Home::logical))
        return Disobeyed{
            fmt::format("%{} is computed outside of the loop over threads, which read it", op->results[0]->name),
            "compute it in the loop: inline 1; or put it into a segment of its own"};
    return std::nullopt;
  }

  std::optional<Disobeyed> check(const TensorView& t) {
    const PlacedOp& placed = tree_.ops.at(t.definition);
    if (!placed.state_loops.empty() && !is_tile(*t.definition, placed))
      return Disobeyed{fmt::format("%{} is reduced outside of a loop over its kept dims, which needs a state for every "
                                   "element of them",
                                   t.name),
                       "put loops over reduced dims inside of those over kept dims: reorder, or inline the reduction"};
    if (const auto it = group_.inline_at.find(&t); it != group_.inline_at.end() && placed.shared != it->second)
      return refuse(t, fmt::format("inline {} of %{} is not obeyed: it stands in {} loop{} of its readers", it->second,
                                   t.name, placed.shared, placed.shared == 1 ? "" : "s"));
    if (&t == group_.reference || group_.own_loops.contains(&t))
      if (auto found = check_loops(t, placed)) return found;
    return group_.kept.contains(&t) ? check_buffer(t, placed) : check_small(t, placed);
  }

  // Whether loops over kept dims stand inside of those of the sum, few enough for a state of each of their iterations.
  bool is_tile(const Op& op, const PlacedOp& placed) const {
    const int64_t most = kStackBytes / static_cast<int64_t>(size_of(compute_type(op.results[0]->dtype)));
    const sym::Expr count = states_of(placed);
    if (!can_have_tile(op)) return false;
    const auto kept = group_.kept.find(op.results[0]);  // of a symbolic extent, what the schedule vouches for
    if (kept != group_.kept.end() && sym::bounds(kept->second).hi > most) return is_in_order(op, placed);
    if (count.constant() || kept == group_.kept.end()) return count.constant().value_or(INT64_MAX) <= most;
    return sym::proven(sym::le(kept->second, most)) && holds_(sym::le(count, kept->second));
  }

  // Whether the states, which lie in memory as they are too many for the stack, are the elements of the result.
  bool is_in_order(const Op& op, const PlacedOp& placed) const {
    const DType dtype = op.results[0]->dtype;
    const bool same_type = !is_narrow(dtype) && inputs(op)[0]->dtype == dtype;
    const bool lanes = std::ranges::any_of(tree_.path(placed.loop), [&](int l) { return sums_in_lanes(loop(l)); });
    return placed.home == Home::buffer && same_type && !lanes &&
           std::equal(placed.dims.begin(), placed.dims.end(), placed.state_loops.begin(), placed.state_loops.end(),
                      [&](sym::Expr extent, int l) { return extent == loop(l).extent; });
  }

  std::optional<Disobeyed> refuse(const TensorView& t, const std::string& what) const {
    const auto it = declined_.find(&t);
    if (it == declined_.end()) return Disobeyed{what, "its readers share no more loops than that: reorder theirs"};
    return Disobeyed{fmt::format("{}, since {} ({})", what, it->second.reason, name(it->second.rule)),
                     std::string(remedy(it->second.rule))};
  }

  // Its loops, less those that it shares with readers, are its own ones in the tree.
  std::optional<Disobeyed> check_loops(const TensorView& t, const PlacedOp& placed) {
    const std::vector<int> path = tree_.path(placed.loop);
    const auto shared = path.begin() + placed.shared;
    auto own = shared;
    Walk around(axes_.graph);
    for (auto it = path.begin(); it != shared; ++it) around.seed(loop(*it).cls);
    around.run();
    const std::vector<LoopClass> stated = loop_classes(axes_, t);
    for (size_t i = 0; i < stated.size(); ++i) {
      const int cls = axes_.graph.find(stated[i].cls);
      const auto is_it = [&](int l) { return axes_.graph.find(loop(l).cls) == cls; };
      if (axes_.graph.unit(cls)) continue;
      auto at = std::find_if(path.begin(), shared, is_it);
      if (at == shared && around.knows(cls)) continue;  // what loops around determine
      if (at == shared) {
        if (own == path.end() || !is_it(*own))
          return refuse(t, fmt::format("loop {} of %{} is not obeyed: it is computed in other loops", i, t.name));
        at = own++;
      }
      if (loop(*at).parallel != stated[i].parallel) return other_kind(t, i, stated[i].parallel, loop(*at).parallel);
    }
    if (own == path.end()) return std::nullopt;
    return refuse(t, fmt::format("%{} is computed in more loops than it has", t.name));
  }

  static Disobeyed other_kind(const TensorView& t, size_t i, ParallelType stated, ParallelType found) {
    return {fmt::format("loop {} of %{} is not obeyed: it is {}, not {}", i, t.name, name(found), name(stated)),
            stated == ParallelType::cpu_thread
                ? "loops over threads stand outermost and sum nothing: reorder, or mark another one"
                : "mark the loop that it shares with its readers alike; lanes of a sum stand innermost"};
  }

  // What nobody gave a bound must have one by itself.
  std::optional<Disobeyed> check_small(const TensorView& t, const PlacedOp& placed) const {
    const Home home = tree_.home(t);
    if ((home != Home::buffer && home != Home::logical) || group_.graph->readers(&t).empty()) return std::nullopt;
    const sym::Expr count = elements_of(t, placed);
    const int64_t most = kStackBytes / static_cast<int64_t>(size_of(compute_type(t.dtype)));
    if (sym::bounds(count).hi <= most) return std::nullopt;
    return Disobeyed{fmt::format("%{} needs a buffer of {} elements in the kernel", t.name, sym::print(count)),
                     "compute it in the loops of its readers, or in a segment of its own"};
  }

  // Of its buffer.
  sym::Expr elements_of(const TensorView& t, const PlacedOp& placed) const {
    sym::Expr count = group_.graph->pool().constant(1);
    if (placed.home == Home::buffer)
      for (sym::Expr e : placed.dims) count = count * e;
    else
      for (const Axis& a : t.domain.logical) count = count * a.extent;
    return count;
  }

  std::optional<Disobeyed> check_buffer(const TensorView& t, const PlacedOp& placed) {
    const sym::Expr most = group_.kept.at(&t);
    if (placed.home != Home::buffer && placed.home != Home::logical)
      return Disobeyed{
          fmt::format("keep {} of %{} is not obeyed: it needs no buffer, each iteration makes what it reads",
                      sym::print(most), t.name),
          "drop it, or compute the tensor in fewer loops of its readers: a smaller inline position"};
    const sym::Expr count = elements_of(t, placed);
    if (holds_(sym::le(count, most))) return std::nullopt;
    return Disobeyed{fmt::format("keep {} of %{} is not obeyed: its buffer holds {} elements", sym::print(most), t.name,
                                 sym::print(count)),
                     "keep more, compute it in more loops of its readers, or bound the sizes: given n: 1 in 1..4096"};
  }

  const TreeLoop& loop(int l) const { return tree_.loops[static_cast<size_t>(l)]; }

  const ScheduledGroup& group_;
  const std::function<bool(sym::Expr)>& holds_;
  AxisGroup axes_;
  LoopTree tree_;
  std::map<const TensorView*, Refusal> declined_;
};

}  // namespace

std::optional<Disobeyed> disobeyed(const ScheduledGroup& group, const std::function<bool(sym::Expr)>& holds) {
  return Obeyed(group, holds).run();
}

}  // namespace plait
