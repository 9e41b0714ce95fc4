// Elements in order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/elements.h"
#include "reference/evaluator.h"

namespace plait::reference {
namespace {

constexpr double kMostNumber = std::numeric_limits<double>::max();
constexpr int64_t kMostRanks = 64;  // that one element may take; beyond them nothing is known of their indices

// One row: its elements, and in which order they stand.
class SortedRow {
 public:
  SortedRow(const Array& in, int64_t begin, int64_t count, int64_t stride, bool descending)
      : in_(in), begin_(begin), stride_(stride), descending_(descending), order_(static_cast<size_t>(count)) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) { return before(at(a), at(b)); });
  }

  // The element at a place in order, and everything that it may be.
  void put(int64_t place, Array& values, Array& indices, int64_t to) const {
    const int64_t first = order_[static_cast<size_t>(place)];
    if (!values.integers.empty()) values.integers[to] = in_.integers[at(first)];
    values.value[to] = in_.value[at(first)];
    set_integer(indices, to, first);
  }

  void put_open(int64_t places, const std::vector<int64_t>& to, Array& values, Array& indices) {
    find_ends();
    std::vector<std::vector<Point>> who(static_cast<size_t>(places));
    std::vector<bool> unknown(static_cast<size_t>(places)), excused(static_cast<size_t>(places));
    for (int64_t i = 0; i < count(); ++i) {
      const End low{ends_[static_cast<size_t>(i)].lo, i}, high{ends_[static_cast<size_t>(i)].hi, i};
      const auto first = std::lower_bound(highs_.begin(), highs_.end(), low) - highs_.begin();
      const auto last = count() - 1 - (lows_.end() - std::upper_bound(lows_.begin(), lows_.end(), high));
      for (int64_t k = first; k <= std::min<int64_t>(last, places - 1); ++k) {
        const auto place = static_cast<size_t>(k);
        excused[place] = excused[place] || in_.excused_at(at(i));
        if (last - first >= kMostRanks)
          unknown[place] = true;
        else if (i != order_[place])
          who[place].push_back({static_cast<double>(i), 0});
      }
    }
    for (int64_t k = 0; k < places; ++k) {
      const auto place = static_cast<size_t>(k);
      put_value(lows_[place].key, highs_[place].key, excused[place], values, to[place]);
      const auto own = static_cast<double>(order_[place]);
      who[place].insert(who[place].begin(), {own, 0});
      if (unknown[place])
        set_unknown(indices, to[place]);
      else if (who[place].size() > 1)
        set_possible(indices, to[place], join(DType::i64, who[place]), true);
      if (!unknown[place] && who[place].size() > 2)
        for (const Point& p : who[place]) indices.candidates[to[place]].push_back(static_cast<int64_t>(p.value));
    }
  }

 private:
  struct End {
    double key;
    int64_t index;
    auto operator<=>(const End&) const = default;
  };

  int64_t count() const { return static_cast<int64_t>(order_.size()); }
  int64_t at(int64_t index) const { return begin_ + index * stride_; }

  bool before(int64_t a, int64_t b) const {
    const bool nan_a = std::isnan(in_.value[a]), nan_b = std::isnan(in_.value[b]);
    if (nan_a || nan_b) return descending_ ? nan_a && !nan_b : nan_b && !nan_a;
    if (!is_wide_integer(in_.dtype)) return descending_ ? in_.value[a] > in_.value[b] : in_.value[a] < in_.value[b];
    const uint64_t top = in_.dtype == DType::u64 ? uint64_t{1} << 63 : 0;
    const auto key = [&](int64_t i) { return static_cast<int64_t>(static_cast<uint64_t>(in_.integers[i]) ^ top); };
    return descending_ ? key(a) > key(b) : key(a) < key(b);
  }

  // The ends of every element as numbers that grow in the order of the row; a NaN is an infinity, which else none is.
  void find_ends() {
    for (int64_t i = 0; i < count(); ++i) {
      const int64_t from = at(i);
      Interval range{-kInfinity, kInfinity};
      if (std::isnan(in_.value[from]) && in_.radius_at(from) == 0) {
        range = Interval::point(kInfinity);
      } else if (in_.dtype == DType::boolean || !std::isinf(in_.radius_at(from))) {
        range = range_at(in_, from);
        if (is_narrow(in_.dtype)) range = snap(in_.dtype, range);
        if (is_wide_integer(in_.dtype) && std::abs(in_.value[from]) > 0x1p53)
          range = {std::nextafter(range.lo, -kInfinity), std::nextafter(range.hi, kInfinity)};
        range = {std::clamp(range.lo, -kMostNumber, kMostNumber), std::clamp(range.hi, -kMostNumber, kMostNumber)};
      }
      if (descending_) range = {-range.hi, -range.lo};
      ends_.push_back(range);
      lows_.push_back({range.lo, i}), highs_.push_back({range.hi, i});
    }
    std::sort(lows_.begin(), lows_.end());
    std::sort(highs_.begin(), highs_.end());
  }

  void put_value(double low, double high, bool excused, Array& values, int64_t to) const {
    const double value = values.value[to];
    Settled settled{value, kInfinity};
    if (low == high && std::isinf(low)) {
      settled = {value, 0};
    } else if (std::isfinite(low) && std::isfinite(high)) {
      const Interval range = descending_ ? Interval{-high, -low} : Interval{low, high};
      if (low == high || std::isinf(value))
        settled = {value, low == high ? 0 : kInfinity};
      else
        settled = settle(values.dtype, value, {std::min(range.lo, value), std::max(range.hi, value)}, 0);
    }
    set_float(values, to, settled, excused || (!is_float(values.dtype) && settled.radius != 0));
  }

  const Array& in_;
  int64_t begin_, stride_;
  bool descending_;
  std::vector<int64_t> order_;
  std::vector<Interval> ends_;
  std::vector<End> lows_, highs_;  // in order
};

}  // namespace

std::vector<Array> evaluate_sort(const Sort& op, const Operands& operands, const Context& context) {
  const Terms terms(operands.at(op.in));
  const Array& in = *terms;
  const std::vector<int64_t> shape = context.shape(op.results[0]->shape());
  std::vector<Array> out;
  out.push_back(make_array(op.results[0]->dtype, shape));
  out.push_back(make_array(DType::i64, shape));
  const auto dim = static_cast<size_t>(op.dim);
  const int64_t count = in.shape[dim], places = shape[dim], inner = row_major_strides(in.shape)[dim];
  for (int64_t outer = 0; outer * count * inner < in.elements(); ++outer)
    for (int64_t j = 0; j < inner; ++j) {
      SortedRow row(in, outer * count * inner + j, count, inner, op.descending);
      std::vector<int64_t> to;
      for (int64_t k = 0; k < places; ++k) to.push_back((outer * places + k) * inner + j);
      for (int64_t k = 0; k < places; ++k) row.put(k, out[0], out[1], to[static_cast<size_t>(k)]);
      if (!in.radius.empty()) row.put_open(places, to, out[0], out[1]);
    }
  return out;
}

}  // namespace plait::reference
