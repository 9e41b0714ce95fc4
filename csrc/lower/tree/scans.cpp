// Scans: variables in front of the outermost loop along the scanned dim, a step in the innermost.
#include "lower/scan_steps.h"
#include "lower/tree/emitter.h"
#include "schedule/nest.h"

namespace plait::lowering {

// What is carried, then what the step gives: readers in other guards of the iteration read it there.
void TreeEmitter::start_scan(const Op& op, int loop) {
  Part carried, now;
  const int threads = thread_loop(op);
  const std::vector<Constant> initial = scan_start(op);
  for (size_t k = 0; k < initial.size() && threads < 0; ++k) carried.push_back(variable(initial[k]));
  for (const TensorView* t : op.results)
    now.push_back(tree_.home(*t) == Home::value ? variable(Constant::from_int64(compute_type(t->dtype), 0)) : Value());
  whole_[&op] = {carried, std::move(now)};
  if (threads >= 0) start_across(op, threads);
  const auto begin = tree_.begins.find(&op);
  if (begin == tree_.begins.end()) return;
  Terms terms = terms_.at(&op);  // there may be no such row
  std::erase_if(terms, [&](const RangeTerm& t) { return !is_bound(t.value, loop); });
  const Part into = threads >= 0 ? across_.at(&op).carry : carried;
  const auto begin_with = [&](Part total) {
    for (size_t k = 0; k < into.size(); ++k) total[k] = convert(total[k], into[k].dtype);
    if (threads < 0) total = begin_of(op, total);
    for (size_t k = 0; k < into.size(); ++k) assign(into[k], total[k]);
  };
  if (options_.target == TargetKind::cuda) return begin_with(total_in_front(op, threads, terms));
  within(terms, [&] {
    Part total;
    for (const uint32_t saved : saved_.at(tree_.totals.at(&op))[0])
      total.push_back(load(saved, element(begin->second)));
    begin_with(std::move(total));
  });
}

// The totals of the parts in front of this one as one: by the threads that have it together, or by its thread.
TreeEmitter::Part TreeEmitter::total_in_front(const Op& scan, int threads, const Terms& terms) {
  const Op& total = *tree_.totals.at(&scan);
  whole_[&total] = start(total, has_parts(total));
  TreeLoop parts;
  parts.var = tree_.parts.at(&total).index.front();
  parts.extent = tree_.begins.at(&scan).index.front();
  parts.parallel = ParallelType::thread_x;
  if (threads >= 0) parts.together = tree_.loops[static_cast<size_t>(threads)].extent;
  within(terms, [&] {
    if (threads >= 0) return take_turns(parts, [&] { merge_parts(total); });
    auto loop = new_loop(parts.extent, kir::LoopKind::serial);
    frames_.push_back({&loop->body, std::nullopt});
    turn_ = {{parts.var.symbol_name(), loop->var}};
    merge_parts(total);
    turn_.clear();
    leave();
    add(std::move(loop));
  });
  return fold(combines_of(total)[0], whole_.at(&total)[0]);
}

// What the scan carries, of the state of its total, whose positions are below 0: of equals a scan takes the last one, a
// reduction the one of the lowest position. The sum of exponentials is from 0 where the greatest is infinite.
TreeEmitter::Part TreeEmitter::begin_of(const Op& scan, const Part& total) {
  switch (scan.kind) {
    case OpKind::CumMax:
    case OpKind::CumMin:
      return {total[0], apply(Pointwise::neg, {total[1]})};
    case OpKind::LogCumSumExp: {
      const auto number = [&](double value) { return literal(Constant::from_double(total[0].dtype, value)); };
      const Value zero = number(0), infinite = apply(Pointwise::isinf, {total[0]});
      const Value some = apply(Pointwise::gt, {total[0], zero});
      const Value sum = apply(Pointwise::where, {some, number(1), zero});
      return {total[0], apply(Pointwise::where, {infinite, sum, total[1]})};
    }
    default:
      return total;
  }
}

// The state in front of each part in the place of the part's.
void TreeEmitter::carry_parts(const Op& op) {
  const Combine combine = combines_of(op)[0];
  const sym::Expr at = element(tree_.parts.at(&op));
  const Part before = fold(combine, whole_.at(&op)[0]);
  auto stmt = std::make_unique<kir::Merge>();
  stmt->combine = combine;
  stmt->state = whole_.at(&op)[0];
  for (size_t k = 0; k < before.size(); ++k) {
    const uint32_t saved = saved_.at(&op)[0][k];
    stmt->in.push_back(convert(load(saved, at), stmt->state[k].dtype));
    store(saved, at, before[k]);
  }
  add(std::move(stmt));
}

class TreeEmitter::StepBuilder {
 public:
  StepBuilder(TreeEmitter& emitter, sym::Expr place) : emitter_(emitter), place_(place) {}
  Value apply(Pointwise function, std::vector<Value> in) { return emitter_.apply(function, std::move(in)); }
  Value literal(Constant constant) { return emitter_.literal(constant); }
  void assign(Value variable, Value in) { emitter_.assign(variable, in); }
  Value coordinate() { return emitter_.coordinate(place_); }
  Value copy(Value variable) {
    auto stmt = std::make_unique<kir::Convert>();
    stmt->out = emitter_.fresh(variable.dtype);
    stmt->in = variable;
    return emitter_.put(std::move(stmt));
  }

 private:
  TreeEmitter& emitter_;
  sym::Expr place_;
};

// The element at hand, in the type that the scan carries.
kir::Value TreeEmitter::element_of_scan(const Op& op) {
  const bool compares = op.kind == OpKind::CumMax || op.kind == OpKind::CumMin;
  return convert(operand(op, 0, compares && is_narrow(scan_of(op)->in->dtype)), scan_start(op)[0].dtype);
}

void TreeEmitter::step(const Op& op, Value x) {
  const Part carried = whole_.at(&op)[0], now = whole_.at(&op)[1];
  StepBuilder builder(*this, placed(op).own[static_cast<size_t>(scan_of(op)->dim)]);
  const Part results = ScanSteps(builder, op, carried).step(x);
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorView& t = *op.results[i];
    Value result = convert(results[i], compute_type(t.dtype));
    if (is_narrow(t.dtype) && options_.strict_rounding) result = round(result, t.dtype);
    if (tree_.home(t) == Home::value) assign(now[i], result);
    deliver(op, t, result);
  }
}

}  // namespace plait::lowering
