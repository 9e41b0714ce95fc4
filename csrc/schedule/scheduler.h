#pragma once
// Schedulers: which segments each takes, the schedule it chooses, and the transforms that a schedule means.
#include <span>

#include "axes/build_graph.h"
#include "device/target.h"
#include "ir/fusion.h"
#include "schedule/refusal.h"
#include "schedule/scheduled_group.h"
#include "sym/guards.h"

namespace plait {

// A segment to be scheduled: its inputs, outputs and ops.
struct Problem {
  const Fusion& fusion;
  const Segment& segment;
  sym::Guards* guards = nullptr;  // whom to ask about sizes; null: nobody, and only what facts prove holds
  bool unordered_sums = false;    // floats may be added in an order that differs from run to run
  std::string where() const;      // `segment @s1`, for messages
  // Whether a condition over sizes holds, on all ranks; what facts do not prove becomes a guard of the specialization.
  bool decide(sym::Expr condition) const;
};

struct Scheduler {
  std::string_view name;  // that of its schedules
  // Why the scheduler does not take the segment; nothing where it does.
  std::optional<Refused> (*accept)(const Problem&);
  // A complete schedule for the target: `pinned` (one of the scheduler's, or open) with what it leaves open. What is
  // pinned is obeyed, or refused by a UserError with the reason.
  Schedule (*choose)(const Problem&, const Target&, const Schedule& pinned);
  // The transforms of a complete schedule, on the domain of the segment's reference tensor; null where every segment
  // has a group.
  void (*apply)(const Problem&, const Schedule&);
  // The same on a graph of the segment's own, which lower_tree makes a kernel of (lower/tree/lower_tree.h); nothing for
  // a segment of one nest, null where all are.
  std::optional<ScheduledGroup> (*group)(const Problem&, const Schedule&) = nullptr;
  // Why GPUs have no kernels of a segment that CPUs may have; null: they have.
  std::optional<Refused> (*refuses_of_gpus)(const Problem&) = nullptr;
  // Why there are no loops for the types and sizes of a segment that is accepted, or none that pay; null: there are.
  std::optional<Refused> (*refuses_sizes)(const Problem&, const Target&) = nullptr;
  // Whether ops are of the scheduler's kind, so that its refusal tells a person something; null: none are.
  bool (*concerns)(std::span<Op* const>) = nullptr;
};

// All schedulers, in the order in which they are asked.
std::span<const Scheduler> schedulers();
// Whether the target has any kernels of the scheduler.
bool runs_on(const Scheduler& scheduler, const Target& target);
// Null for an unknown name.
const Scheduler* find_scheduler(std::string_view name);

// The tensor whose loops are the segment's nest: the first output.
TensorView* reference_tensor(const Segment& segment);

// A complete schedule of a generated kernel: that of the first scheduler that takes the segment, or the pinned one.
// UserError with the reason where a pinned schedule does not fit.
Schedule choose_schedule(const Problem& problem, const Target& target, const Schedule& pinned = {});

// The segment as a complete schedule performs it on a graph of its own; nothing where the schedule has no such form.
std::optional<ScheduledGroup> scheduled_group(const Problem& problem);

// Performs the schedule of a segment; one of no generated kernel means nothing.
void apply_schedule(const Fusion& fusion, const Segment& segment);

// Per generated segment: schedule, loops of the reference tensor, and what decided them.
std::string explain_schedules(const Fusion& fusion);

}  // namespace plait
