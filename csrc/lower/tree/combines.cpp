// Reductions: a state in front of the loops, elements into it, the result behind. A long sum of floats has a state of
// f64 for the whole and one in its own type for each part, so that an element meets few additions.
#include <algorithm>

#include "base/error.h"
#include "lower/tree/emitter.h"
#include "schedule/nest.h"

namespace plait::lowering {

bool is_reduced_by(const PlacedOp& op, sym::Expr var) {
  return std::any_of(op.reduced.begin(), op.reduced.end(),
                     [&](sym::Expr e) { return sym::symbols(e).contains(var.symbol_name()); });
}

// The innermost but one of a sum's serial loops has a part in each iteration. Where loops over kept dims stand outside
// of that one and inside of another one, so does the last of them in front of a sum's.
void TreeEmitter::find_parts() {
  for (const Op* op : group_.graph->ops()) {
    if (!tree_.ops.contains(op) || kind_of(*op).form != Form::sum) continue;
    const PlacedOp& at = placed(*op);
    if (!has_parts(*op) || sums_panels(*op)) continue;
    const std::vector<int> path = tree_.path(at.loop);
    std::vector<int> serial;
    for (int id : path) {
      const TreeLoop& l = tree_.loops[static_cast<size_t>(id)];
      const bool in_turn = l.parallel == ParallelType::serial || l.parallel == ParallelType::unroll;
      if (in_turn && is_reduced_by(at, l.var)) serial.push_back(id);
    }
    if (serial.size() < 2) continue;
    const auto place = [&](int l) { return std::find(path.begin(), path.end(), l); };
    int loop = serial[serial.size() - 2];
    if (!at.state_loops.empty() && place(at.state_loops.front()) < place(loop)) {
      const auto first = place(at.state_loops.front());
      if (first < place(serial.front())) continue;
      loop = *(place(*std::ranges::find_if(serial, [&](int l) { return place(l) > first; })) - 1);
    }
    for (int l : at.state_loops)
      if (place(l) > place(loop)) part_loops_[op].push_back(l);
    parts_[loop].push_back(op);
    part_of_.insert(op);
  }
}

std::vector<Combine> TreeEmitter::combines_of(const Op& op) const {
  if (const Op* scan = tree_.scan_of_total(&op); scan != nullptr && scan->kind == OpKind::LogCumSumExp)
    return {Combine::log_sum_exp};
  return kind_of(op).combines;
}

// The state of nothing; `wide`: where parts go into. A variance without parts has few elements, of each of which its
// steps would round several times.
TreeEmitter::Carried TreeEmitter::start(const Op& op, bool wide) {
  const DType in = inputs(op).front()->dtype;
  Carried out;
  for (Combine combine : combines_of(op)) {
    auto stmt = std::make_unique<kir::Start>();
    stmt->combine = combine;
    const bool in_f64 = wide || (combine == Combine::variance && !part_of_.contains(&op));
    const std::vector<DType> types = state_types(combine, in_f64 ? DType::f64 : in);
    if (!in_f64 && types[0] != in) stmt->element = in;
    for (DType type : types) stmt->state.push_back(fresh(type));
    out.push_back(stmt->state);
    add(std::move(stmt));
  }
  return out;
}

// Row-major place among what is reduced.
sym::Expr TreeEmitter::position(const Op& op) {
  sym::Expr at = number(0), stride = number(1);
  const std::vector<Axis> axes = reduction_axes(op);
  const Coordinates& reduced = placed(op).reduced;
  for (size_t i = axes.size(); i-- > 0;) {
    at = at + reduced[i] * stride;
    stride = stride * extents_(axes[i].extent);
  }
  return at;
}

// One element into every state. A product's is that of both operands. An index is discontinuous where two elements
// become equal, so narrow ones are compared as their type holds them.
void TreeEmitter::accumulate(const Op& op) {
  const std::vector<Combine> combines = combines_of(op);
  const Carried& states = part_of_.contains(&op) ? part_.at(&op) : whole_.at(&op);
  for (size_t i = 0; i < combines.size(); ++i) {
    const DType type = states[i][0].dtype;
    const bool first = has_position(combines[i]);
    auto stmt = std::make_unique<kir::Accumulate>();
    stmt->combine = combines[i];
    stmt->state = states[i];
    Value x = convert(operand(op, 0, first && is_narrow(inputs(op).front()->dtype)), type);
    if (property(op.kind) == OpProperty::contraction) x = apply(Pointwise::mul, {x, convert(operand(op, 1), type)});
    stmt->in = {x};
    if (first) stmt->in.push_back(coordinate(tree_.is_total(&op) ? -position(op) : position(op)));
    add(std::move(stmt));
  }
}

void TreeEmitter::start_part(const Op& op) {
  if (has_tile(op)) return start_part_tile(op);
  part_[&op] = start(op, false);
}

void TreeEmitter::merge_part(const Op& op) {
  if (has_tile(op)) return merge_part_tile(op);
  const std::vector<Combine> combines = combines_of(op);
  const Carried &whole = whole_.at(&op), &part = part_.at(&op);
  for (size_t i = 0; i < combines.size(); ++i) {
    auto stmt = std::make_unique<kir::Merge>();
    stmt->combine = combines[i];
    stmt->state = whole[i];
    for (size_t k = 0; k < part[i].size(); ++k) stmt->in.push_back(convert(part[i][k], whole[i][k].dtype));
    add(std::move(stmt));
  }
}

// The number of elements that are combined into one, less some, but at least 0.
kir::Value TreeEmitter::terms_of(const Op& op, int64_t less, DType type) {
  sym::Expr count = number(1);
  for (const Axis& a : reduction_axes(op)) count = count * extents_(a.extent);
  return convert(coordinate(sym::max(count - less, 0)), type);
}

void TreeEmitter::finish(const Op& op) {
  const std::vector<Combine> combines = combines_of(op);
  Carried whole;
  if (has_tile(op) && !tree_.parts.contains(&op))
    whole.push_back({state_in_tile(op)});
  else
    for (size_t i = 0; i < combines.size(); ++i) whole.push_back(fold(combines[i], whole_.at(&op)[i]));
  const auto variance = [&](const Part& part, int64_t correction) {
    return apply(Pointwise::div, {part[1], terms_of(op, correction, part[1].dtype)});
  };
  using Values = std::vector<Value>;
  const Values results =
      visit(op, overloaded{
                    [&](const Linear& o) {
                      const Value sum = whole[0][0];
                      return Values{o.b ? apply(Pointwise::add, {sum, convert(operand(op, 2), sum.dtype)}) : sum};
                    },
                    [&](const Matmul&) { return Values{whole[0][0]}; },
                    [&](const Reduce&) { return Values{whole[0].back()}; },
                    [&](const Var& o) { return Values{variance(whole[0], o.correction)}; },
                    [&](const VarMean& o) {
                      const DType type = accumulation_type(o.in->dtype);
                      const Value mean = apply(Pointwise::div, {convert(whole[0][0], type), terms_of(op, 0, type)});
                      return Values{mean, variance(whole[1], o.correction)};
                    },
                    [&](const MaxWithArgmax&) { return whole[0]; },
                    [&](const MinWithArgmin&) { return whole[0]; },
                    [](const Op& o) -> Values { PLAIT_CHECK(false, "{} combines nothing", describe(o)); },
                });
  for (size_t r = 0; r < results.size(); ++r) {
    const TensorView& tensor = *op.results[r];
    Value result = convert(results[r], compute_type(tensor.dtype));
    if (is_narrow(tensor.dtype) && options_.strict_rounding) result = round(result, tensor.dtype);
    deliver(op, tensor, result);
  }
}

}  // namespace plait::lowering
