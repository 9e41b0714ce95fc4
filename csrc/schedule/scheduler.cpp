#include "schedule/scheduler.h"

#include <algorithm>
#include <array>

#include "axes/transforms.h"
#include "base/suggest.h"
#include "schedule/nest.h"
#include "schedule/pointwise.h"

namespace plait {

std::string Problem::where() const {
  std::string outputs;
  for (const TensorView* t : segment.outputs) outputs += (outputs.empty() ? "%" : ", %") + t->name;
  return segment.name.empty() ? fmt::format("segment of {}", outputs)
                              : fmt::format("segment @{} of {}", segment.name, outputs);
}

std::span<const Scheduler> schedulers() {
  static const std::array<Scheduler, 2> kAll = {pointwise_scheduler(), nest_scheduler()};
  return kAll;
}

const Scheduler* find_scheduler(std::string_view name) {
  for (const Scheduler& s : schedulers())
    if (s.name == name) return &s;
  return nullptr;
}

TensorView* reference_tensor(const Segment& segment) {
  PLAIT_CHECK(!segment.outputs.empty(), "segment @{} has no output", segment.name);
  return segment.outputs.front();
}

namespace {

std::vector<std::string> scheduler_names() {
  std::vector<std::string> out;
  for (const Scheduler& s : schedulers()) out.emplace_back(s.name);
  return out;
}

void check_keys(const Scheduler& scheduler, const Params& params, const std::string& where) {
  for (const auto& [name, value] : params.numbers) {
    const auto key = std::find_if(scheduler.keys.begin(), scheduler.keys.end(),
                                  [&, n = std::string_view(name)](const ParamKey& k) { return k.name == n; });
    if (key == scheduler.keys.end()) {
      std::vector<std::string> known;
      for (const ParamKey& k : scheduler.keys) known.emplace_back(k.name);
      throw UserError(fmt::format("{} has no parameter {}", scheduler.name, name), where, suggestion(name, known));
    }
    if (value < key->least || value > key->most || (key->power_of_two && (value & (value - 1)) != 0))
      throw UserError(fmt::format("{} = {} is out of range", name, value), where,
                      fmt::format("{}{} to {}", key->power_of_two ? "powers of two from " : "", key->least, key->most));
  }
}

}  // namespace

Params choose_params(const Problem& problem, const Machine& machine, std::string_view text) {
  if (!text.empty()) {
    Params pinned = parse_params(text, problem.where());
    const Scheduler* scheduler = find_scheduler(pinned.scheduler);
    if (scheduler == nullptr)
      throw UserError(fmt::format("there is no scheduler {}", pinned.scheduler), problem.where(),
                      suggestion(pinned.scheduler, scheduler_names()));
    check_keys(*scheduler, pinned, problem.where());
    if (const auto reason = scheduler->accept(problem))
      throw UserError(fmt::format("{} does not take this segment: {}", scheduler->name, *reason), problem.where(),
                      "leave the schedule out, or pin another one");
    return scheduler->params(problem, machine, pinned);
  }
  std::string reasons;
  for (const Scheduler& scheduler : schedulers()) {
    const auto reason = scheduler.accept(problem);
    if (!reason) return scheduler.params(problem, machine, Params{std::string(scheduler.name), {}, machine.cuda});
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", scheduler.name, *reason);
  }
  throw UserError("no scheduler takes this segment", problem.where(), reasons);
}

void apply_schedule(const Fusion& fusion, const Segment& segment) {
  if (segment.schedule.empty() || segment.outputs.empty()) return;
  const Problem problem{fusion, segment};
  const Params params = parse_params(segment.schedule, problem.where());
  if (const Scheduler* scheduler = find_scheduler(params.scheduler)) {
    check_keys(*scheduler, params, problem.where());
    clear_schedule(*reference_tensor(segment));
    scheduler->apply(problem, params);
  }
}

void apply_schedules(Fusion& fusion) {
  for (const Segment& s : fusion.segments) apply_schedule(fusion, s);
}

std::string explain_schedules(const Fusion& fusion) {
  std::string out;
  for (const Segment& s : fusion.segments) {
    out += fmt::format("@{}: {}\n", s.name, s.schedule);
    const Problem problem{fusion, s};
    const Scheduler* own = find_scheduler(s.schedule.substr(0, s.schedule.find('(')));
    if (own == nullptr) continue;
    for (const Scheduler& other : schedulers()) {
      if (&other == own) break;
      if (const auto reason = other.accept(problem)) out += fmt::format("  not {}: {}\n", other.name, *reason);
    }
    const TensorView* reference = reference_tensor(s);
    out += fmt::format("  loops of %{}:", reference->name);
    for (const Axis& a : loop_axes(reference->domain))
      out += fmt::format(" {}{}", sym::print(a.extent),
                         a.parallel == ParallelType::serial ? "" : fmt::format(" {}", plait::name(a.parallel)));
    out += "\n";
    if (own->name == "pointwise") out += explain_split(problem);
  }
  return out;
}

}  // namespace plait
