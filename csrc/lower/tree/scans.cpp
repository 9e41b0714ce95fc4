// Scans: variables in front of the outermost loop along the scanned dim, a step in the innermost.
#include "lower/scan_steps.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

// What is carried, then what the step gives: readers in other guards of the iteration read it there.
void TreeEmitter::start_scan(const Op& op) {
  Part carried, now;
  for (const Constant& initial : scan_start(op)) carried.push_back(variable(initial));
  for (const TensorView* t : op.results)
    now.push_back(tree_.home(*t) == Home::value ? variable(Constant::from_int64(compute_type(t->dtype), 0)) : Value());
  whole_[&op] = {std::move(carried), std::move(now)};
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

void TreeEmitter::scan(const Op& op) {
  const Part carried = whole_.at(&op)[0], now = whole_.at(&op)[1];
  const DType in = scan_of(op)->in->dtype;
  const bool compares = op.kind == OpKind::CumMax || op.kind == OpKind::CumMin;
  const Value x = convert(operand(op, 0, compares && is_narrow(in)), carried[0].dtype);
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
