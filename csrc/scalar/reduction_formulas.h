#pragma once
// The algebra of reductions as formulas, once for kernel IR, numbers and whoever else computes.
//
// A builder has a type Value and
//   Value apply(Pointwise function, std::vector<Value> in);  // dtypes as result_type
//   Value literal(Constant constant, const Value& like);     // in as many lanes as `like`
//   DType dtype_of(const Value& value);
// Values of a state, of an element and of another state have the dtypes that state_types() names, or wider ones: all of
// one dtype but for positions. Statements follow in one order for every compiler: nothing is applied within a call.
#include <initializer_list>
#include <limits>
#include <vector>

#include "base/error.h"
#include "scalar/constant.h"
#include "scalar/pointwise.h"
#include "scalar/reductions.h"

namespace plait {

template <class Builder>
class ReductionFormulas {
 public:
  using Value = typename Builder::Value;
  using Values = std::vector<Value>;

  explicit ReductionFormulas(Builder& builder) : b_(builder) {}

  // The state after one element: `in` is the element, and its position where there is one. NaN: greatest, least and
  // their firsts are NaN, at the first of them; of equals the lowest position wins, whatever the order of elements.
  Values accumulate(Combine combine, const Values& state, const Values& in) {
    switch (combine) {
      case Combine::variance:
        return accumulate_variance(state, in[0]);
      case Combine::log_sum_exp:
        return accumulate_exponential(state, in[0]);
      default:
        return merge(combine, state, in);  // an element is a state
    }
  }

  // The state of the elements of both. Merging nothing changes nothing.
  Values merge(Combine combine, const Values& a, const Values& b) {
    switch (combine) {
      case Combine::sum:
        return {apply(Pointwise::add, {a[0], b[0]})};
      case Combine::product:
        return {apply(Pointwise::mul, {a[0], b[0]})};
      case Combine::greatest:
        return {apply(Pointwise::max, {a[0], b[0]})};
      case Combine::least:
        return {apply(Pointwise::min, {a[0], b[0]})};
      case Combine::any:
        return {apply(Pointwise::bitwise_or, {a[0], b[0]})};
      case Combine::all:
        return {apply(Pointwise::bitwise_and, {a[0], b[0]})};
      case Combine::first_greatest:
        return merge_first(Pointwise::gt, a, b);
      case Combine::first_least:
        return merge_first(Pointwise::lt, a, b);
      case Combine::variance:
        return merge_variance(a, b);
      case Combine::log_sum_exp:
        return merge_exponential(a, b);
    }
    __builtin_unreachable();
  }

