#include "reference/elements.h"

#include <algorithm>
#include <limits>

#include "scalar/constant.h"

namespace plait::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Walk strided(const std::vector<int64_t>& shape, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  Walk out;
  for (size_t d = 0; d < shape.size(); ++d) {
    out.a.emplace_back(static_cast<size_t>(shape[d]));
    out.b.emplace_back(static_cast<size_t>(shape[d]));
    for (int64_t p = 0; p < shape[d]; ++p) {
      out.a[d][p] = p * a[d];
      out.b[d][p] = b.empty() ? 0 : p * b[d];
    }
  }
  return out;
}

void set_float(Array& out, int64_t i, const Settled& settled, bool excused) {
  out.value[i] = settled.value;
  if (settled.radius == 0 && !excused) return;
  if (out.radius.empty()) out.radius.assign(out.value.size(), 0.0);
  out.radius[i] = settled.radius;
  if (!excused && settled.radius != kInfinity) return;
  if (out.excused.empty()) out.excused.assign(out.value.size(), 0);
  out.excused[i] = 1;
}

void set_integer(Array& out, int64_t i, int64_t value, double radius) {
  const Constant stored = Constant::from_int64(out.dtype, value);
  if (!out.integers.empty()) out.integers[i] = stored.to_int64();
  set_float(out, i, {stored.to_double(), radius}, radius != 0);
}

void set_unknown(Array& out, int64_t i) { set_float(out, i, {out.value[i], kInfinity}, true); }

Interval range_at(const Array& in, int64_t i) {
  const double value = in.value[i], radius = in.radius_at(i);
  if (radius == 0) return Interval::point(value);
  if (in.dtype == DType::boolean) return {0, 1};
  if (is_float(in.dtype) || radius == kInfinity) return to_interval(value, radius);
  return {is_unsigned(in.dtype) ? std::max(value - radius, 0.0) : value - radius, value + radius};
}

}  // namespace plait::reference
