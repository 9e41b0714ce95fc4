#pragma once
// What the parts of segmentation share.
#include "segment/segment.h"

namespace plait {

// A line of `explain`.
void note(const SegmentOptions& options, const std::string& line);

// Whether a choice is taken, which `--bisect` may leave out.
bool decided(const SegmentOptions& options, const std::string& what);

// Results of which a file or an option says in which segment they are.
std::set<std::string, std::less<>> written_names(const SegmentOptions& options);

// The same, with those of which it says in which launch they are.
std::set<std::string, std::less<>> stated_names(const SegmentOptions& options);

// Makes ops, in order, a segment of this schedule as a file would write it, called `what` of its last result. False
// where `--bisect` leaves it out.
bool pin_segment(SegmentOptions& options, const std::vector<Op*>& ops, const Schedule& schedule, std::string_view what);

// Numbers and positions: nothing computes them from tensors.
bool is_number(const Op& op);

// Whether a condition over sizes holds; what facts do not prove becomes a guard, which says why it was asked.
bool decide_sizes(const SegmentOptions& options, sym::Expr condition, const char* why);

// A copy of an op with the same operands, and a result of its own.
Op* duplicate(Fusion& fusion, const Op& op);

// Takes those of the ops out of the order whose results nobody needs any more.
void drop_unread(Fusion& fusion, const std::set<const Op*>& ops);

// Inputs and outputs of a segment from its ops.
void list_tensors(Segment& segment, const Fusion& fusion);

}  // namespace plait
