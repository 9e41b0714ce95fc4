// Products: the sum, the sum of |terms| over the operands' intervals, and the sums that ranks keep pending.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "reference/elements.h"
#include "reference/evaluator.h"
#include "reference/multiply.h"

namespace plait::reference {
namespace {

constexpr int64_t kRows = 128, kColumns = 128;

// A matrix [rows, k] within an array.
struct Side {
  const Array& array;
  int64_t offset, rows, row_stride, k_stride;
  int64_t at(int64_t row, int64_t k) const { return offset + row * row_stride + k * k_stride; }
  Side part(int64_t first, int64_t count) const {
    return {array, offset + first * row_stride, std::min(count, rows - first), row_stride, k_stride};
  }
};

// Per element of one block of a product.
struct Sums {
  std::vector<double> sum;
  std::vector<double> plain;  // sum of |a| |b|; empty where it equals `wide`
  std::vector<double> wide;   // sum of (|a| + radius) (|b| + radius); empty when not asked for
  std::vector<double> parts;  // sum over ranks of |partial|; empty when no rank keeps one
};

// Contracted indices in the order of the ranks that add them, and where each rank's begin.
struct Order {
  std::vector<int64_t> index, begin;
};

Order order_of(const Op& op, int64_t depth, const Partial* partial) {
  Order order{{}, {0}};
  if (partial && !partial->indices.empty()) {
    for (const auto& rank : partial->indices) {
      order.index.insert(order.index.end(), rank.begin(), rank.end());
      order.begin.push_back(static_cast<int64_t>(order.index.size()));
    }
    PLAIT_CHECK(static_cast<int64_t>(order.index.size()) == depth, "{}: ranks add {} of {} terms", describe(op),
                order.index.size(), depth);
    return order;
  }
  order.index.resize(static_cast<size_t>(depth));
  std::iota(order.index.begin(), order.index.end(), 0);
  order.begin.push_back(depth);
  return order;
}

// Rows that hold an element for which `test` is true.
template <class Test>
std::vector<uint8_t> marked_rows(const Side& side, int64_t depth, bool any, Test&& test) {
  std::vector<uint8_t> marked(static_cast<size_t>(side.rows), 0);
  if (!any) return marked;
  for (int64_t row = 0; row < side.rows; ++row)
    for (int64_t k = 0; k < depth; ++k) marked[row] |= static_cast<uint8_t>(test(side.at(row, k)));
  return marked;
}

class Contraction {
 public:
  // `whole`: every operand is_whole.
  Contraction(const Op& op, int64_t depth, const Array* bias, bool whole, const Context& context)
      : context_(context),
        whole_(whole),
        partial_(context.partial_of_contraction(op)),
        order_(order_of(op, depth, partial_)),
        depth_(depth),
        bias_(bias),
        in_(inputs(op)[0]->dtype),
        unit_(unit_roundoff(accumulation_type(in_))),
        spacing_(smallest_spacing(accumulation_type(in_))),
        largest_(max_finite(accumulation_type(in_))),
        spread_(context.options.spread || (partial_ && !partial_->indices.empty())) {
    out_ = make_array(op.out()->dtype, context.shape(op.out()->shape()));
    if (context.options.radius) out_.radius.assign(out_.value.size(), 0.0);
    if (spread_) out_.spread.assign(out_.value.size(), 0.0);
  }
  const Array& out() const { return out_; }
  // One product into out[at ...], [a.rows, b.rows], in blocks whose sums are few enough for the second-level cache.
  void multiply(const Side& a, const Side& b, int64_t at) {
    for (int64_t row = 0; row < a.rows; row += kRows) {
      const Side some = a.part(row, kRows);
      for (int64_t col = 0; col < b.rows; col += kColumns) {
        const Side others = b.part(col, kColumns);
        add_up(some, others);
        finish(some, others, col, at + row * b.rows + col, b.rows);
      }
    }
  }
  Array take() { return std::move(out_); }

