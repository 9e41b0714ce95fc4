#pragma once
// Random graphs with random schedules, their direct evaluation in exact integers, and an interpreter of loop trees.
// Meaning of ops here: integers modulo 2^64, every function a mix of its operands; a reduction adds mixed elements, so
// that a missing or repeated element shows. Meaning of loops over tasks, blocks and threads: their iterations run at
// once and meet where the loop ends; until then none sees what another one has written. Threads of a block may add to
// one state together. Nothing here is shared with csrc/axes or csrc/lower but the tree itself.
#include <array>
#include <memory>

#include "axes/loop_tree.h"
#include "ir/fusion.h"

namespace plait::tree_oracle {

using Word = uint64_t;
using Array = std::vector<Word>;  // row-major by logical dims

struct Case {
  uint64_t seed = 0;
  std::unique_ptr<Fusion> fusion;
  sym::Environment sizes;
  TensorView* reference = nullptr;  // with random transforms
  std::map<const TensorView*, int> inline_at;
  bool fused = false;        // neighbouring loops become one, as in lowering
  std::optional<int> parts;  // of the reference's loops, the one over parts of rows that tasks share: in phases
  bool on_blocks = false;    // tasks are blocks of threads
  std::map<const Op*, const Op*> totals;  // scans, and the sums of what they scan; such scans only add
};

Case make_case(uint64_t seed);

// Whether the op has a number of its own for each value.
Word mix(const Op& op, size_t result, const std::vector<Word>& in);
// What an element adds to a reduction's result.
Word element(const Op& op, size_t result, const std::vector<Word>& in);
// A scan's state behind an element; order shows, but where parts are summed apart.
Word scanned(const Case& c, const Op& op, Word state, Word element);
Word fill_of(const Op& op);
Word input_value(const TensorView& tensor, size_t place);
std::vector<int64_t> shape_of(const TensorView& tensor, const sym::Environment& sizes);

std::map<const TensorView*, Array> evaluate(const Case& c);

struct Counts {
  int64_t statements = 0, loops = 0;
  int64_t stopped = 0;  // cases that ran too long
  std::array<int64_t, 4> homes{};
  std::map<ParallelType, int64_t> iterations;  // of loops that run at once
  int64_t met = 0;                             // reads of what iterations of such a loop wrote, behind its end
  int64_t phases = 0;                          // behind the first one of a tree
  int64_t merged = 0;                          // states of parts, from workspaces
  int64_t begun = 0;                           // scans that begin with what is in front of their part
  int64_t crossed = 0;                         // values from workspaces
};
// Runs the tree; the first thing that is wrong, or nothing. Values, out of bounds, read before write or behind the life
// of a buffer, elements of outputs and buffers written twice or never; reads of what another iteration that runs at the
// same time writes; workspaces that are read in the phase that writes them.
std::string interpret(const Case& c, const LoopTree& tree, const std::map<const TensorView*, Array>& want,
                      Counts& counts);

}  // namespace plait::tree_oracle
