// Reductions to sums and products, variance, running sums. Extrema: extrema.cpp.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "reference/elements.h"
#include "reference/evaluator.h"
#include "reference/sums.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

bool is_unknown(const Array& in, int64_t i) { return in.dtype != DType::boolean && std::isinf(in.radius_at(i)); }

// Which rank adds a term, by its position among the reduced dims; empty where no rank keeps a part.
std::vector<int> ranks_of_terms(const Op& op, const Partial* partial, int64_t terms) {
  if (!partial || partial->indices.empty()) return {};
  std::vector<int> rank(static_cast<size_t>(terms), -1);
  for (size_t r = 0; r < partial->indices.size(); ++r)
    for (int64_t term : partial->indices[r]) rank.at(static_cast<size_t>(term)) = static_cast<int>(r);
  PLAIT_CHECK(std::ranges::count(rank, -1) == 0, "{}: ranks leave terms out of {}", describe(op), terms);
  return rank;
}

// Upper bounds of sum over ranks |part| per element of the result.
class Spread {
 public:
  Spread(const Reduce& op, const Array& in, const Reduced& dims, const Partial* partial)
      : in_(in), rank_(in.spread.empty() ? ranks_of_terms(op, partial, dims.terms) : std::vector<int>()) {
    if (rank_.empty()) return;
    ranks_ = static_cast<int64_t>(partial->indices.size());
    parts_.assign(static_cast<size_t>(element_count(dims.shape) * ranks_), 0.0);
  }
  void add(int64_t i, int64_t out, int64_t term, double& inherited) {
    if (!rank_.empty()) parts_[static_cast<size_t>(out * ranks_ + rank_[term])] += in_.value[i];
    if (!in_.spread.empty()) inherited += in_.spread[i];
  }
  // The sum over ranks, and the largest part.
  std::pair<double, double> parts(int64_t out) const {
    double sum = 0, largest = 0;
    for (int64_t r = 0; r < ranks_; ++r) {
      const double part = std::abs(parts_[static_cast<size_t>(out * ranks_ + r)]);
      sum += part;
      largest = std::max(largest, part);
    }
    return {sum, largest};
  }
  bool cut() const { return !rank_.empty(); }

 private:
  const Array& in_;
  std::vector<int> rank_;
  int64_t ranks_ = 0;
  std::vector<double> parts_;
};

// What ranks lose that exchange parts of a narrow dtype: one rounding per part and reduction.
void add_exchange(Total& total, const Partial& partial, DType dtype, double spread, double largest) {
  if (!is_narrow(dtype) || !std::isfinite(total.own)) return;
  if (largest > max_finite(dtype)) total.own = kInfinity;
  total.own += static_cast<double>(partial.roundings) *
               (unit_roundoff(dtype) * (spread + total.own) +
                smallest_spacing(dtype) * static_cast<double>(spread > 0 ? partial.ranks : 0));
}

