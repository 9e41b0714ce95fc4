#include "segment/boundaries.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "ir/launches.h"
#include "schedule/manual.h"

namespace plait {

namespace {

// What a person can change about a refusal, by words of its reason.
constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
    {"neither a scatter nor elementwise", "leave only scatters of one index and elementwise ops on both sides"},
    {"is not elementwise", "leave only elementwise ops on both sides"},
    {"neither elementwise nor a move", "leave only elementwise ops, moves and lookups on both sides"},
    {"reads at too many places", "let fewer moves read what moves make: store what lies between as an output"},
    {"computed again for each of its readers", "nothing: reading it once from memory is cheaper"},
    {"elsewhere along dim", "move what is in memory already: apply the move to the inputs of what it reads"},
    {"have different domains", "give the outputs one shape: broadcast the smaller one, or do not output it"},
    {"in place", "read the tensor at the coordinates at which it is made: put the move in front of what makes it"},
    {"neither elementwise nor a reduction",
     "write it with elementwise ops and reductions, or leave it a step of its own"},
    {"elsewhere than it is made", "move what is in memory already: apply the move to the inputs of what it reads"},
    {"nothing is reduced", "reduce something, or let the reason of pointwise not hold"},
    {"reduce different dims", "reduce the same dims on both sides; different ones are kernels of their own"},
    {"in opposite directions", "nothing: a row is gone through one way; each way is a kernel of its own"},
    {"do not stay on the stack", "nothing: rows as long as these go through memory; state the size where it is known"},
    {"rows lie apart in memory", "let the scan go along the innermost dim (allocation)"},
    {"scans would run", "let fewer outputs and reductions wait for the same scans"},
    {"of too many scans", "let fewer scans be read at other places"},
    {"reduces no dim", "drop the reduction over no dim"},
    {"does not have all dims", "do not output it, or broadcast it to the rows first"},
    {"has a dim that is none of the rows",
     "let its dims be among the kept and the reduced dims of the first reduction"},
    {"no dim without gaps", "give the reduced operand an innermost dim without gaps (allocation)"},
};

std::string change_for(const std::string& reason) {
  for (const auto& [words, change] : kChanges)
    if (reason.find(words) != reason.npos) return std::string(change);
  return "what each schedule takes stands in docs/schedulers.md";
}

// Why a step that no kernel computes has no neighbours in it.
std::optional<Refused> alone(const Segment& segment) {
  const std::string by(name(segment.schedule));
  const std::string op = describe(*segment.ops[0]);
  if (std::holds_alternative<schedules::Library>(segment.schedule))
    return Refused{
        by, op + " is a call of a library, which computes nothing else",
        "nothing: its neighbours read and write its tensors; --option contractions=nest generates it, alone too"};
  if (std::holds_alternative<schedules::Collective>(segment.schedule))
    return Refused{by, op + " is an exchange between ranks",
                   "annotate layouts so that nothing is exchanged: explain --shard"};
  if (std::holds_alternative<schedules::Copy>(segment.schedule))
    return Refused{by, op + " is a copy of a rank's piece",
                   "annotate layouts so that no piece is cut here: explain --shard"};
  if (std::holds_alternative<schedules::Alias>(segment.schedule))
    return Refused{by, op + " is its operand's memory", "nothing: an alias costs nothing"};
  return std::nullopt;
}

class BoundaryFinder {
 public:
  BoundaryFinder(const Fusion& fusion, const Target& target) : fusion_(fusion), target_(target) {
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
  std::vector<Refused> refusals(const Segment& from, const Segment& to) {
    for (const Segment* s : {&from, &to})
      if (auto refused = alone(*s)) return {*refused};
    if (const Segment* between = path(from, to))
      return {{"order", fmt::format("@{} reads what @{} makes, and @{} needs it", between->name, from.name, to.name),
               fmt::format("let @{} join them: see its own boundaries", between->name)}};
    Segment both = as_one(fusion_, std::array{&from, &to});
    both.name = from.name + "+" + to.name;
    both.schedule = {};
    std::vector<Refused> out;
    for (const Scheduler& scheduler : schedulers()) {
      if (target_.kind == TargetKind::cuda && scheduler.refuses_of_gpus != nullptr) {
        if (const auto reason = scheduler.refuses_of_gpus(both)) {
          out.push_back({std::string(scheduler.name), *reason, "compile for the CPU"});
          continue;
        }
      }
      const auto reason = scheduler.accept({fusion_, both});
      if (!reason)
        return {{"cost",
                 fmt::format("{} takes both, and merging stopped at the limits of a kernel or found others first",
                             scheduler.name),
                 "raise kernel_statements, kernel_live or kernel_outputs, or write both as one `segment` of the file"}};
      if (scheduler.name != name(Schedule(schedules::Nest())))
        out.push_back({std::string(scheduler.name), *reason, change_for(*reason)});
    }
    if (target_.kind == TargetKind::cpu && !manual_scheduler().accept({fusion_, both}))
      out.back().change += "; by hand both may be one: segment @a (...) -> (...) schedule manual";
    return out;
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
  std::map<const TensorView*, const Segment*> makers_;
  std::map<const Segment*, std::set<const Segment*>> readers_;
};

}  // namespace

std::vector<Boundary> boundaries(const Fusion& fusion, const Target& target) {
  return BoundaryFinder(fusion, target).run();
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
    for (const Refused& r : b.refused)
      out += fmt::format("  {} refuses: {}\n    to change: {}\n", r.by, r.reason, r.change);
  }
  return out;
}

}  // namespace plait
