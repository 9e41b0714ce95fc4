#pragma once
// How compositions add ops: those of composites, and of merged parts of ops (shard/merge_parts.h).
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/fusion.h"

namespace plait::building {

class Composer {
 public:
  Composer(Fusion& fusion, std::string prefix) : fusion_(fusion), prefix_(std::move(prefix)) {}

  TensorView* emit(std::unique_ptr<Op> op) {
    const std::string name = prefix_ + "_" + std::string(text_name(*op));
    return emit_op(fusion_, std::move(op), {name})->out();
  }

  // An op with several results, which are called prefix + "_" + what the op calls them.
  std::vector<TensorView*> emit_all(std::unique_ptr<Op> op) {
    std::vector<std::string> names = result_names(*op);
    for (std::string& name : names) name = prefix_ + "_" + name;
    return emit_op(fusion_, std::move(op), names)->results;
  }

  TensorView* pointwise(Pointwise function, std::vector<TensorView*> in);
  TensorView* pointwise(Pointwise function, TensorView* a, double b);  // a constant of a's dtype
  TensorView* where(TensorView* condition, double a, TensorView* b);   // a constant of b's dtype
  TensorView* where(TensorView* condition, TensorView* a, double b);
  TensorView* cast_always(TensorView* x, DType to);
  TensorView* cast(TensorView* x, DType to);  // x itself where it has that dtype
  TensorView* wide(TensorView* x);            // in the dtype in which x is computed
  TensorView* constant(double value, DType dtype);
  TensorView* constant(int64_t value, DType dtype);
  TensorView* iota(std::vector<sym::Expr> shape, int64_t dim, DType dtype);
  TensorView* size(sym::Expr value, DType dtype);

  TensorView* reduce(Reduction function, TensorView* x, std::vector<int64_t> dims, bool keepdim);
  TensorView* sum(TensorView* x, std::vector<int64_t> dims, bool keepdim) {
    return reduce(Reduction::sum, x, std::move(dims), keepdim);
  }
  TensorView* mean(TensorView* x, std::vector<int64_t> dims, bool keepdim);

  TensorView* reshape(TensorView* x, std::vector<sym::Expr> shape);
  TensorView* unsqueeze(TensorView* x, std::vector<int64_t> dims);
  TensorView* squeeze(TensorView* x, std::vector<int64_t> dims);
  TensorView* broadcast(TensorView* x, std::vector<sym::Expr> shape);  // trailing dims aligned

  Fusion& fusion() { return fusion_; }
  sym::Expr extent(int64_t value) { return fusion_.pool().constant(value); }

 private:
  Fusion& fusion_;
  std::string prefix_;
};

// Dims first .. rank-1 of x.
std::vector<int64_t> dims_from(const TensorView* x, size_t first);

// exp(x - max) over dims. Where the maximum is -inf, which `empty` says, the terms are 0 and not NaN.
struct ShiftedTerms {
  TensorView *most, *empty, *terms;
};
ShiftedTerms shifted_terms(Composer& c, TensorView* x, const std::vector<int64_t>& dims);

// One for every composite of ops.def and every op with several results, with as many results as it has; the others are
// nowhere defined.
using Results = std::vector<TensorView*>;
#define PLAIT_OP(Name, text, properties) \
  std::conditional_t<NamesResults<Name>, Results, TensorView*> composed(Composer& c, const Name& op);
#include "ir/ops.def"
#undef PLAIT_OP

}  // namespace plait::building
