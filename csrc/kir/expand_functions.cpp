#include "kir/expand_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Writes the statements that stand for one Compute; all values have its lanes.
class Expansion {
 public:
  Expansion(const Compute& compute, uint32_t& next_id, Block& out)
      : x(compute.in[0]),
        y(compute.in.size() > 1 ? compute.in[1] : x),
        z(compute.in.size() > 2 ? compute.in[2] : x),
        next_id_(next_id),
        out_(out) {}

  Value compute(Pointwise function, std::vector<Value> in) {
    std::vector<DType> dtypes;
    for (const Value& v : in) dtypes.push_back(v.dtype);
    auto stmt = std::make_unique<Compute>();
    stmt->out = {next_id_++, result_type(function, dtypes), x.lanes};
    stmt->function = function;
    stmt->in = std::move(in);
    const Value result = stmt->out;
    last_ = stmt.get();
    out_.push_back(std::move(stmt));
    return result;
  }
  Value number(double value, DType dtype) {
    auto stmt = std::make_unique<Literal>();
    stmt->out = {next_id_++, dtype, x.lanes};
    stmt->constant = Constant::from_double(dtype, value);
    const Value result = stmt->out;
    out_.push_back(std::move(stmt));
    return result;
  }
  Value number(double value) { return number(value, x.dtype); }

  bool on_floats() const { return is_float(x.dtype); }
  bool on_unsigned() const { return is_unsigned(x.dtype) || x.dtype == DType::boolean; }

  // The last statement defines `out`; the first value of the expansion of the original.
  void finish(const Value& result, const Value& out) {
    PLAIT_CHECK(last_ != nullptr && last_->out == result && out_.back().get() == last_, "an expansion ends otherwise");
    last_->out = out;
  }

  // Operands in braces: those are evaluated from left to right, so that the text is the same for every C++ compiler.
  using Operands = std::vector<Value>;
#define PLAIT_OP(name) \
  Value name(Operands in) { return compute(Pointwise::name, std::move(in)); }
  PLAIT_OP(add)
  PLAIT_OP(sub)
  PLAIT_OP(mul)
  PLAIT_OP(div)
  PLAIT_OP(max)
  PLAIT_OP(min)
  PLAIT_OP(eq)
  PLAIT_OP(ne)
  PLAIT_OP(lt)
  PLAIT_OP(le)
  PLAIT_OP(gt)
  PLAIT_OP(neg)
  PLAIT_OP(abs)
  PLAIT_OP(exp)
  PLAIT_OP(expm1)
  PLAIT_OP(log1p)
  PLAIT_OP(where)
#undef PLAIT_OP

  const Value x, y, z;

 private:
  uint32_t& next_id_;
  Block& out_;
  Compute* last_ = nullptr;
};

using E = Expansion;

