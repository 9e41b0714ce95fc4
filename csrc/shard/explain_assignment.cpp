// What people read of an assignment: why an operand or a result differs from what the op needs or gives, and where
// pieces come from.
#include <algorithm>

#include "ir/reshape_runs.h"
#include "mesh/collective_cost.h"
#include "shard/assign.h"
#include "shard/conflicts.h"
#include "shard/regroup.h"

namespace plait {

namespace {

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

// Of a dim of a run of a reshape, what keeps its pieces from being pieces of the other side.
std::string not_regrouped(const Reshape& op, int index, size_t dim, const Layout& has) {
  for (const ReshapeRun& run : reshape_runs(op)) {
    const bool in_run = index < 0 ? dim >= run.out && dim < run.out_end : dim >= run.in && dim < run.in_end;
    if (!in_run) continue;
    const std::string why = regroup(op, run, index < 0, has, {}).why;
    return why.empty() ? "" : ": " + why;
  }
  return "";
}

std::string dim_difference(const Op& op, const Assignment& a, int index, size_t dim, const Layout& layout) {
  const std::vector<Piece>& has = layout.dims[dim].pieces;
  const Mesh& mesh = op.results[0]->fusion->mesh();
  std::string subject = fmt::format("%{} dim {}", tensor_at(op, index).name, dim);
  size_t f = 0;
  while (f < a.factors.size() && dim_in(a.factors[f], index) != static_cast<int>(dim)) ++f;
  std::string what = fmt::format("{} {}", subject, list_text(has, mesh));
  if (f == a.factors.size()) return fmt::format("{} has extent 1 and broadcasts: it is whole", what);
  const Claim& claim = a.claims[f];
  const auto& needed = (index < 0 ? a.results[result_number(index)] : a.operands[static_cast<size_t>(index)]).dims[dim];
  if (has.empty() && index < 0)
    return fmt::format("{} is held whole and computed in pieces {} as {}", subject, list_text(needed.pieces, mesh),
                       source(op, claim));
  if (has.empty())
    return fmt::format("{} is sharded {} as {}", subject, list_text(needed.pieces, mesh), source(op, claim));
  if (a.factors[f].kind == FactorKind::whole) return fmt::format("{} must be whole in {}", what, text_name(op));
  if (a.factors[f].kind == FactorKind::permute && !claim.pieces.empty() && claim.operand == index)
    return fmt::format("{} has more than {}, which {} moves", what, list_text(claim.pieces, mesh), text_name(op));
  if (a.factors[f].kind == FactorKind::permute && claim.pieces.empty())
    return fmt::format("{} must be whole in {}, which moves its elements", what, text_name(op));
  const bool is_range = std::ranges::none_of(has, [](const Piece& p) { return p.is_local(); });
  const int64_t scale = a.factors[f].scale_in(index);
  if (const auto* reshape = as<Reshape>(op);
      reshape && (claim.pieces.empty() || claim.operand == index) && !(scale > 1 && is_range && claim.pieces.empty()))
    return fmt::format("{} must be whole in reshape{}{}", what,
                       needed.pieces.empty() ? "" : fmt::format(" but for {}", list_text(needed.pieces, mesh)),
                       not_regrouped(*reshape, index, dim, layout)) +
           open_steps(op, has);
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
  if (scale > 1 && is_range)
    return fmt::format("{} may end within {} elements that {} keeps together: it must be whole; granule {} avoids that",
                       what, scale, text_name(op), scale);
  if (op.kind == OpKind::Scatter && is_range)
    return fmt::format(
        "{} is whole in scatter: to bring updates together costs less than the pending result they leave", what);
  if (indexed_dim(op) >= 0 && is_range)
    return fmt::format("{} is whole in {}, whose results are larger than it", what, text_name(op));
  if (a.factors[f].kind == FactorKind::merge && is_range)
    return fmt::format("{} is whole in {}: to merge it, ranks would exchange more", what, text_name(op));
  return fmt::format("{} is not one range: {} must have it whole", what, text_name(op));
}

}  // namespace

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
    if (has.dims[d] != needed.dims[d]) add(dim_difference(op, assignment, index, d, has));
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
    if (const int dim = factor.result_dim[result];
        dim >= 0 && assignment.results[result].dims[static_cast<size_t>(dim)].pieces.empty())
      continue;
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
