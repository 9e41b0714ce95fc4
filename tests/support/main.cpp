// Every test program: whatever graph a test verifies must come back from its own text.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

void check_round_trip(const Fusion& fusion) {
  thread_local bool inside = false;
  if (inside) return;
  inside = true;
  const std::string text = print(fusion);
  std::string problem;
  try {
    const auto again = parse_fusion(text);
    if (!equal(fusion, *again))
      problem = "another graph";
    else if (const std::string second = print(*again); second != text)
      problem = "another text: " + second;
  } catch (const Error& e) {
    problem = e.what();
  }
  inside = false;
  PLAIT_CHECK(problem.empty(), "the text of @{} reads back as {}\n{}", fusion.name(), problem, text);
}

}  // namespace
}  // namespace plait

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  plait::set_verify_hook(plait::check_round_trip);
  return RUN_ALL_TESTS();
}
