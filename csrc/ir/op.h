#pragma once
// Ops of the fusion IR. A node is data plus one fields() line; inputs, outputs, printing, parsing, hashing, equality
// and cloning are derived from it.
#include "ir/ops/communication.h"
#include "ir/ops/composites.h"
#include "ir/ops/computations.h"
#include "ir/ops/indexing.h"
#include "ir/ops/movement.h"
#include "ir/ops/reductions.h"
#include "ir/ops/sorting.h"

namespace plait {

// Calls fn with the op as its own type. With overloaded lambdas and no catch-all, a new kind breaks the build.
template <class Fn>
decltype(auto) visit(const Op& op, Fn&& fn) {
  switch (op.kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return fn(static_cast<const Name&>(op));
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}
template <class Fn>
decltype(auto) visit(Op& op, Fn&& fn) {
  switch (op.kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return fn(static_cast<Name&>(op));
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}

// The op as T, or null if it is of another kind.
template <class T>
const T* as(const Op& op) {
  return op.kind == T::kKind ? static_cast<const T*>(&op) : nullptr;
}
template <class T>
T* as(Op& op) {
  return op.kind == T::kKind ? static_cast<T*>(&op) : nullptr;
}

// Operands that are there, in field order.
std::vector<TensorView*> inputs(const Op& op);
// Replaces one operand by another wherever it stands; the fusion of the op's result keeps its readers.
void replace_input(Op& op, const TensorView* from, TensorView* to);

// Whether the ops are of one kind, with the same attributes and with operands of the same names.
bool same_fields(const Op& a, const Op& b);

// Ops whose result at an index needs their operands at that index alone (broadcast), and no memory.
bool is_elementwise(const Op& op);
// Whether a tensor is a parameter, or up to three elementwise ops of one operand, or permutes, made it of one.
bool is_of_parameters(const TensorView& tensor);
// A scan as all of its kinds have it.
struct ScanOf {
  const TensorView* in;
  int64_t dim;
  bool exclusive = false, reverse = false;
};
std::optional<ScanOf> scan_of(const Op& op);
// Where a random op states its counter offset; null for all others.
std::optional<int64_t>* counter_offset(Op& op);
const std::optional<int64_t>* counter_offset(const Op& op);

// Where a lookup or scatter keeps its place among those of the fusion; null for all others.
std::optional<int64_t>* lookup_ordinal(Op& op);

// A lookup or scatter whose indices the run checks: `bounds` says so, and it has its ordinal.
struct CheckedLookup {
  const TensorView* index;
  int64_t ordinal;
  const std::vector<sym::Expr>&global, &start;
};
std::optional<CheckedLookup> checked_lookup(const Op& op);

// What of the dim along which a lookup or scatter goes its first operand holds: its first place and the extent of the
// whole dim. Null where it holds all of it, and for other ops.
const std::vector<sym::Expr>* held_range(const Op& op);

// Names for what the op defines, where nobody gives others: one for each result.
std::vector<std::string> result_names(const Op& op);

// Name as users write it: `gelu`, `linear`.
std::string_view text_name(const Op& op);
// Of a step of a reshard: `all_gather`, `slice`.
std::string_view word_of(ReshardKind step);
// `linear: %h = linear(%x, %w0)`, for error messages; without a result `linear(%x, %w0)`.
std::string describe(const Op& op);

}  // namespace plait
