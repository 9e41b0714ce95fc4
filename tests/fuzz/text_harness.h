#pragma once
// What any text must survive: the seeded driver (text_fuzz_test.cpp) and libFuzzer (text_fuzzer.cpp) share it.
#include <fmt/core.h>

#include <exception>
#include <memory>
#include <string>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/round_trip.h"

namespace plait::test {

// Empty, or what is wrong with how the text was treated: parsing gives a fusion that verifies, prints, reads back as
// itself and can be copied, or a UserError that says what and where.
inline std::string problem_of_text(const std::string& text, bool& accepted) {
  accepted = false;
  std::unique_ptr<Fusion> fusion;
  try {
    fusion = parse_fusion(text, {.file = "f"});
  } catch (const UserError& e) {
    if (e.message().empty() || e.where().rfind("f:", 0) != 0) return fmt::format("poor error: {}", e.what());
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
  accepted = true;
  try {
    verify(*fusion);
    const std::string printed = print(*fusion);
    if (std::string problem = round_trip_problem(*fusion); !problem.empty()) return problem;
    auto copy = clone(*fusion);
    verify(*copy);
    if (!equal(*fusion, *copy) || print(*copy) != printed) return fmt::format("clone\n{}of\n{}", print(*copy), printed);
  } catch (const std::exception& e) {
    return fmt::format("{}\nprinted\n{}", e.what(), print(*fusion));
  }
  return "";
}

}  // namespace plait::test
