#pragma once
#include <memory>

#include "backend/cpu/thread_pool.h"
#include "device/device.h"

namespace plait {

// A contraction of bf16 or f16 on CPUs that do not multiply them: panels of the operands are widened to f32, multiplied
// by `wide`, a contraction f32 x f32 -> f32 of the same form, and rounded once. Sums are those of f32. Takes buffers
// and integers as `wide` does; panels come from `scratch`.
std::shared_ptr<Executable> widen_contraction(std::shared_ptr<Executable> wide, const LibraryContraction& contraction,
                                              std::shared_ptr<Allocator> scratch, std::shared_ptr<ThreadPool> pool);

}  // namespace plait
