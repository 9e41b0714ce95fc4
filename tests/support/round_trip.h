#pragma once
// A graph and its text: what every test of the text form means by reading back.
#include <fmt/core.h>

#include <string>

#include "ir/fusion.h"

namespace plait::test {

// Empty, or how the graph that is read from the fusion's text differs. Throws what reading it throws.
inline std::string round_trip_problem(const Fusion& fusion) {
  const std::string text = print(fusion);
  const auto again = parse_fusion(text, {.file = "again"});
  verify(*again);
  if (const std::string second = print(*again); second != text)
    return fmt::format("printed\n{}again\n{}", text, second);
  return equal(fusion, *again) ? "" : "another graph prints the same:\n" + text;
}

}  // namespace plait::test
