#pragma once
// A program with numbers for its symbols: what every executor runs.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/blocks.h"
#include "program/program.h"
#include "run/memory_plan.h"
#include "run/rank_values.h"

namespace plait {

// What a copy or a collective moves on one rank.
struct CutNumbers {
  int64_t outer = 1, start = 0, count = 0, total = 0, inner = 1;  // all_reduce: [1, elements, 1]
  int64_t middle = 1, scattered = 0, scattered_total = 0;         // all_to_all
  int64_t taken = 0;                                              // gather_range, from `start` on
  std::array<int64_t, 2> totals = {};                             // gather_block
  CommBlock held, wanted;                                         // gather_block
};

// The numbers of one step on one rank. Fields that the step's kind lacks keep their defaults.
struct BoundStep : CutNumbers {
  bool skipped = false;                // launches nothing
  bool zero_fill = false;              // a contraction with an empty sum
  std::vector<int64_t> integers;       // launch: its integers; library: those of a ContractionArguments
  std::vector<int64_t> offsets;        // in bytes, of operands, then results; empty: all are 0
  int64_t moved_bytes = 0;             // read and written: MovedBytes
  std::vector<int64_t> threads = {1};  // by phase
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::vector<int64_t> later_grids, later_blocks;  // three for each phase behind the first one
  std::vector<int64_t> counters;                   // words of each
};

struct RankBinding {
  int64_t rank = 0;
  std::vector<std::vector<int64_t>> shapes, strides;  // by value
  std::vector<int64_t> bytes;                         // by value
  std::vector<BoundStep> steps;                       // by step
  MemoryPlan memory;
  int64_t input_bytes = 0, output_bytes = 0;
  // Bytes that the rank's buffers take while the program runs.
  int64_t peak_bytes() const { return memory.arena_bytes + input_bytes + output_bytes; }
};

// Evaluates everything for the given ranks. UserError: as of RankValues::value. InternalError: numbers that contradict
// each other (a view and its buffer; of any rank, counts of a team and their total), or temporaries that share bytes
// without being ordered.
std::vector<RankBinding> bind_ranks(const Program& program, RankValues& values, std::span<const int64_t> ranks);
// The same for all ranks; `sizes` as for RankValues, whose errors it throws.
std::vector<RankBinding> bind(const Program& program, const sym::Environment& sizes);

// One step of a rank, without the others.
BoundStep bind_step(const Program& program, RankValues& values, int64_t rank, size_t step);
// What a collective moves on a rank, be it held or not.
CutNumbers cut_numbers(const Program& program, RankValues& values, int64_t rank, const CollectiveStep& step);
// A rank for each set of numbers that the step has.
std::vector<int64_t> ranks_that_differ(const Program& program, RankValues& values, const Step& step);

// Bytes of one run on one rank.
struct MovedBytes {
  // What each step reads and writes: every view of its operands and results once, those that lie in one place too, what
  // strides of 0 repeat too, and of a copy the part that is copied.
  int64_t moved = 0;
  int64_t least = 0;  // each input and output of the program once
};
MovedBytes moved_bytes(const RankBinding& rank);

// Ranks whose values have the same sizes; their numbers and plan are those of the first one, without steps.
struct RankMemoryClass {
  std::string ranks;  // `ranks 0 to 2, 5`
  RankBinding first;
};
// In the order of their first ranks. Errors as of bind_ranks().
std::vector<RankMemoryClass> memory_classes(const Program& program, RankValues& values);

// The plan as text: the arena, its peak, and every buffer with offset, size and lifetime, once for all ranks that have
// the same. Errors as of bind_ranks().
std::string print_memory(const Program& program, RankValues& values);

}  // namespace plait
