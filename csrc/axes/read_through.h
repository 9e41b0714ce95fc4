#pragma once
// Reads: ops of a group that are computed at the coordinates of their readers, each time anew, and have no place of
// their own. What such an op reads of tensors that the group does place, its reader depends on.
#include <set>
#include <vector>

#include "ir/op.h"

namespace plait {

// A tensor that an op reads, directly or through reads. `dims`: per dim of it the op's place (dims of the operand that
// it is reached by), or -1 where the reads move elements along it.
struct ReadThrough {
  size_t operand = 0;  // of the op: where the path begins
  const TensorView* tensor = nullptr;
  std::vector<int> dims;
};

// Tensors behind the operands of `op` that are results of `reads`: those that no read makes. One entry per operand and
// tensor; where two paths differ, a dim that they do not agree on is -1.
std::vector<ReadThrough> read_through(const Op& op, const std::set<const Op*>& reads);

// Operand dim -> dim of the result at the same coordinate, or -1.
std::vector<int> unmoved_dims(const Op& op, size_t operand);

}  // namespace plait
