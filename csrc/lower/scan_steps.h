#pragma once
// What a scan carries and one step of it, once for the nest and for loop trees.
//
// A builder has
//   kir::Value apply(Pointwise function, std::vector<kir::Value> in);
//   kir::Value literal(Constant constant);             // in as many lanes as the scan
//   kir::Value copy(kir::Value variable);              // its value as it is now
//   void assign(kir::Value variable, kir::Value in);
//   kir::Value coordinate();                           // of the element along the scanned dim, i64
#include <vector>

#include "base/error.h"
#include "kir/stmt.h"
#include "lower/kinds.h"

namespace plait::lowering {

// Initial values of the variables that a scan carries: of a sum in f64 where they are floats; of a product likewise;
// the greatest so far and the sum of exp(x - greatest); an extremum and its place.
inline std::vector<Constant> scan_start(const Op& op) {
  const DType in = scan_of(op)->in->dtype, type = accumulation_type(in);
  const auto number = [](DType dtype, int64_t value) { return Constant::from_int64(dtype, value); };
  switch (op.kind) {
    case OpKind::CumSum:
      return {number(is_float(type) ? DType::f64 : type, 0)};
    case OpKind::CumProd:
      return {number(is_float(type) ? DType::f64 : type, 1)};
    case OpKind::LogCumSumExp:
      return {end_of_order(DType::f64, true), number(DType::f64, 0)};
    case OpKind::CumMax:
    case OpKind::CumMin:
      return {end_of_order(in, op.kind == OpKind::CumMax), number(DType::i64, 0)};
    default:
      PLAIT_CHECK(false, "{} is no scan", describe(op));
  }
}

template <class Builder>
class ScanSteps {
 public:
  using Value = kir::Value;
  using Values = std::vector<Value>;

  ScanSteps(Builder& builder, const Op& op, const Values& carried) : b_(builder), op_(op), carried_(carried) {}

  // One element, of the dtype of the first variable, into what is carried; the results there.
  Values step(Value x) {
    switch (op_.kind) {
      case OpKind::CumMax:
        return extremum(Pointwise::ge, x);
      case OpKind::CumMin:
        return extremum(Pointwise::le, x);
      case OpKind::LogCumSumExp:
        return exponential(x);
      default:
        return total(op_.kind == OpKind::CumProd ? Pointwise::mul : Pointwise::add, x);
    }
  }

 private:
  Values total(Pointwise function, Value x) {
    const bool exclusive = scan_of(op_)->exclusive;
    Value now;
    if (exclusive) now = b_.copy(carried_[0]);
    b_.assign(carried_[0], b_.apply(function, {carried_[0], x}));
    if (!exclusive) now = b_.copy(carried_[0]);
    return {now};
  }

  // Of equals the later one, and every NaN: a number is no less than the extremum so far, or it is a NaN's turn.
  Values extremum(Pointwise no_worse, Value x) {
    const Value best = carried_[0];
    Value taken = b_.apply(no_worse, {x, best});
    if (is_float(scan_of(op_)->in->dtype)) {
      const Value yes = b_.literal(Constant::from_bool(true)), nan = b_.apply(Pointwise::ne, {x, x});
      taken = b_.apply(Pointwise::where, {nan, yes, taken});
    }
    const Value value = b_.apply(Pointwise::where, {taken, x, best}), here = b_.coordinate();
    const Value place = b_.apply(Pointwise::where, {taken, here, carried_[1]});
    b_.assign(carried_[0], value);
    b_.assign(carried_[1], place);
    return {value, place};
  }

  // Exponents are taken from the greatest so far; from 0 where it is an infinity: then they are 0, inf or NaN.
  Value base(Value greatest) {
    const Value zero = b_.literal(Constant::from_double(DType::f64, 0));
    const Value infinite = b_.apply(Pointwise::isinf, {greatest});
    return b_.apply(Pointwise::where, {infinite, zero, greatest});
  }

  Values exponential(Value x) {
    const Value most = carried_[0], sum = carried_[1];
    const Value zero = b_.literal(Constant::from_double(DType::f64, 0));
    const Value next = b_.apply(Pointwise::max, {most, x}), infinite = b_.apply(Pointwise::isinf, {next});
    const Value by = b_.apply(Pointwise::where, {infinite, zero, next});
    const auto power = [&](Value of) {
      const Value distance = b_.apply(Pointwise::sub, {of, by});
      return b_.apply(Pointwise::exp, {distance});
    };
    const Value nothing = b_.apply(Pointwise::eq, {sum, zero}), scale = power(most);
    const Value scaled = b_.apply(Pointwise::mul, {sum, scale});
    const Value before = b_.apply(Pointwise::where, {nothing, zero, scaled}), term = power(x);
    b_.assign(sum, b_.apply(Pointwise::add, {before, term}));
    b_.assign(most, next);
    const Value from = base(most), log = b_.apply(Pointwise::log, {sum});
    return {b_.apply(Pointwise::add, {from, log})};
  }

  Builder& b_;
  const Op& op_;
  const Values carried_;
};

}  // namespace plait::lowering
