#pragma once
// The equation of an einsum: what its labels name.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace plait {

// Letters are numbered as they stand in ASCII; the dims that `...` stands for follow, the last of them first, so that
// those of two operands meet at the end.
struct EinsumLabels {
  std::vector<std::vector<int>> in;  // of each operand's dims
  std::vector<int> out;
  std::map<int, sym::Expr> extents;  // of each label; 1 only where every operand has 1
};

// Of an op with operands. UserError: no equation, or one that does not fit the operands.
EinsumLabels read_equation(const Einsum& op);

// Without blanks, with the result that NumPy gives where none is written: the dims of `...`, then the letters that
// occur once, in the order of ASCII. What is no equation comes back as it is: read_equation refuses it.
std::string complete_equation(std::string_view equation);

}  // namespace plait
