#include "shard/assign.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "mesh/collective_cost.h"
#include "scalar/dtype.h"
#include "shard/conflicts.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/normal_form.h"
#include "shard/pays.h"
#include "shard/regroup.h"
#include "shard/reshard_plan.h"

namespace plait {

std::optional<int64_t> at_defaults(const Fusion& fusion, sym::Expr e) {
  sym::Environment environment;
  for (const auto& let : fusion.size_lets) environment[let.name] = let.value;
  try {
    return sym::evaluate(e, environment);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

sym::Expr bytes_of(const TensorView& tensor) {
  sym::Expr out = tensor.fusion->pool().constant(static_cast<int64_t>(size_of(tensor.dtype)));
  for (const auto& axis : tensor.domain.logical) out = out * axis.extent;
  return out;
}

std::optional<int64_t> global_bytes(const TensorView& tensor) {
  try {
    return at_defaults(*tensor.fusion, bytes_of(tensor));
  } catch (const UserError&) {
    return std::nullopt;  // constants beyond int64
  }
}

namespace {

class Assigner {
 public:
  // `claimants` in their order.
  Assigner(const Op& op, const std::vector<Layout>& wanted, const std::vector<Factor>& factors,
           const std::vector<int>& claimants)
      : op_(op), wanted_(wanted), claimants_(claimants), in_(inputs(op)) {
    out_.factors = factors;
    out_.claims.resize(out_.factors.size());
    regrouped_.resize(out_.factors.size());
    if (const auto* reshape = as<Reshape>(op))
      for (const ReshapeRun& run : reshape_runs(*reshape))
        for (size_t f = 0; f < out_.factors.size() && regroups(*reshape, run); ++f)
          regrouped_[f] = regrouped_[f] || is_in(out_.factors[f], run);
    for (const TensorView* t : op.results) out_.results.push_back(Layout::replicated(t->rank()));
    for (const TensorView* t : in_) out_.operands.push_back(Layout::replicated(t->rank()));
  }

  Assignment run() {
    for (int i : claimants_) offer(i, i < 0 ? without_pending(tensor_at(op_, i).layout) : tensor_at(op_, i).layout);
    collect_sums();
    pass_pending();
    for (size_t r = 0; r < wanted_.size(); ++r) offer(~static_cast<int>(r), wanted_[r]);
    if (in_.size() == 1) cut_elsewhere();
    collect_layouts();
    return std::move(out_);
  }

 private:
  // Pieces of a dim as pieces of the factor, whose steps are `scale` elements: borders must lie between steps.
  static bool in_steps(std::vector<Piece>& pieces, int64_t scale) {
    if (scale == 1) return true;
    for (Piece& p : pieces) {
      if (p.is_local() || p.granule % scale != 0) return false;
      p.granule /= scale;
    }
    return true;
  }
  static std::vector<Piece> in_elements(std::vector<Piece> pieces, int64_t scale) {
    for (Piece& p : pieces)
      if (!p.is_local()) p.granule *= scale;
    return pieces;
  }

  void offer(int operand, const Layout& layout) {
    if (const auto* reshape = as<Reshape>(op_)) offer_runs(*reshape, operand, layout);
    for (size_t d = 0; d < layout.dims.size(); ++d)
      for (size_t f = 0; f < out_.factors.size(); ++f) {
        const Factor& factor = out_.factors[f];
        const bool moves = factor.kind == FactorKind::permute && operand >= 0 && gathers_ranges(op_);
        if (dim_in(factor, operand) != static_cast<int>(d) || !(factor.shardable() || moves)) continue;
        if (!out_.claims[f].pieces.empty() || regrouped_[f]) continue;
        DimLayout list;
        for (const Piece& p : layout.dims[d].pieces)
          if (p.is_local() || !taken_.count(p.mesh_axis)) list.pieces.push_back(p);
        list.normalize();
        if (factor.kind == FactorKind::merge && (operand < 0 || !may_merge(list.pieces))) continue;
        const std::optional<Parts> parts = moves ? parts_of(list.pieces) : std::nullopt;
        if (moves && !parts && (list.pieces.empty() || list.pieces.front().is_local())) continue;
        if (moves && !parts) list.pieces.erase(std::ranges::find_if(list.pieces, &Piece::is_local), list.pieces.end());
        if (list.pieces.empty() || !can_hold(op_, factor, list.pieces, wanted_)) continue;
        if (!in_steps(list.pieces, factor.scale_in(operand))) continue;
        for (const Piece& p : list.pieces)
          if (!p.is_local()) taken_.insert(p.mesh_axis);
        const Claim claim = {std::move(list.pieces), operand, static_cast<int>(d)};
        out_.claims[f] = claim;
        if (moves) cut_moved(d, claim, parts);
      }
  }

  // Lists of the dims of a run become lists of those on the other side of a reshape.
  void offer_runs(const Reshape& op, int claimant, const Layout& layout) {
    for (const ReshapeRun& run : reshape_runs(op)) {
      const auto is_claimed = [&](size_t f) { return is_in(out_.factors[f], run) && !out_.claims[f].pieces.empty(); };
      if (!regroups(op, run)) continue;
      bool claimed = false;
      for (size_t f = 0; f < out_.factors.size(); ++f) claimed = claimed || is_claimed(f);
      if (claimed) continue;
      const Regrouped lists = regroup(op, run, claimant < 0, layout, taken_);
      if (lists.kept.mesh_pieces() == 0) continue;
      const auto put = [](const RunDims& dims, Layout& to) {
        for (size_t d = 0; d < dims.pieces.size(); ++d) to.dims[dims.first + d].pieces = dims.pieces[d];
      };
      put(claimant < 0 ? lists.made : lists.kept, out_.operands[0]);
      put(claimant < 0 ? lists.kept : lists.made, out_.results[0]);
      for (size_t f = 0; f < out_.factors.size(); ++f)
        if (is_in(out_.factors[f], run)) claim_regrouped(f, claimant, lists.kept);
      for (const auto& list : lists.kept.pieces)
        for (const Piece& p : list)
          if (!p.is_local()) taken_.insert(p.mesh_axis);
    }
  }

  static bool is_in(const Factor& f, const ReshapeRun& run) {
    const auto within = [](int dim, size_t begin, size_t end) {
      return dim >= 0 && static_cast<size_t>(dim) >= begin && static_cast<size_t>(dim) < end;
    };
    return within(f.operand_dim[0], run.in, run.in_end) || within(f.result_dim[0], run.out, run.out_end);
  }

  // The claim of a factor in a run is what its result has, or else its operand, and comes from the dim of the claimant
  // that has the outermost of these pieces.
  void claim_regrouped(size_t f, int claimant, const RunDims& kept) {
    const Factor& factor = out_.factors[f];
    std::vector<Piece> pieces;
    if (factor.result_dim[0] >= 0) pieces = out_.results[0].dims[static_cast<size_t>(factor.result_dim[0])].pieces;
    if (pieces.empty() && factor.operand_dim[0] >= 0)
      pieces = out_.operands[0].dims[static_cast<size_t>(factor.operand_dim[0])].pieces;
    const auto first = std::ranges::find_if(pieces, [](const Piece& p) { return !p.is_local(); });
    if (first == pieces.end()) return;
    const auto has = [&](const std::vector<Piece>& list) {
      return std::ranges::any_of(list, [&](const Piece& p) { return p.mesh_axis == first->mesh_axis; });
    };
    const auto from = std::ranges::find_if(kept.pieces, has) - kept.pieces.begin();
    out_.claims[f] = {std::move(pieces), claimant, static_cast<int>(kept.first) + static_cast<int>(from)};
  }

  // What a slice takes, or a cat has, of operands that are cut in several parts.
  std::optional<Parts> parts_of(const std::vector<Piece>& pieces) const {
    if (pieces.empty() || !pieces.front().is_local()) return std::nullopt;
    const int64_t parts = pieces.front().local;
    const auto* cat = as<Cat>(op_);
    const bool ranges = std::none_of(pieces.begin() + 1, pieces.end(), [](const Piece& p) { return p.is_local(); });
    if (!cat && ranges && part_around(op_, parts)) return Parts{0, 1};
    if (!cat) return sliced_parts(op_, parts);
    const auto alike = [&](const TensorView* t) {
      return t->layout.dims[static_cast<size_t>(cat->dim)].pieces == pieces;
    };
    if (!std::ranges::all_of(in_, alike) || !joins_parts(op_, parts)) return std::nullopt;
    return Parts{0, static_cast<int64_t>(in_.size()) * parts};
  }

  // Operands of a move, and its result, are cut alike along a dim whose elements move; the result of a slice of parts
  // has these. A result of few elements is whole: each rank takes all of them.
  void cut_moved(size_t dim, const Claim& claim, const std::optional<Parts>& parts) {
    for (size_t f = 0; f < out_.factors.size(); ++f) {
      const Factor& factor = out_.factors[f];
      if (factor.kind != FactorKind::permute) continue;
      const bool result = factor.result_dim[0] == static_cast<int>(dim);
      if (result && !parts && takes_pinned(dim, claim.pieces)) {
        const std::vector<Piece>& pinned = op_.out()->layout.dims[dim].pieces;
        for (const Piece& p : pinned) taken_.insert(p.mesh_axis);
        if (!pinned.empty()) out_.claims[f] = {pinned, ~0, static_cast<int>(dim)};
        continue;
      }
      if (result && parts) {
        Claim of_parts = claim;
        of_parts.pieces.front().local = parts->count;
        if (parts->count == 1) of_parts.pieces.erase(of_parts.pieces.begin());
        out_.claims[f] = of_parts;
        continue;
      }
      if (const auto* strided = as<Slice>(op_); result && strided && strided->step > 1) {
        out_.claims[f] = claim;
        for (Piece& p : out_.claims[f].pieces)
          p.granule = p.granule % strided->step == 0 ? p.granule / strided->step : 1;
        continue;
      }
      if (result && wants_parts(claim.pieces)) {
        out_.claims[f] = {wanted_[0].dims[dim].pieces, claim.operand, claim.dim};
        continue;
      }
      const bool shared = result ? !as<Slice>(op_) || fills_members(*op_.out(), dim, claim.pieces)
                                 : std::ranges::count(factor.operand_dim, static_cast<int>(dim)) > 0;
      if (shared) out_.claims[f] = claim;
    }
  }

  // Whether each rank takes what it is to have of a result that is pinned, whatever pieces operands have: axes of these
  // cut none of its other dims, and its own no other factor. Whole it takes what lies between steps, too.
  bool takes_pinned(size_t dim, const std::vector<Piece>& pieces) const {
    const TensorView& t = *op_.out();
    const std::vector<Piece>& pinned = t.layout.dims[dim].pieces;
    const auto* slice = as<Slice>(op_);
    if (!t.keeps_layout() || (slice && slice->step > 1)) return false;
    const auto has = [](const std::vector<Piece>& list, int axis) {
      return std::ranges::any_of(list, [&](const Piece& p) { return p.mesh_axis == axis; });
    };
    const auto is_free = [&](const Piece& p) {
      return !p.is_local() && (has(pieces, p.mesh_axis) || !taken_.contains(p.mesh_axis));
    };
    const auto elsewhere = [&](const Piece& p) { return t.layout.uses(p.mesh_axis) && !has(pinned, p.mesh_axis); };
    return std::ranges::all_of(pinned, is_free) && std::ranges::none_of(pieces, elsewhere);
  }

  // Whether the result of a cat shall have these pieces of each operand, side by side.
  bool wants_parts(const std::vector<Piece>& pieces) const {
    if (!joins_parts(op_)) return false;
    const auto& wanted = wanted_[0].dims[static_cast<size_t>(as<Cat>(op_)->dim)].pieces;
    return wanted == in_parts(pieces, inputs(op_).size());
  }

  static bool fills_members(const TensorView& t, size_t dim, const std::vector<Piece>& pieces) {
    const auto extent = at_defaults(*t.fusion, t.extent(dim));
    int64_t granules = members_of(t, pieces);
    for (const Piece& p : pieces) granules = std::max(granules, members_of(t, p.mesh_axis) * p.granule);
    return !extent || *extent >= granules;
  }

  // Axes over which an operand is pending wait until it is known whether the op passes that on.
  Layout without_pending(Layout layout) const {
    const auto waits = [&](const Piece& p) {
      return !p.is_local() &&
             std::ranges::any_of(in_, [&](const TensorView* t) { return t->layout.partial.contains(p.mesh_axis); });
    };
    for (DimLayout& dim : layout.dims)
      if (std::ranges::any_of(dim.pieces, waits)) dim.pieces.clear();
    return layout;
  }

  // Whether pieces are left, the first of the list: parts of the op are merged once, and in order where that counts. Of
  // an order each member gives as many elements as it has at most, which are counted for one axis; more axes must pay,
  // too.
  bool may_merge(std::vector<Piece>& pieces) const {
    std::vector<Piece> all;  // of dims that are merged already
    for (size_t f = 0; f < out_.factors.size(); ++f)
      if (out_.factors[f].kind == FactorKind::merge)
        all.insert(all.end(), out_.claims[f].pieces.begin(), out_.claims[f].pieces.end());
    if (pieces.empty() || pieces.front().is_local() || (!all.empty() && !merges_dims(op_))) return false;
    pieces.erase(std::ranges::find_if(pieces, &Piece::is_local), pieces.end());
    const auto pays = [&] {
      std::vector<Piece> with = all;
      with.insert(with.end(), pieces.begin(), pieces.end());
      return pays_to_merge(op_, with);
    };
    if (!pays()) pieces.resize(1);
    return all.empty() || pays();
  }

  void collect_sums() {
    for (size_t f = 0; f < out_.factors.size(); ++f) {
      if (out_.factors[f].kind != FactorKind::reduce) continue;
      for (const Piece& p : out_.claims[f].pieces)
        if (!p.is_local()) leave_pending(p.mesh_axis, out_.factors[f].reduce);
    }
    const auto* linear = as<Linear>(op_);
    if (linear && linear->b && !out_.results[0].partial.empty())
      throw UserError(fmt::format("the sum of %{} is sharded and its bias %{} would be added by every rank",
                                  op_.out()->name, linear->b->name),
                      describe(op_), "run the pass split_bias before sharding");
  }

  void pass_pending() {
    std::map<int, ReduceOp> axes;
    for (const TensorView* t : in_) axes.insert(t->layout.partial.begin(), t->layout.partial.end());
    for (auto [axis, reduce] : axes) {
      if (taken_.count(axis)) continue;
      std::vector<bool> pending;
      bool same = true;
      for (const TensorView* t : in_) {
        auto it = t->layout.partial.find(axis);
        pending.push_back(it != t->layout.partial.end());
        same = same && (!pending.back() || it->second == reduce);
      }
      // Reductions of different kinds do not commute: one tensor holds one kind.
      for (const Layout& result : out_.results)
        for (auto [other, kind] : result.partial) same = same && kind == reduce;
      if (!same || !(passes_partial(op_, pending, reduce) || passes_on(pending, reduce, axis) ||
                     joins_wider(op_, pending, reduce, axis)))
        continue;
      taken_.insert(axis);
      leave_pending(axis, reduce);
      for (size_t i = 0; i < in_.size(); ++i)
        if (pending[i]) out_.operands[i].partial[axis] = reduce;
    }
  }

  // A sum that nobody else reads, where it shrinks on the way, or is scaled and does not grow, and the work is not to
  // be parted over the axis. Each rank would round the terms of a narrow one.
  bool passes_on(const std::vector<bool>& pending, ReduceOp reduce, int axis) const {
    const bool scales = scales_pending(op_, pending);
    if (reduce != ReduceOp::sum || !(scales || contracts_pending(op_, pending))) return false;
    const auto is_wanted = [&](int of) {
      return std::ranges::any_of(wanted_, [&](const Layout& layout) { return layout.dim_of(of) >= 0; });
    };
    if (is_wanted(axis)) return false;
    const auto at = static_cast<size_t>(std::find(pending.begin(), pending.end(), true) - pending.begin());
    const TensorView& sum = *in_[at];
    if (sum.fusion->readers(&sum).size() != 1 || sum.fusion->is_output(&sum)) return false;
    // What is done over one axis before is not scaled over another: one collective does both.
    for (const auto& [other, kind] : sum.layout.partial)
      if (scales && !out_.operands[at].partial.contains(other) && (taken_.count(other) || is_wanted(other)))
        return false;
    if (scales && sum.shape() == op_.out()->shape()) return true;
    const auto before = global_bytes(sum), after = global_bytes(*op_.out());
    return before && after && *after < *before;
  }

  // Where the one operand is cut along a dim that must be whole, another dim is, if it pays to move the pieces there:
  // no rank has to do all of the op.
  void cut_elsewhere() {
    const TensorView& t = *in_[0];
    for (size_t f = 0; f < out_.factors.size(); ++f) {
      const Factor& whole = out_.factors[f];
      const bool merges = whole.kind == FactorKind::merge && out_.claims[f].pieces.empty();
      if ((whole.kind != FactorKind::whole && !merges) || whole.operand_dim[0] < 0) continue;
      const int dim = whole.operand_dim[0];
      const auto& pieces = t.layout.dims[static_cast<size_t>(dim)].pieces;
      if (pieces.size() != 1 || taken_.count(pieces[0].mesh_axis)) continue;
      const auto bytes = global_bytes(t);
      if (!bytes) return;
      const int64_t members = members_of(t, pieces[0].mesh_axis);
      const LinkCost link = link_cost(t.fusion->mesh(), pieces[0].mesh_axis);
      const auto costs = [&](Collective c, int64_t of) {
        return collective_cost(c, members, static_cast<double>(of), link);
      };
      double cost = costs(Collective::all_to_all, *bytes);
      for (size_t r = 0; r < op_.results.size(); ++r)  // that are to be whole again
        if (op_.results[r]->keeps_layout() && !wanted_[r].uses(pieces[0].mesh_axis))
          cost += costs(Collective::all_gather, global_bytes(*op_.results[r]).value_or(*bytes));
      if (cost >= costs(Collective::all_gather, *bytes)) continue;
      const auto to = longest_free(members);
      if (!to) continue;
      taken_.insert(pieces[0].mesh_axis);
      out_.claims[*to] = {{Piece{.mesh_axis = pieces[0].mesh_axis}}, 0, dim};
    }
  }

  // The factor with the longest dim that all have, if each member gets some.
  std::optional<size_t> longest_free(int64_t members) const {
    std::optional<size_t> out;
    int64_t most = members - 1;
    for (size_t f = 0; f < out_.factors.size(); ++f) {
      const Factor& factor = out_.factors[f];
      const bool shared =
          factor.operand_dim[0] >= 0 && std::ranges::all_of(factor.result_dim, [](int d) { return d >= 0; });
      if (factor.kind != FactorKind::pass || !shared || !out_.claims[f].pieces.empty()) continue;
      const auto extent = at_defaults(*in_[0]->fusion, in_[0]->extent(static_cast<size_t>(factor.operand_dim[0])));
      if (!extent || *extent <= most) continue;
      out = f;
      most = *extent;
    }
    return out;
  }

  void leave_pending(int axis, ReduceOp reduce) {
    for (Layout& result : out_.results) result.partial[axis] = reduce;
  }

  void collect_layouts() {
    for (size_t f = 0; f < out_.factors.size(); ++f) {
      const Factor& factor = out_.factors[f];
      const auto& pieces = out_.claims[f].pieces;
      if (regrouped_[f]) continue;
      for (size_t r = 0; r < out_.results.size(); ++r)
        if (factor.result_dim[r] >= 0)
          out_.results[r].dims[static_cast<size_t>(factor.result_dim[r])].pieces =
              in_elements(pieces, factor.result_scale);
      for (size_t i = 0; i < in_.size(); ++i)
        if (factor.operand_dim[i] >= 0)
          out_.operands[i].dims[static_cast<size_t>(factor.operand_dim[i])].pieces =
              in_elements(pieces, factor.scale_in(static_cast<int>(i)));
    }
    if (op_.kind == OpKind::Scatter) start_from_parts();
    for (size_t r = 0; r < out_.results.size(); ++r)
      out_.results[r] = normal_layout(*op_.results[r], std::move(out_.results[r]));
    // Operands of a cat keep the list of the one that leads, of whatever extents: then each of them asks for the same.
    for (size_t i = 0; i < in_.size() && op_.kind != OpKind::Cat; ++i)
      out_.operands[i] = normal_layout(*in_[i], std::move(out_.operands[i]));
  }

  // Of a scatter that leaves its results pending each rank starts from what it has of the operand: a summand, or a
  // piece, around which stands what changes nothing.
  void start_from_parts() {
    const Layout& has = in_[0]->layout;
    Layout& starts = out_.operands[0];
    for (const auto& [axis, reduce] : out_.results[0].partial) {
      const auto pending = has.partial.find(axis);
      if (pending != has.partial.end() && pending->second == reduce) starts.partial.insert(*pending);
    }
    const auto left_pending = [&](const Piece& p) {
      return !p.is_local() && out_.results[0].partial.contains(p.mesh_axis);
    };
    for (size_t d = 0; d < has.dims.size(); ++d)
      if (starts.dims[d].pieces.empty() && std::ranges::all_of(has.dims[d].pieces, left_pending))
        starts.dims[d] = has.dims[d];
  }

  const Op& op_;
  const std::vector<Layout>& wanted_;
  const std::vector<int>& claimants_;
  std::vector<TensorView*> in_;
  Assignment out_;
  std::set<int> taken_;
  std::vector<bool> regrouped_;  // factors of runs of a reshape whose lists stand in the layouts themselves
};

// Ways that are tried at most: of a cat of many operands each may be cut otherwise.
constexpr size_t kMostTried = 8;

// Of those that each claimant would have its way in, with all that they leave to others, the one with the cheapest
// moves; of equals the first. Claimants that agree have it together.
Assignment cheapest(const Op& op, const std::vector<Layout>& wanted, const Claimants& claimants,
                    const std::vector<int>& order, Assignment out) {
  const auto cost = cost_of_moves(op, out);
  if (!cost) return out;
  std::vector<Alternative> all = {{order[0], *cost}};
  std::vector<int> tried = {order[0]};
  for (int first : order) {
    const auto goes_with = [&](int other) { return first == other || claimants.agree(first, other); };
    if (std::ranges::any_of(tried, goes_with)) continue;
    if (tried.size() == kMostTried) break;
    tried.push_back(first);
    const std::vector<int> led = claimants.order_behind(first, order);
    Assignment other = Assigner(op, wanted, out.factors, led).run();
    const auto its =
        other.operands == out.operands && other.results == out.results ? std::nullopt : cost_of_moves(op, other);
    if (!its || !std::isfinite(*its)) continue;
    const bool less = *its < all[0].cost;
    all.insert(less ? all.begin() : all.end(), {first, *its});
    if (less) out = std::move(other);
  }
  std::erase_if(all, [](const Alternative& way) { return !std::isfinite(way.cost); });
  out.alternatives = std::move(all);
  return out;
}

}  // namespace

const Alternative* Assignment::runner_up(int claimant) const {
  const Alternative* out = nullptr;
  for (size_t i = 1; i < alternatives.size(); ++i) {
    if (alternatives[i].claimant == claimant) return &alternatives[i];
    if (!out || alternatives[i].cost < out->cost) out = &alternatives[i];
  }
  return out;
}

Assignment assign(const Op& op, const std::vector<Layout>& wanted) {
  if (const auto* reshard = as<Reshard>(op)) {
    Assignment out;
    out.operands = {reshard->in->layout};
    out.results = wanted;
    return out;
  }
  PLAIT_CHECK(wanted.size() == op.results.size(), "{} layouts for {}", wanted.size(), describe(op));
  const std::vector<Factor> all = factors(op);
  const Claimants claimants(op, all);
  const std::vector<int> order = claimants.order();
  Assignment out = Assigner(op, wanted, all, order).run();
  return claimants.conflict() ? cheapest(op, wanted, claimants, order, std::move(out)) : out;
}

Assignment assign(const Op& op) {
  std::vector<Layout> wanted;
  for (const TensorView* t : op.results) wanted.push_back(t->layout);
  return assign(op, wanted);
}

}  // namespace plait
