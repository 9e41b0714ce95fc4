#pragma once
// Whether tensors share memory, by the addresses of their elements.
#include "device/tensor.h"

namespace plait {

// Whether two elements of the tensor may share a byte: a stride of 0, or one that does not reach over what the dims of
// smaller strides span. Without elements, false.
bool may_overlap_itself(const Tensor& tensor);

// Whether an element of one may share a byte with one of the other: ranges of bytes that meet, unless the two are
// slices of rows that lie beside each other (two column blocks of one matrix). Memory of two devices is never shared.
bool may_overlap(const Tensor& a, const Tensor& b);

// Whether both are the same elements of the same memory in the same order.
bool same_elements(const Tensor& a, const Tensor& b);

}  // namespace plait
