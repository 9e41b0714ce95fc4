#include <algorithm>
#include <cmath>
#include <utility>

#include "mesh/collective_cost.h"
#include "shard/conflicts.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/normal_form.h"
#include "shard/propagation.h"
#include "shard/reshard_plan.h"

namespace plait {
namespace {

constexpr size_t kMostFollowed = 64;   // ops around tensors and behind them that a choice may concern
constexpr size_t kMostCandidates = 8;  // layouts that are tried for a tensor
constexpr size_t kMostMakers = 8;      // tensors in front of one that have to go with it
constexpr double kLeastSaving = 0.01;  // of the cost: less is no reason

using Layouts = std::map<TensorView*, Layout>;

bool divides(const TensorView& t, size_t dim, const std::vector<Piece>& pieces) {
  const auto extent = at_defaults(*t.fusion, t.extent(dim));
  int64_t parts = 1;
  for (const Piece& p : pieces) {
    if (p.is_local() || p.granule != 1) return false;
    parts *= members_of(t, p.mesh_axis);
  }
  return extent && *extent % parts == 0;
}

class Chooser {
 public:
  explicit Chooser(Propagation& state) : state_(state) {}

  void run() {
    if (state_.fusion().mesh().axes().empty()) return;
    const std::vector<Op*>& ops = state_.fusion().ops();
    for (size_t i = ops.size(); i-- > 0;)  // the last one that is enough is the one that costs no more
      for (TensorView* t : ops[i]->results)
        if (is_free(*t)) choose(*t);
  }

 private:
  // What a choice costs and cost before.
  struct Price {
    double before = 0, after = 0;
    double saved() const { return before - after; }
  };

  bool is_free(const TensorView& t) const { return !state_.pinned(t) && !state_.is_output(t); }

  const Assignment& at_present(const Op& op) {
    auto found = present_.find(&op);
    if (found == present_.end()) found = present_.emplace(&op, state_.assignment(op)).first;
    return found->second;
  }

  void choose(TensorView& t) {
    const auto cost = cost_of(t, [&](const Op& op) -> const Assignment& { return at_present(op); });
    if (!cost || *cost == 0) return;
    std::pair<Price, Layouts> best;
    for (const Layout& layout : candidates(t)) {
      Layouts layouts = {{&t, layout}};
      for (size_t made = 0; made <= kMostMakers; ++made) {
        const auto price = price_of(layouts);
        if (price && price->saved() > kLeastSaving * price->before && price->saved() > best.first.saved())
          best = {*price, layouts};
        if (!add_makers(layouts)) break;
      }
    }
    if (!best.second.empty()) take(best.second, best.first);
  }

  // Pieces of a pending tensor, and what its readers need otherwise than it is.
  std::vector<Layout> candidates(const TensorView& t) {
    std::vector<Layout> out;
    const auto add = [&](Layout given) {
      Layout layout = normal_layout(t, std::move(given));
      if (layout != t.layout && out.size() < kMostCandidates && std::ranges::find(out, layout) == out.end())
        out.push_back(std::move(layout));
    };
    for (const Op* op : state_.readers(t)) {
      if (op->kind == OpKind::Reshard) {
        add(op->results[0]->layout);
        continue;
      }
      const Assignment& a = at_present(*op);
      const auto in = inputs(*op);
      for (size_t i = 0; i < in.size(); ++i)
        if (in[i] == &t) add(a.operands[i]);
    }
    for (size_t d = 0; !t.layout.partial.empty() && d < t.rank(); ++d) {
      Layout layout = t.layout;
      for (const auto& [axis, reduce] : std::exchange(layout.partial, {}))
        layout.dims[d].pieces.push_back({axis, 1, 0});
      if (divides(t, d, layout.dims[d].pieces)) add(std::move(layout));
    }
    return out;
  }

  // The operands whose layouts have to be other ones so that the ops give these without a move; false: no more.
  bool add_makers(Layouts& layouts) {
    Layouts more;
    for (const auto& [t, layout] : layouts) {
      const Op& op = *t->definition;
      if (op.results.size() != 1 || !is_elementwise(op)) continue;
      for (TensorView* in : inputs(op)) {
        if (!is_free(*in) || layouts.contains(in) || in->shape() != t->shape() || in->layout == layout) continue;
        more.emplace(in, layout);
      }
    }
    layouts.insert(more.begin(), more.end());
    return !more.empty();
  }

