#pragma once
// How builders add one op. Private to csrc/build.
#include <memory>

#include "build/build.h"
#include "ir/text_limits.h"

namespace plait::building {

// The one fusion of the operands of an op. UserError: a null operand, or two fusions.
Fusion& fusion_of(std::string_view op, const std::vector<TensorView*>& operands);

// Shapes in the fusion's symbols; -1 is let through where `open`.
std::vector<sym::Expr> resolve(Fusion& fusion, std::string_view op, const std::vector<Fusion::Extent>& shape,
                               bool open = false);

// Completes the op, infers its type and adds it; the result is named after the op.
template <class T>
TensorView* emit(Fusion& fusion, std::unique_ptr<T> op) {
  complete(*op, fusion);
  Inferred type = infer(*op, fusion);
  check_text_limits(*op, type);
  TensorView* out = fusion.add_tensor(std::string(text_name(*op)), std::move(type.shape), type.dtype);
  out->dtype_alias = std::move(type.dtype_alias);
  out->named_by_op = true;
  fusion.add_op(std::move(op), out);
  return out;
}

}  // namespace plait::building
