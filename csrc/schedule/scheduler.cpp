#include "schedule/scheduler.h"

#include <algorithm>
#include <array>

#include "axes/transforms.h"
#include "base/error.h"
#include "schedule/attention.h"
#include "schedule/contraction.h"
#include "schedule/manual.h"
#include "schedule/nest.h"
#include "schedule/norm.h"
#include "schedule/pointwise.h"
#include "schedule/scatter.h"

namespace plait {

std::string Problem::where() const {
  std::string outputs;
  for (const TensorView* t : segment.outputs) outputs += (outputs.empty() ? "%" : ", %") + t->name;
  return segment.name.empty() ? fmt::format("segment of {}", outputs)
                              : fmt::format("segment @{} of {}", segment.name, outputs);
}

bool Problem::decide(sym::Expr condition) const {
  return guards != nullptr ? guards->decide(condition, where()) : sym::proven(condition);
}

std::span<const Scheduler> schedulers() {
  static const std::array<Scheduler, 6> kAll = {pointwise_scheduler(), norm_scheduler(), scatter_scheduler(),
                                                attention_scheduler(), nest_scheduler(), contraction_scheduler()};
  return kAll;
}

bool runs_on(const Scheduler& scheduler, const Target& target) {
  const bool cooperates =
      scheduler.name == schedules::Norm::kName || (target.cuda() && scheduler.name == schedules::Scatter::kName);
  return !cooperates || norm_runs_on(target);
}

const Scheduler* find_scheduler(std::string_view name) {
  for (const Scheduler& s : schedulers())
    if (s.name == name) return &s;
  return name == manual_scheduler().name ? &manual_scheduler() : nullptr;
}

TensorView* reference_tensor(const Segment& segment) {
  PLAIT_CHECK(!segment.outputs.empty(), "segment @{} has no output", segment.name);
  return segment.outputs.front();
}

Schedule choose_schedule(const Problem& problem, const Target& target, const Schedule& pinned) {
  if (!is_open(pinned)) {
    const Scheduler* scheduler = find_scheduler(name(pinned));
    if (scheduler == nullptr)
      throw UserError(
          fmt::format("schedule `{}` generates no kernel", print(pinned)), problem.where(),
          "pin pointwise(...), nest(...), norm(...), scatter(...), contraction(...), attention(...) or manual(...)");
    const auto of_gpus =
        target.cuda() && scheduler->refuses_of_gpus != nullptr ? scheduler->refuses_of_gpus(problem) : std::nullopt;
    if (of_gpus)
      throw UserError(fmt::format("{} has no kernels of this segment for GPUs: {}", scheduler->name, of_gpus->reason),
                      problem.where(), "leave the schedule out");
    if (const auto refused = scheduler->accept(problem))
      throw UserError(fmt::format("{} does not take this segment: {}", scheduler->name, refused->reason),
                      problem.where(), "leave the schedule out, or pin another one");
    return scheduler->choose(problem, target, pinned);
  }
  std::string reasons;
  for (const Scheduler& scheduler : schedulers()) {
    if (target.kind != TargetKind::cpu && scheduler.refuses_of_gpus != nullptr && scheduler.refuses_of_gpus(problem))
      continue;
    if (!runs_on(scheduler, target)) continue;  // op by op
    const auto refused = scheduler.accept(problem);
    if (!refused) return scheduler.choose(problem, target, {});
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", scheduler.name, refused->reason);
  }
  throw UserError("no scheduler takes this segment", problem.where(), reasons);
}

void apply_schedule(const Fusion& fusion, const Segment& segment) {
  const Scheduler* scheduler = find_scheduler(name(segment.schedule));
  if (scheduler == nullptr || segment.outputs.empty()) return;
  if (scheduler == &manual_scheduler()) return;  // its transforms are a person's
  clear_schedule(*reference_tensor(segment));
  if (scheduler->apply != nullptr) scheduler->apply({fusion, segment}, segment.schedule);
}

std::optional<ScheduledGroup> scheduled_group(const Problem& problem) {
  const Scheduler* scheduler = find_scheduler(name(problem.segment.schedule));
  if (scheduler == nullptr || scheduler->group == nullptr) return std::nullopt;
  return scheduler->group(problem, problem.segment.schedule);
}

std::string explain_schedules(const Fusion& fusion) {
  std::string out;
  for (const Segment& s : fusion.segments) {
    out += fmt::format("@{}: {}\n", s.name, print(s.schedule));
    const Problem problem{fusion, s};
    const Scheduler* own = find_scheduler(name(s.schedule));
    if (own == nullptr) continue;
    for (const Scheduler& other : schedulers()) {
      if (&other == own) break;
      if (const auto refused = other.accept(problem)) out += fmt::format("  not {}: {}\n", other.name, refused->reason);
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
