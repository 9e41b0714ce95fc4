#pragma once
// Range of a pointwise op over intervals of its operands; the reference evaluator turns it into an error radius.
#include <span>

#include "scalar/pointwise.h"

namespace plait {

// The values lo <= x <= hi. {NaN, NaN}: surely NaN. {-inf, +inf}: anything, a NaN included. No other interval holds
// NaN.
struct Interval {
  double lo, hi;

  static Interval anything();           // {-inf, +inf}
  static Interval point(double value);  // {value, value}
  bool is_nan() const;
  bool is_anything() const;
  bool is_point() const;              // lo == hi, or surely NaN
  bool contains(double value) const;  // whether the interval may stand for `value`
};

// Interval that contains evaluate(op, args) for every choice of args from the operands, and mostly the smallest: the
// corners, and the extrema inside (square at 0, sin at odd multiples of pi / 2, the minimum of gelu). Bounds carry
// evaluate's own rounding in double.
// NaN: an operand that is surely NaN gives NaN where the op propagates it, and the known outcome of a test; an operand
// that is anything gives anything (tests: [0, 1]). A pole in reach (a divisor interval with 0 in it, unless it is a
// point), an operand interval that reaches outside the domain of log or sqrt, and corners such as inf - inf give
// anything. Tests give [0, 0], [1, 1] or, where both may be, [0, 1]. `where` with an open condition gives the hull.
// cast returns its operand: the caller rounds both bounds to the result type (rounding is monotone). Ops on bits give
// anything.
Interval interval(Pointwise op, std::span<const Interval> operands);

// Whether the result, a float, may be discontinuous within the operands' intervals: floor over an integer, fmod over a
// multiple, copysign where the sign is open.
bool holds_discontinuity(Pointwise op, std::span<const Interval> operands);

}  // namespace plait
