#pragma once
// Segmentation of a localized fusion: which ops become one step.
#include <functional>

#include "ir/fusion.h"
#include "schedule/scheduler.h"
#include "segment/cut_groups.h"

namespace plait {

struct SegmentOptions {
  Target target;
  sym::Guards* guards = nullptr;  // whom schedulers ask about sizes (Problem::guards)
  // Schedules by the name of an output tensor: obeyed, or refused by name.
  std::map<std::string, Schedule, std::less<>> pins;
  KernelLimits limits = kernel_limits(Options());
  // Results that a file puts into one segment, by name: the limits do not part them.
  std::vector<std::vector<std::string>> together;
  // The same, and they are a segment as they stand: not more, not less.
  std::vector<std::vector<std::string>> fixed;
  // Results whose segments a file puts into one launch, by name. `fixed` are in a launch with others only so.
  std::vector<std::vector<std::string>> joined;
  // Results of ops that are segments of their own, of schedule nest where no library computes them.
  std::set<std::string> nests;
  // Who computes contractions: `auto` asks the library first, `library` insists on it, `own` generates tiles where they
  // fit, `nest` generates plain loops for all.
  std::string contractions = "auto";
  bool unordered_sums = false;  // scatters may add floats in any order (Problem::unordered_sums)
  // Whether the library computes a contraction; null: there is no library.
  std::function<bool(const Op&, std::string* why_not)> library_accepts;
  // Whether the library widens the operands of a contraction in memory in front of each run; null: of none.
  std::function<bool(const Op&)> library_widens;
  // Asked before each step that could be left out (a merge, the library for a contraction, a scheduler instead of the
  // plain nest), with its name: `merge %a into %b`. Null: all are done.
  std::function<bool(std::string_view)> decide;
  // The schedule that was measured as the best for a segment whose schedule nobody pins, and a note about it; an open
  // one where none was. Null: none.
  std::function<std::pair<Schedule, std::string>(const Segment&)> measured;
  // Where not null: one line per decision, for explain.
  std::string* explain = nullptr;
};

// Fills fusion.segments and puts the ops in their order. Requires a localized fusion without composites and reshards.
// Ensures: every op in exactly one segment, named s1, s2, ... in execution order, no cycles; collectives, local slices
// and contractions of the library stand alone; attention and other contractions have what segment/attention_groups.h
// and segment/contraction_groups.h say with them; the rest is in as few groups as greedy merging finds, cut to the
// limits, each taken by a scheduler. Constants and other scalars computed from inputs alone are duplicated into the
// groups that read them. Inputs and outputs of a segment are in order of first use and of definition. Every schedule is
// complete, and its transforms stand on the domain of the segment's first output. Where there are kernels of rows
// (norm_runs_on) softmax divides before products, and reductions over several dims are parted
// (segment/part_reductions.h). Of every target but the reference, segments share launches by the rule of
// segment/join_launches.h. Near-linear in the ops. UserError where a pin does not fit, or no scheduler and no library
// takes a contraction.
void segment(Fusion& fusion, const SegmentOptions& options);

}  // namespace plait