 private:
  void add_up(const Side& a, const Side& b);
  // Into rows of out that begin at `at` and lie `stride` apart; the bias of their first column is `first`.
  void finish(const Side& a, const Side& b, int64_t first, int64_t at, int64_t stride);
  double radius(size_t i, double value, double bias, double bias_radius, double spread) const;
  double finite_terms(const Side& a, int64_t row, const Side& b, int64_t col) const;
  bool hangs_on_zero(const Side& a, int64_t row, const Side& b, int64_t col) const;

  const Context& context_;
  const bool whole_;
  const Partial* partial_;
  Order order_;
  int64_t depth_;
  const Array* bias_;
  DType in_;
  double unit_, spacing_, largest_;  // of the type in which sums are added
  bool spread_;
  Sums sums_;  // of the block at hand
  Array out_;
};

void Contraction::add_up(const Side& a, const Side& b) {
  const auto matrix = [](const Side& s) {
    const std::vector<double>& radius = s.array.radius;
    return Matrix{s.array.value.data() + s.offset, radius.empty() ? nullptr : radius.data() + s.offset, s.rows,
                  s.row_stride, s.k_stride};
  };
  const auto count = static_cast<size_t>(a.rows * b.rows);
  const bool exchanged = partial_ && !partial_->indices.empty(), bounds = context_.options.radius || spread_;
  const bool radii = bounds && !(a.array.radius.empty() && b.array.radius.empty());
  sums_.sum.assign(count, 0.0);
  sums_.wide.assign(bounds ? count : 0, 0.0);
  sums_.plain.assign(radii ? count : 0, 0.0);
  sums_.parts.assign(exchanged ? count : 0, 0.0);
  std::vector<double> part;
  for (size_t r = 0; r + 1 < order_.begin.size(); ++r) {
    const auto begin = static_cast<size_t>(order_.begin[r]), end = static_cast<size_t>(order_.begin[r + 1]);
    if (begin == end) continue;
    part.assign(exchanged ? count : 0, 0.0);
    multiply_add(matrix(a), matrix(b), std::span(order_.index).subspan(begin, end - begin),
                 {exchanged ? part.data() : sums_.sum.data(), bounds ? sums_.wide.data() : nullptr,
                  radii ? sums_.plain.data() : nullptr});
    for (size_t i = 0; i < part.size(); ++i) sums_.sum[i] += part[i], sums_.parts[i] += std::abs(part[i]);
  }
}

// Radius of sum + bias before it is rounded to a narrow dtype.
double Contraction::radius(size_t i, double value, double bias, double bias_radius, double spread) const {
  const double terms = sums_.wide[i] + std::abs(bias) + bias_radius;
  const double depth = static_cast<double>(depth_ + (bias_ ? 1 : 0) + context_.options.ranks);
  double radius = sums_.plain.empty() ? 0 : sums_.wide[i] - sums_.plain[i];
  const bool exchanged = partial_ && is_narrow(in_);
  if (whole_ && terms * (exchanged ? unit_roundoff(in_) : unit_) <= 1) return radius + bias_radius;
  if (terms > 0) radius += depth * (2 * unit_ * terms + spacing_);
  if (terms > largest_) return kInfinity;
  if (exchanged) {
    const double u = unit_roundoff(in_), least = smallest_spacing(in_);
    if (spread > 0)
      radius += static_cast<double>(partial_->roundings) * (u * (spread + radius) + least * double(partial_->ranks));
    if (bias_ && terms > 0) radius += u * (std::abs(value) + radius) + least;  // the total, before the bias joins
  }
  return radius + bias_radius;
}

// The size of an element's finite terms, as `wide` has all of them.
double Contraction::finite_terms(const Side& a, int64_t row, const Side& b, int64_t col) const {
  const auto size = [](const Array& x, int64_t i) { return std::abs(x.value[i]) + x.radius_at(i); };
  double out = 0;
  for (int64_t k = 0; k < depth_; ++k) {
    const double x = size(a.array, a.at(row, k)), y = size(b.array, b.at(col, k));
    if (std::isfinite(x) && std::isfinite(y)) out += x * y;
  }
  return out;
}

// Whether an infinite factor is multiplied with what may be 0 or not, so that its term may be NaN or infinite, and no
// other term is surely NaN.
bool Contraction::hangs_on_zero(const Side& a, int64_t row, const Side& b, int64_t col) const {
  bool out = false;
  for (int64_t k = 0; k < depth_; ++k) {
    const int64_t i = a.at(row, k), j = b.at(col, k);
    const double x = a.array.value[i], y = b.array.value[j], rx = a.array.radius_at(i), ry = b.array.radius_at(j);
    if (std::isnan(x) || std::isnan(y)) return false;
    if (!std::isinf(x) && !std::isinf(y)) continue;
    const double other = std::isinf(x) ? y : x, radius = std::isinf(x) ? ry : rx;
    if (other == 0 && radius == 0) return false;
    out |= std::abs(other) <= radius;
  }
  return out;
}

void Contraction::finish(const Side& a, const Side& b, int64_t first, int64_t at, int64_t stride) {
  const auto excused = [](const Side& s) { return [&s](int64_t i) { return s.array.excused_at(i); }; };
  const auto unknown = [](const Side& s) { return [&s](int64_t i) { return std::isinf(s.array.radius_at(i)); }; };
  const auto excused_a = marked_rows(a, depth_, !a.array.excused.empty(), excused(a));
  const auto excused_b = marked_rows(b, depth_, !b.array.excused.empty(), excused(b));
  const auto unknown_a = marked_rows(a, depth_, !a.array.excused.empty(), unknown(a));
  const auto unknown_b = marked_rows(b, depth_, !b.array.excused.empty(), unknown(b));
  const double ordinary = is_narrow(out_.dtype) ? -1 : max_finite(out_.dtype) / 2;
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t col = 0; col < b.rows; ++col) {
      const auto i = static_cast<size_t>(row * b.rows + col);
      const auto target = static_cast<size_t>(at + row * stride + col);
      const double bias = bias_ ? bias_->value[first + col] : 0, value = sums_.sum[i] + bias;
      const double spread = !sums_.parts.empty() ? sums_.parts[i] : spread_ ? sums_.wide[i] : 0;
      if (spread_) out_.spread[target] = spread;
      if (!context_.options.radius) {
        out_.value[target] = settle(out_.dtype, value, Interval::point(value), 0).value;
        continue;
      }
      const bool open = unknown_a[row] || unknown_b[col] || (bias_ && std::isinf(bias_->radius_at(first + col)));
      double own = 0;
      if (open)
        own = kInfinity;
      else if (std::isfinite(value))
        own = radius(i, sums_.sum[i], bias, bias_ ? bias_->radius_at(first + col) : 0, spread);
      else if (hangs_on_zero(a, row, b, col))
        own = kInfinity;
      else if (std::isinf(value) && finite_terms(a, row, b, col) > largest_)
        own = kInfinity;            // they may become the other infinity
      Settled settled{value, own};  // as below, sooner
      if (!(std::abs(value) + own < ordinary)) settled = settle(out_.dtype, value, Interval::point(value), own);
      out_.value[target] = settled.value;
      out_.radius[target] = settled.radius;
      if (spread_) out_.spread[target] += std::isfinite(settled.radius) ? settled.radius : 0;
      if (!open && !excused_a[row] && !excused_b[col] && !(bias_ && bias_->excused_at(first + col)) &&
          !std::isinf(settled.radius))
        continue;
      if (out_.excused.empty()) out_.excused.assign(out_.value.size(), 0);
      out_.excused[target] = 1;
    }
  }
}