Array sum_of_floats(const Reduce& op, const Array& in, const Reduced& dims, bool whole, const Context& context) {
  Array out = make_array(op.out()->dtype, dims.shape);
  const Partial* partial = context.partial_of(*op.out());
  const bool keeps_spread = context.options.spread || partial;
  std::vector<Sum> sums(out.value.size(), {.exact = whole});
  std::vector<double> inherited(keeps_spread ? out.value.size() : 0, 0.0), largest = inherited;
  if (keeps_spread) {
    Spread spread(op, in, dims, partial);
    walk(dims.walk, [&](int64_t i, int64_t o, int64_t term) {
      sums[o].add(in.value[i], in.radius_at(i));
      spread.add(i, o, term, inherited[o]);
    });
    out.spread.assign(out.value.size(), 0.0);
    for (int64_t o = 0; o < out.elements(); ++o) {
      const double whole = in.spread.empty() ? sums[o].size : inherited[o];
      const auto [sum, part] = spread.cut() ? spread.parts(o) : std::pair(whole, whole);
      out.spread[o] = sum, largest[o] = part;
    }
  } else {
    walk(dims.walk, [&](int64_t i, int64_t o, int64_t) { sums[o].add(in.value[i], in.radius_at(i)); });
  }
  if (!in.excused.empty())
    walk(dims.walk, [&](int64_t i, int64_t o, int64_t) {
      if (in.excused[i]) sums[o].marks |= kExcusedTerm;
    });
  const DType wide = accumulation_type(in.dtype);
  for (int64_t o = 0; o < out.elements(); ++o) {
    Total sum = total(sums[o], wide, context.options.ranks);
    if (!context.options.radius) sum.own = 0;
    const bool exact_parts = whole && keeps_spread && out.spread[o] * unit_roundoff(out.dtype) <= 1;
    if (partial && context.options.radius && !exact_parts)
      add_exchange(sum, *partial, out.dtype, out.spread[o], largest[o]);
    const Settled settled = settle(out.dtype, sum);
    set_float(out, o, settled, sums[o].marks & kExcusedTerm);
    if (keeps_spread && std::isfinite(settled.radius)) out.spread[o] += settled.radius;
  }
  return out;
}

Array product_of_floats(const Reduce& op, const Array& in, const Reduced& dims, bool whole, const Context& context) {
  Array out = make_array(op.out()->dtype, dims.shape);
  const Partial* partial = context.partial_of(*op.out());
  std::vector<Product> products(out.value.size(), {.exact = whole});
  walk(dims.walk, [&](int64_t i, int64_t o, int64_t) {
    products[o].multiply(in.value[i], in.radius_at(i));
    if (in.excused_at(i)) products[o].marks |= kExcusedTerm;
  });
  if (context.options.spread) out.spread.assign(out.value.size(), 0.0);
  const DType wide = accumulation_type(in.dtype);
  for (int64_t o = 0; o < out.elements(); ++o) {
    const Product& product = products[o];
    Total result = total(product, wide, context.options.ranks);
    if (!context.options.radius) result.own = 0;
    if (partial && context.options.radius && is_narrow(out.dtype) && std::isfinite(result.value)) {
      // Every part of every exchange rounds: relative, and absolute where one is below the normal numbers.
      const auto roundings = static_cast<double>(2 * partial->ranks * partial->roundings);
      const double far = std::max(std::abs(result.range.lo), std::abs(result.range.hi));
      result.own += roundings * unit_roundoff(out.dtype) * far;
      if (product.small < min_normal(out.dtype)) result.own += roundings * smallest_spacing(out.dtype) * product.large;
      if (product.large > max_finite(out.dtype)) result.own = kInfinity;
    }
    set_float(out, o, settle(out.dtype, result), product.marks & kExcusedTerm);
    if (context.options.spread) out.spread[o] = product.large;
  }
  return out;
}

// Modulo 2^64; an operand that may be another integer makes the result open.
Array reduce_integers(const Reduce& op, const Array& in, const Reduced& dims, bool multiply) {
  Array out = make_array(op.out()->dtype, dims.shape);
  std::vector<uint64_t> results(out.value.size(), multiply ? 1 : 0);
  walk(dims.walk, [&](int64_t i, int64_t o, int64_t) {
    const auto term = static_cast<uint64_t>(in.integer_at(i));
    results[o] = multiply ? results[o] * term : results[o] + term;
  });
  std::vector<double> radius(in.radius.empty() ? 0 : out.value.size(), 0.0);
  if (!in.radius.empty()) {
    std::vector<Interval> ranges(out.value.size(), Interval::point(multiply ? 1 : 0));
    walk(dims.walk, [&](int64_t i, int64_t o, int64_t) {
      if (is_unknown(in, i)) radius[o] = kInfinity;
      const Interval terms[] = {ranges[o], range_at(in, i)};
      ranges[o] = interval(multiply ? Pointwise::mul : Pointwise::add, terms);
    });
    for (size_t o = 0; o < ranges.size(); ++o) {
      const auto value = static_cast<double>(static_cast<int64_t>(results[o]));
      if (ranges[o].is_point() && radius[o] == 0) continue;
      const bool wraps = !(std::max(std::abs(ranges[o].lo), std::abs(ranges[o].hi)) < 0x1p62);
      radius[o] = wraps ? kInfinity : std::max({radius[o], ranges[o].hi - value, value - ranges[o].lo});
    }
  }
  for (int64_t o = 0; o < out.elements(); ++o)
    set_integer(out, o, static_cast<int64_t>(results[o]), radius.empty() ? 0 : radius[o]);
  return out;
}

