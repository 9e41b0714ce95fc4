#pragma once
// How tensors cross the boundary of a run. Inside of it all of them are dense and row-major (graph/drop_allocations);
// an input of host memory that is not is copied when it is bound (program/rank_memory).
#include "compile/options.h"
#include "ir/fusion.h"
#include "session/arguments.h"

namespace plait {

// UserError naming the tensor: an allocation of one that is neither input nor output, strided dims of an output, which
// is made dense.
void check_allocations(const Fusion& fusion);

// UserError naming the input: strides of another rank than the shape's, elements outside of the tensor's memory, dims
// that do not lie in memory as the fusion says. Inputs of which it says nothing may lie in any way.
void check_inputs(const Fusion& fusion, const Tensors& inputs);

// UserError naming the output: there is none of the name, the wrong dtype or number of dims, strides as above, elements
// outside of its memory, several in one place or in that of another output, dims that do not lie as the fusion says.
void check_outputs(const Fusion& fusion, const Tensors& outputs);

// UserError naming the input, the element, its value and the range: an integer outside of the range that the fusion
// states. What lies in a GPU's memory is not read.
void check_ranges(const Fusion& fusion, const Sizes& sizes, const Tensors& inputs);

// Puts outputs in the order in which the fusion allocates them, in host memory of `allocator`; returns the bytes that
// it copied. UserError: such an output is in a GPU's memory.
int64_t order_outputs(const Fusion& fusion, Tensors& outputs, Allocator& allocator);

}  // namespace plait
