#include "program/assign_streams.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "program/happens_before.h"
#include "program/prefetch.h"

namespace plait {
namespace {

constexpr size_t kNoWriter = size_t(-1);

// By step: the earlier steps of other streams whose events it waits for, the latest first.
std::vector<std::vector<size_t>> needed_waits(const Program& program) {
  std::vector<std::vector<size_t>> waits(program.steps.size());
  std::vector<size_t> writer(program.values.size(), kNoWriter);
  std::vector<StreamClock> done(program.steps.size());
  std::array<StreamClock, kProgramStreams> now{};
  std::vector<bool> early = inputs_are_early(program);
  size_t computed = kNoWriter;  // the last step of compute
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = *program.steps[s];
    if (step.kind == StepKind::AllocStep) continue;
    StreamClock& mine = now[size_t(step.stream)];
    std::vector<size_t> writers;
    if (is_early(step, early)) {
      for (ValueId id : writes(step)) {
        early[id.index] = true;
        if (program.value(id).kind == ProgramValueKind::temporary && computed != kNoWriter) writers.push_back(computed);
      }
    }
    for (ValueId id : reads(step))
      if (writer[id.index] != kNoWriter) writers.push_back(writer[id.index]);
    std::sort(writers.rbegin(), writers.rend());  // a later step may cover an earlier one, never the other way round
    for (size_t from : writers) {
      if (within(done[from], mine)) continue;
      waits[s].push_back(from);
      join(mine, done[from]);
    }
    ++mine[size_t(step.stream)];
    done[s] = mine;
    for (ValueId id : writes(step)) writer[id.index] = s;
    if (step.stream == ProgramStream::compute) computed = s;
  }
  return waits;
}

template <class T>
std::unique_ptr<Step> event_step(ProgramStream stream, EventId event) {
  auto step = std::make_unique<T>();
  step->stream = stream;
  step->event = event;
  return step;
}

}  // namespace

void assign_streams(Program& program) {
  for (auto& step : program.steps) {
    PLAIT_CHECK(step->kind != StepKind::RecordStep && step->kind != StepKind::WaitStep,
                "program @{} has events already", program.name);
    step->stream = step->kind == StepKind::CollectiveStep ? ProgramStream::comm : ProgramStream::compute;
  }
  const auto waits = needed_waits(program);
  std::map<size_t, EventId> events;  // by the step that is waited for
  for (const auto& list : waits)
    for (size_t from : list) events[from];
  uint32_t count = 0;
  for (auto& [step, event] : events) event.index = count++;
  std::vector<std::unique_ptr<Step>> steps;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const ProgramStream stream = program.steps[s]->stream;
    for (size_t from : waits[s]) steps.push_back(event_step<WaitStep>(stream, events[from]));
    steps.push_back(std::move(program.steps[s]));
    if (auto event = events.find(s); event != events.end())
      steps.push_back(event_step<RecordStep>(stream, event->second));
  }
  program.steps = std::move(steps);
}

}  // namespace plait