// What is known of the elements of one variance.
struct Moments {
  Sum sum;
  double lo = kInfinity, hi = -kInfinity, radius = 0, radius_squares = 0, squares = 0;
  void add(double value, double r) {
    sum.add(value, r);
    lo = std::min(lo, value), hi = std::max(hi, value);
    radius = std::max(radius, r);
    radius_squares += r * r;
  }
};

// Bound of |computed - exact| of sum (x - mean)^2 over n > 1 elements, by Welford's recurrence, by merging parts in a
// tree, or in two passes. Derivation: docs/numerics.md. `root` bounds sqrt(sum (x - mean)^2), `mean` |mean|, `size`
// sum |x|.
double squares_error(DType wide, double n, double root, double mean, double size) {
  const double u = unit_roundoff(wide), levels = std::log2(n);
  const double first = mean * std::sqrt(n) * (0.33 * n + 0.56) + 0.68 * n * root;
  const double second = 6 * root * std::sqrt(levels * std::log(n / 2));
  const double means = u * (first + second) + std::sqrt(n) * n * smallest_spacing(wide);
  const double passes = u * std::sqrt(n) * (size + mean);
  const double error =
      (n + 12 + std::sqrt(levels)) * u * root * root + 2 * root * means + std::max(2 * means * means, passes * passes);
  const double own = wide == DType::f64 ? 2 : 1;  // in f64 the value here is a rounded one too
  return own * (1 + 2 * n * u) * error + n * smallest_spacing(wide);
}

// sum (x - mean)^2 / (n - correction), the divisor at least 0.
Total variance(const Moments& m, DType wide, int64_t correction, bool radius) {
  const auto n = static_cast<double>(m.sum.count);
  const double divisor = std::max(n - static_cast<double>(correction), 0.0);
  const uint8_t odd = m.sum.marks & (kNaNTerm | kPlusInfinity | kMinusInfinity);
  if (odd || m.sum.count == 0 || (m.sum.count == 1 && divisor == 0)) return {kNaN, Interval::point(kNaN), 0};
  const double value = m.squares / divisor;
  if (m.sum.size == 0 && m.sum.marks == 0 && divisor > 0) return {0, Interval::point(0), 0};  // nothing but zeros
  if (!radius) return {value, Interval::point(value), 0};
  const double root = std::sqrt(m.squares);
  const double spread = m.sum.count == 1 ? 0 : std::sqrt(m.radius_squares) * (1 + 1e-9);  // of one element it is 0
  const double mean = std::abs(m.sum.sum) / n + m.radius, range = m.hi - m.lo + 2 * m.radius;
  const double high = root + spread, low = std::max(root - spread, 0.0);
  const double own = m.sum.count == 1 ? 0 : squares_error(wide, n, high, mean, m.sum.size);
  const bool overflows = !(m.sum.size <= max_finite(wide)) || !(high * high + own <= max_finite(wide)) ||
                         !(4 * range * range <= max_finite(wide));
  if ((m.sum.marks & kUnknownTerm) || overflows) return {value, Interval::point(value), kInfinity};
  if (divisor == 0) return {value, Interval::point(value), low * low > own ? 0 : kInfinity};
  const double rounding = m.sum.count == 1 ? 0 : 2 * unit_roundoff(wide) * high * high;
  return {value,
          {std::min(low * low / divisor, value), std::max(high * high / divisor, value)},
          (own + rounding) / divisor};
}

