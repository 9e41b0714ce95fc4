// Scans but for running sums (reductions.cpp): products, log-sum-exp, extrema with their indices.
#include <algorithm>
#include <cmath>

#include "reference/elements.h"
#include "reference/evaluator.h"
#include "reference/sums.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

// Elements along the dim, the p-th of `count` at at(p).
struct ScanLine {
  int64_t begin, count, stride;
  int64_t at(int64_t p) const { return begin + p * stride; }
};

template <class Fn>
void each_line(const std::vector<int64_t>& shape, int64_t dim, Fn&& fn) {
  const int64_t count = shape[static_cast<size_t>(dim)], inner = row_major_strides(shape)[static_cast<size_t>(dim)];
  for (int64_t begin = 0; begin < element_count(shape); begin += count * inner)
    for (int64_t j = 0; j < inner; ++j) fn(ScanLine{begin + j, count, inner});
}

void multiply_floats(const CumProd& op, const Array& in, bool whole, const ScanLine& line, const Context& context,
                     Array& out) {
  const DType wide = accumulation_type(in.dtype);
  Product product{.exact = whole};
  const auto put = [&](int64_t at) {
    Total result = total(product, wide, context.options.ranks);
    if (!context.options.radius) result.own = 0;
    if (!out.spread.empty()) out.spread[at] = product.large;
    set_float(out, at, settle(out.dtype, result), product.marks & kExcusedTerm);
  };
  for (int64_t p = 0; p < line.count; ++p) {
    const int64_t at = line.at(op.reverse ? line.count - 1 - p : p);
    if (op.exclusive) put(at);
    product.multiply(in.value[at], in.radius_at(at));
    if (in.excused_at(at)) product.marks |= kExcusedTerm;
    if (!op.exclusive) put(at);
  }
}

// Modulo 2^64; where a product may pass 2^62, what is open stays so.
void multiply_integers(const CumProd& op, const Array& in, const ScanLine& line, Array& out) {
  uint64_t product = 1;
  Interval range = Interval::point(1);
  bool unknown = false;
  const auto put = [&](int64_t at) {
    const auto value = static_cast<double>(static_cast<int64_t>(product));
    const bool wraps = !(std::max(std::abs(range.lo), std::abs(range.hi)) < 0x1p62);
    const bool open = unknown || !range.is_point();
    double radius = 0;
    if (open) radius = unknown || wraps ? kInfinity : std::max(range.hi - value, value - range.lo);
    set_integer(out, at, static_cast<int64_t>(product), radius);
  };
  for (int64_t p = 0; p < line.count; ++p) {
    const int64_t at = line.at(op.reverse ? line.count - 1 - p : p);
    if (op.exclusive) put(at);
    product *= static_cast<uint64_t>(in.integer_at(at));
    unknown = unknown || (in.dtype != DType::boolean && std::isinf(in.radius_at(at)));
    const Interval terms[] = {range, range_at(in, at)};
    range = interval(Pointwise::mul, terms);
    if (!op.exclusive) put(at);
  }
}

// log of a sum of exponentials, kept as the greatest and the sum of exp(x - greatest).
struct LogSum {
  double most = -kInfinity, sum = 0;
  void add(double x) {
    const double next = std::max(most, x);
    if (std::isinf(next)) {
      most = next;
      return;
    }
    sum = (sum == 0 ? 0 : sum * std::exp(most - next)) + std::exp(x - next);
    most = next;
  }
  double value() const { return std::isinf(most) ? most : most + std::log(sum); }
};

// A step scales what was added before by an exponential and adds one; the logarithm and the last addition err once.
double log_sum_error(DType dtype, double value, int64_t count) {
  const auto terms = static_cast<double>(count);
  const double own = unit_roundoff(DType::f64) * (4 * terms + 4 + 2 * std::log(terms) + std::abs(value));
  if (dtype == DType::f64) return 2 * own;  // the value here is a rounded one too
  return own + unit_roundoff(DType::f32) * std::abs(value) + smallest_spacing(DType::f32);
}

void add_exponentials(const Array& in, const ScanLine& line, const Context& context, Array& out) {
  LogSum value, low, high;
  bool nan = false, unknown = false, excused = false;
  int64_t numbers = 0;
  for (int64_t p = 0; p < line.count; ++p) {
    const int64_t at = line.at(p);
    const double x = in.value[at], radius = in.radius_at(at);
    excused = excused || in.excused_at(at);
    if (!(std::abs(x) <= std::numeric_limits<double>::max()) && radius != 0) unknown = true;
    unknown = unknown || std::isinf(radius);
    nan = nan || (std::isnan(x) && radius == 0);
    numbers += std::isfinite(x);
    if (!std::isnan(x)) {
      const Interval range = unknown ? Interval::point(x) : range_at(in, at);
      value.add(x), low.add(range.lo), high.add(range.hi);
    }
    Settled settled{nan ? kNaN : value.value(), nan ? 0 : kInfinity};
    if (!nan && !unknown && std::isinf(settled.value)) settled.radius = 0;
    if (!nan && !unknown && std::isfinite(settled.value)) {
      const double own = context.options.radius && numbers > 1 ? log_sum_error(out.dtype, settled.value, numbers) : 0;
      settled = settle(out.dtype, settled.value,
                       {std::min(low.value(), settled.value), std::max(high.value(), settled.value)}, own);
    }
    set_float(out, at, settled, excused);
  }
}

// Indices of one line that may be the extremum's, with the ends of their elements, turned so that the greatest is it.
struct ScanCandidate {
  int64_t position;
  double lo, hi;
};

