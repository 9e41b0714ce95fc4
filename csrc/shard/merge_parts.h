#pragma once
// Statistics, scans and first elements along a dim that ranks hold pieces of: what each rank makes of its own piece
// goes to all, and each makes the results of it, in the same order. One exchange of a few numbers for each row, where
// the dim would be gathered. Which ops and dims these are, their factors say (FactorKind::merge).
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait {

// A dim of an operand, cut once for each axis of a team, by its first axis first (sym::chunk).
struct PartedDim {
  struct Cut {
    sym::Expr parts;
    int64_t granule = 1;
  };
  int64_t dim = 0;
  sym::Expr extent;
  std::vector<Cut> cuts;
  sym::Expr members;  // of its axes
  sym::Expr rank;     // of this member, in the order of the dim
  sym::Expr start;    // its first element
};

// One dim, or several where the order of elements does not count: the members of all count those of the last dim first.
struct PartedDims {
  std::vector<PartedDim> dims;
  bool reads_places = true;                                     // of values with their places somebody reads the places
  std::function<TensorView*(TensorView*, const char*)> gather;  // [members, in...] of the tensors of all members
  // [..., total, ...] of those of all members, one behind the other along a dim.
  std::function<TensorView*(TensorView*, size_t dim, sym::Expr total, const char*)> join;
};
// Whether parts along several dims are merged at once.
bool merges_dims(const Op& op);

// Bytes that each member gives in all for the op, of a whole graph, along dims that are cut.
sym::Expr exchanged_bytes(const Op& op);

// Adds to the fusion of the op's operands what comes before its results, under names that begin with `prefix`, and
// returns the ops that give them, one for each. The operand is the piece; the op itself is in no fusion.
std::vector<std::unique_ptr<Op>> merge_parts(const Op& op, const PartedDims& parted, const std::string& prefix);

// The op that makes a pending reduction done, of the operands of all members as [members, in...]; of some sums in a
// wider type.
std::unique_ptr<Op> reduction_of_first(TensorView* members, ReduceOp reduce);

}  // namespace plait