  // What the state stands for: the value; value and position; the variance (squares over count - correction, at least
  // 0) and the mean; log of the sum of exp(x).
  Values finish(Combine combine, const Values& state, int64_t correction = 0) {
    if (combine == Combine::variance) {
      const Value zero = number(0, state[2]), less = number(double(correction), state[2]);
      const Value left = apply(Pointwise::sub, {state[2], less});
      const Value divisor = apply(Pointwise::max, {left, zero});
      return {apply(Pointwise::div, {state[1], divisor}), state[0]};
    }
    if (combine != Combine::log_sum_exp) return state;
    const Value log = apply(Pointwise::log, {state[1]});
    const Value sum = apply(Pointwise::add, {state[0], log});
    const Value infinite = apply(Pointwise::eq, {state[0], number(kInfinity, state[0])});
    return {apply(Pointwise::where, {infinite, state[0], sum})};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Value apply(Pointwise function, std::initializer_list<Value> in) { return b_.apply(function, Values(in)); }
  Value number(double value, const Value& like) {
    return b_.literal(Constant::from_double(b_.dtype_of(like), value), like);
  }
  Value is_nan(const Value& v) { return apply(Pointwise::ne, {v, v}); }

  // b where it is better, or equal and earlier; a NaN is better than all numbers and equal to a NaN.
  Values merge_first(Pointwise better_than, const Values& a, const Values& b) {
    Value better = apply(better_than, {b[0], a[0]}), equal = apply(Pointwise::eq, {b[0], a[0]});
    if (is_float(b_.dtype_of(a[0]))) {
      const Value nan_a = is_nan(a[0]), nan_b = is_nan(b[0]), number_a = apply(Pointwise::eq, {a[0], a[0]});
      const Value both = apply(Pointwise::bitwise_and, {nan_a, nan_b});
      const Value one = apply(Pointwise::bitwise_and, {number_a, nan_b});
      better = apply(Pointwise::bitwise_or, {better, one});
      equal = apply(Pointwise::bitwise_or, {equal, both});
    }
    const Value earlier = apply(Pointwise::lt, {b[1], a[1]});
    const Value tie = apply(Pointwise::bitwise_and, {equal, earlier});
    const Value take = apply(Pointwise::bitwise_or, {better, tie});
    const Value value = apply(Pointwise::where, {take, b[0], a[0]});
    return {value, apply(Pointwise::where, {take, b[1], a[1]})};
  }

  // Welford: mean, sum of squares of distances from it, count.
  Values accumulate_variance(const Values& state, const Value& x) {
    const Value before = apply(Pointwise::sub, {x, state[0]});
    const Value count = apply(Pointwise::add, {state[2], number(1, state[2])});
    const Value step = apply(Pointwise::div, {before, count});
    const Value mean = apply(Pointwise::add, {state[0], step});
    const Value after = apply(Pointwise::sub, {x, mean});
    const Value square = apply(Pointwise::mul, {before, after});
    return {mean, apply(Pointwise::add, {state[1], square}), count};
  }

  // Chan et al.: means move together by the share of each count.
  Values merge_variance(const Values& a, const Values& b) {
    const Value between = apply(Pointwise::sub, {b[0], a[0]});
    const Value count = apply(Pointwise::add, {a[2], b[2]});
    const Value divisor = apply(Pointwise::max, {count, number(1, count)});  // a share of nothing is 0
    const Value share = apply(Pointwise::div, {b[2], divisor});
    const Value moved = apply(Pointwise::mul, {between, share});
    const Value none = number(0, moved);
    const Value empty = apply(Pointwise::eq, {b[2], none});
    const Value step = apply(Pointwise::where, {empty, none, moved});  // where the mean of a is infinite
    const Value weighed = apply(Pointwise::mul, {step, a[2]});
    const Value apart = apply(Pointwise::mul, {between, weighed});
    const Value squares = apply(Pointwise::add, {b[1], apart});
    const Value mean = apply(Pointwise::add, {a[0], step});
    return {mean, apply(Pointwise::add, {a[1], squares}), count};
  }

  // What exponents are taken from: the greatest; 0 where nothing is above -inf, whose distance from itself is no
  // number.
  Value base(const Value& greatest) {
    const Value nothing = apply(Pointwise::eq, {greatest, number(-kInfinity, greatest)});
    return apply(Pointwise::where, {nothing, number(0, greatest), greatest});
  }
  Value exponential(const Value& x, const Value& from) {
    const Value distance = apply(Pointwise::sub, {x, from});
    return apply(Pointwise::exp, {distance});
  }

  // The sum is NaN where the greatest is +inf, as exp(inf - inf) is.
  Values accumulate_exponential(const Values& state, const Value& x) {
    const Value greatest = apply(Pointwise::max, {state[0], x});
    const Value from = base(greatest);
    const Value scale = exponential(state[0], from), term = exponential(x, from);
    const Value scaled = apply(Pointwise::mul, {state[1], scale});
    return {greatest, apply(Pointwise::add, {scaled, term})};
  }
  Values merge_exponential(const Values& a, const Values& b) {
    const Value greatest = apply(Pointwise::max, {a[0], b[0]});
    const Value from = base(greatest);
    const Value scale_a = exponential(a[0], from), scale_b = exponential(b[0], from);
    const Value part_a = apply(Pointwise::mul, {a[1], scale_a}), part_b = apply(Pointwise::mul, {b[1], scale_b});
    return {greatest, apply(Pointwise::add, {part_a, part_b})};
  }

  Builder& b_;
};

}  // namespace plait
