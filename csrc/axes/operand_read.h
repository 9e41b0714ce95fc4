#pragma once
// What an op reads: coordinates of an operand as arithmetic on the op's own coordinates, never from the graph, so that
// a read is right where an edge was cut or a dim pairs with nothing.
#include "axes/loop_tree.h"

namespace plait {

struct OwnCoordinates {
  const std::vector<sym::Expr>&own, &reduced;  // of the first result's logical axes, of the reduced axes
};

// `at` and `read` of the operand; a coordinate is null where it is a loaded index. `pairing`: as that of an Edge.
PlacedOperand operand_read(sym::Pool& pool, const std::vector<int>& pairing, const Op& op, size_t operand,
                           const OwnCoordinates& at, const std::function<sym::Expr(sym::Expr)>& extent);
// The same of an edge of the group; one that comes behind the operands is paired.
PlacedOperand operand_read(const AxisGroup& group, const Op& op, size_t operand, const OwnCoordinates& at,
                           const std::function<sym::Expr(sym::Expr)>& extent);

// The operand's dim that a loaded index addresses, or -1.
int indexed_dim(const Op& op, size_t operand);

// The result's dim along which the op carries a state from element to element, or -1.
int scanned_dim(const Op& op);

// Why no loop tree computes the op; empty where one does.
std::string unplaceable(const Op& op);

// Drops terms that the facts prove, and repeated ones.
std::vector<RangeTerm> needed(const std::vector<RangeTerm>& terms);

}  // namespace plait
