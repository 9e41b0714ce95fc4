#pragma once
// The bytes of tensors, for tests that want equal bits.
#include <vector>

#include "plait.h"

namespace plait::testing {

// Of all of them, in order of their names.
inline std::vector<char> bits_of(const Tensors& tensors) {
  std::vector<char> out;
  for (const auto& [name, t] : tensors) {
    const char* data = static_cast<const char*>(t.data());
    out.insert(out.end(), data, data + t.bytes());
  }
  return out;
}

}  // namespace plait::testing
