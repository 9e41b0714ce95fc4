#pragma once
// Arrays of the reference evaluator: value and error radius per element.
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "device/tensor.h"
#include "scalar/interval.h"

namespace plait::reference {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Dense, row-major. An element of a backend's tensor lies within `radius` of `value` or, where there is one, of its
// alternative; a NaN or an infinity of radius 0 is met by the same; an infinite radius says that nothing is known of
// the element.
struct Array {
  std::vector<int64_t> shape;
  DType dtype = DType::f32;
  std::vector<double> value;      // narrow dtypes: rounded to the dtype; bool: 0 or 1; i64 and u64: the nearest double
  std::vector<int64_t> integers;  // i64 and u64 (the same bits): exact; other dtypes: empty
  std::vector<double> radius;     // empty: zero everywhere, or not asked for
  // What an element may be instead, on the other side of a discontinuity; empty: none.
  std::vector<std::optional<double>> alternative;
  // All that an index may be, by element, where these are few but more than two numbers; value, radius and alternative
  // cover them.
  std::map<int64_t, std::vector<int64_t>> candidates;
  std::vector<uint8_t> excused;  // 1: hangs on a discontinuity, or nothing is known (reference/check.h); empty: none
  // Products and the sums that ranks may keep pending: an upper bound of the sum over the ranks of |partial|.
  std::vector<double> spread;

  int64_t elements() const { return static_cast<int64_t>(value.size()); }
  double radius_at(int64_t i) const { return radius.empty() ? 0 : radius[i]; }
  bool excused_at(int64_t i) const { return !excused.empty() && excused[i]; }
  bool has_alternative(int64_t i) const { return !alternative.empty() && alternative[i] && !std::isinf(radius_at(i)); }
  // How far an element may lie from `value`: the radius of all that it may be. Infinite where one of two is no number.
  double reach_at(int64_t i) const;
  int64_t integer_at(int64_t i) const;  // integers and bool only
};

// Equal, or both NaN.
inline bool is_same(double a, double b) { return a == b || (a != a && b != b); }

// Zeros of a shape.
Array make_array(DType dtype, std::vector<int64_t> shape);
// Exact copies of a tensor, and back: values are rounded to the dtype.
Array from_tensor(const Tensor& tensor);
Tensor to_tensor(const Array& array);
// Writes the elements to dense memory, rounded to the dtype.
void store(const Array& array, void* target);

// Whether the dtype's elements are kept in `integers`.
bool is_wide_integer(DType dtype);

// A value with its radius as an interval and back. Bounds are rounded outward.
Interval to_interval(double value, double radius);

// What an element of `dtype` holds after a computation whose exact result is `value`, whose results over all operands
// are `range`, and whose own error is `own`. A narrow dtype rounds, or a backend skips that rounding, and the radius
// covers both; f8 always rounds. f32 (and f8e5m2) beyond its largest number is an infinity, and unknown where only part
// of the range lies there.
struct Settled {
  double value, radius;
};
Settled settle(DType dtype, double value, const Interval& range, double own);

// Bounds rounded to numbers of a narrow dtype inside the interval: what is left when every rounding is kept. The
// interval holds at least one such number.
Interval snap(DType dtype, const Interval& range);
// The next larger number of a narrow dtype.
double next_up(DType dtype, double value);

}  // namespace plait::reference
