#include "shard/moves.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <set>

#include "shard/assign.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/normal_form.h"
#include "shard/reshard_plan.h"

namespace plait {
namespace {

std::string team_name(const Fusion& fusion, const Team& team) { return print(team, fusion.mesh()); }

// Of an op that ranks merge from what they make of their pieces.
std::optional<ShardMove> merge_of(const Op& op) {
  if (op.kind == OpKind::Reshard) return std::nullopt;
  const Assignment a = assign(op);
  Team team;
  for (size_t f = 0; f < a.factors.size(); ++f)
    if (a.factors[f].kind == FactorKind::merge)
      for (const Piece& p : a.claims[f].pieces) team.axes.push_back(p.mesh_axis);
  if (team.axes.empty()) return std::nullopt;
  ShardMove out;
  out.result = op.results[0];
  out.tensors = fmt::format("%{} -> %{}", inputs(op)[0]->name, op.results[0]->name);
  out.team = team;
  out.step = fmt::format("all-gather of parts over {}", team_name(*op.results[0]->fusion, out.team));
  out.bytes = exchanged_bytes(op);
  out.cause = fmt::format("for {} %{}", text_name(op), op.results[0]->name);
  out.exchanges = true;
  return out;
}

// Of a move along a dim that is cut.
std::optional<ShardMove> range_of(const Op& op, const std::map<const Op*, size_t>& near, std::set<size_t>& seen) {
  const std::vector<size_t> dims =
      moved_dims(op, [](const TensorView& t, size_t d) { return !t.layout.dims[d].pieces.empty(); });
  const auto group = near.find(&op);
  const auto* padding = as<Pad>(op);
  if (padding && dims.size() == 1 && pad_of_halo(*op.out(), dims[0], near)) return std::nullopt;  // its slices do
  if (dims.empty() || (group != near.end() && !seen.insert(group->second).second)) return std::nullopt;
  ShardMove out;
  for (size_t d : dims)
    for (const TensorView* t : inputs(op)) {
      if (const Pad* pad = group == near.end() ? nullptr : pad_of_halo(*t, d, near)) t = pad->in;
      if (whole_along(*t, d, held_layout)) continue;
      out.tensors += (out.tensors.empty() ? "%" : ", %") + t->name;
      std::vector<Piece> pieces = t->layout.dims[d].pieces;
      std::erase_if(pieces, [](const Piece& p) { return p.is_local(); });
      out.team = team_of(pieces);
      out.step = fmt::format("gather-range of dim {} over {}", d, team_name(*t->fusion, out.team));
      out.exchanges = true;
    }
  if (out.tensors.empty()) return std::nullopt;
  out.result = op.out();
  out.tensors += " -> %" + op.out()->name;
  out.bytes = bytes_of(*op.out());
  out.cause = fmt::format("for {} %{}", text_name(op), op.out()->name);
  return out;
}

std::optional<ReshardStep> step_of(const TensorView& t) {
  const auto* reshard = t.definition ? as<Reshard>(*t.definition) : nullptr;
  return reshard ? planned_step(*reshard) : std::nullopt;
}

// Where a reason says of a step what it is and why; npos: nowhere.
size_t place_of(const std::string& over, const std::string& reason) {
  const size_t at = reason.rfind(over);
  return at != std::string::npos && (at == 0 || reason.substr(at - 2, 2) == "; ") ? at : std::string::npos;
}

std::string over_team(const TensorView& t, const ReshardStep& step) {
  return fmt::format("{} over {}", name(step.kind), team_name(*t.fusion, step.team));
}

std::optional<ShardMove> reshard_of(const TensorView& t) {
  const auto step = step_of(t);
  if (!step) return std::nullopt;
  const std::string kind = name(step->kind), over = over_team(t, *step), team = team_name(*t.fusion, step->team);
  ShardMove out;
  out.result = &t;
  out.tensors = fmt::format("%{} -> %{}", as<Reshard>(*t.definition)->in->name, t.name);
  out.step = !step->block.empty()
                 ? fmt::format("{} of dims {} and {} over {}", kind, step->block[0].dim, step->block[1].dim, team)
             : step->dim < 0 ? over
             : step->from_dim < 0
                 ? fmt::format("{} of dim {} over {}", kind, step->dim, team)
                 : fmt::format("{} of dim {} to dim {} over {}", kind, step->from_dim, step->dim, team);
  out.bytes = bytes_of(t);
  out.team = step->team;
  const TensorView& in = *as<Reshard>(*t.definition)->in;
  out.exchanges = step->moves_data() && normal_layout(in, held_layout(in)) != normal_layout(t, t.layout);
  if (const size_t at = place_of(over, t.reason); at != std::string::npos) {
    out.cause = t.reason.substr(at + over.size());
    out.cause.erase(0, out.cause.find_first_not_of(' '));
  }
  return out;
}

}  // namespace

std::vector<ShardMove> shard_moves(const Fusion& sharded) {
  std::vector<ShardMove> out;
  const auto add = [&](std::optional<ShardMove> move) {
    if (move) out.push_back(std::move(*move));
  };
  const std::map<const Op*, size_t> near = near_slices(sharded);
  std::set<size_t> seen;
  for (const TensorView* t : sharded.tensors()) {
    if (t->definition && t->definition->results[0] == t) {
      add(merge_of(*t->definition));
      add(range_of(*t->definition, near, seen));
    }
    add(reshard_of(*t));
  }
  return out;
}

std::string own_reason(const TensorView& tensor) {
  const auto step = step_of(tensor);
  const size_t at = step ? place_of(over_team(tensor, *step), tensor.reason) : std::string::npos;
  if (at == std::string::npos) return tensor.reason;
  return tensor.reason.substr(0, at == 0 ? 0 : at - 2);
}

}  // namespace plait
