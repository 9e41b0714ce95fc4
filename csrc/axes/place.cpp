#include "axes/place.h"

#include <algorithm>
#include <set>

#include "axes/coordinate_test.h"
#include "axes/project.h"
#include "base/error.h"

namespace plait {

std::string_view name(Rule rule) {
  switch (rule) {
    case Rule::v1_independent:
      return "V1";
    case Rule::v2_known:
      return "V2";
    case Rule::v3_reduction:
      return "V3";
    case Rule::v4_readers:
      return "V4";
    case Rule::v5_covers:
      return "V5";
    case Rule::v6_once:
      return "V6";
    case Rule::v7_buffer:
      return "V7";
    case Rule::plain_loops:
      return "plain loops";
    case Rule::total_steps:
      return "total steps";
    case Rule::tied_buffers:
      return "tied buffers";
    case Rule::lossy_terms:
      return "lossy terms";
    case Rule::once_terms:
      return "once terms";
  }
  __builtin_unreachable();
}

namespace {

class Placement {
 public:
  Placement(AxisGroup& group, std::span<TensorView* const> outputs, Nest& nest, const PlaceOptions& options)
      : group_(group), outputs_(outputs), nest_(nest), options_(options), walk_(group.graph) {}

  std::optional<Refusal> run(const TensorView& reference) {
    nest_.reference = &reference;
    for (const LoopClass& l : loop_classes(group_, reference, options_.extent))
      if (!group_.graph.unit(l.cls)) nest_.loops.push_back({l.cls, l.parallel, false, false});
    for (const NestLoop& l : nest_.loops) walk_.seed(l.cls);
    walk_.run();
    check(Rule::v1_independent, &reference, [&] { return independent(); });
    for (const Op* op : group_.ops)
      for (const TensorView* t : op->results) check(Rule::v2_known, t, [&] { return known(*t); });
    if (!refusal_) mark_loops();
    for (const Op* op : group_.ops)
      check(Rule::v3_reduction, op->results[0], [&] { return reduction(*op->results[0]); });
    for (const Op* op : group_.ops) check(Rule::v4_readers, op->results[0], [&] { return readers(*op); });
    for (const TensorView* out : outputs_) check(Rule::v6_once, out, [&] { return once(reference, *out); });
    return refusal_;
  }

 private:
  template <class Fn>
  void check(Rule rule, const TensorView* tensor, Fn&& fn) {
    if (refusal_ || (options_.rules_off >> static_cast<int>(rule) & 1)) return;
    const std::string reason = fn();
    if (!reason.empty()) refusal_ = Refusal{rule, tensor, reason};
  }

  std::string independent() const {
    std::set<int> seen;
    std::vector<int> seeds;
    for (const NestLoop& l : nest_.loops) {
      if (!seen.insert(l.cls).second) return "two loops are the same axis";
      seeds.push_back(l.cls);
    }
    return coordinates_conflict(group_.graph, seeds, 60) ? "two loops disagree on an axis" : "";
  }

  std::string known(const TensorView& tensor) const {
    const TensorAxes& axes = group_.axes.at(&tensor);
    for (size_t d = 0; d < axes.logical.size(); ++d)
      if (!walk_.knows(axes.logical[d])) return fmt::format("dim {} follows from no loop", d);
    for (int a : axes.reduction)
      if (!walk_.knows(a)) return "the summed axis follows from no loop";
    return "";
  }

  std::set<int> seeds_of(const std::vector<int>& axes) const {
    std::set<int> out;
    for (int a : axes)
      if (walk_.knows(a)) out.merge(walk_.seeds(a));
    return out;
  }

  void mark_loops() {
    std::set<int> reduced, kept;
    for (const Op* op : group_.ops) {
      reduced.merge(seeds_of(group_.axes.at(op->results[0]).reduction));
      kept.merge(seeds_of(group_.axes.at(op->results[0]).logical));
    }
    for (NestLoop& l : nest_.loops) {
      l.reduction = reduced.contains(l.cls);
      l.idle = !l.reduction && !kept.contains(l.cls);
    }
  }

  std::string reduction(const TensorView& tensor) const {
    const TensorAxes& axes = group_.axes.at(&tensor);
    const std::set<int> reduced = seeds_of(axes.reduction), kept = seeds_of(axes.logical);
    for (int cls : reduced)
      if (kept.contains(cls)) return "a loop drives a kept and a summed axis";
    Walk outside(group_.graph);
    for (const NestLoop& l : nest_.loops)
      if (!reduced.contains(l.cls)) outside.seed(l.cls);
    outside.run();
    for (int a : axes.reduction)
      if (!group_.graph.unit(a) && outside.knows(a)) return "the summed axis is fixed by loops outside of the sum";
    return summed_once(axes, reduced);
  }

  // Every loop of the nest's sums follows from what this op sums over, or elements would be added again.
  std::string summed_once(const TensorAxes& axes, const std::set<int>& reduced) const {
    if (axes.reduction.empty()) return "";
    Walk own(group_.graph);
    for (int a : axes.reduction) own.seed(a);
    own.run(true);
    for (const NestLoop& l : nest_.loops) {
      if (!l.reduction) continue;
      if (!reduced.contains(l.cls)) return "the nest sums over an axis that this op does not sum over";
      if (!own.knows(l.cls)) return "a loop of the sum is not tied to the summed axis: elements would be added again";
    }
    return "";
  }

  // The axes of a cut edge's operand are whole for its reader: none may be driven by a loop that both share.
  std::string readers(const Op& op) const {
    for (const Edge& edge : group_.edges_of(op)) {
      if (!edge.hard || !edge.cut) continue;
      for (int a : group_.axes.at(edge.operand).logical)
        if (!group_.graph.unit(a))
          return fmt::format("it reads %{} at other coordinates than this iteration's: {}", edge.operand->name,
                             edge.reason);
    }
    return "";
  }

  std::string once(const TensorView& reference, const TensorView& out) {
    Projection projection(group_, reference, out);
    Walk own(group_.graph);
    for (int a : group_.axes.at(&out).logical) own.seed(a);
    own.run(true);
    for (size_t i = 0; i < nest_.loops.size(); ++i) {
      const NestLoop& l = nest_.loops[i];
      if (l.reduction || l.idle || own.knows(l.cls)) continue;
      const bool lacks = !projection.project(l.cls).has_value();
      return fmt::format("loop {} {} %{}, which would be stored again in each of its iterations", i,
                         lacks ? "drives no axis of" : "is not tied to the coordinates of", out.name);
    }
    return "";
  }

  AxisGroup& group_;
  std::span<TensorView* const> outputs_;
  Nest& nest_;
  const PlaceOptions& options_;
  Walk walk_;
  std::optional<Refusal> refusal_;
};

}  // namespace

std::optional<Refusal> place(AxisGroup& group, const TensorView& reference, std::span<TensorView* const> outputs,
                             Nest& nest, const PlaceOptions& options) {
  return Placement(group, outputs, nest, options).run(reference);
}

}  // namespace plait
