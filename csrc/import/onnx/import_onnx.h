#pragma once
// Models of ONNX (https://onnx.ai/onnx/intro) as fusions. Opsets 1 to 23 of ONNX's own ops; what later ones added to an
// op, an attribute or an operand, is refused by name.
#include <string_view>

#include "import/imported.h"

namespace plait {

// The model in the bytes of a file. Dims that it leaves open become sizes of the fusion by their names, a dim without a
// name one called after input and dim; options.sizes makes numbers of them. Initializers become parameters with their
// values as weights, those of one number constants. ImportError: all that cannot be imported, op by op. UserError: the
// bytes are no model, or an option names what is not there.
Imported import_onnx(std::string_view bytes, const ImportOptions& options = {});

}  // namespace plait
