#pragma once
// When a radius says something of a result. A radius that says nothing checks nothing.
#include "scalar/convert.h"

namespace plait::test {

// Whether `radius` is within `units` ulps of `size` in the type in which ops on `dtype` compute, and one more rounding
// of a narrow result. `size` is the larger of |result| and of what the op's error scales with.
inline bool is_useful(DType dtype, double radius, double size, double units) {
  return radius <= units * ulp(compute_type(dtype), size) + (is_narrow(dtype) ? ulp(dtype, size) : 0);
}

}  // namespace plait::test
