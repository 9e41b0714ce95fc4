#pragma once
// What a file says about schedules is obeyed or refused.
#include <functional>
#include <optional>
#include <set>

#include "ir/fusion.h"

namespace plait {

// A segment as the file states it: results by name, and the schedule it pins (may be open).
struct FileSegment {
  std::string name;
  std::vector<std::string> tensors, outputs;
  Schedule schedule;          // by hand: with what its tensors say
  schedules::Manual loops{};  // of another schedule: loops that its tensors state
  std::string joins = {};     // the segment whose launch it joins; empty: none
};

// The segments of a written fusion. Where it has none and tensors are scheduled by hand, all of it is one.
std::vector<FileSegment> file_segments(const Fusion& fusion);

// Takes what file_segments() read from the fusion: segments, loops, inline positions, kept buffers.
void forget_schedules(Fusion& fusion);

// Schedules by output tensor.
std::map<std::string, Schedule, std::less<>> pinned_schedules(const std::vector<FileSegment>& segments);

// Tensors of the segments that share a launch, by launch.
std::vector<std::vector<std::string>> joined_groups(const std::vector<FileSegment>& segments);

// The segments but for those that hold one of the tensors.
std::vector<FileSegment> without_nests(std::vector<FileSegment> segments, const std::set<std::string>& tensors);

// For merge_equal: the number of a tensor's segment, from 1, 0 of none; nothing of one that is scheduled by hand.
std::function<std::optional<size_t>(const TensorView&)> homes_in_file(const std::vector<FileSegment>& segments);

// Results per written segment that are to be one step: those that it names and what graph passes made of its ops.
// Products and collectives, which stand alone, are left out of segments that hold more.
std::vector<std::vector<std::string>> fixed_groups(const std::vector<FileSegment>& written, const Fusion& localized);

// UserError naming segment and tensors where segmentation put the ops of a written segment into several segments, or
// ops of two written segments into one, or where the schedule made other loops than are stated.
void check_file_segments(const std::vector<FileSegment>& written, const Fusion& segmented);

}  // namespace plait
