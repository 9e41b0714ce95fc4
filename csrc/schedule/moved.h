#pragma once
// Elementwise ops with moves and lookups among them: every output is computed from memory at its own
// coordinates, in one nest, and all before it are reads (axes/read_through.h).
#include "schedule/scheduler.h"

namespace plait {

// Whether a segment has an op that reads elsewhere than it writes.
bool has_moves(std::span<Op* const> ops);

// Why ops, in topological order, are no such kernel with these outputs; nothing where they are.
std::optional<Refused> moved_refuses(std::span<Op* const> ops, std::span<TensorView* const> outputs);
// What helps where an op is none of these; and of two outputs that no nest has both of.
inline constexpr const char* kOnlyMoves = "leave only elementwise ops, moves and lookups on both sides";
Refused other_domain(const TensorView& first, const TensorView& other);

// Dims of more than one element, as they lie in memory.
std::vector<int> memory_dims(const TensorView& t);

// An input of the segment as an output reads it: the output's dims in the input's order in memory, those of one element
// left out; -1 where moves part them.
struct MemoryRead {
  const TensorView* output = nullptr;
  const TensorView* input = nullptr;
  std::vector<int> dims;
};
std::vector<MemoryRead> memory_reads(const Segment& segment);

// Why the row of such a segment, of the output's dims from `split` on, is none in memory; empty where it is.
std::string refuse_moved_row(const Problem& problem, int split);

// The segment with every op a read and its outputs stores. No loops yet.
ScheduledGroup moved_group(const Problem& problem, const Schedule& schedule);

}  // namespace plait
