#include "ir/segment_rules.h"

#include <set>

#include "base/error.h"

namespace plait {

namespace {

using Tensors = std::set<const TensorView*>;

std::optional<SegmentProblem> check_names(const Fusion& fusion) {
  std::set<std::string> names;
  for (size_t i = 0; i < fusion.segments.size(); ++i) {
    const Segment& s = fusion.segments[i];
    if (!names.insert(s.name).second)
      return SegmentProblem{i, fmt::format("segment @{} is defined twice", s.name), "rename one of them"};
    if (s.ops.empty()) return SegmentProblem{i, fmt::format("segment @{} holds no ops", s.name), "drop it"};
    for (const auto* list : {&s.inputs, &s.outputs}) {
      Tensors listed;
      for (const TensorView* t : *list)
        if (!listed.insert(t).second)
          return SegmentProblem{i, fmt::format("segment @{} lists %{} twice", s.name, t->name), "list it once"};
    }
  }
  return {};
}

// Launches are runs of segments: the first one's name is what the others join.
std::optional<SegmentProblem> check_launches(const Fusion& fusion) {
  const Segment* first = nullptr;
  for (size_t i = 0; i < fusion.segments.size(); ++i) {
    const Segment& s = fusion.segments[i];
    if (s.joins.empty()) {
      first = &s;
      continue;
    }
    const auto problem = [&](std::string what, std::string remedy) {
      return SegmentProblem{i, fmt::format("segment @{} joins @{}, {}", s.name, s.joins, what), std::move(remedy)};
    };
    if (first == nullptr || first->name != s.joins)
      return problem("which does not begin the launch in front of it",
                     first == nullptr ? "the first segment joins none"
                                      : fmt::format("join @{}, or move the segment", first->name));
    for (const Segment* part : {first, &s})
      if (!is_open(part->schedule) && !is_generated(part->schedule))
        return problem(fmt::format("and no kernel computes @{}", part->name), "only generated kernels share a launch");
  }
  return {};
}

// `crossing`: inputs of the fusion and outputs of the segments before this one.
std::optional<SegmentProblem> check_segment(const Fusion& fusion, size_t index, const Tensors& crossing) {
  const Segment& s = fusion.segments[index];
  auto problem = [&](std::string what, std::string remedy) {
    return SegmentProblem{index, fmt::format("segment @{} {}", s.name, what), std::move(remedy)};
  };
  Tensors known(s.inputs.begin(), s.inputs.end()), made;
  for (const TensorView* in : s.inputs)
    if (!crossing.count(in))
      return problem(
          fmt::format("lists the input %{}, which no input of the fusion and no earlier segment gives", in->name),
          "list it as an output of the segment that makes it, and order the segments");
  for (const Op* op : s.ops) {
    for (const TensorView* in : inputs(*op))
      if (!known.count(in))
        return problem(fmt::format("reads %{}, which is not its input", in->name),
                       fmt::format("list %{} among the inputs of @{}", in->name, s.name));
    known.insert(op->results.begin(), op->results.end());
    made.insert(op->results.begin(), op->results.end());
  }
  const Tensors outputs(s.outputs.begin(), s.outputs.end());
  for (const TensorView* out : s.outputs)
    if (!made.count(out))
      return problem(fmt::format("does not make its output %{}", out->name), "drop it from the outputs");
  for (const Op* op : s.ops)
    for (const TensorView* t : op->results)
      if (fusion.is_output(t) && !outputs.count(t))
        return problem(fmt::format("makes %{}, an output of the fusion, and does not list it", t->name),
                       fmt::format("list %{} among the outputs of @{}", t->name, s.name));
  return {};
}

}  // namespace

std::optional<SegmentProblem> segment_problem(const Fusion& fusion) {
  if (fusion.segments.empty()) return {};
  if (auto problem = check_names(fusion)) return problem;
  if (auto problem = check_launches(fusion)) return problem;
  Tensors crossing(fusion.inputs().begin(), fusion.inputs().end());
  size_t next = 0;
  for (size_t i = 0; i < fusion.segments.size(); ++i) {
    const Segment& s = fusion.segments[i];
    for (const Op* op : s.ops) {
      if (next >= fusion.ops().size() || fusion.ops()[next] != op)
        return SegmentProblem{
            i, fmt::format("segment @{} does not hold the next op of the order: {}", s.name, describe(*op)),
            "every op stands in exactly one segment"};
      ++next;
    }
    if (auto problem = check_segment(fusion, i, crossing)) return problem;
    crossing.insert(s.outputs.begin(), s.outputs.end());
  }
  if (next < fusion.ops().size())
    return SegmentProblem{fusion.segments.size() - 1, fmt::format("no segment holds {}", describe(*fusion.ops()[next])),
                          "every op stands in exactly one segment"};
  return {};
}

}  // namespace plait
