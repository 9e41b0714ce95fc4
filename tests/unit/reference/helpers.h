#pragma once
// Shorthands of the tests of csrc/reference.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "reference/evaluate.h"

namespace plait::reference {

using Shape = std::vector<int64_t>;
using Values = std::vector<double>;
using Given = std::map<std::string, Tensor>;

inline Tensor f32(Shape shape, const Values& values) {
  return Tensor::from_doubles(DType::f32, std::move(shape), values);
}

// `fusion @t (INPUTS) -> (OUTPUTS) { BODY }`.
inline std::unique_ptr<Fusion> fusion(const std::string& inputs, const std::string& outputs, const std::string& body) {
  return parse_fusion("fusion @t (" + inputs + ") -> (" + outputs + ") {\n" + body + "\n}\n");
}

// The one output %y of a body over the given inputs.
inline Array run(const std::string& inputs, const std::string& body, const Given& given,
                 const EvaluateOptions& options = {}) {
  return evaluate(*fusion(inputs, "%y", body), given, options).at("y");
}

// Equal element by element, NaN to NaN.
inline void expect_values(const Array& array, const Values& want) {
  ASSERT_EQ(array.value.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] != want[i])
      EXPECT_NE(array.value[i], array.value[i]) << "element " << i;
    else
      EXPECT_EQ(array.value[i], want[i]) << "element " << i;
  }
}

}  // namespace plait::reference