class RunningExtremum {
 public:
  RunningExtremum(const Array& in, bool least) : in_(in), least_(least) {}

  void step(int64_t at, int64_t position) {
    if (!(winner_ >= 0 && stays(at))) winner_ = at, winner_position_ = position;
    if (in_.radius.empty()) return;
    const double radius = in_.radius_at(at);
    const bool unknown = in_.dtype != DType::boolean && std::isinf(radius);
    excused_ = excused_ || in_.excused_at(at);
    if (is_nan(at) && radius == 0) {
      nan_ = true;
      candidates_.assign(1, {position, kInfinity, kInfinity});
      return;
    }
    if (nan_ && !unknown) return;
    Interval range = unknown ? Interval{-kInfinity, kInfinity} : range_at(in_, at);
    if (!unknown && is_narrow(in_.dtype)) range = snap(in_.dtype, range);
    if (least_) range = {-range.hi, -range.lo};
    const bool exact = !is_wide_integer(in_.dtype);
    if (!nan_)
      std::erase_if(candidates_, [&](const ScanCandidate& c) { return exact ? c.hi <= range.lo : c.hi < range.lo; });
    unknown_ = unknown_ || unknown;
    const bool beaten = std::any_of(candidates_.begin(), candidates_.end(),
                                    [&](const ScanCandidate& c) { return !nan_ && c.lo > range.hi; });
    if (!beaten) candidates_.push_back({position, range.lo, range.hi});
  }

  void put(Array& values, Array& indices, int64_t at) const {
    if (!values.integers.empty()) values.integers[at] = in_.integers[winner_];
    values.value[at] = in_.value[winner_];
    set_integer(indices, at, winner_position_);
    if (in_.radius.empty()) return;
    put_value(values, at);
    if (candidates_.size() < 2 && !(unknown_ && !nan_)) return;
    std::vector<Point> points{{static_cast<double>(winner_position_), 0}};
    for (const ScanCandidate& c : candidates_)
      if (c.position != winner_position_) points.push_back({static_cast<double>(c.position), 0});
    set_possible(indices, at, join(DType::i64, points), true);
  }

 private:
  bool is_nan(int64_t at) const { return std::isnan(in_.value[at]); }
  // Whether the winner stays beside an element that comes later: it is greater, or a NaN beside a number.
  bool stays(int64_t at) const {
    if (is_nan(at)) return false;
    if (is_nan(winner_)) return true;
    if (!is_wide_integer(in_.dtype))
      return least_ ? in_.value[winner_] < in_.value[at] : in_.value[winner_] > in_.value[at];
    const uint64_t top = in_.dtype == DType::u64 ? uint64_t{1} << 63 : 0;
    const auto key = [&](int64_t i) { return static_cast<int64_t>(static_cast<uint64_t>(in_.integers[i]) ^ top); };
    return least_ ? key(winner_) < key(at) : key(winner_) > key(at);
  }

  void put_value(Array& values, int64_t at) const {
    if (nan_) return;
    double lo = -kInfinity, hi = -kInfinity;
    for (const ScanCandidate& c : candidates_) lo = std::max(lo, c.lo), hi = std::max(hi, c.hi);
    const double value = values.value[at];
    Settled settled{value, kInfinity};
    if (!unknown_) {
      const Interval range = least_ ? Interval{-hi, -lo} : Interval{lo, hi};
      settled = settle(values.dtype, value, {std::min(range.lo, value), std::max(range.hi, value)}, 0);
    }
    set_float(values, at, settled, excused_ || (!is_float(values.dtype) && settled.radius != 0));
  }

  const Array& in_;
  bool least_, nan_ = false, unknown_ = false, excused_ = false;
  int64_t winner_ = -1, winner_position_ = 0;
  std::vector<ScanCandidate> candidates_;
};

template <class T>
std::vector<Array> running_extrema(const T& op, bool least, const Operands& operands) {
  const Terms terms(operands.at(op.in));
  const Array& in = *terms;
  std::vector<Array> out;
  out.push_back(make_array(op.results[0]->dtype, in.shape));
  out.push_back(make_array(DType::i64, in.shape));
  each_line(in.shape, op.dim, [&](const ScanLine& line) {
    RunningExtremum running(in, least);
    for (int64_t p = 0; p < line.count; ++p) {
      running.step(line.at(p), p);
      running.put(out[0], out[1], line.at(p));
    }
  });
  return out;
}

}  // namespace

Array evaluate_scan(const CumProd& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  const Array& in = *terms;
  Array out = make_array(op.out()->dtype, in.shape);
  const bool floats = is_float(in.dtype), whole = context.options.radius && floats && is_whole(operands.at(op.in));
  if (floats && context.options.spread) out.spread.assign(out.value.size(), 0.0);
  each_line(in.shape, op.dim, [&](const ScanLine& line) {
    if (floats)
      multiply_floats(op, in, whole, line, context, out);
    else
      multiply_integers(op, in, line, out);
  });
  return out;
}

Array evaluate_scan(const LogCumSumExp& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  Array out = make_array(op.out()->dtype, (*terms).shape);
  each_line(out.shape, op.dim, [&](const ScanLine& line) { add_exponentials(*terms, line, context, out); });
  return out;
}

std::vector<Array> evaluate_scan(const CumMax& op, const Operands& operands, const Context&) {
  return running_extrema(op, false, operands);
}
std::vector<Array> evaluate_scan(const CumMin& op, const Operands& operands, const Context&) {
  return running_extrema(op, true, operands);
}

}  // namespace plait::reference
