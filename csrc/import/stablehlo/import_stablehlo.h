#pragma once
// Modules of StableHLO (https://openxla.org/stablehlo/spec) in MLIR's text form, pretty or generic, as
// jax.jit(f).lower(...).as_text() prints them, as fusions.
#include <string_view>

#include "import/imported.h"

namespace plait {

// The function @main (or the only one) of the module; calls are inlined, loops whose trips are known are rows of
// copies. Inputs are called after its arguments, outputs after `jax.result_info`, else result, result_1 ... Constants
// of different numbers become parameters with weights. Shapes are static. ImportError: all that cannot be imported.
// UserError with line and column: the text is no such module.
Imported import_stablehlo(std::string_view text, const ImportOptions& options = {});

}  // namespace plait
