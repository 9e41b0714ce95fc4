#pragma once
// What a program computed against the reference and against one rank.
#include "plait.h"
#include "reference/check.h"

namespace plait {

struct CheckProgramOptions {
  bool exact = false;    // exact-integer mode: equal bits
  bool one_rank = true;  // a program of several ranks is compared with one rank too
};

// Values and errors of one output.
struct OutputCheck {
  std::string name;
  reference::CheckResult reference;
  std::optional<reference::CheckResult> one_rank;
};

struct ProgramCheck {
  std::vector<OutputCheck> outputs;  // in the order of the fusion
  reference::CheckResult all;
  std::string one_rank_skipped;  // why several ranks were not compared with one; empty where they were
};

// Values of all size symbols that the inputs, `given` and the mesh determine.
sym::Environment program_sizes(const Fusion& fusion, const Sizes& given, const DeviceMesh& mesh, const Tensors& inputs);

// `outputs` are those of the last run of `compiled`, which `options` made of `fusion`, on `inputs`. One rank is
// compiled here, without dumps; where shapes or ops mention a mesh symbol it computes something else and is left out.
// Throws what compiling, running and evaluating throw.
ProgramCheck check_program(const Fusion& fusion, const CompileOptions& options, const Compiled& compiled,
                           const Tensors& inputs, const Tensors& outputs, const CheckProgramOptions& how = {});

}  // namespace plait