bool are_whole(const Op& op, const Operands& operands, const Context& context) {
  const auto whole = [&](const TensorView* t) { return is_whole(operands.at(t)); };
  return context.options.radius && std::ranges::all_of(inputs(op), whole);
}

// A product of integers, modulo 2^64 and then as the result's dtype: exact. What is open of a term opens the sum.
class IntegerContraction {
 public:
  IntegerContraction(const Op& op, int64_t depth, const Array* bias, const Context& context)
      : depth_(depth), bias_(bias), out_(make_array(op.out()->dtype, context.shape(op.out()->shape()))) {
    const int bits = static_cast<int>(8 * size_of(out_.dtype));
    most_ = std::ldexp(1.0, std::min(is_unsigned(out_.dtype) ? bits : bits - 1, 62));
  }
  const Array& out() const { return out_; }

  void multiply(const Side& a, const Side& b, int64_t at) {
    for (int64_t row = 0; row < a.rows; ++row)
      for (int64_t col = 0; col < b.rows; ++col) put(a, row, b, col, at + row * b.rows + col);
  }
  Array take() { return std::move(out_); }

 private:
  void put(const Side& a, int64_t row, const Side& b, int64_t col, int64_t target) {
    uint64_t sum = bias_ ? static_cast<uint64_t>(bias_->integer_at(col)) : 0;
    double radius = bias_ ? bias_->radius_at(col) : 0, size = bias_ ? std::abs(bias_->value[col]) : 0;
    for (int64_t k = 0; k < depth_; ++k) {
      const int64_t i = a.at(row, k), j = b.at(col, k);
      sum += static_cast<uint64_t>(a.array.integer_at(i)) * static_cast<uint64_t>(b.array.integer_at(j));
      const double x = std::abs(a.array.value[i]), y = std::abs(b.array.value[j]);
      const double dx = a.array.radius_at(i), dy = b.array.radius_at(j);
      size += x * y;
      if (dx != 0) radius += dx * (y + dy);
      if (dy != 0) radius += x * dy;
    }
    if (radius != 0 && !(size + radius < most_)) radius = kInfinity;  // it may wrap
    set_integer(out_, target, static_cast<int64_t>(sum), radius);
  }

