#pragma once
// Operands of attention on GPUs, and what is made of its scores.
#include <set>
#include <span>

#include "ir/fusion.h"

namespace plait::attention_blocks {

// Whether elements along the dim lie side by side in the memory of an input that the tensor is moved from.
bool lies_dense(const TensorView& tensor, int dim, const std::set<const TensorView*>& given);

// What these are made of, up to scores, where the last dims are queries and keys of the same element for all readers.
std::set<const TensorView*> in_place_of(std::span<const TensorView* const> made,
                                        const std::set<const TensorView*>& scores);

// Whether two tensors are the same one, seen through transposes; `turned`: with the last two dims exchanged.
bool are_same_elements(const TensorView* a, const TensorView* b, bool turned);

}  // namespace plait::attention_blocks
