#include "reference/check.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

std::vector<int64_t> index_of(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

std::string list(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t v : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", v);
  return "[" + text + "]";
}

// One output against values with bounds.
class Comparison {
 public:
  Comparison(const std::string& output, const Array& shape_of, const CheckOptions& options)
      : output_(output), options_(options), shape_(shape_of.shape) {}

  void element(int64_t i, double want, double got, double bound, std::optional<double> alternative = {}) {
    nan_ += std::isnan(want) && std::isnan(got);
    if (options_.exact) bound = 0;
    if (bound == kInfinity) return;  // counted as excused
    double ratio = ratio_of(want, got, bound), distance = is_same(want, got) ? 0 : std::abs(got - want);
    if (alternative && !options_.exact && ratio > ratio_of(*alternative, got, bound)) {
      want = *alternative;
      ratio = ratio_of(want, got, bound), distance = is_same(want, got) ? 0 : std::abs(got - want);
    }
    if (std::isfinite(distance)) result_.max_abs_error = std::max(result_.max_abs_error, distance);
    if (!(ratio > result_.max_error)) return;
    result_.max_error = ratio;
    result_.worst = Worst{output_, index_of(i, shape_), got, want, bound};
  }
  void excuse() { excused_ += !options_.exact; }

  CheckResult finish(int64_t elements) {
    result_.excused[output_] = excused_;
    result_.nan = nan_;
    if (result_.max_error > 1) {
      const Worst& w = *result_.worst;
      result_.message =
          fmt::format("%{} at {}: got {}, want {}, bound {}", output_, list(w.index), w.got, w.want, w.bound);
    } else if (nan_ == elements && elements > 0) {
      result_.message =
          fmt::format("%{}: nothing was compared, {} on both sides", output_,
                      elements == 1 ? "its element is NaN" : fmt::format("all {} elements are NaN", nan_));
    } else if (too_many_excused(excused_, elements) || (elements > 0 && nan_ + excused_ >= elements)) {
      result_.message =
          fmt::format("%{}: {} of {} elements hang on a discontinuity or are unknown", output_, excused_, elements);
    }
    result_.ok = result_.message.empty();
    return std::move(result_);
  }

 private:
  static double ratio_of(double want, double got, double bound) {
    if (is_same(want, got)) return 0;
    const double distance = std::abs(got - want);  // a NaN beside a number
    return bound == 0 || !std::isfinite(distance) ? kInfinity : distance / bound;
  }

  std::string output_;
  CheckOptions options_;
  std::vector<int64_t> shape_;
  CheckResult result_;
  int64_t excused_ = 0, nan_ = 0;
};

CheckResult differs(const std::string& output, std::string what) {
  CheckResult result;
  result.ok = false;
  result.max_error = kInfinity;
  result.message = fmt::format("%{}: {}", output, what);
  return result;
}

std::optional<CheckResult> type_differs(const std::string& output, const Array& want, const Tensor& got) {
  if (want.dtype != got.dtype)
    return differs(output, fmt::format("dtype {}, want {}", name(got.dtype), name(want.dtype)));
  if (want.shape != got.shape)
    return differs(output, fmt::format("shape {}, want {}", list(got.shape), list(want.shape)));
  return std::nullopt;
}

// Integers compare exactly where nothing is open; the difference of unequal ones is reported as at least one.
void compare_integers(Comparison& comparison, int64_t i, int64_t want, int64_t got, double want_value,
                      double got_value) {
  if (want == got) return;  // no NaN
  const double distance = got_value - want_value;
  comparison.element(i, want_value,
                     want_value + (distance != 0 ? distance : std::max(1.0, ulp(DType::f64, want_value))), 0);
}

double mean_size(const Array& array) {
  double sum = 0;
  int64_t count = 0;
  for (double value : array.value)
    if (std::isfinite(value)) sum += std::abs(value), ++count;
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// Whether comparing an element says little: `size` is the mean_size of its array.
bool is_excused(const Array& want, int64_t i, double size) {
  if (!want.excused_at(i)) return false;
  const double reach = want.reach_at(i), own = std::isfinite(want.value[i]) ? std::abs(want.value[i]) : 0;
  return !(reach <= std::max(size, own) / 2);
}

}  // namespace

bool too_many_excused(int64_t excused, int64_t elements) { return excused > 3 && excused * 100 > elements; }

void CheckResult::merge(const CheckResult& other) {
  ok = ok && other.ok;
  // What is wrong is said before what is undecided.
  if (message.empty() || (other.max_error > 1 && max_error <= 1)) message = other.message;
  if (other.max_error > max_error) {
    max_error = other.max_error;
    worst = other.worst;
  }
  max_abs_error = std::max(max_abs_error, other.max_abs_error);
  nan += other.nan;
  for (const auto& [output, count] : other.excused) {
    int64_t& most = excused[output];
    most = std::max(most, count);
  }
}

CheckResult compare(const std::string& output, const Array& want, const Tensor& got, const CheckOptions& options) {
  if (auto bad = type_differs(output, want, got)) return *bad;
  const Array found = from_tensor(got);
  Comparison comparison(output, want, options);
  const double size = mean_size(want);
  for (int64_t i = 0; i < want.elements(); ++i) {
    if (is_excused(want, i, size)) comparison.excuse();
    const bool open = want.radius_at(i) != 0 || want.has_alternative(i);
    if (!want.integers.empty() && (!open || options.exact))
      compare_integers(comparison, i, want.integers[i], found.integers[i], want.value[i], found.value[i]);
    else
      comparison.element(i, want.value[i], found.value[i], want.radius_at(i),
                         open && want.has_alternative(i) ? want.alternative[i] : std::nullopt);
  }
  return comparison.finish(want.elements());
}

CheckResult compare_runs(const std::string& output, const Array& want_other, const Tensor& other, const Array& want_got,
                         const Tensor& got, const CheckOptions& options) {
  for (const Tensor* tensor : {&other, &got})
    if (auto bad = type_differs(output, want_got, *tensor)) return *bad;
  const Array left = from_tensor(other), right = from_tensor(got);
  Comparison comparison(output, want_got, options);
  const double size = mean_size(want_got), other_size = mean_size(want_other);
  for (int64_t i = 0; i < want_got.elements(); ++i) {
    if (is_excused(want_got, i, size) || is_excused(want_other, i, other_size)) comparison.excuse();
    // Both runs are near their own reference, and these round at different places.
    const double apart = std::abs(want_got.value[i] - want_other.value[i]);
    const double bound = want_got.reach_at(i) + want_other.reach_at(i) + (std::isfinite(apart) ? apart : 0);
    if (!left.integers.empty() && (bound == 0 || options.exact))
      compare_integers(comparison, i, left.integers[i], right.integers[i], left.value[i], right.value[i]);
    else
      comparison.element(i, left.value[i], right.value[i], bound);
  }
  return comparison.finish(want_got.elements());
}

CheckResult compare(const Results& want, const std::map<std::string, Tensor>& got, const CheckOptions& options) {
  CheckResult result;
  for (const auto& [output, array] : want) {
    const auto it = got.find(output);
    result.merge(it == got.end() ? differs(output, "missing") : compare(output, array, it->second, options));
  }
  return result;
}

bool perturb(const Array& want, int64_t element, Tensor& got) {
  PLAIT_CHECK(got.is_contiguous() && got.dtype == want.dtype && got.shape == want.shape, "perturbing another tensor");
  auto* target = static_cast<std::byte*>(got.data()) + element * static_cast<int64_t>(size_of(want.dtype));
  const double value = want.value[element], radius = want.radius_at(element);
  if (std::isinf(radius) || want.has_alternative(element)) return false;
  if (!is_float(want.dtype)) {
    if (radius != 0) return false;
    const int64_t next = want.dtype == DType::boolean ? !value : want.integer_at(element) ^ 1;
    store_int64(want.dtype, target, next);
    return true;
  }
  if (!std::isfinite(value)) {
    store_double(want.dtype, target, 0);
    return true;
  }
  // Away from zero or, where the dtype ends there, towards it.
  const double direction = std::signbit(value) ? -1 : 1;
  for (const double sign : {direction, -direction}) {
    double moved = round_to(want.dtype, value + sign * 2 * radius);
    for (int i = 0; i < 3 && (std::abs(moved - value) < 2 * radius || moved == value); ++i) {
      const double step = std::max(ulp(want.dtype, moved), ulp(DType::f64, moved));
      moved = round_to(want.dtype, moved + sign * step);
    }
    if (!std::isfinite(moved) || moved == value || std::abs(moved - value) < 2 * radius) continue;
    store_double(want.dtype, target, moved);
    return true;
  }
  return false;
}

}  // namespace plait::reference
