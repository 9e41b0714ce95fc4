// Shape and type rules of reductions and scans. Attributes are complete (ir/complete.cpp).
#include "base/error.h"
#include "ir/infer_parts.h"

namespace plait::rules {

Inferred infer(const Reduce& op, Fusion& fusion) {
  check_dims(op, op.dims, op.in->rank(), true);
  DType dtype = op.in->dtype;
  if (finds_index(op.function))
    dtype = DType::i64;
  else if ((op.function == Reduction::sum || op.function == Reduction::prod) && !is_float(dtype))
    dtype = DType::i64;
  return typed(reduced(op.in, op.dims, op.keepdim, fusion), dtype, op.in);
}

Inferred infer(const Var& op, Fusion& fusion) {
  check_float(op, op.in);
  check_dims(op, op.dims, op.in->rank(), true);
  if (op.correction < 0)
    throw UserError(fmt::format("correction is {}", op.correction), describe(op), "give 0 or more, usually 1");
  return typed(reduced(op.in, op.dims, op.keepdim, fusion), op.in->dtype, op.in);
}

Inferred infer(const CumSum& op) {
  check_dim(op, op.dim, op.in->rank());
  return typed(op.in->shape(), is_float(op.in->dtype) ? op.in->dtype : DType::i64, op.in);
}

}  // namespace plait::rules
