#include "api/overview.h"

#include <algorithm>
#include <map>

#include "api/inspect.h"
#include "api/step_facts.h"
#include "base/text.h"

namespace plait {
namespace {

constexpr size_t kMostNamed = 6;  // tensors or ops of a line

using Rows = std::vector<std::vector<std::string>>;

// The first few, and how many more there are.
std::string listed(const std::vector<std::string>& words) {
  std::string out = words.empty() ? "none" : "";
  for (size_t i = 0; i < std::min(words.size(), kMostNamed); ++i) out += (i == 0 ? "" : ", ") + words[i];
  if (words.size() > kMostNamed) out += fmt::format(" and {} more", words.size() - kMostNamed);
  return out;
}

std::vector<std::string> types_of(const std::vector<TensorView*>& tensors, std::optional<bool> parameters = {}) {
  std::vector<std::string> out;
  for (const TensorView* t : tensors)
    if (!parameters || *parameters == (t->role == TensorRole::parameter))
      out.push_back(fmt::format("%{}: {}", t->name, type_text(*t)));
  return out;
}

std::string ratio(int64_t bytes, int64_t least) {
  return least > 0 ? fmt::format(": {:.2f} times", static_cast<double>(bytes) / static_cast<double>(least)) : "";
}

std::string place_text(const Compiled& compiled) {
  const Program& program = compiled.program();
  std::string axes;
  for (size_t i = 0; i < program.mesh.axes().size(); ++i)
    axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", program.mesh.axes()[i].name,
                        program.devices.size(static_cast<int>(i)));
  const int64_t ranks = compiled.mesh().ranks();
  return fmt::format("{} {}{} on {}", ranks, ranks == 1 ? "rank" : "ranks", axes.empty() ? "" : " (" + axes + ")",
                     compiled.options().device);
}

Rows head_rows(const Compiled& compiled) {
  const Fusion& fusion = compiled.fusion();
  const Report& report = compiled.report();
  std::string sizes;
  for (const auto& [name, value] : compiled.sizes())
    sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", name, value);
  for (const auto& let : fusion.dtype_lets)
    sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", let.name, name(let.value));
  const RankBinding rank = first_rank(compiled);
  return {
      {"@" + fusion.name(), place_text(compiled)},
      {"inputs", listed(types_of(fusion.inputs(), false))},
      {"parameters", listed(types_of(fusion.inputs(), true))},
      {"outputs", listed(types_of(fusion.outputs()))},
      {"sizes", sizes.empty() ? "none" : sizes},
      {"steps", counts_text(report)},
      {"traffic", fmt::format("{} moved, operands of a step once each, {} at least{}", bytes_text(report.bytes_moved),
                              bytes_text(report.bytes_least), ratio(report.bytes_moved, report.bytes_least))},
      {"memory",
       fmt::format("{} at most: inputs {}, outputs {}, temporaries {}", bytes_text(rank.peak_bytes()),
                   bytes_text(rank.input_bytes), bytes_text(rank.output_bytes), bytes_text(report.arena_bytes))}};
}

std::string ops_of(const Fusion& fusion, const StepFacts& facts) {
  std::vector<std::string> words;
  for (size_t segment : facts.segments)
    for (const Op* op : fusion.segments[segment].ops) words.emplace_back(text_name(*op));
  return listed(words);
}

// The work of a rank, in order.
std::string steps_text(const Compiled& compiled) {
  const Program& program = compiled.program();
  const Fusion& fusion = compiled.localized();
  const std::vector<StepFacts> facts = step_facts(compiled);
  Rows rows = {{"", "step", "bytes", "schedule", "ops"}};
  size_t more = 0;
  for (size_t s = 0; s < facts.size(); ++s) {
    if (!is_work(*program.steps[s])) continue;
    if (rows.size() > kMostListedSteps) {
      ++more;
      continue;
    }
    const std::string schedule =
        facts[s].kernel ? program.kernels[*facts[s].kernel].schedule : std::string(name(program.steps[s]->kind));
    rows.push_back({std::to_string(s), facts[s].label, bytes_text(facts[s].bytes), schedule, ops_of(fusion, facts[s])});
  }
  return table(rows) + (more > 0 ? fmt::format("and {} more steps\n", more) : "");
}

// Who refused to compute neighbours together, the most frequent first.
std::string reasons_text(const Compiled& compiled) {
  std::map<std::string, std::pair<size_t, std::string>> reasons;  // how often, of which segments first
  for (const Boundary& boundary : boundaries_of(compiled)) {
    const Refuser& refuser = boundary.refusers.front();
    if (refuser.by == "alias") continue;  // no step
    auto& [count, example] = reasons[refuser.by];
    if (count++ == 0)
      example = fmt::format("@{} -> @{}: {}", boundary.from->name, boundary.to->name, refuser.refused.reason);
  }
  std::vector<std::pair<std::string, std::pair<size_t, std::string>>> order(reasons.begin(), reasons.end());
  std::ranges::stable_sort(order, std::greater(), [](const auto& reason) { return reason.second.first; });
  Rows rows;
  for (const auto& [by, reason] : order)
    rows.push_back(
        {by, fmt::format("{} {}", reason.first, reason.first == 1 ? "boundary" : "boundaries"), reason.second});
  return rows.empty() ? "" : "\napart, refused by\n" + table(rows);
}

}  // namespace

std::string overview(const Compiled& compiled) {
  return table(head_rows(compiled)) + "\n" + steps_text(compiled) + reasons_text(compiled);
}

}  // namespace plait
