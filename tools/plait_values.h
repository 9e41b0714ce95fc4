#pragma once
// Tensors as text: `[[1, 2], [3, 4]]`.
#include <string>

#include "device/tensor.h"

namespace plait::tool {

// A tensor from nested lists or one number. UserError with `where` for a ragged list, a value that is none of the
// dtype, or text that is no list.
Tensor read_list(const std::string& text, DType dtype, const std::string& where);

// Shortest text of the values that reads back exactly; a tensor of more than 64 elements shows its head and `...`.
std::string value_text(const Tensor& tensor);
// `f32[4, 8]`
std::string type_text(DType dtype, const std::vector<int64_t>& shape);
// `[4, 8]`
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace plait::tool
