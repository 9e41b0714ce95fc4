#pragma once
// Exact division of products and sums of them.
#include "sym/expr.h"

namespace plait::sym {

// q with a = b * q for all values of the symbols, by division of the terms of a; nothing where there is none, or none
// of that form is found. b is not 0: division by the constant 0 gives nothing.
std::optional<Expr> exact_quotient(Expr a, Expr b);

}  // namespace plait::sym
