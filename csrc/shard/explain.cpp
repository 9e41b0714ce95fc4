#include "shard/explain.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
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
std::string size_text(sym::Expr bytes, const Fusion& fusion) {
  const auto known = at_defaults(fusion, bytes);
  return known ? fmt::format("{} B", *known) : sym::print(bytes) + " B";
}

}  // namespace

std::string explain_sharding(const Fusion& fusion) {
  std::vector<std::vector<std::string>> tensors = {{"tensor", "type", "layout", "reason"}};
  std::vector<std::vector<std::string>> moves = {{"reshard", "step", "layout", "tensor bytes", "cause"}};
  for (const ShardMove& m : shard_moves(fusion))
    moves.push_back({m.tensors, m.step, layout_text(*m.result), size_text(m.bytes, fusion), m.cause});
  for (const TensorView* t : fusion.tensors())
    if (const std::string reason = own_reason(*t); !reason.empty())
      tensors.push_back({"%" + t->name, type_text(*t), layout_text(*t), reason});
  return table(tensors) + (moves.size() > 1 ? "\n" + table(moves) : "");
}

}  // namespace plait