  int64_t depth_;
  const Array* bias_;
  Array out_;
  double most_;  // no sum that stays below wraps
};

// Every matrix product of a matmul.
template <class Products>
Array products_of(Products products, const Array& a, const Array& b) {
  const size_t ra = a.shape.size(), rb = b.shape.size();
  const int64_t rows = a.shape[ra - 2], depth = a.shape[ra - 1], cols = b.shape[rb - 1];
  const std::vector<int64_t> batch(products.out().shape.begin(), products.out().shape.end() - 2);
  // Linear index of a batch in an operand whose leading dims broadcast.
  const auto matrix_of = [&](const Array& x, int64_t linear) {
    int64_t index = 0, stride = 1;
    for (size_t d = batch.size(), own = x.shape.size() - 2; d-- > 0;) {
      const int64_t position = linear % batch[d];
      linear /= batch[d];
      if (own == 0) break;
      --own;
      if (x.shape[own] != 1) index += position * stride;
      stride *= x.shape[own];
    }
    return index;
  };
  for (int64_t i = 0; i < element_count(batch); ++i)
    products.multiply({a, matrix_of(a, i) * rows * depth, rows, depth, 1},
                      {b, matrix_of(b, i) * depth * cols, cols, 1, cols}, i * rows * cols);
  return products.take();
}

}  // namespace

Array evaluate_linear(const Linear& op, const Operands& operands, const Context& context) {
  const Terms x_terms(operands.at(op.x)), w_terms(operands.at(op.w));
  const std::optional<Array> bias = op.b ? std::optional(*Terms(operands.at(op.b))) : std::nullopt;
  const Array &x = *x_terms, &w = *w_terms;
  const int64_t depth = w.shape[1], cols = w.shape[0];
  const auto multiply = [&](auto products) {
    const int64_t rows = cols == 0 ? 0 : products.out().elements() / cols;
    products.multiply({x, 0, rows, depth, 1}, {w, 0, cols, depth, 1}, 0);
    return products.take();
  };
  if (!is_float(x.dtype)) return multiply(IntegerContraction(op, depth, bias ? &*bias : nullptr, context));
  return multiply(Contraction(op, depth, bias ? &*bias : nullptr, are_whole(op, operands, context), context));
}

Array evaluate_matmul(const Matmul& op, const Operands& operands, const Context& context) {
  const Terms a_terms(operands.at(op.a)), b_terms(operands.at(op.b));
  const Array &a = *a_terms, &b = *b_terms;
  const int64_t depth = a.shape.back();
  if (!is_float(a.dtype)) return products_of(IntegerContraction(op, depth, nullptr, context), a, b);
  return products_of(Contraction(op, depth, nullptr, are_whole(op, operands, context), context), a, b);
}

}  // namespace plait::reference
