#pragma once
// The order of a program's steps under its streams and events: a vector clock for each step.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "program/program.h"

namespace plait {

// How many of the first steps of each stream are done at some point.
using StreamClock = std::array<int64_t, kProgramStreams>;
// Whether all that is done at `a` is done at `b` too.
bool within(const StreamClock& a, const StreamClock& b);
void join(StreamClock& into, const StreamClock& other);

// Steps are given in the order of the list. An alloc is on no stream and in no order.
class HappensBefore {
 public:
  HappensBefore() = default;
  explicit HappensBefore(const Program& program);  // all of its steps

  // The next step of the list; a wait for an event that is not recorded yet orders nothing.
  void add(const Step& step);
  // What is done when the step begins, and when it is done. Of an alloc: what was the last of its stream's before it.
  const StreamClock& begin(size_t step) const { return begin_[step]; }
  const StreamClock& end(size_t step) const { return end_[step]; }
  // Whether step `a` is done before step `b` begins.
  bool before(size_t a, size_t b) const { return a != b && within(end_[a], begin_[b]); }
  // What later steps of a stream may rely on, after the steps added so far.
  const StreamClock& now(ProgramStream stream) const { return now_[size_t(stream)]; }
  // The clock of an event recorded so far, or null.
  const StreamClock* event(EventId event) const;

 private:
  std::vector<StreamClock> begin_, end_;  // by step
  std::array<StreamClock, kProgramStreams> now_{};
  std::map<uint32_t, StreamClock> events_;
};

}  // namespace plait
