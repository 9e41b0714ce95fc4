// Shape and type rules of reductions and scans. Attributes are complete (ir/complete.cpp).
#include "base/error.h"
#include "ir/infer_parts.h"

namespace plait::rules {

namespace {

// A variance, and a mean beside it.
template <class T>
Inferred variance(const T& op, Fusion& fusion) {
  check_float(op, op.in);
  check_dims(op, op.dims, op.in->rank(), true);
  if (op.correction < 0)
    throw UserError(fmt::format("correction is {}", op.correction), describe(op), "give 0 or more, usually 1");
  return typed(reduced(op.in, op.dims, op.keepdim, fusion), op.in->dtype, op.in);
}

// An extremum and where it is.
template <class T>
std::vector<Inferred> with_position(const T& op, Fusion& fusion) {
  check_dims(op, op.dims, op.in->rank(), true);
  std::vector<sym::Expr> shape = reduced(op.in, op.dims, op.keepdim, fusion);
  return {typed(shape, op.in->dtype, op.in), {shape, DType::i64, ""}};
}

}  // namespace

Inferred infer(const Reduce& op, Fusion& fusion) {
  check_dims(op, op.dims, op.in->rank(), true);
  DType dtype = op.in->dtype;
  if (finds_index(op.function))
    dtype = DType::i64;
  else if ((op.function == Reduction::sum || op.function == Reduction::prod) && !is_float(dtype))
    dtype = DType::i64;
  return typed(reduced(op.in, op.dims, op.keepdim, fusion), dtype, op.in);
}

Inferred infer(const Var& op, Fusion& fusion) { return variance(op, fusion); }

std::vector<Inferred> infer(const VarMean& op, Fusion& fusion) {
  const Inferred one = variance(op, fusion);
  return {one, one};
}

std::vector<Inferred> infer(const MaxWithArgmax& op, Fusion& fusion) { return with_position(op, fusion); }
std::vector<Inferred> infer(const MinWithArgmin& op, Fusion& fusion) { return with_position(op, fusion); }

namespace {

// A running sum or product.
template <class T>
Inferred running(const T& op) {
  check_dim(op, op.dim, op.in->rank());
  return typed(op.in->shape(), is_float(op.in->dtype) ? op.in->dtype : DType::i64, op.in);
}

template <class T>
std::vector<Inferred> running_extremum(const T& op) {
  check_dim(op, op.dim, op.in->rank());
  return {same_as(op.in), {op.in->shape(), DType::i64, ""}};
}

}  // namespace

Inferred infer(const CumSum& op) { return running(op); }
Inferred infer(const CumProd& op) { return running(op); }
std::vector<Inferred> infer(const CumMax& op) { return running_extremum(op); }
std::vector<Inferred> infer(const CumMin& op) { return running_extremum(op); }

Inferred infer(const LogCumSumExp& op) {
  check_float(op, op.in);
  check_dim(op, op.dim, op.in->rank());
  return same_as(op.in);
}

}  // namespace plait::rules
