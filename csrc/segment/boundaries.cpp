#include "segment/boundaries.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "ir/launches.h"
#include "schedule/manual.h"

namespace plait {

namespace {

// What stands in for what a person changes, where a change of the ops does not help.
constexpr std::string_view kNothing = "nothing: ";

// Why a step that no kernel computes, and that is no call of a library, has no neighbours in it.
std::optional<Refuser> alone(const Segment& segment) {
  const std::string by(name(segment.schedule)), op = describe(*segment.ops[0]);
  if (std::holds_alternative<schedules::Alias>(segment.schedule))
    return Refuser{by, {op + " is its operand's memory", "nothing: an alias costs nothing"}};
  if (std::holds_alternative<schedules::Collective>(segment.schedule))
    return Refuser{
        by, {op + " is an exchange between ranks", "annotate layouts so that nothing is exchanged: explain --shard"}};
  if (std::holds_alternative<schedules::Copy>(segment.schedule))
    return Refuser{
        by, {op + " is a copy of a rank's piece", "annotate layouts so that no piece is cut here: explain --shard"}};
  return std::nullopt;
}

// What the scheduler says of a segment for the target, sizes included.
std::optional<Refused> ask(const Scheduler& scheduler, const Problem& problem, const Target& target) {
  if (!runs_on(scheduler, target))
    return Refused{"the target computes reductions, scans and scatters op by op", "compile for a CPU or a GPU"};
  std::optional<Refused> out = scheduler.accept(problem), of_gpus;
  if (target.cuda() && scheduler.refuses_of_gpus != nullptr) of_gpus = scheduler.refuses_of_gpus(problem);
  if (of_gpus && out) return Refused{of_gpus->reason + "; " + out->reason, of_gpus->change + "; " + out->change};
  if (of_gpus) return of_gpus;
  if (!out && scheduler.refuses_sizes != nullptr) out = scheduler.refuses_sizes(problem, target);
  return out;
}

// The most values that the ops, in order, hold at once for later ones.
int64_t live_values(const Segment& segment) {
  std::map<const TensorView*, size_t> last;
  for (size_t i = 0; i < segment.ops.size(); ++i)
    for (const TensorView* t : inputs(*segment.ops[i])) last[t] = i;
  std::set<const TensorView*> live;
  size_t most = 0;
  for (size_t i = 0; i < segment.ops.size(); ++i) {
    for (const TensorView* t : inputs(*segment.ops[i])) live.insert(t);
    for (const TensorView* t : segment.ops[i]->results) live.insert(t);
    std::erase_if(live, [&](const TensorView* t) { return !last.contains(t) || last.at(t) <= i; });
    most = std::max(most, live.size());
  }
  return static_cast<int64_t>(most);
}

class BoundaryFinder {
 public:
  BoundaryFinder(const Fusion& fusion, const Target& target, sym::Guards* guards, const KernelLimits& limits)
      : fusion_(fusion), target_(target), guards_(guards), limits_(limits) {
    for (const Segment& s : fusion.segments)
      for (const Op* op : s.ops)
        for (const TensorView* t : op->results) makers_[t] = &s;
    for (const Segment& s : fusion.segments)
      for (const TensorView* t : s.inputs)
        if (const auto it = makers_.find(t); it != makers_.end()) readers_[it->second].insert(&s);
  }

  std::vector<Boundary> run() {
    std::vector<Boundary> out;
    for (const Segment& to : fusion_.segments) {
      const size_t first = out.size();
      for (const TensorView* t : to.inputs) {
        const auto maker = makers_.find(t);
        if (maker == makers_.end()) continue;
        const auto same = [&](const Boundary& b) { return b.from == maker->second; };
        auto at = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), same);
        if (at == out.end()) at = out.insert(at, {maker->second, &to, {}, refusals(*maker->second, to)});
        at->tensors.push_back(t);
      }
    }
    return out;
  }

 private:
  std::vector<Refuser> refusals(const Segment& from, const Segment& to) {
    for (const Segment* s : {&from, &to})
      if (auto refuser = alone(*s)) return {*refuser};
    if (const Segment* between = path(from, to))
      return {{"order",
               {fmt::format("@{} reads what @{} makes, and @{} needs it", between->name, from.name, to.name),
                fmt::format("let @{} join them: see its own boundaries", between->name)}}};
    Segment both = as_one(fusion_, std::array{&from, &to});
    both.name = from.name + "_" + to.name;
    both.schedule = {};
    for (const Segment* s : {&from, &to})
      if (std::holds_alternative<schedules::Library>(s->schedule)) return {by_library(*s, both)};
    std::vector<Refuser> out;
    std::optional<Refuser> last;  // for ops of no other scheduler's kind
    for (const Scheduler& scheduler : schedulers()) {
      const auto refused = ask(scheduler, {fusion_, both, guards_}, target_);
      if (!refused) return {by_cost(scheduler, both)};
      if (scheduler.concerns != nullptr && scheduler.concerns(both.ops))
        out.push_back({std::string(scheduler.name), *refused});
      if (scheduler.name == schedules::Nest::kName) last = {std::string(scheduler.name), *refused};
    }
    if (out.empty()) out.push_back(last.value());
    if (target_.kind == TargetKind::cpu && !refuse_by_hand({fusion_, both, guards_}))
      out.back().refused.change += "; by hand both are one: segment @a (...) -> (...) schedule manual";
    return out;
  }

