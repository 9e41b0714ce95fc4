// Every test program: whatever graph a test verifies must come back from its own text.
#include <gtest/gtest.h>

#include <cstddef>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/round_trip.h"

namespace plait {
namespace {

void check_round_trip(const Fusion& fusion) {
  // mold 1.10 makes programs that do not start where thread-local memory ends at a page and the next section does not.
  alignas(std::max_align_t) thread_local bool inside = false;
  if (inside) return;
  inside = true;
  std::string problem;
  try {
    problem = test::round_trip_problem(fusion);
  } catch (const Error& e) {
    problem = fmt::format("{}\n{}", e.what(), print(fusion));
  }
  inside = false;
  PLAIT_CHECK(problem.empty(), "the text of @{} does not read back: {}", fusion.name(), problem);
}

}  // namespace
}  // namespace plait

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  plait::set_verify_hook(plait::check_round_trip);
  return RUN_ALL_TESTS();
}
