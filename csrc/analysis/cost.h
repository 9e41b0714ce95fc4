#pragma once
// What a group of ops moves and computes, as expressions over the fusion's sizes.
#include <span>

#include "ir/fusion.h"

namespace plait {

struct Cost {
  sym::Expr bytes_read, bytes_written;  // of memory, each input and output once
  sym::Expr flops;                      // scalar operations; a division or root is 4, a transcendental function 16
};

// Cost of computing `ops` as one kernel that reads `inputs` and writes `outputs`. Ops without a cost (creation,
// communication, copies) count nothing.
Cost cost_of(const Fusion& fusion, std::span<Op* const> ops, std::span<TensorView* const> inputs,
             std::span<TensorView* const> outputs);

}  // namespace plait