  std::optional<Price> price_of(const Layouts& layouts) {
    for (const auto& [t, layout] : layouts) t->layout_source = LayoutSource::chosen;
    Propagation::Region region = state_.follow(layouts, kMostFollowed, true);
    std::map<const Op*, Assignment> then;
    std::vector<const TensorView*> around;
    for (const Op* op : region.ops) {
      then.emplace(op, state_.assignment(*op));
      for (const TensorView* t : inputs(*op)) around.push_back(t);
      for (const TensorView* t : op->results) around.push_back(t);
    }
    std::ranges::sort(around, {}, [](const TensorView* t) { return t->id; });
    around.erase(std::unique(around.begin(), around.end()), around.end());
    const auto sum = [&](const auto& assignment) -> std::optional<double> {
      double out = 0;
      for (const TensorView* t : around) {
        const auto cost = cost_of(*t, assignment);
        if (!cost) return std::nullopt;
        out += *cost;
      }
      for (const Op* op : region.ops) out += own_moves(*op, assignment(*op));
      return out;
    };
    const auto after = region.whole && !leaves_a_reshard_idle(region) ? sum([&](const Op& op) -> const Assignment& {
      const auto found = then.find(&op);
      return found == then.end() ? at_present(op) : found->second;
    })
                                                                      : std::nullopt;
    Propagation::put_back(region);
    for (const auto& [t, layout] : layouts) t->layout_source = LayoutSource::inferred;
    if (!after) return std::nullopt;
    const auto before = sum([&](const Op& op) -> const Assignment& { return at_present(op); });
    if (!before) return std::nullopt;
    return Price{*before, *after};
  }

  // What a user wrote moves something.
  bool leaves_a_reshard_idle(const Propagation::Region& region) const {
    return std::ranges::any_of(region.before, [&](const auto& changed) {
      return std::ranges::any_of(state_.readers(*changed.first), [&](const Op* op) {
        return op->kind == OpKind::Reshard && op->results[0]->layout == changed.first->layout;
      });
    });
  }

  // What it costs to bring a tensor from what its op gives to what its readers need, each from the version nearest to
  // it; nothing where a size is not known, or what is needed cannot be.
  template <class Fn>
  std::optional<double> cost_of(const TensorView& t, Fn&& assignment) const {
    const ReshardSizes sizes = reshard_sizes(t);
    std::vector<Layout> versions;
    double out = 0;
    const auto reach = [&](const Layout& layout) {
      double least = INFINITY;
      for (const Layout& version : versions)
        if (can_reshard(version, layout)) least = std::min(least, reshard_cost(version, layout, sizes));
      out += least;
      if (least > 0) versions.push_back(layout);
    };
    const bool known = std::ranges::all_of(sizes.extents, [](const auto& e) { return e.has_value(); });
    if (t.definition && t.definition->kind != OpKind::Reshard) {
      const auto& results = t.definition->results;
      const auto r = static_cast<size_t>(std::ranges::find(results, &t) - results.begin());
      versions.push_back(assignment(*t.definition).results[r]);
      reach(t.layout);
    } else {
      versions.push_back(held_layout(t));
    }
    for (const Op* op : state_.readers(t)) {
      if (op->kind == OpKind::Reshard) {
        reach(op->results[0]->layout);
        continue;
      }
      const Assignment& a = assignment(*op);
      const auto in = inputs(*op);
      for (size_t i = 0; i < in.size(); ++i)
        if (in[i] == &t) reach(a.operands[i]);
    }
    if (out == 0) return 0;
    if (!known || !std::isfinite(out)) return std::nullopt;
    return out * static_cast<double>(Claimants::is_parameter(t) ? kParameterWeight : 1);
  }

  // What ranks exchange within an op: parts that they merge, ranges that they take.
  static double own_moves(const Op& op, const Assignment& a) {
    double out = 0;
    for (size_t f = 0; f < a.factors.size(); ++f) {
      const FactorKind kind = a.factors[f].kind;
      if (a.claims[f].pieces.empty() || (kind != FactorKind::merge && kind != FactorKind::permute)) continue;
      const TensorView& t = *op.results[0];
      const sym::Expr bytes = kind == FactorKind::merge ? exchanged_bytes(op) : bytes_of(t);
      const auto known = at_defaults(*t.fusion, bytes);
      std::vector<Piece> pieces = a.claims[f].pieces;
      std::erase_if(pieces, [](const Piece& p) { return p.is_local(); });
      const Collective how = kind == FactorKind::merge ? Collective::all_gather : Collective::all_to_all;
      const LinkCost link = slowest(reshard_sizes(t).links, team_of(pieces).axes);
      if (known) out += collective_cost(how, members_of(t, pieces), static_cast<double>(*known), link);
    }
    return out;
  }

  // The layouts stay, and so do those of outputs that their ops would give otherwise now.
  void take(const Layouts& layouts, const Price& price) {
    const Propagation::Region region = state_.follow(layouts, kMostFollowed, true);
    const Mesh& mesh = state_.fusion().mesh();
    const std::string costs = fmt::format("by cost: {} for moves around it and behind it, {} otherwise",
                                          cost_text(mesh, price.after), cost_text(mesh, price.before));
    for (const auto& [t, layout] : layouts) {
      t->layout_source = LayoutSource::chosen;
      t->reason = costs;
    }
    for (const Op* op : region.ops) {
      const Assignment a = state_.assignment(*op);
      for (size_t r = 0; r < op->results.size(); ++r) {
        TensorView& t = *op->results[r];
        if (!state_.is_output(t) || state_.pinned(t) || a.results[r].dims == t.layout.dims) continue;
        t.layout_source = LayoutSource::chosen;
        t.reason = "an output, as it is without choices by cost";
      }
      present_.erase(op);
    }
  }

  Propagation& state_;
  std::map<const Op*, Assignment> present_;  // of ops as layouts stand
};

}  // namespace

void choose_layouts(Propagation& propagation) { Chooser(propagation).run(); }

}  // namespace plait
