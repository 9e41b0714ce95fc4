#pragma once
// Sizes of the fusion as integers of the kernel: constants stay numbers, every other size becomes an argument. Sizes
// proven equal share one. Facts of an argument are what the fusion's facts imply: bounds and divisibility. A loop tree
// keeps short sums and products of sizes as such, so that dims that reshapes merge or cut keep their relation.
#include <memory>
#include <vector>

#include "sym/expr.h"

namespace plait {

class KernelExtents {
 public:
  explicit KernelExtents(std::shared_ptr<sym::Pool> pool, bool keeps_sums = false)
      : pool_(std::move(pool)), keeps_sums_(keeps_sums) {}

  // The kernel's integer for a size (at least 0) of the fusion.
  sym::Expr operator()(sym::Expr size);
  // The same for an expression that may be negative.
  sym::Expr value(sym::Expr e) { return integer(e, INT64_MIN); }
  // An argument of its own, from 0 on, also for a constant: kernels that differ in it alone have one text.
  sym::Expr argument(sym::Expr e);

  const std::vector<sym::Expr>& integers() const { return integers_; }    // symbols, in the order of arguments
  const std::vector<sym::Expr>& arguments() const { return arguments_; }  // what each stands for

 private:
  sym::Expr integer(sym::Expr e, int64_t least);
  sym::Expr composed(sym::Expr e);

  std::shared_ptr<sym::Pool> pool_;
  bool keeps_sums_;
  size_t named_ = 0;  // a name that was given stays with its facts
  std::vector<sym::Expr> integers_, arguments_;
};

}  // namespace plait
