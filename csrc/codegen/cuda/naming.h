#pragma once
// Where index expressions get names.
#include <map>
#include <vector>

#include "kir/kernel.h"

namespace plait::codegen::cuda {

// For each statement the expressions to name in front of it: the places that all uses of an expression in the kernel
// have in common, moved out of serial loops that it does not depend on. Expressions that divide by what is not a
// constant stay where they are used, behind the conditions that guard them.
std::map<const kir::Stmt*, std::vector<sym::Expr>> plan_names(const kir::Kernel& kernel);

// The part of an index that gets a name: the index of lane 0 where the lanes are evenly spaced, else null. Numbers and
// symbols need no name: null.
sym::Expr named_part(sym::Expr index, int lanes);

}  // namespace plait::codegen::cuda
