#include "reference/array.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait::reference {
bool is_wide_integer(DType dtype) { return dtype == DType::i64 || dtype == DType::u64; }

int64_t Array::integer_at(int64_t i) const { return integers.empty() ? static_cast<int64_t>(value[i]) : integers[i]; }

double Array::reach_at(int64_t i) const {
  if (!has_alternative(i)) return radius_at(i);
  const double distance = std::abs(*alternative[i] - value[i]);
  return std::isnan(distance) ? kInfinity : radius_at(i) + distance;
}

Array make_array(DType dtype, std::vector<int64_t> shape) {
  Array array;
  const auto count = static_cast<size_t>(element_count(shape));
  array.shape = std::move(shape);
  array.dtype = dtype;
  array.value.assign(count, 0.0);
  if (is_wide_integer(dtype)) array.integers.assign(count, 0);
  return array;
}

Array from_tensor(const Tensor& tensor) {
  Array array;
  array.shape = tensor.shape;
  array.dtype = tensor.dtype;
  array.value = tensor.to_doubles();
  if (!is_wide_integer(tensor.dtype)) return array;
  const Tensor dense = tensor.contiguous();
  const auto* bytes = static_cast<const std::byte*>(dense.data());
  array.integers.resize(array.value.size());
  for (size_t i = 0; i < array.value.size(); ++i)
    array.integers[i] = load_int64(tensor.dtype, bytes + i * size_of(tensor.dtype));
  return array;
}

void store(const Array& array, void* target) {
  auto* bytes = static_cast<std::byte*>(target);
  const size_t size = size_of(array.dtype);
  for (size_t i = 0; i < array.value.size(); ++i) {
    if (array.integers.empty())
      store_double(array.dtype, bytes + i * size, array.value[i]);
    else
      store_int64(array.dtype, bytes + i * size, array.integers[i]);
  }
}

Tensor to_tensor(const Array& array) {
  Tensor tensor = Tensor::empty(array.dtype, array.shape);
  store(array, tensor.data());
  return tensor;
}

Interval to_interval(double value, double radius) {
  if (radius == 0) return Interval::point(value);
  if (std::isnan(radius) || std::isinf(radius) || std::isnan(value)) return Interval::anything();
  return {std::nextafter(value - radius, -kInfinity), std::nextafter(value + radius, kInfinity)};
}

Settled settle(DType dtype, double value, const Interval& range, double own) {
  if (own == kInfinity) return {is_narrow(dtype) ? round_to(dtype, value) : value, kInfinity};
  if (range.is_nan()) return {value, std::isnan(value) ? 0 : kInfinity};
  double lo = range.lo, hi = range.hi;
  if (is_float(dtype)) {
    const double low = round_to(dtype, lo - own), high = round_to(dtype, hi + own);
    if (is_f8(dtype)) {
      value = round_to(dtype, value);
      if (range.is_anything() || (std::isinf(low) != std::isinf(high)) || std::isnan(low) || std::isnan(high))
        return {value, kInfinity};
      if (low == high) return {value, 0};
      lo = low, hi = high, own = 0;
    } else if (is_narrow(dtype)) {
      value = round_to(dtype, value);
      lo = std::min(lo - own, low), hi = std::max(hi + own, high), own = 0;
    } else if (std::isinf(low) || std::isinf(high)) {
      if (low == high) return {low, 0};
      return {value, kInfinity};
    }
  }
  if (lo == hi && lo == value) return {value, own};
  const double radius = std::max(hi - value, value - lo) + own;
  return {value, std::isnan(radius) ? kInfinity : radius};
}

double next_up(DType dtype, double value) {
  if (!std::isfinite(value)) return value;
  return value + ulp(dtype, value >= 0 ? value : std::nextafter(value, 0.0));
}

Interval snap(DType dtype, const Interval& range) {
  if (range.is_point() || !std::isfinite(range.lo) || !std::isfinite(range.hi)) return range;
  double lo = round_to(dtype, range.lo), hi = round_to(dtype, range.hi);
  if (lo < range.lo) lo = next_up(dtype, lo);
  if (hi > range.hi) hi = -next_up(dtype, -hi);
  return lo <= hi ? Interval{lo, hi} : range;
}

}  // namespace plait::reference
