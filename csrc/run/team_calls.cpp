#include "run/team_calls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "comm/flight_recorder.h"

namespace plait {

std::string step_place(const Program& program, size_t step) {
  return fmt::format("step {} ({})", step, describe(program, *program.steps[step]));
}

namespace {

void add_blocks(TeamNumbers& out, const CollectiveStep& step, std::span<const CutNumbers> team) {
  int64_t gathered = 0, scattered = 0;
  for (const CutNumbers& numbers : team) {
    CommBlock held = {{gathered, numbers.count}, {0, numbers.scattered_total}};
    CommBlock taken = {{0, numbers.total}, {scattered, numbers.scattered}};
    if (step.collective == Collective::gather_range) {
      held.second = taken.second = {0, 1};
      taken.first = {numbers.start, numbers.taken};
    }
    if (step.collective == Collective::gather_block) held = numbers.held, taken = numbers.wanted;
    if (step.scattered_first) {
      std::swap(held.first, held.second);
      std::swap(taken.first, taken.second);
    }
    out.held.push_back(held);
    out.taken.push_back(taken);
    gathered += numbers.count;
    scattered += numbers.scattered;
  }
}

}  // namespace

TeamNumbers team_numbers(const Program& program, RankValues& values, const CollectiveStep& step,
                         std::span<const int64_t> team) {
  std::vector<CutNumbers> members;
  for (int64_t member : team) members.push_back(cut_numbers(program, values, member, step));
  const CutNumbers& first = members[0];
  TeamNumbers out{program.value(step.in.value).dtype, first.total, first.outer, first.middle, first.inner, {}, {}, {}};
  for (const CutNumbers& each : members) out.counts.push_back(each.count);
  if (info(step.collective).exchanges()) add_blocks(out, step, members);
  return out;
}

CommCall TeamNumbers::call(const CollectiveStep& step) const {
  CommCall out{step.collective, step.reduce.value_or(CommReduce::sum), {dtype, 1, 1, {&elements, 1}}, {}};
  if (info(step.collective).exchanges())
    out.blocks = {dtype, outer, middle, inner, held, taken};
  else if (info(step.collective).has_pieces())
    out.pieces = {dtype, outer, inner, counts};
  return out;
}

std::vector<TeamCall> make_team_calls(const Program& program, RankValues& values,
                                      std::span<const std::unique_ptr<RankRunner>> runners, Communicators& comms) {
  std::vector<TeamCall> out;
  std::vector<size_t> at(runners.size(), 0);  // by held rank: the action of the step, if it has one
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* collective = as<CollectiveStep>(*program.steps[s]);
    std::map<int64_t, size_t> teams;  // of this step, by first rank
    for (size_t i = 0; i < runners.size(); ++i) {
      RankRunner& runner = *runners[i];
      if (at[i] == runner.actions().size() || runner.actions()[at[i]].step != s) continue;
      const size_t action = at[i]++;
      if (!collective) continue;
      const auto [slot, fresh] =
          teams.emplace(program.devices.first_of_team(runner.rank(), collective->team), out.size());
      if (fresh) {
        const std::vector<int64_t> team = program.devices.team(runner.rank(), collective->team);
        TeamCall& call = out.emplace_back();
        call.step = collective;
        call.index = s;
        call.communicator = &comms.team(team);
        call.numbers = team_numbers(program, values, *collective, team);
        call.place = step_place(program, s);
      }
      TeamCall& call = out[slot->second];
      const int64_t position = program.devices.position(runner.rank(), collective->team);
      runner.actions()[action].team_call = slot->second;
      call.held.push_back({position, &runner, action, comms.recorder(runner.rank())});
      call.members.resize(call.held.size());
    }
    for (const auto& [first, slot] : teams) {
      std::vector<TeamCall::Held>& held = out[slot].held;
      std::ranges::sort(held, {}, &TeamCall::Held::position);
      for (size_t i = 0; i < held.size(); ++i) held[i].runner->actions()[held[i].action].member = i;
    }
  }
  return out;
}

CommMember TeamCall::member(const Held& held) const {
  const RankAction& action = held.runner->actions()[held.action];
  if (held.recorder) held.recorder->set_step(place);
  return {held.position, action.buffers[0], action.buffers[1], held.runner->stream(action.stream)};
}

void TeamCall::call() {
  for (size_t i = 0; i < held.size(); ++i) members[i] = member(held[i]);
  call(members);
  for (const Held& one : held) one.runner->queued_collective(one.action);
}

void TeamCall::call(size_t index) const {
  const CommMember mine = member(held[index]);
  call({&mine, 1});
  held[index].runner->queued_collective(held[index].action);
}

void TeamCall::call(std::span<const CommMember> given) const {
  const CommCall what = numbers.call(*step);
  switch (step->collective) {
    case Collective::all_reduce:
      return communicator->all_reduce(what.pieces.dtype, what.reduce, what.pieces.total(), given);
    case Collective::all_gather:
      return communicator->all_gather(what.pieces, given);
    case Collective::reduce_scatter:
      return communicator->reduce_scatter(what.pieces, what.reduce, given);
    case Collective::all_to_all:
    case Collective::gather_range:
    case Collective::gather_block:
      return communicator->all_to_all(what.blocks, given);
  }
}

std::string TeamCall::ranks() const {
  std::string out;
  for (const Held& one : held) out += fmt::format("{}{}", out.empty() ? "" : ", ", one.runner->rank());
  return (held.size() == 1 ? "rank " : "ranks ") + out;
}

}  // namespace plait
