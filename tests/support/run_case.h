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
  uint64_t seed = 0;  // of inputs
  std::string comm = "local";
  uint64_t interleaving = 0;
  Options options;
  std::map<std::string, std::string, std::less<>> set;
  bool compare_one_rank = true;
};

struct CaseResult {
  bool ok = true;
  bool open = false;    // nothing is wrong, and too much of an output depends on a jump to be compared
  std::string message;  // what failed, empty when ok
  double max_error = 0;
  int64_t collectives = 0, kernels = 0, library_calls = 0;
  bool uneven = false, empty = false;  // some tensor has pieces of different sizes; some rank holds no element of one
  Report report;
  Tensors outputs;  // global
};

// Why the device cannot be used here; empty where it can. Tests that need it skip with this reason.
std::string why_no_device(const std::string& device);

// The refusals that random cases may meet: a layout that the sizes do not bear, and no exact inputs small enough.
bool is_known_refusal(const UserError& error);

// Throws what parsing, compiling and running throw.
CaseResult run_case(const std::string& text, const CaseOptions& options);

}  // namespace plait::testing