// One function per derived row of pointwise.def; a row without one does not compile. The meaning of each stands in
// scalar/meaning.cpp. The last statement of each is a Compute.
namespace expand {

Value reciprocal(E& e) { return e.div({e.number(1), e.x}); }
Value square(E& e) { return e.mul({e.x, e.x}); }

Value sign(E& e) {
  const Value zero = e.number(0), one = e.number(1);
  if (e.on_unsigned()) return e.min({e.x, one});
  return e.where({e.gt({e.x, zero}), one, e.where({e.lt({e.x, zero}), e.number(-1), zero})});
}

Value frac(E& e) { return e.sub({e.x, e.compute(Pointwise::trunc, {e.x})}); }

// Whether the truncated quotient with remainder m lies above the floored one.
Value rounds_up(E& e, const Value& m) {
  const Value zero = e.number(0);
  const Value differ = e.ne({e.lt({m, zero}), e.lt({e.y, zero})});
  return e.compute(Pointwise::bitwise_and, {e.ne({m, zero}), differ});
}

Value fmod(E& e) {  // of integers: from the floored quotient, whose remainder has the sign of y
  const Value quotient = e.compute(Pointwise::floor_divide, {e.x, e.y});
  if (e.on_unsigned()) return e.sub({e.x, e.mul({quotient, e.y})});
  const Value r = e.sub({e.x, e.mul({quotient, e.y})}), zero = e.number(0);
  const Value differ = e.ne({e.lt({r, zero}), e.lt({e.x, zero})});
  const Value wrong = e.compute(Pointwise::bitwise_and, {e.ne({r, zero}), differ});
  return e.where({wrong, e.sub({r, e.y}), r});
}

Value remainder(E& e) {
  if (!e.on_floats()) return e.sub({e.x, e.mul({e.compute(Pointwise::floor_divide, {e.x, e.y}), e.y})});
  const Value m = e.compute(Pointwise::fmod, {e.x, e.y});
  return e.where({rounds_up(e, m), e.add({m, e.y}), m});
}

Value floor_divide(E& e) {  // of floats
  const Value one = e.number(1), zero = e.number(0);
  const Value m = e.compute(Pointwise::fmod, {e.x, e.y}), exact = e.div({e.x, e.y});
  const Value truncated = e.div({e.sub({e.x, m}), e.y});
  const Value q = e.where({rounds_up(e, m), e.sub({truncated, one}), truncated});
  const Value whole = e.compute(Pointwise::floor, {q});
  const Value nearest = e.where({e.gt({e.sub({q, whole}), e.number(0.5)}), e.add({whole, one}), whole});
  const Value signed_zero = e.compute(Pointwise::copysign, {zero, exact});
  return e.where({e.eq({e.y, zero}), exact, e.where({e.eq({q, zero}), signed_zero, nearest})});
}

Value fma(E& e) { return e.add({e.mul({e.x, e.y}), e.z}); }  // of integers

Value lerp(E& e) {
  const Value gap = e.sub({e.y, e.x});
  const Value from_x = e.compute(Pointwise::fma, {e.z, gap, e.x});
  const Value from_y = e.sub({e.y, e.mul({gap, e.sub({e.number(1), e.z})})});
  return e.where({e.lt({e.abs({e.z}), e.number(0.5)}), from_x, from_y});
}

Value clamp(E& e) { return e.min({e.max({e.x, e.y}), e.z}); }
Value hardtanh(E& e) { return clamp(e); }
Value relu6(E& e) { return e.min({e.compute(Pointwise::relu, {e.x}), e.number(6)}); }

Value logaddexp(E& e) {
  const Value gap = e.where({e.eq({e.x, e.y}), e.number(0), e.abs({e.sub({e.x, e.y})})});
  const Value rest = e.log1p({e.exp({e.neg({gap})})});
  return e.add({e.max({e.x, e.y}), rest});
}

// x f, but 0 where x is 0, unless y is NaN.
Value times_logarithm(E& e, const Value& f) {
  const Value zero = e.number(0);
  return e.where({e.eq({e.x, zero}), e.where({e.ne({e.y, e.y}), e.y, zero}), e.mul({e.x, f})});
}
Value xlogy(E& e) { return times_logarithm(e, e.compute(Pointwise::log, {e.y})); }
Value xlog1py(E& e) { return times_logarithm(e, e.log1p({e.y})); }

Value leaky_relu(E& e) { return e.where({e.gt({e.x, e.number(0)}), e.x, e.mul({e.x, e.y})}); }
Value elu(E& e) { return e.where({e.gt({e.x, e.number(0)}), e.x, e.mul({e.y, e.expm1({e.x})})}); }
Value celu(E& e) { return e.where({e.gt({e.x, e.number(0)}), e.x, e.mul({e.y, e.expm1({e.div({e.x, e.y})})})}); }
Value selu(E& e) {
  constexpr double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
  const Value negative = e.mul({e.number(scale * alpha), e.expm1({e.x})});
  return e.where({e.gt({e.x, e.number(0)}), e.mul({e.number(scale), e.x}), negative});
}

Value mish(E& e) {
  const Value limit = e.number(20), two = e.number(2);
  const Value power = e.exp({e.where({e.gt({e.x, limit}), limit, e.x})});
  const Value n = e.mul({power, e.add({power, two})});
  return e.mul({e.x, e.div({n, e.add({n, two})})});
}

Value log_sigmoid(E& e) {
  const Value rest = e.log1p({e.exp({e.neg({e.abs({e.x})})})});
  return e.sub({e.min({e.x, e.number(0)}), rest});
}
Value softplus(E& e) { return e.where({e.gt({e.x, e.number(20)}), e.x, e.log1p({e.exp({e.x})})}); }
Value softsign(E& e) { return e.div({e.x, e.add({e.number(1), e.abs({e.x})})}); }
Value tanhshrink(E& e) { return e.sub({e.x, e.compute(Pointwise::tanh, {e.x})}); }

Value hardsigmoid(E& e) {
  const Value six = e.number(6);
  const Value shifted = e.add({e.x, e.number(3)});
  return e.div({e.min({e.max({shifted, e.number(0)}), six}), six});
}
Value hardswish(E& e) {
  const Value gate = hardsigmoid(e);
  return e.mul({e.x, gate});
}
Value hardshrink(E& e) { return e.where({e.le({e.abs({e.x}), e.y}), e.number(0), e.x}); }
Value softshrink(E& e) {
  const Value middle = e.mul({e.x, e.number(0)});  // NaN stays
  const Value below = e.where({e.lt({e.x, e.neg({e.y})}), e.add({e.x, e.y}), middle});
  return e.where({e.gt({e.x, e.y}), e.sub({e.x, e.y}), below});
}

Value isnan(E& e) { return e.ne({e.x, e.x}); }  // false for integers
Value isinf(E& e) { return e.on_floats() ? e.eq({e.abs({e.x}), e.number(kInfinity)}) : e.ne({e.x, e.x}); }
Value isfinite(E& e) { return e.on_floats() ? e.lt({e.abs({e.x}), e.number(kInfinity)}) : e.eq({e.x, e.x}); }
Value signbit(E& e) {
  if (e.on_floats()) return e.lt({e.compute(Pointwise::copysign, {e.number(1), e.x}), e.number(0)});
  return e.on_unsigned() ? e.ne({e.x, e.x}) : e.lt({e.x, e.number(0)});
}
Value logical_and(E& e) { return e.compute(Pointwise::bitwise_and, {e.x, e.y}); }
Value logical_or(E& e) { return e.compute(Pointwise::bitwise_or, {e.x, e.y}); }
Value logical_xor(E& e) { return e.compute(Pointwise::bitwise_xor, {e.x, e.y}); }
Value bitwise_not(E& e) {
  if (e.x.dtype == DType::boolean) return e.compute(Pointwise::bitwise_xor, {e.x, e.number(1)});
  return e.sub({e.neg({e.x}), e.number(1)});  // two's complement
}
Value logical_not(E& e) { return bitwise_not(e); }

}  // namespace expand

