// Every test program: the graphs and kernels that a test verifies must come back from their own text.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <unordered_set>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/kernel_text.h"
#include "support/round_trip.h"

namespace plait {
namespace {

// The problem of reading back, unless it is being read back. (mold 1.10 makes programs that do not start where
// thread-local memory ends at a page and the next section does not: hence the alignment.)
template <class T>
std::string problem_of(const T& value, std::string (*problem)(const T&)) {
  alignas(std::max_align_t) thread_local bool inside = false;
  if (inside) return "";
  inside = true;
  std::string out;
  try {
    out = problem(value);
  } catch (const Error& e) {
    out = fmt::format("{}\n{}", e.what(), print(value));
  }
  inside = false;
  return out;
}

// Whether a kernel's text is to be read back: one text of four, all in the long run, each once in a process.
bool is_drawn(const std::string& text) {
  static const bool all = std::getenv("PLAIT_TEST_LONG") != nullptr;
  static std::mutex mutex;
  static std::unordered_set<size_t> checked;  // hashes
  const size_t hash = std::hash<std::string>()(text);
  if (!all && hash % 4 != 0) return false;
  const std::lock_guard lock(mutex);
  return checked.insert(hash).second;
}

void check_fusion(const Fusion& fusion) {
  const std::string problem = problem_of(fusion, test::round_trip_problem);
  PLAIT_CHECK(problem.empty(), "the text of @{} does not read back: {}", fusion.name(), problem);
}

std::string kernel_problem(const kir::Kernel& kernel) {
  const std::string text = kir::print(kernel);
  return is_drawn(text) ? test::kernel_text_problem(text) : "";
}

void check_kernel(const kir::Kernel& kernel) {
  const std::string problem = problem_of(kernel, kernel_problem);
  PLAIT_CHECK(problem.empty(), "the text of kernel @{} does not read back: {}", kernel.name, problem);
}

}  // namespace
}  // namespace plait

int main(int argc, char** argv) {
  setenv("PLAIT_CACHE_SPECIALIZATIONS_MIB", "0", 0);  // what tests look at is compiled
  testing::InitGoogleTest(&argc, argv);
  plait::set_verify_hook(plait::check_fusion);
  plait::kir::set_verify_hook(plait::check_kernel);
  return RUN_ALL_TESTS();
}