// Running sums of one line of elements, `stride` apart.
struct Line {
  int64_t begin, count, stride;
};

void add_up_floats(const CumSum& op, const Array& in, bool whole, const Line& line, const Context& context,
                   Array& out) {
  const DType wide = accumulation_type(in.dtype);
  const double unit = unit_roundoff(wide), ordinary = is_narrow(out.dtype) ? -1 : max_finite(wide) / 4;
  Sum sum{.exact = whole};
  const auto put = [&](int64_t at) {
    if (!out.spread.empty()) out.spread[at] = sum.size;
    const double own = context.options.radius ? sum_error(sum, unit, context.options.ranks) : 0;
    if (sum.marks == 0 && sum.size <= ordinary && own <= ordinary) {  // as below, sooner
      out.value[at] = sum.sum;
      if (own != 0) out.radius[at] = own;
      return;
    }
    Total result = total(sum, wide, context.options.ranks);
    if (!context.options.radius) result.own = 0;
    set_float(out, at, settle(out.dtype, result), sum.marks & kExcusedTerm);
  };
  for (int64_t p = 0; p < line.count; ++p) {
    const int64_t at = line.begin + (op.reverse ? line.count - 1 - p : p) * line.stride;
    if (op.exclusive) put(at);
    sum.add(in.value[at], in.radius_at(at));
    if (in.excused_at(at)) sum.marks |= kExcusedTerm;
    if (!op.exclusive) put(at);
  }
}

void add_up_integers(const CumSum& op, const Array& in, const Line& line, Array& out) {
  uint64_t sum = 0;
  double radius = 0;
  for (int64_t p = 0; p < line.count; ++p) {
    const int64_t at = line.begin + (op.reverse ? line.count - 1 - p : p) * line.stride;
    const uint64_t next = sum + static_cast<uint64_t>(in.integer_at(at));
    const double next_radius = radius + in.radius_at(at);
    set_integer(out, at, static_cast<int64_t>(op.exclusive ? sum : next), op.exclusive ? radius : next_radius);
    sum = next, radius = next_radius;
  }
}

}  // namespace

Reduced reduced(const std::vector<int64_t>& shape, const std::vector<int64_t>& dims, std::vector<int64_t> out_shape) {
  Reduced out{std::move(out_shape), 1, {}};
  std::vector<int64_t> kept_strides(shape.size(), 0), term_strides(shape.size(), 0);
  int64_t kept = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    const bool gone = std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
    int64_t& count = gone ? out.terms : kept;
    (gone ? term_strides : kept_strides)[d] = count;
    count *= shape[d];
  }
  PLAIT_CHECK(kept == element_count(out.shape), "{} elements of a reduction are not {}", kept,
              element_count(out.shape));
  out.walk = strided(shape, kept_strides, term_strides);
  return out;
}

Array evaluate_reduce(const Reduce& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  const Array& in = *terms;
  const bool whole = context.options.radius && is_float(in.dtype) && is_whole(operands.at(op.in));
  const Reduced dims = reduced(in.shape, op.dims, context.shape(op.out()->shape()));
  switch (op.function) {
    case Reduction::sum:
      return is_float(in.dtype) ? sum_of_floats(op, in, dims, whole, context) : reduce_integers(op, in, dims, false);
    case Reduction::prod:
      return is_float(in.dtype) ? product_of_floats(op, in, dims, whole, context) : reduce_integers(op, in, dims, true);
    case Reduction::amax:
    case Reduction::amin:
    case Reduction::argmax:
    case Reduction::argmin:
      return evaluate_extremum(op.function, op.out()->dtype, in, dims);
  }
  __builtin_unreachable();
}

