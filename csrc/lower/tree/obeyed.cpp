#include "lower/tree/obeyed.h"

#include <algorithm>

#include "base/error.h"

namespace plait::lowering {

std::string_view remedy(Rule rule) {
  switch (rule) {
    case Rule::v1_independent:
      return "split, merge or reorder so that no two loops stand for the same elements";
    case Rule::v2_known:
      return "give the tensor loops of its own that reach all of its dims, or a smaller inline position";
    case Rule::v3_reduction:
      return "keep loops over kept and over reduced dims apart, and compute the reduction outside of loops over what it "
             "reduces: a smaller inline position";
    case Rule::v4_readers:
      return "compute it outside of the loops in which its readers ask for other elements: a smaller inline position, or "
             "a cache";
    case Rule::v5_covers:
      return "split by a factor that divides the dim, or give the tensor loops of its own";
    case Rule::v6_once:
      return "reorder or split so that every loop around a tensor in memory is one over its own dims, or keep the tensor "
             "in a segment of its own";
    case Rule::v7_buffer:
      return "compute it in loops from which every reader has an index: a smaller inline position, or loops of its own "
             "that split its dims as the readers' do";
    default:
      return "schedule it otherwise";
  }
}

namespace {

class Obeyed {
 public:
  Obeyed(const ScheduledGroup& group, AxisGroup& axes, const LoopTree& tree, const TreeOptions& options,
         const std::map<const TensorView*, Refusal>& declined, const std::string& where)
      : group_(group), axes_(axes), tree_(tree), options_(options), declined_(declined), where_(where) {}

  void check(const TensorView& t) {
    const PlacedOp& placed = tree_.ops.at(t.definition);
    if (const auto it = group_.inline_at.find(&t); it != group_.inline_at.end() && placed.shared != it->second)
      refuse(t, fmt::format("inline {} is not obeyed: %{} stands in {} loop{} of its readers", it->second, t.name,
                            placed.shared, placed.shared == 1 ? "" : "s"));
    if (&t == group_.reference || group_.own_loops.contains(&t)) check_loops(t, placed);
  }

 private:
  [[noreturn]] void refuse(const TensorView& t, const std::string& what) const {
    const auto it = declined_.find(&t);
    if (it == declined_.end()) throw UserError(what, where_, "its readers share no more loops than that; reorder theirs");
    throw UserError(fmt::format("{}: {} ({})", what, it->second.reason, name(it->second.rule)), where_,
                    std::string(remedy(it->second.rule)));
  }

  // Its loops, less those that it shares with readers, are its own ones in the tree.
  void check_loops(const TensorView& t, const PlacedOp& placed) {
    const std::vector<int> path = tree_.path(placed.loop);
    const auto shared = path.begin() + placed.shared;
    auto own = shared;
    std::vector<LoopClass> stated = loop_classes(axes_, t, options_.extent);
    for (size_t i = 0; i < stated.size(); ++i) {
      const int cls = axes_.graph.find(stated[i].cls);
      const auto is_it = [&](int l) { return axes_.graph.find(loop(l).cls) == cls; };
      if (axes_.graph.unit(cls)) continue;
      if (const auto around = std::find_if(path.begin(), shared, is_it); around != shared) {
        check_kind(t, i, stated[i], *around);
        continue;
      }
      if (own == path.end() || !is_it(*own))
        refuse(t, fmt::format("loop {} of %{} is not obeyed: %{} is computed in other loops", i, t.name, t.name));
      check_kind(t, i, stated[i], *own++);
    }
    if (own != path.end()) refuse(t, fmt::format("%{} is computed in more loops than it has", t.name));
  }

  void check_kind(const TensorView& t, size_t i, const LoopClass& stated, int placed) const {
    const ParallelType found = loop(placed).parallel;
    if (found == stated.parallel) return;
    const bool threads = stated.parallel == ParallelType::cpu_thread;
    throw UserError(fmt::format("loop {} of %{} is not obeyed: it is {}, not {}", i, t.name, name(found),
                                name(stated.parallel)),
                    where_,
                    threads ? "loops over threads stand outermost and sum nothing: reorder, or mark another one"
                            : "mark the loop that it shares with its readers alike; lanes of a sum stand innermost");
  }

  const TreeLoop& loop(int l) const { return tree_.loops[static_cast<size_t>(l)]; }

  const ScheduledGroup& group_;
  AxisGroup& axes_;
  const LoopTree& tree_;
  const TreeOptions& options_;
  const std::map<const TensorView*, Refusal>& declined_;
  const std::string& where_;
};

}  // namespace

void check_obeyed(const ScheduledGroup& group, AxisGroup& axes, const LoopTree& tree, const TreeOptions& options,
                  const std::map<const TensorView*, Refusal>& declined, const std::string& where) {
  Obeyed obeyed(group, axes, tree, options, declined, where);
  for (const Op* op : group.graph->ops())
    if (tree.ops.contains(op)) obeyed.check(*op->results[0]);
}

}  // namespace plait::lowering
