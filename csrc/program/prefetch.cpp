#include "program/prefetch.h"

#include <algorithm>
#include <map>

namespace plait {

bool is_early(const Step& step, const std::vector<bool>& early) {
  const std::vector<ValueId> read = reads(step);
  return step.kind == StepKind::CollectiveStep &&
         std::ranges::all_of(read, [&](ValueId id) { return early[id.index]; });
}

std::vector<bool> inputs_are_early(const Program& program) {
  std::vector<bool> out;
  for (const ProgramValue& value : program.values) out.push_back(value.kind == ProgramValueKind::input);
  return out;
}

void prefetch(Program& program) {
  std::vector<bool> early = inputs_are_early(program);
  std::map<uint32_t, size_t> allocs;  // by value
  // Steps that go together: a collective and those that go on with its result, with their allocs.
  std::vector<std::vector<size_t>> groups;
  std::map<uint32_t, size_t> group_of;  // by value
  std::vector<size_t> first_readers;    // by group
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = *program.steps[s];
    if (const auto* alloc = as<AllocStep>(step)) allocs[alloc->value.index] = s;
    const bool is = is_early(step, early);
    size_t group = groups.size();
    for (ValueId id : reads(step))
      if (const auto found = group_of.find(id.index); found != group_of.end()) {
        if (is)
          group = found->second;
        else
          first_readers[found->second] = std::min(first_readers[found->second], s);
      }
    if (!is) continue;
    if (group == groups.size()) groups.emplace_back(), first_readers.push_back(program.steps.size());
    for (ValueId id : writes(step)) {
      early[id.index] = true;
      group_of[id.index] = group;
      if (const auto alloc = allocs.find(id.index); alloc != allocs.end()) groups[group].push_back(alloc->second);
    }
    groups[group].push_back(s);
  }
  std::map<size_t, std::vector<size_t>> before;  // what goes in front of a step
  std::vector<bool> moves(program.steps.size(), false);
  for (size_t g = 1; g < groups.size(); ++g) {
    if (first_readers[g - 1] > groups[g].front()) continue;  // it is ahead already
    for (size_t s : groups[g]) {
      before[first_readers[g - 1]].push_back(s);
      moves[s] = true;
    }
  }
  std::vector<std::unique_ptr<Step>> steps;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (const auto found = before.find(s); found != before.end())
      for (size_t moved : found->second) steps.push_back(std::move(program.steps[moved]));
    if (!moves[s]) steps.push_back(std::move(program.steps[s]));
  }
  program.steps = std::move(steps);
}

}  // namespace plait
