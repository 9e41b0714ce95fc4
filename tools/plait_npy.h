#pragma once
// NumPy's file format `.npy`, versions 1 and 2, little endian: f8 f4 f2 i1 i2 i4 i8 u1 u2 u4 u8 b1. Tensors of bf16 and
// of plait's f8, which NumPy lacks, are f4 in files.
#include <string>

#include "device/tensor.h"

namespace plait::tool {

// Reads a file, a pipe or `-`, standard input, into a tensor of `dtype`, row-major, whichever order the file has.
// UserError with file and `where` for a file that cannot be read, is malformed, truncated, or holds another dtype.
Tensor read_npy(const std::string& path, DType dtype, const std::string& where);

// Writes version 1, row-major, as a FileWriter does. UserError where the file cannot be written.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace plait::tool