Value expansion(E& e, Pointwise function) {
  switch (function) {
#define PLAIT_EXPAND(name) return expand::name(e)
#define PLAIT_derived PLAIT_EXPAND
#define PLAIT_derived_on_integers PLAIT_EXPAND
#define PLAIT_derived_on_floats PLAIT_EXPAND
#define PLAIT_core(name) break
#define PLAIT_conversion(name) break
#define X(name, arity, type_rule, cost, ulp, continuity, argument, scale, form, ...) \
  case Pointwise::name:                                                              \
    PLAIT_##form(name);
#include "scalar/pointwise.def"
#undef X
  }
  PLAIT_CHECK(false, "{} is core", name(function));
}

void expand_block(Block& block, uint32_t& next) {
  Block out;
  for (auto& stmt : block) {
    if (Block* body = body_of(*stmt)) {
      expand_block(*body, next);
    } else if (const auto* compute = as<Compute>(*stmt);
               compute && !is_core(compute->function, compute->in.front().dtype)) {
      Expansion e(*compute, next, out);
      e.finish(expansion(e, compute->function), compute->out);
      continue;
    }
    out.push_back(std::move(stmt));
  }
  block = std::move(out);
}

}  // namespace

bool is_core(Pointwise function, DType operand) {
  switch (info(function).form) {
    case FunctionForm::core:
    case FunctionForm::conversion:
      return true;
    case FunctionForm::derived:
      return false;
    case FunctionForm::derived_on_integers:
      return is_float(operand);
    case FunctionForm::derived_on_floats:
      return !is_float(operand);
  }
  return true;
}

void expand_functions(Kernel& kernel) {
  uint32_t next = next_value_id(kernel);
  for (Phase& phase : kernel.phases) expand_block(phase.body, next);
}

}  // namespace plait::kir
