#include "shard/assign.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "mesh/collective_cost.h"
#include "scalar/dtype.h"
#include "shard/conflicts.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/pays.h"
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

// Elements of a dim in one step of the factor.
int64_t scale_in(const Factor& factor, int operand) {
  if (operand < 0) return factor.result_scale;
  return factor.operand_scale.empty() ? 1 : factor.operand_scale[static_cast<size_t>(operand)];
}

class Assigner {
 public:
  // `claimants` in their order.
  Assigner(const Op& op, const std::vector<Layout>& wanted, const std::vector<Factor>& factors,
           const std::vector<int>& claimants)
      : op_(op), wanted_(wanted), claimants_(claimants), in_(inputs(op)) {
    out_.factors = factors;
    out_.claims.resize(out_.factors.size());
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
    for (size_t d = 0; d < layout.dims.size(); ++d)
      for (size_t f = 0; f < out_.factors.size(); ++f) {
        const Factor& factor = out_.factors[f];
        const bool moves = factor.kind == FactorKind::permute && operand >= 0 && gathers_ranges(op_);
        if (dim_in(factor, operand) != static_cast<int>(d) || !(factor.shardable() || moves)) continue;
        if (!out_.claims[f].pieces.empty()) continue;
        DimLayout list;
        for (const Piece& p : layout.dims[d].pieces)
          if (p.is_local() || !taken_.count(p.mesh_axis)) list.pieces.push_back(p);
        list.normalize();
        if (factor.kind == FactorKind::merge && (operand < 0 || !may_merge(list.pieces))) continue;
        const std::optional<Parts> parts = moves ? parts_of(list.pieces) : std::nullopt;
        if (moves && !parts && (list.pieces.empty() || list.pieces.front().is_local())) continue;
        if (moves && !parts) list.pieces.erase(std::ranges::find_if(list.pieces, &Piece::is_local), list.pieces.end());
        if (list.pieces.empty() || !can_hold(op_, factor, list.pieces, wanted_)) continue;
        if (!in_steps(list.pieces, scale_in(factor, operand))) continue;
        for (const Piece& p : list.pieces)
          if (!p.is_local()) taken_.insert(p.mesh_axis);
        const Claim claim = {std::move(list.pieces), operand, static_cast<int>(d)};
        out_.claims[f] = claim;
        if (moves) cut_moved(d, claim, parts);
      }
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
      for (size_t r = 0; r < out_.results.size(); ++r)
        if (factor.result_dim[r] >= 0)
          out_.results[r].dims[static_cast<size_t>(factor.result_dim[r])].pieces =
              in_elements(pieces, factor.result_scale);
      for (size_t i = 0; i < in_.size(); ++i)
        if (factor.operand_dim[i] >= 0)
          out_.operands[i].dims[static_cast<size_t>(factor.operand_dim[i])].pieces =
              in_elements(pieces, scale_in(factor, static_cast<int>(i)));
    }
    if (op_.kind == OpKind::Scatter) start_from_parts();
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
};

std::string list_text(const std::vector<Piece>& pieces, const Mesh& mesh) {
  std::string out;
  for (const Piece& p : pieces) {
    out += (out.empty() ? "" : ", ") +
           (p.is_local() ? fmt::format("local {}", p.local) : mesh.axes()[static_cast<size_t>(p.mesh_axis)].name);
    if (p.granule != 1) out += fmt::format(" granule {}", p.granule);
  }
  return "[" + out + "]";
}

