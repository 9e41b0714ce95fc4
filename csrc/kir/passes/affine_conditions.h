#pragma once
// Conditions in the body of a loop that are affine in its variable: where it may end, or begin.
#include <set>

#include "kir/passes/edit.h"

namespace plait::kir {

struct InnerLoop {
  sym::Expr var;
  int64_t extent = 0;
};
// Of kind lanes or marked `unroll`, of constant extent.
bool is_inner(const For& loop);

// A conjunct as step * var + inner < room, where 0 <= inner <= reach over the inner loops, and reach < step; of those
// that hold from some iteration on, as step * var + inner >= room.
struct Term {
  sym::Expr conjunct, room, inner;
  int64_t step = 0, reach = 0;
};
// The conjuncts of conditions in a body that are such terms wherever they stand. `var` null: of no loop, of inner loops
// alone, `around` among them.
std::vector<Term> affine_conditions(const Block& body, sym::Expr var, const std::vector<InnerLoop>& around = {},
                                    bool from_on = false);

// Whether a block does nothing but where one of the conjuncts holds.
bool only_where(const Block& body, const std::vector<sym::Expr>& some);

// Removes conjuncts that hold.
void drop(Block& block, const std::set<const sym::Node*>& holding);

}  // namespace plait::kir
