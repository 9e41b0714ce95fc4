#include "shard/explain.h"

#include <fmt/core.h>

#include <algorithm>

#include "shard/assign.h"
#include "shard/moves.h"

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
  for (const ShardMove& m : shard_moves(fusion)) {
    collectives += m.collectives;
    moves.push_back({m.tensors, m.step, layout_text(*m.result), bytes_text(m.bytes, fusion), m.cause});
  }
  for (const TensorView* t : fusion.tensors())
    if (const std::string reason = own_reason(*t); !reason.empty())
      tensors.push_back({"%" + t->name, type_text(*t), layout_text(*t), reason});
  std::string out = table(tensors);
  if (moves.size() > 1) out += "\n" + table(moves);
  return out + fmt::format("\n{} collective{}\n", collectives, collectives == 1 ? "" : "s");
}

}  // namespace plait