// Why `winner` ranks before `loser`, and what moves cost against what they would the other way.
std::string rank_reason(const Op& op, const Assignment& a, int winner, int loser) {
  if (winner == loser) return "first dim";
  const TensorView &w = tensor_at(op, winner), &l = tensor_at(op, loser);
  const Claimants all(op, a.factors);
  const auto ours = all.bytes(winner), theirs = all.bytes(loser);
  const bool parameter = Claimants::is_parameter(w) && !Claimants::is_parameter(l);
  std::string costs;
  std::optional<bool> less;
  if (const auto* other = a.runner_up(loser)) {
    costs = fmt::format(", {} against {}", cost_text(w.fusion->mesh(), a.alternatives[0].cost),
                        cost_text(w.fusion->mesh(), other->cost));
    less = a.alternatives[0].cost < other->cost;
  }
  const bool equal = !ours || !theirs || *ours == *theirs;
  std::string why = "more bytes";
  if (parameter)
    why = "parameter";
  else if (less.value_or(false))
    why = "less to move";
  else if (equal)
    why = winner < 0 ? "first result" : "first operand";
  return why + costs;
}

std::string source(const Op& op, const Claim& claim) {
  return fmt::format("%{} dim {}", tensor_at(op, claim.operand).name, claim.dim);
}

// Of a reshape, that sizes are open which would keep pieces whole if they were known.
std::string open_steps(const Op& op, const std::vector<Piece>& pieces) {
  const auto* reshape = as<Reshape>(op);
  const bool cut = std::ranges::any_of(pieces, [](const Piece& p) { return !p.is_local() && p.granule > 1; });
  if (!reshape || !cut) return "";
  for (sym::Expr e : reshape->shape)
    if (!e.constant() && at_defaults(*op.results[0]->fusion, e) == pieces.back().granule)
      return fmt::format("; that {0} is {1} is not known: write {1} in its place", sym::print(e),
                         pieces.back().granule);
  return "";
}

std::string dim_difference(const Op& op, const Assignment& a, int index, size_t dim, const std::vector<Piece>& has) {
  const Mesh& mesh = op.results[0]->fusion->mesh();
  std::string subject = fmt::format("%{} dim {}", tensor_at(op, index).name, dim);
  size_t f = 0;
  while (f < a.factors.size() && dim_in(a.factors[f], index) != static_cast<int>(dim)) ++f;
  std::string what = fmt::format("{} {}", subject, list_text(has, mesh));
  if (f == a.factors.size()) return fmt::format("{} has extent 1 and broadcasts: it is whole", what);
  const Claim& claim = a.claims[f];
  if (has.empty() && index < 0)
    return fmt::format("{} is held whole and computed in pieces {} as {}", subject, list_text(claim.pieces, mesh),
                       source(op, claim));
  if (has.empty())
    return fmt::format("{} is sharded {} as {}", subject, list_text(claim.pieces, mesh), source(op, claim));
  if (a.factors[f].kind == FactorKind::whole) return fmt::format("{} must be whole in {}", what, text_name(op));
  if (a.factors[f].kind == FactorKind::permute && !claim.pieces.empty() && claim.operand == index)
    return fmt::format("{} has more than {}, which {} moves", what, list_text(claim.pieces, mesh), text_name(op));
  if (a.factors[f].kind == FactorKind::permute && claim.pieces.empty())
    return fmt::format("{} must be whole in {}, which moves its elements{}", what, text_name(op), open_steps(op, has));
  auto lost = [&](const Claim& winner) {
    return fmt::format("conflict: {} lost to {} ({})", what, source(op, winner),
                       rank_reason(op, a, winner.operand, index));
  };
  if (!claim.pieces.empty() && claim.operand != index) return lost(claim);
  if (a.factors[f].kind == FactorKind::merge && !claim.pieces.empty())
    return fmt::format("{} has more than {}, which {} merges", what, list_text(claim.pieces, mesh), text_name(op));
  for (const Piece& p : has)
    for (size_t g = 0; g < a.claims.size(); ++g)
      for (const Piece& q : a.claims[g].pieces)
        if (g != f && !p.is_local() && p.mesh_axis == q.mesh_axis) return lost(a.claims[g]);
  for (const Piece& p : has)
    if (!p.is_local() && a.results[0].partial.count(p.mesh_axis))
      return fmt::format("conflict: {} lost to the reduction that is pending over {}", what,
                         mesh.axes()[static_cast<size_t>(p.mesh_axis)].name);
  const bool is_range = std::ranges::none_of(has, [](const Piece& p) { return p.is_local(); });
  const int64_t scale = scale_in(a.factors[f], index);
  if (scale > 1 && is_range)
    return fmt::format("{} may end within {} elements that {} keeps together: it must be whole; granule {} avoids that",
                       what, scale, text_name(op), scale);
  if (indexed_dim(op) >= 0 && is_range)
    return fmt::format("{} is whole in {}, whose results are larger than it", what, text_name(op));
  if (a.factors[f].kind == FactorKind::merge && is_range)
    return fmt::format("{} is whole in {}: to merge it, ranks would exchange more", what, text_name(op));
  return fmt::format("{} is not one range: {} must have it whole", what, text_name(op));
}

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
    if (!its) continue;
    const bool less = *its < all[0].cost;
    all.insert(less ? all.begin() : all.end(), {first, *its});
    if (less) out = std::move(other);
  }
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

