#pragma once
// Rebuilds the order of a fusion op by op: how graph passes replace ops.
#include <functional>

#include "ir/fusion.h"

namespace plait {

// The earlier tensor that `t` is again, by moves that together change nothing; null: `t` is none. merge_equal.cpp.
TensorView* earlier(const TensorView& t);

class Rewriter {
 public:
  explicit Rewriter(Fusion& fusion) : fusion_(fusion) {}
  // Visits the ops in order; `visit_op` calls keep() or emits what stands in the op's place.
  void run(const std::function<void(Op*)>& visit_op);

  void keep(Op* op) { order_.push_back(op); }
  // A new op with a tensor of its own; shape and dtype are inferred.
  template <class T>
  TensorView* emit(std::unique_ptr<T> op, const std::string& hint) {
    Inferred type = infer(*op, fusion_);
    TensorView* out = fusion_.add_tensor(hint, type.shape, type.dtype);
    out->dtype_alias = type.dtype_alias;
    order_.push_back(fusion_.add_op(std::move(op), out));
    return out;
  }
  // A new op that defines `out` in place of the op that did; shape and dtype must be the same.
  template <class T>
  void emit_as(std::unique_ptr<T> op, TensorView* out) {
    release(*op, out);
    order_.push_back(fusion_.add_op(std::move(op), out));
  }
  // The ops that `build` appends to the fusion stand in the place of the one that is visited.
  void replace(const std::function<void()>& build);

  // Ops that passes need often.
  TensorView* constant(double value, DType dtype, const std::string& hint);  // 0-dim
  TensorView* pointwise(Pointwise function, std::vector<TensorView*> in, const std::string& hint);
  TensorView* cast(TensorView* in, DType to, const std::string& hint);
  TensorView* reshape(TensorView* in, std::vector<sym::Expr> shape, const std::string& hint);
  void reshape_as(TensorView* in, TensorView* out);
  void pointwise_as(Pointwise function, std::vector<TensorView*> in, TensorView* out);
  void cast_as(TensorView* in, TensorView* out);

 private:
  void release(const Op& op, TensorView* out);
  Fusion& fusion_;
  std::vector<Op*> order_;
};

}  // namespace plait