  // Tiles may stand in for the library, and take what is elementwise behind it.
  Refuser by_library(const Segment& library, const Segment& both) const {
    const std::string by(name(library.schedule)), tiles(schedules::Contraction::kName);
    const std::string reason = describe(*library.ops[0]) + " is a call of a library, which computes nothing else";
    const auto refused = ask(*find_scheduler(tiles), {fusion_, both, guards_}, target_);
    if (!refused)
      return {by,
              {reason, fmt::format("write both as one `segment` with `schedule {}()`: its tiles have both, though the "
                                   "library may be faster",
                                   tiles)}};
    const bool helps = refused->change.rfind(kNothing, 0) != 0;
    return {
        by,
        {reason, helps ? fmt::format("tiles in its place, `schedule {}()`, ask more: {}; {}", tiles, refused->reason,
                                     refused->change)
                       : fmt::format("{}tiles in its place have no neighbours either: {}", kNothing, refused->reason)}};
  }

  // A scheduler takes both: what a limit, or the order of merging, kept apart.
  Refuser by_cost(const Scheduler& scheduler, const Segment& both) const {
    const std::string one = fmt::format("write both as one `segment` with `schedule {}()`", scheduler.name);
    int64_t statements = 0;
    for (const Op* op : both.ops) statements += statements_of(*op);
    const std::tuple<const char*, int64_t, int64_t> bounds[] = {
        {"kernel_statements", statements, limits_.statements},
        {"kernel_live", live_values(both), limits_.live},
        {"kernel_outputs", static_cast<int64_t>(both.outputs.size()), limits_.outputs},
        {"kernel_inputs", static_cast<int64_t>(both.inputs.size()), limits_.inputs}};
    for (const auto& [option, number, limit] : bounds)
      if (limit > 0 && number > limit)
        return {"cost",
                {fmt::format("{} takes both: together {}, beyond {} = {}", scheduler.name, number, option, limit),
                 fmt::format("--option {}={}, or {}", option, number, one)}};
    return {"cost",
            {fmt::format("{} takes both: others were merged first, or a file or an option keeps them apart",
                         scheduler.name),
             one}};
  }

  // A segment between the two; null where there is none.
  const Segment* path(const Segment& from, const Segment& to) {
    std::set<const Segment*> seen;
    for (const Segment* next : readers_[&from]) {
      if (next == &to) continue;
      std::vector<const Segment*> todo = {next};
      while (!todo.empty()) {
        const Segment* s = todo.back();
        todo.pop_back();
        if (s == &to) return next;
        if (!seen.insert(s).second || s > &to) continue;  // segments stand in order
        for (const Segment* r : readers_[s]) todo.push_back(r);
      }
    }
    return nullptr;
  }

  const Fusion& fusion_;
  const Target& target_;
  sym::Guards* guards_;
  const KernelLimits& limits_;
  std::map<const TensorView*, const Segment*> makers_;
  std::map<const Segment*, std::set<const Segment*>> readers_;
};

}  // namespace

std::vector<Boundary> boundaries(const Fusion& fusion, const Target& target, sym::Guards* guards,
                                 const KernelLimits& limits) {
  return BoundaryFinder(fusion, target, guards, limits).run();
}

std::string print(const std::vector<Boundary>& boundaries) {
  std::string out;
  for (const Boundary& b : boundaries) {
    std::string tensors;
    for (const TensorView* t : b.tensors)
      tensors += fmt::format("{}%{}: {}", tensors.empty() ? "" : ", ", t->name, type_text(*t));
    const auto launch = [](const Segment& s) { return s.joins.empty() ? s.name : s.joins; };
    out += fmt::format("@{} -> @{}: {}{}\n", b.from->name, b.to->name, tensors,
                       launch(*b.from) == launch(*b.to) ? ", within one launch" : "");
    for (const auto& [by, refused] : b.refusers)
      out += fmt::format("  {} refuses: {}\n    to change: {}\n", by, refused.reason, refused.change);
  }
  return out;
}

}  // namespace plait
