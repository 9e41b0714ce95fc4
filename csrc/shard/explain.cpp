#include "shard/explain.h"

#include <fmt/core.h>

#include <algorithm>

#include "shard/assign.h"
#include "shard/reshard_plan.h"

namespace plait {

namespace {

std::string layout_text(const TensorView& t) {
  std::string out = print(t.layout, t.fusion->mesh());
  if (t.stored) out += " stored " + print(*t.stored, t.fusion->mesh());
  return out;
}

std::string bytes_text(const TensorView& t) {
  if (auto bytes = global_bytes(t)) return fmt::format("{} B", *bytes);
  sym::Expr bytes = t.fusion->pool().constant(static_cast<int64_t>(size_of(t.dtype)));
  for (const auto& axis : t.domain.logical) bytes = bytes * axis.extent;
  return sym::print(bytes) + " B";
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
  std::vector<std::vector<std::string>> reshards = {{"reshard", "step", "tensor bytes", "cause"}};
  size_t collectives = 0;
  for (const TensorView* t : fusion.tensors()) {
    tensors.push_back({"%" + t->name, type_text(*t), layout_text(*t), t->reason});
    const auto* reshard = t->definition ? as<Reshard>(*t->definition) : nullptr;
    if (!reshard) continue;
    auto step = single_step(held_layout(*reshard->in), t->layout);
    if (!step) continue;
    collectives += step->moves_data();
    const std::string& axis = fusion.mesh().axes()[static_cast<size_t>(step->axis)].name;
    std::string what = step->dim < 0 ? fmt::format("{} over {}", name(step->kind), axis)
                                     : fmt::format("{} of dim {} over {}", name(step->kind), step->dim, axis);
    reshards.push_back({fmt::format("%{} -> %{}", reshard->in->name, t->name), what, bytes_text(*t), t->reason});
  }
  std::string out = table(tensors);
  if (reshards.size() > 1) out += "\n" + table(reshards);
  return out + fmt::format("\n{} collective{}\n", collectives, collectives == 1 ? "" : "s");
}

}  // namespace plait
