#pragma once
// Products of narrow operands. Exact products of f16 and bf16 are numbers of f32: the contraction of widened operands
// gives the same sums, and a kernel that reads each key for every query widens it once.
#include "segment/helpers.h"

namespace plait {

// A product of matrices in f32 whose left operand is rounded from f32 to the type of the right one; null for others.
const Matmul* product_of_rounded(const Op& op);

class WideScores {
 public:
  // Contractions in f32 of narrow operands that weights of `product` come of by a few ops, and the product itself;
  // their operands become f32.
  WideScores(Fusion& fusion, const Matmul& product);
  [[nodiscard]] bool empty() const { return changed_.empty(); }
  void take_back();  // as it was
  void keep();       // and what only moved narrow operands goes

 private:
  struct Changed {
    Matmul* product;
    TensorView *a, *b;
  };
  static bool is_move(const Op* op);
  void widen(Matmul& product);
  TensorView* wide(TensorView* t);

  Fusion& fusion_;
  const size_t count_;  // of tensors before
  std::vector<Changed> changed_;
  std::vector<Op*> added_;
  std::map<const TensorView*, TensorView*> wide_;
};

}  // namespace plait
