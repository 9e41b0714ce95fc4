#pragma once
// Comparison of a backend's tensors with the reference, element by element, each against its own bound.
#include <map>
#include <optional>
#include <string>

#include "reference/evaluate.h"

namespace plait::reference {

struct CheckOptions {
  bool exact = false;  // exact-integer mode: every element must be equal, whatever its radius; none is excused
};

// ok: compared, and within the bounds. wrong: an element, a shape or a dtype. undecided: nothing is wrong, but too many
// elements are excused, or nothing could be compared.
enum class Outcome : uint8_t { ok, undecided, wrong };

// One element: where, what was found, what was wanted, and how far they may lie apart.
struct Worst {
  std::string output;
  std::vector<int64_t> index;
  double got = 0, want = 0, bound = 0;
};

// Whether so many elements of an output are excused that comparing it says too little: over 1 % and over 3.
bool too_many_excused(int64_t excused, int64_t elements);

struct CheckResult {
  bool ok = true;              // outcome() == Outcome::ok
  double max_error = 0;        // largest |error| / bound; 0 / 0 is 0; infinite where the bound is 0 or a NaN is wrong
  double max_abs_error = 0;    // largest |error| of elements that are finite on both sides
  std::optional<Worst> worst;  // element of the largest max_error, once it is above 0
  // Outputs -> elements of which the comparison says little: nothing is known of them, or they hang on discontinuities
  // and may lie over half of their size away, or over half of the output's mean |element| where that is more.
  std::map<std::string, int64_t> excused;
  int64_t nan = 0;      // elements that are NaN on both sides
  std::string message;  // empty when ok; else what failed, on one line
  Outcome outcome() const { return ok ? Outcome::ok : max_error > 1 ? Outcome::wrong : Outcome::undecided; }
  // Joins the result of another output, or of another comparison of the same one, of which the larger count of excused
  // elements stays: compare_runs excuses all that compare does.
  void merge(const CheckResult& other);
};

// `want` with its radius against a backend's tensor. NaN must meet NaN and infinity the same infinity; integers and
// bool must be equal where they have no radius. An element may be its alternative instead. Wrong where an error exceeds
// its bound, or shape or dtype differ; undecided where too many elements are excused, or an output has elements and
// none of them is compared: all are NaN on both sides, or excused. -0 equals 0.
CheckResult compare(const std::string& output, const Array& want, const Tensor& got, const CheckOptions& options = {});

// Two runs of the same fusion (N ranks and one): the bound is the sum of both radii and of what the reference's views
// of the runs, which the arrays hold, are apart: they round at different places. `got` is measured against `other`.
CheckResult compare_runs(const std::string& output, const Array& want_other, const Tensor& other, const Array& want_got,
                         const Tensor& got, const CheckOptions& options = {});

// All outputs that `want` names.
CheckResult compare(const Results& want, const std::map<std::string, Tensor>& got, const CheckOptions& options = {});

// Moves one element away from the reference by at least twice its radius, to a number of the dtype (the next one where
// the radius is 0), so that the check must fail. False where no number of the dtype is far enough or nothing is known
// of the element.
bool perturb(const Array& want, int64_t element, Tensor& got);

}  // namespace plait::reference
