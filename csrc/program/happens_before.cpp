#include "program/happens_before.h"

#include <algorithm>

namespace plait {

bool within(const StreamClock& a, const StreamClock& b) {
  for (size_t s = 0; s < kProgramStreams; ++s)
    if (a[s] > b[s]) return false;
  return true;
}

void join(StreamClock& into, const StreamClock& other) {
  for (size_t s = 0; s < kProgramStreams; ++s) into[s] = std::max(into[s], other[s]);
}

HappensBefore::HappensBefore(const Program& program) {
  for (const auto& step : program.steps) add(*step);
}

void HappensBefore::add(const Step& step) {
  StreamClock& now = now_[size_t(step.stream)];
  begin_.push_back(now);
  if (step.kind != StepKind::AllocStep) {
    if (const auto* wait = as<WaitStep>(step))
      if (const StreamClock* point = event(wait->event)) join(now, *point);
    if (const auto* record = as<RecordStep>(step)) events_.emplace(record->event.index, now);
    ++now[size_t(step.stream)];
  }
  end_.push_back(now);
}

const StreamClock* HappensBefore::event(EventId event) const {
  auto it = events_.find(event.index);
  return it == events_.end() ? nullptr : &it->second;
}

}  // namespace plait
