// Scans: variables in front of one loop, one step and a store inside of it.
#include "base/error.h"
#include "lower/scan_steps.h"
#include "lower/statements.h"

namespace plait::lowering {

// A GPU adds f32 in f32 and keeps what each addition leaves out in a second variable.
void Statements::start_scan() {
  const Op& op = *state_.group.ops.front();
  const DType type = accumulation_type(scan_of(op)->in->dtype);
  carried_.clear();
  if (op.kind == OpKind::CumSum && state_.kernel.target != TargetKind::cpu && is_float(type)) {
    for (int i = 0; i < (type == DType::f32 ? 2 : 1); ++i)
      carried_.push_back(variable(Constant::from_int64(type, 0), state_.lanes));
    return;
  }
  for (const Constant& initial : scan_start(op)) carried_.push_back(variable(initial, state_.lanes));
}

namespace {

struct StepBuilder {
  std::function<kir::Value(Pointwise, std::vector<kir::Value>)> apply;
  std::function<kir::Value(Constant)> literal;
  std::function<kir::Value(kir::Value)> copy;
  std::function<void(kir::Value, kir::Value)> assign;
  std::function<kir::Value()> coordinate;
};

}  // namespace

Statements::Part Statements::scan_step(const Op& op, kir::Value x, sym::Expr place) {
  StepBuilder builder;
  builder.apply = [&](Pointwise function, std::vector<kir::Value> in) { return apply(function, std::move(in)); };
  builder.literal = [&](Constant constant) { return literal(constant, x.lanes); };
  builder.assign = [&](kir::Value variable, kir::Value in) { assign(variable, in); };
  builder.coordinate = [&] { return coordinate(place, x.lanes); };
  builder.copy = [&](kir::Value from) {
    auto copied = std::make_unique<kir::Convert>();
    copied->in = from;
    copied->out = fresh(from.dtype, from.lanes);
    return put(std::move(copied), innermost());
  };
  if (op.kind != OpKind::CumSum || carried_.size() < 2) return ScanSteps(builder, op, carried_).step(x);
  const auto now = [&] { return apply(Pointwise::add, {carried_[0], carried_[1]}); };
  if (!scan_of(op)->exclusive) {
    add_exactly(carried_, x);
    return {now()};
  }
  const kir::Value before = now();
  add_exactly(carried_, x);
  return {before};
}

// One step where a loop carries the state; over a dim of extent 1 no loop does, and every copy has a state of its own.
void Statements::scan(const Op& op) {
  const ScanOf scan = *scan_of(op);
  for (const Replacements& copy : leaf_->copies) {
    if (!state_.scan) start_scan();
    const std::vector<sym::Expr> at = own_coordinates(*op.results[0], copy);
    const kir::Value x = convert(load_at(*scan.in, at, state_.lanes), carried_[0].dtype);
    const Part now = scan_step(op, x, at[static_cast<size_t>(scan.dim)]);
    for (size_t i = 0; i < now.size(); ++i) {
      const TensorView& t = *op.results[i];
      const kir::Value out = convert(now[i], compute_type(t.dtype));
      known_.emplace(key_of(t, own_coordinates(t, copy), state_.lanes, false), Known{out, innermost()});
    }
  }
}

}  // namespace plait::lowering
