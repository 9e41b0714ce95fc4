#pragma once
// The pointwise functions by formulas in long double that share nothing with scalar/meaning.cpp and scalar/special.cpp.
#include <span>

#include "scalar/pointwise.h"

namespace plait::test {

// The result on doubles, good to more bits than a double has. For functions with a meaning on floats.
long double exact_result(Pointwise function, std::span<const double> args);

}  // namespace plait::test
