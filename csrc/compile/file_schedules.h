#pragma once
// What a file says about schedules is obeyed or refused.
#include "ir/fusion.h"

namespace plait {

// A segment as the file states it: results by name, and the schedule it pins (may be open).
struct FileSegment {
  std::string name;
  std::vector<std::string> tensors, outputs;
  Schedule schedule;
};

// The segments of a written fusion. UserError naming the tensor: loops outside of a schedule's own.
std::vector<FileSegment> file_segments(const Fusion& fusion);

// Schedules by output tensor.
std::map<std::string, Schedule, std::less<>> pinned_schedules(const std::vector<FileSegment>& segments);

// UserError naming segment and tensors where segmentation put the ops of a written segment into several segments, or
// ops of two written segments into one.
void check_file_segments(const std::vector<FileSegment>& written, const Fusion& segmented);

}  // namespace plait