std::string join(const std::vector<std::string>& clauses) {
  std::string out;
  for (const auto& clause : clauses) out += (out.empty() ? "" : "; ") + clause;
  return out;
}

std::vector<std::string> explain_difference(const Op& op, const Assignment& assignment, int index, const Layout& has) {
  const Layout& needed =
      index < 0 ? assignment.results[result_number(index)] : assignment.operands[static_cast<size_t>(index)];
  const Mesh& mesh = op.results[0]->fusion->mesh();
  std::vector<std::string> out;
  auto add = [&](std::string text) { out.push_back(std::move(text)); };
  for (size_t d = 0; d < has.dims.size(); ++d)
    if (has.dims[d] != needed.dims[d]) add(dim_difference(op, assignment, index, d, has.dims[d].pieces));
  const Layout& more = index < 0 ? needed : has;
  const Layout& less = index < 0 ? has : needed;
  for (auto [axis, reduce] : more.partial)
    if (!less.partial.count(axis))
      add(fmt::format("the {} over {} is pending and {}", name(reduce), mesh.axes()[static_cast<size_t>(axis)].name,
                      index < 0 ? fmt::format("%{} holds it done", tensor_at(op, index).name)
                                : fmt::format("{} needs it done", text_name(op))));
  return out;
}

std::vector<std::string> explain_result(const Op& op, const Assignment& assignment, size_t result) {
  const Mesh& mesh = op.results[0]->fusion->mesh();
  std::vector<std::string> out;
  auto add = [&](std::string text) { out.push_back(std::move(text)); };
  for (size_t f = 0; f < assignment.factors.size(); ++f) {
    const Factor& factor = assignment.factors[f];
    const Claim& claim = assignment.claims[f];
    if (claim.pieces.empty() || claim.operand < 0) continue;
    const char* parameter = tensor_at(op, claim.operand).role == TensorRole::parameter ? " (parameter)" : "";
    if (factor.kind == FactorKind::merge)
      add(fmt::format("{} merged: {} exchanges what it makes of pieces of {}{}", list_text(claim.pieces, mesh),
                      text_name(op), source(op, claim), parameter));
    else if (factor.kind == FactorKind::reduce)
      add(fmt::format("{} pending: {} reduces {}{}", list_text(claim.pieces, mesh), text_name(op), source(op, claim),
                      parameter));
    else if (factor.result_dim[result] >= 0)
      add(fmt::format("dim {} from {} through {}{}", factor.result_dim[result], source(op, claim), text_name(op),
                      parameter));
  }
  auto in = inputs(op);
  for (auto [axis, reduce] : assignment.results[result].partial)
    for (size_t i = 0; i < in.size(); ++i)
      if (assignment.operands[i].partial.count(axis)) {
        add(fmt::format("{} over {} pending from %{} through {}", name(reduce),
                        mesh.axes()[static_cast<size_t>(axis)].name, in[i]->name, text_name(op)));
        break;
      }
  return out;
}

}  // namespace plait
