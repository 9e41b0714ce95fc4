#include "run/wire_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "run/team_calls.h"

namespace plait {
namespace {

struct Wire {
  int64_t most = 0, all = 0;  // of a rank; of all ranks
};

// All that team_numbers() reads.
std::vector<sym::Expr> numbers_of(const Program& program, const CollectiveStep& step) {
  if (!info(step.collective).has_pieces())  // its elements are those of its operand
    return step.in.extents.empty() ? program.value(step.in.value).shape : step.in.extents;
  std::vector<sym::Expr> out = {step.outer,     step.count,           step.total, step.inner, step.middle,
                                step.scattered, step.scattered_total, step.start, step.taken};
  for (const auto* list : {&step.totals, &step.held, &step.wanted}) out.insert(out.end(), list->begin(), list->end());
  return out;
}

// Teams whose members have the same numbers move the same.
Wire wire_of(const Program& program, RankValues& values, const CollectiveStep& step) {
  std::vector<int64_t> kind(static_cast<size_t>(program.devices.ranks()));  // by rank: which numbers it has
  int64_t kinds = 0;
  for (const std::vector<int64_t>& ranks : values.classes(numbers_of(program, step))) {
    for (int64_t rank : ranks) kind[static_cast<size_t>(rank)] = kinds;
    ++kinds;
  }
  Wire out;
  std::map<std::vector<int64_t>, int64_t> known;  // bytes of a team by the kinds of its members
  for (int64_t rank = 0; rank < program.devices.ranks(); ++rank) {
    if (program.devices.position(rank, step.team) != 0) continue;
    const std::vector<int64_t> team = program.devices.team(rank, step.team);
    std::vector<int64_t> key;
    for (int64_t member : team) key.push_back(kind[static_cast<size_t>(member)]);
    const auto [bytes, fresh] = known.try_emplace(std::move(key), 0);
    if (fresh) {
      const TeamNumbers numbers = team_numbers(program, values, step, team);
      const auto size = static_cast<int64_t>(team.size());
      for (int64_t p = 0; p < size; ++p) {
        const int64_t taken = member_traffic(numbers.call(step), size, p).wire_bytes;
        out.most = std::max(out.most, taken);
        bytes->second += taken;
      }
    }
    out.all += bytes->second;
  }
  return out;
}

}  // namespace

std::string explain_wire(const Program& program, RankValues& values) {
  std::vector<std::vector<std::string>> rows = {{"step", "collective", "team", "a rank takes", "all ranks"}};
  Wire sum;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* step = as<CollectiveStep>(*program.steps[s]);
    if (!step) continue;
    const Wire wire = wire_of(program, values, *step);
    sum.most += wire.most;
    sum.all += wire.all;
    rows.push_back({std::to_string(s),
                    fmt::format("{} %{} -> %{}", name(step->collective), program.value(step->in.value).name,
                                program.value(step->out.value).name),
                    print(step->team, program.mesh), fmt::format("{} B", wire.most), fmt::format("{} B", wire.all)});
  }
  if (rows.size() == 1) return "no collective\n";
  rows.push_back(
      {"", fmt::format("{} in all", rows.size() - 1), "", fmt::format("{} B", sum.most), fmt::format("{} B", sum.all)});
  return table(rows);
}

}  // namespace plait
