#include "schedule/moved.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/reads.h"

namespace plait {

namespace {

bool same_shape(const TensorView& a, const TensorView& b) {
  if (a.rank() != b.rank()) return false;
  // As they are written: loops over one extent are not split as those over another that is proven equal.
  for (size_t d = 0; d < a.rank(); ++d)
    if (a.extent(d) != b.extent(d)) return false;
  return true;
}

}  // namespace

std::vector<int> memory_dims(const TensorView& t) {
  std::vector<int> out;
  for (int d : t.domain.allocation)
    if (t.extent(static_cast<size_t>(d)).constant() != 1) out.push_back(d);
  return out;
}

std::vector<MemoryRead> memory_reads(const Segment& segment) {
  const std::set<const Op*> reads(segment.ops.begin(), segment.ops.end());
  std::vector<MemoryRead> out;
  for (TensorView* output : segment.outputs) {
    PointwiseOp store;  // the output's own op is a read too: what is behind it
    store.in = store.results = {output};
    for (const ReadThrough& in : read_through(store, reads)) {
      out.push_back({output, in.tensor, {}});
      for (int d : memory_dims(*in.tensor)) out.back().dims.push_back(in.dims[static_cast<size_t>(d)]);
    }
  }
  return out;
}

bool has_moves(std::span<Op* const> ops) {
  return std::any_of(ops.begin(), ops.end(), [](const Op* op) { return reads_elsewhere(*op) || keeps_places(*op); });
}

Refused other_domain(const TensorView& first, const TensorView& other) {
  return {fmt::format("outputs %{}: {} and %{}: {} have different domains", first.name, type_text(first), other.name,
                      type_text(other)),
          "give the outputs one shape: broadcast the smaller one, or do not output it"};
}

namespace {

// Whether nothing but constants and views stands beside a scatter.
bool is_update_of_memory(std::span<Op* const> ops) {
  const auto is_scatter = [](const Op* op) { return op->kind == OpKind::Scatter; };
  const auto scatter = std::ranges::find_if(ops, is_scatter);
  if (scatter == ops.end() || std::ranges::find(ops, inputs(**scatter)[0]->definition) != ops.end()) return false;
  return std::ranges::all_of(ops, [&](const Op* op) {
    return op == *scatter || keeps_places(*op) || (property(op->kind) == OpProperty::creation && inputs(*op).empty());
  });
}

}  // namespace

std::optional<Refused> moved_refuses(std::span<Op* const> ops, std::span<TensorView* const> outputs) {
  for (const Op* op : ops)
    if (!may_be_read(*op))
      return Refused{fmt::format("{} is neither elementwise nor a move", describe(*op)), kOnlyMoves};
  if (is_update_of_memory(ops))
    return Refused{fmt::format("{} updates what is in memory", describe(*outputs.front()->definition)),
                   "nothing: a scatter writes its updates alone where its result is in place"};
  for (const TensorView* t : outputs)
    if (!same_shape(*outputs.front(), *t)) return other_domain(*outputs.front(), *t);
  return reads_cost_too_much(ops, outputs, {ops.begin(), ops.end()});
}

std::string refuse_moved_row(const Problem& problem, int split) {
  for (const Op* op : problem.segment.ops)
    if (property(op->kind) == OpProperty::creation && op->results[0]->rank() > 0 && op->kind != OpKind::Full)
      return fmt::format("%{} counts along it", op->results[0]->name);
  for (const auto& [output, input, own] : memory_reads(problem.segment)) {
    std::vector<int> row;  // dims of the output
    for (int d : memory_dims(*output))
      if (d >= split) row.push_back(d);
    const bool along = own.size() >= row.size() && std::equal(row.rbegin(), row.rend(), own.rbegin());
    const bool none = std::all_of(own.begin(), own.end(), [&](int d) { return d >= 0 && d < split; });
    if (!along && !none) return fmt::format("%{}: {} is not contiguous along it", input->name, type_text(*input));
  }
  return "";
}

ScheduledGroup moved_group(const Problem& problem, const Schedule& schedule) {
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  out.schedule = schedule;
  const std::vector<Op*>& ops = out.graph->ops();
  out.reads.insert(ops.begin(), ops.end());
  store_outputs(out);
  out.reference = out.graph->outputs().front();
  out.aligned = out.graph->outputs();
  return out;
}

}  // namespace plait
