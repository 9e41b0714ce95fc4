#pragma once
// The law of the text of kernels.
#include <string>

#include "base/error.h"
#include "kir/kernel.h"
#include "kir/parse.h"

namespace plait::test {

// Empty, or how the kernel that is read from a printed one differs. Throws what reading and verifying it throws.
inline std::string kernel_text_problem(const std::string& text) {
  const kir::Kernel again = kir::parse(text, "again");
  kir::verify(again);
  const std::string second = kir::print(again);
  return second == text ? "" : fmt::format("printed\n{}again\n{}", text, second);
}

}  // namespace plait::test
