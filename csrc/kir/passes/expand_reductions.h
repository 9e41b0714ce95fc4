#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Opens the statements of reductions: a state becomes variables, an element or another state a few computations and
// assignments, a fold halves of vectors that are combined until one lane is left. Lanes from `active` on keep what they
// had. Folds over the same threads of which none needs another one's result exchange their states at once. The formulas
// are those of scalar/reduction_formulas.h.
// Requires: what verify() checks, no lanes loops. Ensures: no Start, Accumulate, Merge, Fold or Prefix; where nothing
// is vectorized, one step per element in the order of the loops. Why here: behind `merge_equal`, which compares whole
// folds and leaves formulas alone; before `expand_functions`, as formulas may hold derived functions.
void expand_reductions(Kernel& kernel);

}  // namespace plait::kir
