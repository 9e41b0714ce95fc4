#pragma once
// Composites, and primitives with several results, as the ops that say them.
#include <string>

#include "ir/fusion.h"

namespace plait {

// Whether there are ops that say one of the kind: of composites, and of ops with several results.
bool can_compose(OpKind kind);

// Appends to the fusion the primitives that say such an op of it and returns its results: tensors of those primitives,
// each once, with the shapes and dtypes of composite.results. New tensors are named prefix + "_" + op. What is computed
// is computed in compute_type and rounded once; sizes are those of the whole tensors (op Size), so that shardings do
// not change them.
std::vector<TensorView*> compose(Fusion& fusion, const Op& composite, const std::string& prefix);

// composes, and puts the ops in place of the composite: they define its results, which keep names and layouts. The new
// ops stand at the end of the fusion's order.
void compose_as(Fusion& fusion, const Op& composite);

}  // namespace plait
