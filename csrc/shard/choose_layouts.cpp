#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "ir/reshape_runs.h"
#include "mesh/collective_cost.h"
#include "shard/conflicts.h"
#include "shard/gather_ranges.h"
#include "shard/normal_form.h"
#include "shard/own_cost.h"
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
  explicit Chooser(Propagation& state) : state_(state) {
    for (const Op* op : state.fusion().ops()) {
      const std::vector<TensorView*> in = inputs(*op);
      for (size_t i = 0; i < in.size(); ++i) uses_[in[i]].emplace_back(op, i);
    }
  }

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

  std::optional<double> cost_at_present(const TensorView& t) {
    auto found = costs_.find(&t);
    if (found == costs_.end())
      found = costs_.emplace(&t, cost_of(t, [&](const Op& op) -> const Assignment& { return at_present(op); })).first;
    return found->second;
  }

  void choose(TensorView& t) {
    const auto cost = cost_at_present(t);
    if (!cost || *cost == 0) return;
    std::pair<Price, Layouts> best;
    for (const Layout& layout : candidates(t)) {
      Layouts layouts = {{&t, layout}};
      for (size_t made = 0; made <= kMostMakers; ++made) {
        bool whole = true;
        const auto price = price_of(layouts, whole);
        if (!whole) break;  // with makers the same follows from t
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
      if (const auto* reshape = as<Reshape>(*op)) add(in_steps(*reshape, t.layout));
    }
    for (size_t d = 0; !t.layout.partial.empty() && d < t.rank(); ++d) {
      Layout layout = t.layout;
      for (const auto& [axis, reduce] : std::exchange(layout.partial, {}))
        layout.dims[d].pieces.push_back({axis, 1, 0});
      if (divides(t, d, layout.dims[d].pieces)) add(std::move(layout));
    }
    return out;
  }

  // The layout with pieces of whole steps of what a reshape splits: of 80 elements that become 5 of 16 in 16.
  static Layout in_steps(const Reshape& op, Layout layout) {
    for (const ReshapeRun& run : reshape_runs(op)) {
      int64_t step = 1;
      for (size_t d = run.out + 1; d < run.out_end; ++d)
        if (const auto extent = op.out()->extent(d).constant(); extent && *extent > 0 && step <= kMaxGranule / *extent)
          step *= *extent;
      for (Piece& p : layout.dims[run.in].pieces)
        if (run.in_end - run.in == 1 && !p.is_local() && step <= kMaxGranule / p.granule)
          p.granule = std::lcm(p.granule, step);
    }
    return layout;
  }

  // The operands whose layouts have to be other ones so that the ops give these without a move; false: no more.
  bool add_makers(Layouts& layouts) {
    Layouts more;
    for (const auto& [t, layout] : layouts) {
      const Op& op = *t->definition;
      if (op.results.size() != 1 || !(is_elementwise(op) || stays_in_place(op, layout))) continue;
      for (TensorView* in : inputs(op)) {
        const bool alike = gathers_ranges(op) || in->shape() == t->shape();
        if (!alike || !is_free(*in) || layouts.contains(in) || in->layout == layout) continue;
        more.emplace(in, layout);
      }
    }
    layouts.insert(more.begin(), more.end());
    return !more.empty();
  }

  // Whether an op that takes ranges has those dims whole along which it does.
  static bool stays_in_place(const Op& op, const Layout& layout) {
    if (!gathers_ranges(op)) return false;
    return std::ranges::none_of(factors(op), [&](const Factor& f) {
      const int dim = f.result_dim[0];
      return f.kind == FactorKind::permute && dim >= 0 && !layout.dims[static_cast<size_t>(dim)].pieces.empty();
    });
  }

  // Nothing where a size is not known, or more follows than is looked at (not `whole`).
  std::optional<Price> price_of(const Layouts& layouts, bool& whole) {
    const auto stand = [&](LayoutSource source) {
      for (const auto& [t, layout] : layouts) t->layout_source = source;
    };
    stand(LayoutSource::chosen);
    Propagation::Region region = state_.follow(layouts, kMostFollowed, true, endless_);
    whole = region.whole;
    if (!whole) note_endless(region);
    const bool idle = leaves_a_reshard_idle(region);
    Propagation::swap(region);
    stand(LayoutSource::inferred);
    if (!whole || idle) return std::nullopt;
    Price out;
    const Around around = around_of(region);
    for (const auto& [t, differs] : around) {
      const auto cost = cost_at_present(*t);
      if (!cost) return std::nullopt;
      out.before += *cost;
    }
    for (const auto& [op, a] : region.ops) out.before += own_cost(*op, at_present(*op));
    stand(LayoutSource::chosen);
    Propagation::swap(region);
    const auto after = cost_in(region, around);
    Propagation::swap(region);
    stand(LayoutSource::inferred);
    if (!after) return std::nullopt;
    out.after = *after;
    return out;
  }

  // Tensors that ops of a region read or make, and whether what moves of them differs from what does at present.
  using Around = std::map<const TensorView*, bool>;

  Around around_of(const Propagation::Region& region) {
    Around out;
    for (const auto& [t, layout] : region.before) out[t] = true;
    for (const auto& [op, a] : region.ops) {
      const Assignment& now = at_present(*op);
      const std::vector<TensorView*> in = inputs(*op);
      for (size_t i = 0; i < in.size(); ++i) out[in[i]] |= a.operands[i] != now.operands[i];
      for (size_t r = 0; r < op->results.size(); ++r) out[op->results[r]] |= a.results[r] != now.results[r];
    }
    return out;
  }

  std::optional<double> cost_in(const Propagation::Region& region, const Around& around) {
    std::map<const Op*, const Assignment*> then;
    for (const auto& [op, a] : region.ops) then.emplace(op, &a);
    const auto assignment = [&](const Op& op) -> const Assignment& {
      const auto found = then.find(&op);
      return found == then.end() ? at_present(op) : *found->second;
    };
    double out = 0;
    for (const auto& [t, differs] : around) {
      const auto cost = differs ? cost_of(*t, assignment) : cost_at_present(*t);
      if (!cost) return std::nullopt;
      out += *cost;
    }
    for (const auto& [op, a] : region.ops) out += own_cost(*op, a);
    return out;
  }

  // Tensors of a region that is not whole, from each of which half as many ops follow as are looked at, or one does
  // that is endless.
  void note_endless(const Propagation::Region& region) {
    static_assert(kMostFollowed <= 64);
    std::map<const Op*, size_t> places;
    for (size_t i = 0; i < region.ops.size(); ++i) places.emplace(region.ops[i].first, i);
    std::vector<uint64_t> behind(region.ops.size());  // the ops that an op's changed results reach, and it itself
    for (size_t i = region.ops.size(); i-- > 0;) {
      const Op& op = *region.ops[i].first;
      behind[i] = uint64_t{1} << i;
      bool some = false;
      for (TensorView* t : op.results) {
        if (!region.before.contains(t)) continue;
        some = true;
        for (const Op* reader : state_.readers(*t))
          if (const auto found = places.find(reader); found != places.end()) behind[i] |= behind[found->second];
      }
      const bool reaches_end = region.ops.size() < kMostFollowed && (behind[i] >> (region.ops.size() - 1) & 1) != 0;
      if (!some || !(reaches_end || std::popcount(behind[i]) > static_cast<int>(kMostFollowed / 2))) continue;
      for (TensorView* t : op.results)
        if (region.before.contains(t)) endless_[t].push_back(t->layout);
    }
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
    std::optional<ReshardSizes> sizes;
    std::vector<const Layout*> versions;
    double out = 0;
    const auto reach = [&](const Layout& layout) {
      if (std::ranges::any_of(versions, [&](const Layout* version) { return *version == layout; })) return;
      if (!sizes) sizes = reshard_sizes(t);
      const auto nearest = nearest_version(
          versions, layout, [&](const Layout& version) { return reshard_cost(version, layout, *sizes); });
      const double least = nearest ? nearest->second : INFINITY;
      out += least;
      if (least > 0) versions.push_back(&layout);
    };
    if (t.definition && t.definition->kind != OpKind::Reshard) {
      const auto& results = t.definition->results;
      const auto r = static_cast<size_t>(std::ranges::find(results, &t) - results.begin());
      versions.push_back(&assignment(*t.definition).results[r]);
      reach(t.layout);
    } else {
      versions.push_back(&held_layout(t));
    }
    if (const auto uses = uses_.find(&t); uses != uses_.end())
      for (const auto& [op, i] : uses->second)
        reach(op->kind == OpKind::Reshard ? op->results[0]->layout : assignment(*op).operands[i]);
    if (out == 0) return 0;
    const bool known = std::ranges::all_of(sizes->extents, [](const auto& e) { return e.has_value(); });
    if (!known || !std::isfinite(out)) return std::nullopt;
    return out * static_cast<double>(Claimants::is_parameter(t) ? kParameterWeight : 1);
  }

  // The layouts stay, and so do those of outputs that their ops would give otherwise now.
  void take(const Layouts& layouts, const Price& price) {
    const Mesh& mesh = state_.fusion().mesh();
    const std::string costs = fmt::format("by cost: {} for moves around it and behind it, {} otherwise",
                                          cost_text(mesh, price.after), cost_text(mesh, price.before));
    for (const auto& [t, layout] : layouts) {
      t->layout_source = LayoutSource::chosen;
      t->reason = costs;
    }
    const Propagation::Region region = state_.follow(layouts, kMostFollowed, true);
    for (const auto& [op, a] : region.ops) {
      for (size_t r = 0; r < op->results.size(); ++r) {
        TensorView& t = *op->results[r];
        if (!state_.is_output(t) || state_.pinned(t) || a.results[r].dims == t.layout.dims) continue;
        t.layout_source = LayoutSource::chosen;
        t.reason = "an output, as it is without choices by cost";
      }
      present_.erase(op);
      for (const TensorView* t : inputs(*op)) costs_.erase(t);
      for (const TensorView* t : op->results) costs_.erase(t);
    }
    endless_.clear();
  }

  Propagation& state_;
  std::unordered_map<const TensorView*, std::vector<std::pair<const Op*, size_t>>> uses_;  // with the operand's index
  // As layouts stand.
  std::unordered_map<const Op*, Assignment> present_;
  std::unordered_map<const TensorView*, std::optional<double>> costs_;
  Propagation::Endless endless_;
};

}  // namespace

void choose_layouts(Propagation& propagation) { Chooser(propagation).run(); }

}  // namespace plait
