#pragma once
// Schedules that somebody measured (`plait tune`), by what they are of.
#include <functional>
#include <optional>
#include <string>

#include "device/target.h"
#include "ir/fusion.h"
#include "sym/guards.h"

namespace plait {

// A schedule, and what is known of it.
struct MeasuredSchedule {
  Schedule schedule;
  std::string note;  // one line: by when it was faster, when that was measured
};

// What a segment computes, on what machine and with which sizes, names of tensors left out: segments with one key have
// the same best schedule. Empty where a size that it speaks of has no value.
std::string schedule_key(const Fusion& fusion, const Segment& segment, const Target& target,
                         const sym::Environment& sizes);

// By key, with the name of the segment that asks; nothing where none was measured.
using MeasuredSchedules =
    std::function<std::optional<MeasuredSchedule>(const std::string& key, const std::string& segment)>;

// Those on disk, beside the kernels (DiskCache::of_process), of this version of plait. What is damaged, or no schedule,
// is none.
std::optional<MeasuredSchedule> measured_schedule(const std::string& key);
// UserError: nothing is kept on disk, with the reason.
void keep_measured_schedule(const std::string& key, const MeasuredSchedule& measured);
// Removes all of them; how many there were.
int64_t forget_measured_schedules();
// How many there are.
int64_t count_measured_schedules();

}  // namespace plait
