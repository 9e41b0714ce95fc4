#pragma once
// Tensors that lie in the memory of others, and contractions of them as a library takes them.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/contraction.h"
#include "ir/fusion.h"

namespace plait {

// Elements `stride` apart in memory.
struct MemoryAxis {
  sym::Expr extent, stride;
};

// Where a tensor lies in the memory of `root`, which is an input or what a step writes, dense and row-major: `offset`
// is the place of its first element, and each of its dims one axis, or several, outermost first: heads that share keys
// are one dim of two axes, the inner one of stride 0.
struct MemoryView {
  const TensorView* root = nullptr;
  sym::Expr offset;
  std::vector<std::vector<MemoryAxis>> dims;
  bool whole = true;  // all of the root, row-major
};

// By tensor; one that is missing is its own memory.
class MemoryViews {
 public:
  MemoryViews() = default;
  // Of the results of segments that are aliases.
  explicit MemoryViews(const Fusion& segmented);
  MemoryView of(const TensorView* tensor) const;
  void set(const TensorView* tensor, MemoryView view) { views_[tensor] = std::move(view); }
  void forget(const TensorView* tensor) { views_.erase(tensor); }

 private:
  std::map<const TensorView*, MemoryView> views_;
};

// Whether the op only says where its operand's elements are: permute, broadcast, squeeze, unsqueeze, reshape, slice.
bool is_view_op(const Op& op);
// Where the result of a view op lies, given its operand's place; nothing with the reason in `why`: a reshape that parts
// what are no neighbours in memory, a broadcast whose extents are not known to be equal.
std::optional<MemoryView> view_of_result(const Op& op, const MemoryView& operand, std::string* why);

// The dtypes of a contraction, and whether it is a linear.
LibraryContraction library_contraction(const Op& op);

// A contraction as LibraryStep (program/step.h) states it.
struct ContractionViews {
  struct Operand {
    const TensorView* root = nullptr;
    sym::Expr offset;
    std::vector<sym::Expr> extents, strides;
    bool whole = true;  // of its tensor: what it reads is no view
  };
  Operand a, b;
  std::vector<sym::Expr> out;  // extents
};
// Nothing, with the reason in `why`, where the op is no contraction by a library: the bias is part of it, batch dims
// broadcast unless symbols say otherwise, or a matrix has neither dense rows nor dense columns (`at_fault`, which may
// be null, is that operand).
std::optional<ContractionViews> contraction_views(const Op& op, const MemoryViews& views, std::string* why,
                                                  const TensorView** at_fault = nullptr);

}  // namespace plait
