#pragma once
// How builders add one op. Private to csrc/build.
#include <memory>

#include "build/build.h"

namespace plait::building {

// The one fusion of the operands of an op. UserError: a null operand, or two fusions.
Fusion& fusion_of(std::string_view op, const std::vector<TensorView*>& operands);

// Shapes in the fusion's symbols; -1 is let through where `open`.
std::vector<sym::Expr> resolve(Fusion& fusion, std::string_view op, const std::vector<Fusion::Extent>& shape,
                               bool open = false);

// emit_op with results that are named after the op: a user may take the names.
inline std::vector<TensorView*> emit_all(Fusion& fusion, std::unique_ptr<Op> op) {
  Op* added = emit_op(fusion, std::move(op), {}, OpFrom::user);
  for (TensorView* t : added->results) t->named_by_op = true;
  return added->results;
}
// The same for an op with one result, and of an op with more the first.
inline TensorView* emit(Fusion& fusion, std::unique_ptr<Op> op) { return emit_all(fusion, std::move(op))[0]; }

}  // namespace plait::building
