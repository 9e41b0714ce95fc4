#include "schedule/manual.h"

#include <algorithm>

#include "axes/build_graph.h"
#include "axes/operand_read.h"
#include "axes/transforms.h"
#include "base/error.h"

namespace plait {

namespace {

using schedules::LoopStep;
using schedules::Manual;
using schedules::ManualTensor;

// What no kernel of a loop tree computes.
std::optional<Refused> refuse(const Op& op) {
  constexpr const char* kAlone = "give it a segment of its own, without `schedule`";
  if (std::string reason = unplaceable(op); !reason.empty())
    return Refused{fmt::format("{}: {}", describe(op), reason), kAlone};
  if (op.kind == OpKind::Bitcast)
    return Refused{fmt::format("{} has no loops by hand: {}", describe(op), kAlone), kAlone};
  return std::nullopt;
}

// Why a CPU has no such loop.
std::string refuse_loop(const Axis& loop) {
  switch (loop.parallel) {
    case ParallelType::serial:
    case ParallelType::cpu_thread:
      return "";
    case ParallelType::vectorize:
    case ParallelType::unroll: {
      const int64_t extent = loop.extent.constant().value_or(-1);
      if (extent < 1 || extent > 64)
        return fmt::format("its extent is {}: split it by a number up to 64 first", sym::print(loop.extent));
      if (loop.parallel == ParallelType::vectorize && (extent & (extent - 1)) != 0)
        return fmt::format("its extent is {}: lanes are powers of two", extent);
      return "";
    }
    default:
      return "it is of GPUs: loops by hand are serial, vectorize, unroll or cpu_thread";
  }
}

std::optional<Refused> accept(const Problem& problem) {
  for (const Op* op : problem.segment.ops)
    if (auto refused = refuse(*op)) return refused;
  return std::nullopt;
}

void check(const TensorView& t, const Problem& problem) {
  const std::vector<Axis> loops = loop_axes(t.domain);
  for (size_t i = 0; i < loops.size(); ++i)
    if (const std::string why = refuse_loop(loops[i]); !why.empty())
      throw UserError(fmt::format("loop {} of %{} cannot be {}: {}", i, t.name, name(loops[i].parallel), why),
                      problem.where(), "change the loops of the tensor");
}

TensorView* find_result(const Fusion& graph, const std::string& name) {
  TensorView* t = graph.find(name);
  PLAIT_CHECK(t != nullptr && t->definition != nullptr, "%{} is no result of the segment", name);
  return t;
}

void set_loops(TensorView& t, const std::vector<LoopStep>& loops) {
  state_reduction_axes(t);
  Domain next = t.domain;
  for (const LoopStep& step : loops) {
    const bool splits = step.kind == Transform::Kind::split;
    next.transforms.push_back({step.kind, step.position, splits ? t.fusion->pool().constant(step.factor) : sym::Expr(),
                               step.order, step.parallel});
  }
  loop_axes(next);  // UserError where facts of the sizes at hand forbid it
  t.domain = std::move(next);
}

// Tensors that can have the reference's axes by position, where no edge says so.
std::vector<TensorView*> alike(const Fusion& graph, TensorView* reference) {
  TensorView* first = reference;
  if (!reference->domain.reduction.empty()) first = inputs(*reference->definition).front();
  std::vector<TensorView*> out = {first};
  for (const Op* op : graph.ops())
    for (TensorView* t : op->results)
      if (t != first && t->rank() == first->rank()) out.push_back(t);
  return out;
}

}  // namespace

void schedule_by_hand(ScheduledGroup& out, const Manual& decisions) {
  out.by_hand = true;
  Fusion& graph = *out.graph;
  std::set<const TensorView*> stated;
  for (const ManualTensor& own : decisions.tensors) {
    TensorView* t = find_result(graph, own.tensor);
    stated.insert(t);
    if (!own.loops.empty()) {
      set_loops(*t, own.loops);
      out.own_loops.insert(t);
      out.reference = t;  // the last one
    }
    if (own.inline_at) out.inline_at[t] = static_cast<int>(*own.inline_at);
    if (own.keep) out.kept[t] = graph.pool().constant(*own.keep);
  }
  if (out.reference == nullptr) {
    out.reference = graph.outputs().back();
    state_reduction_axes(*out.reference);
  }
  out.own_loops.erase(out.reference);
  out.aligned = alike(graph, out.reference);
  // What nobody speaks of is computed where it is read, for each reader.
  std::vector<Op*> roots;
  for (Op* op : graph.ops()) {
    const bool is_root = std::any_of(op->results.begin(), op->results.end(), [&](const TensorView* t) {
      return stated.contains(t) || graph.is_output(t) || property(op->kind) == OpProperty::reduction;
    });
    if (is_root) roots.push_back(op);
  }
  copy_for_roots(out, roots, [](const TensorView& t) { return !is_elementwise(*t.definition); });
}

namespace {

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule&) {
  const Manual decisions = manual_schedule(problem.segment);
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  out.schedule = decisions;
  store_outputs(out);
  schedule_by_hand(out, decisions);
  return out;
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pinned) {
  if (target.kind == TargetKind::cuda)
    throw UserError("schedules by hand make kernels of CPUs", problem.where(), "leave the schedule out");
  set_manual_schedule(problem.segment, std::get<Manual>(pinned));
  for (const Op* op : problem.segment.ops)
    for (const TensorView* t : op->results) check(*t, problem);
  if (const auto found = disobeyed(problem, *group(problem, Manual())))
    throw UserError(found->what, problem.where(), found->remedy);
  return Manual();
}

}  // namespace

std::optional<Disobeyed> disobeyed(const Problem& problem, const ScheduledGroup& group) {
  return disobeyed(group, [&](sym::Expr e) { return problem.decide(sym::import(problem.fusion.pool(), e)); });
}

std::optional<Refused> refuse_loops(const Problem& problem, const std::function<ScheduledGroup()>& make) {
  constexpr const char* kSteps = "leave the schedule out: each step has loops of its own";
  const auto or_steps = [&](const std::string& remedy) { return remedy.empty() ? kSteps : remedy; };
  try {
    const auto found = disobeyed(problem, make());
    if (!found) return std::nullopt;
    return Refused{found->what, or_steps(found->remedy)};
  } catch (const UserError& error) {  // loops that some tensor cannot have
    return Refused{error.message(), or_steps(error.remedy())};
  }
}

std::optional<Refused> refuse_by_hand(const Problem& problem) {
  if (auto refused = accept(problem)) return refused;
  return refuse_loops(problem, [&] {
    ScheduledGroup out = make_group(problem.fusion, problem.segment);
    store_outputs(out);
    schedule_by_hand(out, Manual());
    return out;
  });
}

const Scheduler& manual_scheduler() {
  static const Scheduler kManual = {.name = Manual::kName,
                                    .accept = accept,
                                    .choose = choose,
                                    .apply = nullptr,
                                    .group = group,
                                    .refuses_of_gpus = [](const Problem&) -> std::optional<Refused> {
                                      return Refused{"schedules by hand are for CPUs",
                                                     "compile for the CPU, or leave the schedule out"};
                                    }};
  return kManual;
}

}  // namespace plait
