#pragma once
// Composites as the ops that say them.
#include <string>

#include "ir/fusion.h"

namespace plait {

// Appends to the fusion the primitives that say a composite of it and returns the result of the last one, a tensor of
// its own with the shape and dtype of composite.out. New tensors are named prefix + "_" + op. What is computed is
// computed in compute_type and rounded once; sizes are those of the whole tensors (op Size), so that shardings do not
// change them.
TensorView* compose(Fusion& fusion, const Op& composite, const std::string& prefix);

}  // namespace plait
