#pragma once
// Schedules that somebody measured (`plait tune`), by what they are of.
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"
#include "ir/fusion.h"
#include "sym/guards.h"

namespace plait {

// The best schedule of a computation with these sizes.
struct MeasuredSchedule {
  sym::Environment sizes;
  Schedule schedule;
  std::string note;  // one line: by how much it was faster, and when that was measured
};

// What a segment computes and on what kind of device, names of tensors left out: with the same sizes, segments of one
// key have the same best schedule.
std::string schedule_key(const Fusion& fusion, const Segment& segment, const Device& device);
// The sizes that its tensors speak of; what ranks differ in is none.
std::set<std::string> schedule_sizes(const Segment& segment);

// Of a key, with the name of the segment that asks.
using MeasuredSchedules =
    std::function<std::vector<MeasuredSchedule>(const std::string& key, const std::string& segment)>;

// Asks once for each key, and answers so from then on: compilations of one fusion must not differ by when they are.
// Threads may share it.
class RememberedSchedules {
 public:
  explicit RememberedSchedules(MeasuredSchedules from) : from_(std::move(from)) {}
  std::vector<MeasuredSchedule> operator()(const std::string& key, const std::string& segment);
  // Those that there were, by key.
  std::map<std::string, std::vector<MeasuredSchedule>> known() const;

 private:
  const MeasuredSchedules from_;
  mutable std::mutex mutex_;  // guards by_key_
  std::map<std::string, std::vector<MeasuredSchedule>> by_key_;
};

// The first of them whose sizes are at hand, as `guards` tell, which may be null; null: none.
const MeasuredSchedule* matching(const std::vector<MeasuredSchedule>& schedules, const Fusion& fusion,
                                 sym::Guards* guards);

// Those on disk, beside the kernels (DiskCache::of_process). What is damaged, or no schedule, is none.
std::vector<MeasuredSchedule> kept_schedules(const std::string& key);
// `given`, or where it is null and the disk is used, those on disk; else null.
MeasuredSchedules given_or_kept(MeasuredSchedules given, bool disk_cache);
// Takes the place of the one with the same sizes; those of at most 64 sizes are kept.
void keep_schedule(const std::string& key, const MeasuredSchedule& measured);
// Why none are kept; empty where they are.
std::string why_no_schedules_are_kept();
// Removes all of them; of how many computations there were.
int64_t forget_schedules_on_disk();
// Of how many computations there are.
int64_t count_schedules_on_disk();

}  // namespace plait
