// Reads: what is computed at the coordinates of its readers. An op among them has the coordinates that it is asked for
// as its own, and asks its operands in turn.
#include "axes/operand_read.h"
#include "base/error.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

const TreeEmitter::Coordinates& TreeEmitter::own(const Op& op) const {
  if (!is_read(op)) return placed(op).own;
  PLAIT_CHECK(!readings_.empty() && readings_.back().op == &op, "{} is read by nobody", describe(op));
  return readings_.back().own;
}

// Where a tensor that the tree places is found by its reader: behind a read, by the op that the read is computed for.
const PlacedOperand& TreeEmitter::placed_operand(const Op& op, size_t i) const {
  if (!is_read(op)) return placed(op).operands[i];
  const Op& reader = *readings_.back().reader;
  const std::vector<PlacedOperand>& all = placed(reader).operands;
  for (size_t k = inputs(reader).size(); k < all.size(); ++k)
    if (all[k].tensor == inputs(op)[i]) return all[k];
  PLAIT_CHECK(false, "{} does not reach %{} through reads", describe(reader), inputs(op)[i]->name);
}

TreeEmitter::Coordinates TreeEmitter::operand_at(const Op& op, size_t i) {
  if (!is_read(op)) return placed(op).operands[i].at;
  const auto extent = [&](sym::Expr e) { return extents_(e); };
  const Coordinates none;
  return operand_read(*kernel_.pool, unmoved_dims(op, i), op, i, {own(op), none}, extent).at;
}

// An operand that is in memory, or a read, at these coordinates.
kir::Value TreeEmitter::read_at(const Op& op, size_t i, const Coordinates& at, bool round_narrow) {
  const TensorView& t = *inputs(op)[i];
  if (is_whole(op, t)) return rounded(t, load_whole(t, at), round_narrow);
  return is_input(t) ? load_at(t, at) : rounded(t, value_at(op, t, at), round_narrow);
}

// An operand at these coordinates where they are asked for, else where the kernel placed it.
kir::Value TreeEmitter::operand_value(const Op& op, size_t i, const Coordinates& at) {
  return by_coordinates(op, *inputs(op)[i]) ? read_at(op, i, at) : operand(op, i);
}

// An element of a row that a buffer holds: the op that the read is computed for has its index, but for the coordinate.
// Where the op reaches the tensor by several of its operands, that of one which moves it says how any coordinate is
// met.
kir::Value TreeEmitter::load_whole(const TensorView& tensor, const Coordinates& at) {
  const Op& reader = *readings_.back().reader;
  const std::vector<PlacedOperand>& all = placed(reader).operands;
  const PlacedOperand* found = nullptr;
  for (size_t k = inputs(reader).size(); k < all.size(); ++k)
    if (all[k].tensor == &tensor && (found == nullptr || all[k].loaded)) found = &all[k];
  PLAIT_CHECK(found != nullptr, "{} does not reach all of %{} through reads", describe(reader), tensor.name);
  std::map<std::string, sym::Expr> names;  // none: it is read where it is made
  if (found->loaded) names[found->loaded.symbol_name()] = at[static_cast<size_t>(scan_of(*tensor.definition)->dim)];
  sym::Expr index = number(0);
  for (size_t d = 0; d < found->buffer.size(); ++d)
    index = index * placed(*tensor.definition).dims[d] + sym::substitute(found->buffer[d], names);
  return load(locals_.at(&tensor), index);
}

kir::Value TreeEmitter::value_at(const Op& reader, const TensorView& tensor, const Coordinates& at) {
  std::vector<uint64_t> key;
  for (sym::Expr e : at) key.push_back(e.id());
  const auto known = values_at_.find({&tensor, key});
  if (known != values_at_.end()) return known->second.value;
  readings_.push_back({tensor.definition, at, is_read(reader) ? readings_.back().reader : &reader});
  const Value out = compute(*tensor.definition);
  readings_.pop_back();
  values_at_.insert_or_assign({&tensor, std::move(key)}, Known{out, frames_.size() - 1});
  return out;
}

}  // namespace plait::lowering
