// Bugs planted in programs and kernels, run on a simulated GPU: each is reported with its place. A fault loses the
// device, so every bug has a process of its own.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "session/devices.h"
#include "support/examples.h"
#include "support/forwarding_device.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::example;
using testing::run_case;

constexpr const char* kExp = "let n = 1003\nfusion @f (%a: f32[n]) -> (%c) {\n  %c = exp(%a)\n}\n";

// A simulated GPU whose kernels are tampered with: `from` becomes `to` in their CUDA text.
class Tampering : public testing::ForwardingDevice {
 public:
  Tampering(Device& inner, std::string from, std::string to)
      : ForwardingDevice(inner), from_(std::move(from)), to_(std::move(to)) {}
  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) override {
    KernelText changed = kernel;
    const size_t at = changed.text.find(from_);
    PLAIT_CHECK(at != std::string::npos, "no `{}` in\n{}", from_, changed.text);
    changed.text.replace(at, from_.size(), to_);
    return inner_.compile(changed, facts);
  }

 private:
  std::string from_, to_;
};

// Prints what the run throws and ends the process.
[[noreturn]] void show(const std::string& text, const CaseOptions& how) {
  try {
    run_case(text, how);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  std::fflush(stderr);
  std::_Exit(0);
}

[[noreturn]] void show_tampered(const std::string& from, const std::string& to) {
  Tampering device(find_device("sim:sm_90a", {}), from, to);
  CaseOptions how;
  how.device_override = &device;
  how.compare_one_rank = false;
  show(kExp, how);
}

class SimulatedBugs : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const char* device : {"sim:sm_80:3", "sim:sm_90a"})
      if (const auto why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  }
};

void expect_report(void (*body)(), const std::string& pattern) {
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), pattern);
}

TEST_F(SimulatedBugs, AMissingWaitNamesBothSidesAndTheRank) {
  expect_report(
      [] {
        CaseOptions how;
        how.device = "sim:sm_80:3";
        how.ranks = 3;
        how.bug = "lost_wait";
        how.options.verify = false;  // else the verifier of programs is first
        how.compare_one_rank = false;
        show(example("sp_toy"), how);
      },
      "not ordered:.*(nccl|cublasLtMatmul|sp_toy).*ranks? [0-2]");
}

TEST_F(SimulatedBugs, TheVerifierSeesTheMissingWaitWithoutADevice) {
  expect_report(
      [] {
        CaseOptions how;
        how.ranks = 3;
        how.bug = "lost_wait";
        show(example("sp_toy"), how);
      },
      "P13: ");
}

TEST_F(SimulatedBugs, APredicateThatIsOneTooWideNamesKernelThreadAndLine) {
  expect_report([] { show_tampered("k0 + 3 < n0", "k0 + 2 < n0"); },
                "out of bounds:.*4012 bytes.*`f_s1`.*thread.*CUDA line");
}

TEST_F(SimulatedBugs, AMisalignedVectorAccessNamesKernelAndLine) {
  expect_report([] { show_tampered("load_vector(v0, b0 + ", "load_vector(v0, b0 + 1 + "); },
                "misaligned:.*`f_s1`.*CUDA line.*load_vector");
}

TEST_F(SimulatedBugs, AReadOfWhatNothingWroteNamesKernelAndLine) {
  expect_report([] { show_tampered("load_vector(v0, b0 + ", "load_vector(v0, b1 + "); },
                "uninitialised:.*`f_s1`.*CUDA line");
}

}  // namespace
}  // namespace plait
