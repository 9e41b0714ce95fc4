// Scans: variables in front of one loop, one step and a store inside of it.
#include "base/error.h"
#include "lower/statements.h"

namespace plait::lowering {

// Of sums a CPU adds in f64; a GPU keeps what each addition of f32 leaves out in a second variable. Products of floats
// and sums of exponentials are in f64 on both.
void Statements::start_scan() {
  const Op& op = *state_.group.ops.front();
  const DType in = scan_of(op)->in->dtype, type = accumulation_type(in);
  const bool cpu = state_.kernel.target == TargetKind::cpu;
  const auto number = [&](DType dtype, int64_t value) {
    return variable(Constant::from_int64(dtype, value), state_.lanes);
  };
  switch (op.kind) {
    case OpKind::CumSum:
      carried_ = {number(cpu && is_float(type) ? DType::f64 : type, 0)};
      if (!cpu && type == DType::f32) carried_.push_back(number(type, 0));
      return;
    case OpKind::CumProd:
      carried_ = {number(is_float(type) ? DType::f64 : type, 1)};
      return;
    case OpKind::LogCumSumExp:
      carried_ = {variable(end_of_order(DType::f64, true), state_.lanes), number(DType::f64, 0)};
      return;
    case OpKind::CumMax:
    case OpKind::CumMin:
      carried_ = {variable(end_of_order(in, op.kind == OpKind::CumMax), state_.lanes), number(DType::i64, 0)};
      return;
    default:
      PLAIT_CHECK(false, "{} is no scan", describe(op));
  }
}

// What is carried, as a value that stays: the result of a sum or a product.
kir::Value Statements::carried_now() {
  if (carried_.size() > 1) return apply(Pointwise::add, {carried_[0], carried_[1]});
  auto copied = std::make_unique<kir::Convert>();
  copied->in = carried_[0];
  copied->out = fresh(carried_[0].dtype, state_.lanes);
  return put(std::move(copied), innermost());
}

// Of equals the later one, and every NaN: a number is no less than the extremum so far, or it is the first NaN's turn.
std::vector<kir::Value> Statements::scan_extremum(const Op& op, bool least, kir::Value x, sym::Expr place) {
  const kir::Value best = carried_[0];
  kir::Value taken = apply(least ? Pointwise::le : Pointwise::ge, {x, best});
  if (is_float(inputs(op).front()->dtype)) {
    const kir::Value yes = literal(Constant::from_bool(true), x.lanes);
    taken = apply(Pointwise::where, {apply(Pointwise::ne, {x, x}), yes, taken});
  }
  const std::vector<kir::Value> now = {apply(Pointwise::where, {taken, x, best}),
                                       apply(Pointwise::where, {taken, coordinate(place, x.lanes), carried_[1]})};
  for (size_t i = 0; i < now.size(); ++i) assign(carried_[i], now[i]);
  return now;
}

// The greatest so far and the sum of exp(x - greatest). Where the greatest is an infinity, of exp(x): 0, inf or NaN.
void Statements::scan_exponential(kir::Value x) {
  const kir::Value most = carried_[0], sum = carried_[1];
  const kir::Value zero = literal(Constant::from_double(DType::f64, 0), x.lanes);
  const kir::Value next = apply(Pointwise::max, {most, x});
  const kir::Value by = apply(Pointwise::where, {apply(Pointwise::isinf, {next}), zero, next});
  const auto power = [&](kir::Value of) { return apply(Pointwise::exp, {apply(Pointwise::sub, {of, by})}); };
  const kir::Value first = apply(Pointwise::eq, {sum, zero});
  const kir::Value before = apply(Pointwise::where, {first, zero, apply(Pointwise::mul, {sum, power(most)})});
  assign(sum, apply(Pointwise::add, {before, power(x)}));
  assign(most, next);
}

kir::Value Statements::log_of_carried() {
  const kir::Value most = carried_[0], sum = carried_[1];
  const kir::Value zero = literal(Constant::from_double(DType::f64, 0), most.lanes);
  const kir::Value by = apply(Pointwise::where, {apply(Pointwise::isinf, {most}), zero, most});
  return apply(Pointwise::add, {by, apply(Pointwise::log, {sum})});
}

// One step where a loop carries the state; over a dim of extent 1 no loop does, and every copy has a state of its own.
void Statements::scan(const Op& op) {
  const ScanOf scan = *scan_of(op);
  for (const Replacements& copy : leaf_->copies) {
    if (!state_.scan) start_scan();
    const std::vector<sym::Expr> at = own_coordinates(*op.results[0], copy);
    const auto give = [&](size_t result, kir::Value value) {
      const TensorView& t = *op.results[result];
      const kir::Value out = convert(value, compute_type(t.dtype));
      known_.emplace(key_of(t, own_coordinates(t, copy), state_.lanes, false), Known{out, innermost()});
    };
    const kir::Value x = convert(load_at(*scan.in, at, state_.lanes), carried_[0].dtype);
    if (op.kind == OpKind::CumMax || op.kind == OpKind::CumMin) {
      const auto now = scan_extremum(op, op.kind == OpKind::CumMin, x, at[static_cast<size_t>(scan.dim)]);
      for (size_t i = 0; i < now.size(); ++i) give(i, now[i]);
      continue;
    }
    if (op.kind == OpKind::LogCumSumExp) {
      scan_exponential(x);
      give(0, log_of_carried());
      continue;
    }
    kir::Value now;
    if (scan.exclusive) now = carried_now();
    if (carried_.size() > 1)
      add_exactly(carried_, x);
    else
      assign(carried_[0], apply(op.kind == OpKind::CumProd ? Pointwise::mul : Pointwise::add, {carried_[0], x}));
    if (!scan.exclusive) now = carried_now();
    give(0, now);
  }
}

}  // namespace plait::lowering
