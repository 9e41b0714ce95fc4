#pragma once
// What each step of a compiled program is about, for those who show it: traces, pages, overviews.
#include <optional>
#include <string>
#include <vector>

#include "plait.h"
#include "run/binding.h"

namespace plait {

struct StepFacts {
  // `mlp_s2`, `linear %h`, `all_reduce %h`, `copy %h`; of the other steps their kind.
  std::string label;
  std::vector<size_t> segments;  // of the localized fusion, that make its results; none of steps that make nothing
  std::optional<size_t> kernel;  // of Program::kernels
  int64_t bytes = 0;             // that rank 0 reads and writes (BoundStep::moved_bytes)
};

// The numbers of rank 0 with the sizes of the last run. UserError: nothing is compiled.
RankBinding first_rank(const Compiled& compiled);

// By step, with the sizes of the last run. UserError: nothing is compiled.
std::vector<StepFacts> step_facts(const Compiled& compiled);

// Whether it does something that takes time: no allocation, record or wait.
bool is_work(const Step& step);

}  // namespace plait
