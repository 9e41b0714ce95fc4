#pragma once
// Graphs that hold every op which combines, moves, looks up or makes elements, but products, `full` and bitcast, over
// extents a, b, c, d, a dtype T and a dtype I of indices.
#include <string>
#include <vector>

#include "scalar/dtype.h"

namespace plait::test {

struct OpCase {
  std::string name, text;
  bool (*takes)(DType) = [](DType) { return true; };
};

// Each op along every kind of dim that its loops distinguish. Texts have lets for all of these.
std::vector<OpCase> op_cases();

}  // namespace plait::test