namespace {

// Moments of the elements that each element of the result is made of.
std::vector<Moments> moments_of(const Array& in, const Reduced& dims, bool whole) {
  std::vector<Moments> moments(static_cast<size_t>(element_count(dims.shape)));
  for (Moments& m : moments) m.sum.exact = whole;
  walk(dims.walk, [&](int64_t i, int64_t o, int64_t) {
    moments[o].add(in.value[i], in.radius_at(i));
    if (in.excused_at(i)) moments[o].sum.marks |= kExcusedTerm;
  });
  std::vector<double> mean;
  for (const Moments& m : moments) mean.push_back(m.sum.sum / static_cast<double>(m.sum.count));
  walk(dims.walk, [&](int64_t i, int64_t o, int64_t) {
    const double distance = in.value[i] - mean[o];
    moments[o].squares += distance * distance;
  });
  return moments;
}

Array variances(const std::vector<Moments>& moments, DType dtype, const Reduced& dims, int64_t correction,
                const Context& context) {
  Array out = make_array(dtype, dims.shape);
  for (int64_t o = 0; o < out.elements(); ++o) {
    const Total result = variance(moments[o], accumulation_type(dtype), correction, context.options.radius);
    set_float(out, o, settle(out.dtype, result), moments[o].sum.marks & kExcusedTerm);
  }
  return out;
}

// The sum, a number of the wide type, over the number of terms, which that type rounds too.
Total mean(const Sum& terms, DType wide, const Context& context) {
  Total sum = total(terms, wide, context.options.ranks);
  if (!context.options.radius) sum.own = 0;
  const Settled whole = settle(wide, sum);
  const double count = round_to(wide, static_cast<double>(terms.count));
  const double value = whole.value / count;
  if (std::isinf(whole.radius)) return {value, Interval::point(value), kInfinity};
  if (!std::isfinite(value)) return {value, Interval::point(value), 0};
  const double radius = whole.radius / count;
  const Interval range{value - radius, value + radius};
  const double most = std::max(std::abs(range.lo), std::abs(range.hi));
  const bool exact =
      whole.radius == 0 && (value == 0 || (whole.value == std::trunc(whole.value) && value == std::trunc(value) &&
                                           std::abs(whole.value) * unit_roundoff(wide) <= 1));
  const double args[] = {whole.value, count};
  return {value, range, exact || !context.options.radius ? 0 : own_error(Pointwise::div, wide, args, most)};
}

}  // namespace

Array evaluate_var(const Var& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  const Reduced dims = reduced((*terms).shape, op.dims, context.shape(op.out()->shape()));
  return variances(moments_of(*terms, dims, false), op.out()->dtype, dims, op.correction, context);
}

std::vector<Array> evaluate_var_mean(const VarMean& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  const bool whole = context.options.radius && is_whole(operands.at(op.in));
  const Reduced dims = reduced((*terms).shape, op.dims, context.shape(op.results[0]->shape()));
  const std::vector<Moments> moments = moments_of(*terms, dims, whole);
  Array means = make_array(op.results[0]->dtype, dims.shape);
  for (int64_t o = 0; o < means.elements(); ++o)
    set_float(means, o, settle(means.dtype, mean(moments[o].sum, accumulation_type(means.dtype), context)),
              moments[o].sum.marks & kExcusedTerm);
  std::vector<Array> out;
  out.push_back(std::move(means));
  out.push_back(variances(moments, op.results[1]->dtype, dims, op.correction, context));
  return out;
}

Array evaluate_scan(const CumSum& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  const Array& in = *terms;
  Array out = make_array(op.out()->dtype, in.shape);
  const bool floats = is_float(in.dtype), whole = context.options.radius && floats && is_whole(operands.at(op.in));
  if (floats && context.options.spread) out.spread.assign(out.value.size(), 0.0);
  if (floats && context.options.radius) out.radius.assign(out.value.size(), 0.0);
  const int64_t count = in.shape[op.dim];
  const int64_t inner = row_major_strides(in.shape)[op.dim];
  for (int64_t begin = 0; begin < in.elements(); begin += count * inner)
    for (int64_t j = 0; j < inner; ++j) {
      const Line line{begin + j, count, inner};
      if (floats)
        add_up_floats(op, in, whole, line, context, out);
      else
        add_up_integers(op, in, line, out);
    }
  return out;
}

}  // namespace plait::reference
