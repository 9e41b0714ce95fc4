#include "reference/elements.h"

#include <algorithm>
#include <cmath>

#include "scalar/constant.h"

namespace plait::reference {
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

Possible join(DType dtype, std::span<const Point> points) {
  const Point first = points[0];
  const Point* other = nullptr;
  const auto distance = [](double a, double b) { return is_same(a, b) ? 0 : std::abs(a - b); };  // NaN beside a number
  const auto farther = [&](const Point& a, const Point& b) {
    const double to_a = distance(a.value, first.value), to_b = distance(b.value, first.value);
    return !std::isfinite(to_a) ? std::isfinite(to_b) : to_a > to_b;
  };
  bool unknown = false;
  for (const Point& p : points) {
    unknown |= std::isinf(p.radius) || (is_wide_integer(dtype) && std::abs(p.value) > 0x1p53);
    if (!is_same(p.value, first.value) && (!other || farther(p, *other))) other = &p;
  }
  if (unknown) return {{first.value, points.size() == 1 ? first.radius : kInfinity}, {}};
  double radius = first.radius;
  for (const Point& p : points) {
    double least = distance(p.value, first.value);
    if (other) least = std::fmin(least, distance(p.value, other->value));
    radius = std::isfinite(least) ? std::max(radius, least + p.radius) : kInfinity;
  }
  if (!other || std::isinf(radius)) return {{first.value, radius}, {}};
  return {{first.value, radius}, other->value};
}

void set_possible(Array& out, int64_t i, const Possible& possible, bool excused) {
  set_float(out, i, {possible.point.value, possible.point.radius}, excused || possible.alternative);
  if (!possible.alternative) return;
  if (out.alternative.empty()) out.alternative.resize(out.value.size());
  out.alternative[i] = possible.alternative;
}

Array widened(const Array& in) {
  Array out = in;
  out.alternative.clear();
  if (out.radius.empty()) out.radius.assign(out.value.size(), 0.0);
  for (int64_t i = 0; i < out.elements(); ++i) out.radius[i] = in.reach_at(i);
  return out;
}

bool is_whole(const Array& in) {
  const auto whole = [](double x) {
    return std::abs(x) <= 0x1p53 && x == static_cast<double>(static_cast<int64_t>(x));
  };
  for (int64_t i = 0; i < in.elements(); ++i)
    if (!whole(in.value[i]) || in.radius_at(i) != 0 || (in.has_alternative(i) && !whole(*in.alternative[i])))
      return false;
  return true;
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
