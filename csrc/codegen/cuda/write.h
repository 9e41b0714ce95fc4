#pragma once
// Kernel IR to CUDA C++ text.
#include <string>

#include "kir/kernel.h"

namespace plait {

// CUDA C++ of one kernel, for any architecture from sm_80 on: no #include, only the helpers it uses (files of
// codegen/device), one `extern "C"` entry named as the kernel. Arguments: pointers to all buffers in order, then all
// integers as 64-bit. Decides nothing: every statement is written as it stands. The same kernel gives the same bytes;
// names of buffers and symbols do not reach the text. Requires a verified kernel for TargetKind::cuda.
// `follows`: the launch may begin before what is in front of it has ended. Then entries wait for that before they reach
// memory, and promise nothing of it (`__restrict__`, by which loads would leave that order); for sm_90 and up.
std::string write_cuda(const kir::Kernel& kernel, bool follows = false);

}  // namespace plait
