#pragma once
// Runs one fusion text on ranks and compares with the reference and with one rank.
#include <string>

#include "base/error.h"
#include "plait.h"

namespace plait::testing {

struct CaseOptions {
  std::string device = "cpu";
  Device* device_override = nullptr;  // where not null: this device instead
  int64_t ranks = 1;
  bool exact = false;
  uint64_t seed = 0;      // of inputs
  bool specials = false;  // put_specials() edits them
  std::string comm = "local";
  uint64_t interleaving = 0;
  Options options;
  std::map<std::string, std::string, std::less<>> set;
  bool compare_one_rank = true;
  struct AwkwardCalls* awkward = nullptr;  // where not null: called so as well (awkward_calls.h), and counted
  PassHook hook{};                         // where no bug has one: gets what each pass leaves
  std::string bug;  // planted_bugs.h; with one of communicators all ranks are stepped, and not compared with one
};

struct CaseResult {
  bool ok = true;
  bool undecided = false;  // not ok, but nothing is wrong: reference::Outcome::undecided
  std::string message;     // what failed, empty when ok
  double max_error = 0;
  int64_t collectives = 0, kernels = 0, library_calls = 0;
  bool uneven = false, empty = false;  // some tensor has pieces of different sizes; some rank holds no element of one
  Report report;
  Tensors outputs;  // global
};

// Why the device cannot be used here; empty where it can. Tests that need it skip with this reason.
std::string why_no_device(const std::string& device);

// Graphs drawn at random that say nothing, which are drawn again: discontinuities leave too much of an output open, the
// sizes do not bear the layout, or no exact inputs are small enough. Each is counted, and there may be few of them
// (docs/numerics.md "The bound"). A case that somebody wrote has no such way out: it chooses its inputs.
class DrawnAgain {
 public:
  // Whether the graph of this seed is drawn again; says so on stdout.
  bool left_open(uint64_t seed, const CaseResult& result);
  // Whether the refusal is one that a random graph may meet.
  bool refused(const UserError& error);
  // Fails the test where, for so many graphs that were run, over 2 % (rounded up) more were left open, over a tenth had
  // an output of nothing but NaN, or over a quarter were refused.
  void expect_few(int graphs) const;
  // "1 left undecided, 2 of nothing but NaN, 3 refused"
  std::string text() const;

 private:
  int open_ = 0, nan_ = 0, refused_ = 0;
};

// One element of each float input becomes NaN, an infinity, -0, a huge or a tiny number; says which.
std::string put_specials(Tensors& inputs, uint64_t seed);

// dtypes and shapes of all inputs, with the sizes that the text has by itself.
Metadata metadata_of(const Fusion& fusion);

// Outputs of a fusion of one input %x, on so many threads where it runs on the CPU. `phases`, where not null: those of
// its kernel, of which there must be one. Throws what parsing, compiling and running throw.
Tensors run_text(const std::string& text, const Tensor& x, const std::string& device, int64_t threads,
                 size_t* phases = nullptr);

// Throws what parsing, compiling and running throw.
CaseResult run_case(const std::string& text, const CaseOptions& options);
// On ranks of a device (of so many simulated ones), whose replicas are compared.
CaseResult run_on_ranks(const std::string& text, const std::string& device, int64_t ranks,
                        const std::string& comm = "local");

}  // namespace plait::testing
