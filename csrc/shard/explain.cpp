#include "shard/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "shard/assign.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/reshard_plan.h"

namespace plait {

namespace {

std::string layout_text(const TensorView& t) {
  std::string out = print(t.layout, t.fusion->mesh());
  if (t.stored) out += " stored " + print(*t.stored, t.fusion->mesh());
  return out;
}

// At the defaults of symbols, where all have one.
std::string bytes_text(sym::Expr bytes, const Fusion& fusion) {
  const auto known = at_defaults(fusion, bytes);
  return known ? fmt::format("{} B", *known) : sym::print(bytes) + " B";
}

// A row for an op that ranks merge from what they make of their pieces; nothing for others.
std::vector<std::string> merge_row(const Op& op, size_t& collectives) {
  if (op.kind == OpKind::Reshard) return {};
  const Assignment a = assign(op);
  for (size_t f = 0; f < a.factors.size(); ++f) {
    if (a.factors[f].kind != FactorKind::merge || a.claims[f].pieces.empty()) continue;
    const Fusion& fusion = *op.results[0]->fusion;
    const Exchanged all = exchanged(op);
    collectives += static_cast<size_t>(all.collectives);
    const std::string& axis = fusion.mesh().axes()[static_cast<size_t>(a.claims[f].pieces[0].mesh_axis)].name;
    return {fmt::format("%{} -> %{}", inputs(op)[0]->name, op.results[0]->name),
            fmt::format("all-gather of parts over {}", axis), layout_text(*op.results[0]),
            bytes_text(all.bytes, fusion), fmt::format("for {} %{}", text_name(op), op.results[0]->name)};
  }
  return {};
}

// A row for a move along a dim that is cut, whose ranks gather the ranges that they need. Slices near each other share
// the row of the first.
std::vector<std::string> range_row(const Op& op, const std::map<const Op*, size_t>& near, std::set<size_t>& seen,
                                   size_t& collectives) {
  const auto is_cut = [](const TensorView& t, size_t d) { return !t.layout.dims[d].pieces.empty(); };
  const std::vector<size_t> dims = moved_dims(op, is_cut);
  if (dims.empty()) return {};
  const Fusion& fusion = *op.results[0]->fusion;
  const auto group = near.find(&op);
  if (group != near.end() && !seen.insert(group->second).second) return {};
  std::string what, from;
  for (size_t d : dims)
    for (const TensorView* t : inputs(op)) {
      if (whole_along(*t, d, held_layout)) continue;
      from += (from.empty() ? "%" : ", %") + t->name;
      const std::string& axis = fusion.mesh().axes()[static_cast<size_t>(t->layout.dims[d].pieces[0].mesh_axis)].name;
      what = fmt::format("gather-range of dim {} over {}", d, axis);
      collectives += op.kind == OpKind::Roll ? 2 : 1;
    }
  if (from.empty()) return {};
  return {fmt::format("{} -> %{}", from, op.out()->name), what, layout_text(*op.out()),
          bytes_text(bytes_of(*op.out()), fusion), fmt::format("for {} %{}", text_name(op), op.out()->name)};
}

// A row for a tensor that a step of a reshard makes, with that step's part of its reason, which leaves `reason`;
// nothing for others.
std::vector<std::string> reshard_row(const TensorView& t, size_t& collectives, std::string& reason) {
  const auto* reshard = t.definition ? as<Reshard>(*t.definition) : nullptr;
  const auto step = reshard ? single_step(held_layout(*reshard->in), t.layout) : std::nullopt;
  if (!step) return {};
  collectives += step->moves_data();
  const std::string& axis = t.fusion->mesh().axes()[static_cast<size_t>(step->axis)].name;
  const std::string kind = name(step->kind), over = fmt::format("{} over {}", kind, axis);
  std::string cause;
  if (const size_t at = reason.rfind(over); at != std::string::npos && (at == 0 || reason.substr(at - 2, 2) == "; ")) {
    cause = reason.substr(at + over.size());
    cause.erase(0, cause.find_first_not_of(' '));
    reason.resize(at == 0 ? 0 : at - 2);
  }
  return {fmt::format("%{} -> %{}", reshard->in->name, t.name),
          step->dim < 0        ? over
          : step->from_dim < 0 ? fmt::format("{} of dim {} over {}", kind, step->dim, axis)
                               : fmt::format("{} of dim {} to dim {} over {}", kind, step->from_dim, step->dim, axis),
          layout_text(t), bytes_text(bytes_of(t), *t.fusion), cause};
}

// Rows of cells, columns aligned; the last cell is as long as it is.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c == width.size()) width.push_back(0);
      width[c] = std::max(width[c], row[c].size());
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += c + 1 == row.size() ? row[c] : fmt::format("{:<{}}  ", row[c], width[c]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace

std::string explain_sharding(const Fusion& fusion) {
  std::vector<std::vector<std::string>> tensors = {{"tensor", "type", "layout", "reason"}};
  std::vector<std::vector<std::string>> moves = {{"reshard", "step", "layout", "tensor bytes", "cause"}};
  size_t collectives = 0;
  const std::map<const Op*, size_t> near = near_slices(fusion);
  std::set<size_t> seen;
  for (const TensorView* t : fusion.tensors()) {
    if (t->definition && t->definition->results[0] == t) {
      if (auto row = merge_row(*t->definition, collectives); !row.empty()) moves.push_back(std::move(row));
      if (auto row = range_row(*t->definition, near, seen, collectives); !row.empty()) moves.push_back(std::move(row));
    }
    std::string reason = t->reason;
    if (auto row = reshard_row(*t, collectives, reason); !row.empty()) moves.push_back(std::move(row));
    if (!reason.empty()) tensors.push_back({"%" + t->name, type_text(*t), layout_text(*t), reason});
  }
  std::string out = table(tensors);
  if (moves.size() > 1) out += "\n" + table(moves);
  return out + fmt::format("\n{} collective{}\n", collectives, collectives == 1 ? "" : "s");
}

}  // namespace plait
