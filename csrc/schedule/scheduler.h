#pragma once
// Schedulers: which segments each takes, the params it chooses, and the transforms that params mean.
#include <span>

#include "axes/build_graph.h"
#include "ir/fusion.h"
#include "schedule/params.h"

namespace plait {

// What the machine offers to a scheduler.
struct Machine {
  bool cuda = false;
  int lanes = 8;      // f32 lanes of the CPU's vectors; 1, 2, 4, 8, 16 ...
  int threads = 256;  // threads of a block, for cuda
};

// A segment to be scheduled: its inputs, outputs and ops.
struct Problem {
  const Fusion& fusion;
  const Segment& segment;
  std::string where() const;  // `segment @s1`, for messages
};

struct ParamKey {
  std::string_view name;
  int64_t least, most;
  bool power_of_two = false;
};

struct Scheduler {
  std::string_view name;
  std::span<const ParamKey> keys;
  // Why the scheduler does not take the segment; nothing where it does.
  std::optional<std::string> (*accept)(const Problem&);
  // Fills what `pinned` leaves open. What is pinned is obeyed, or refused by a UserError with the reason.
  Params (*params)(const Problem&, const Machine&, const Params& pinned);
  // Transforms on the domain of the segment's reference tensor.
  void (*apply)(const Problem&, const Params&);
};

// All schedulers, in the order in which they are asked.
std::span<const Scheduler> schedulers();
// Null for an unknown name.
const Scheduler* find_scheduler(std::string_view name);

// The tensor whose loops are the segment's nest: the first output.
TensorView* reference_tensor(const Segment& segment);

// Complete params of a segment: those of the first scheduler that takes it, or, where `text` pins a schedule, that one.
// UserError with the reason where a pinned schedule does not fit.
Params choose_params(const Problem& problem, const Machine& machine, std::string_view text = "");

// Performs the schedule of every segment of a generated kernel (segments of library, collective, copy: nothing).
void apply_schedules(Fusion& fusion);
void apply_schedule(const Fusion& fusion, const Segment& segment);

// Per generated segment: schedule, loops of the reference tensor, and what decided them.
std::string explain_schedules(const Fusion& fusion);

}  // namespace plait
