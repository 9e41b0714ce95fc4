// Largest and least elements, and where they are.
#include <algorithm>
#include <cmath>
#include <map>

#include "reference/elements.h"
#include "reference/evaluator.h"
#include "scalar/constant.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

bool is_least(Reduction function) { return function == Reduction::amin || function == Reduction::argmin; }

// The element that wins: the first NaN, else the first extremum.
struct Winner {
  int64_t element = -1, position = -1;
};

bool is_nan(double key) { return std::isnan(key); }
bool is_nan(int64_t) { return false; }

// `key` grows with what is sought.
template <class Key, class Get>
std::vector<Winner> find_winners(const Reduced& dims, Get&& key) {
  struct Best {
    Key key;
    Winner winner;
  };
  std::vector<Best> best(static_cast<size_t>(element_count(dims.shape)));
  walk(dims.walk, [&](int64_t i, int64_t o, int64_t position) {
    const Key mine = key(i);
    Best& b = best[o];
    if (b.winner.element >= 0 && (is_nan(b.key) || !(mine > b.key || is_nan(mine)))) return;
    b = {mine, {i, position}};
  });
  std::vector<Winner> winners;
  for (const Best& b : best) winners.push_back(b.winner);
  return winners;
}

std::vector<Winner> find_winners(Reduction function, const Array& in, const Reduced& dims) {
  const bool least = is_least(function);
  if (!is_wide_integer(in.dtype)) {
    const double sign = least ? -1 : 1;
    return find_winners<double>(dims, [&](int64_t i) { return sign * in.value[i]; });
  }
  const uint64_t top = in.dtype == DType::u64 ? uint64_t{1} << 63 : 0;  // unsigned order as signed order
  return find_winners<int64_t>(dims, [&](int64_t i) {
    const auto key = static_cast<int64_t>(static_cast<uint64_t>(in.integers[i]) ^ top);
    return least ? ~key : key;
  });
}

// What is known of the elements that one element of the result is found among. Signs are turned for the least.
struct Candidates {
  double lo = -kInfinity, hi = -kInfinity;  // of the extremum
  int64_t least = -1;                       // the first position that has `lo`: what equals it behind comes too late
  double excused = -kInfinity;              // largest end of an excused element
  bool unknown = false;
};

// Interval of an element, turned so that the extremum is the largest. What is compared is rounded first.
Interval sought(Reduction function, const Array& in, int64_t i) {
  Interval range = range_at(in, i);
  if (is_narrow(in.dtype) && finds_index(function)) range = snap(in.dtype, range);
  return is_least(function) ? Interval{-range.hi, -range.lo} : range;
}

std::vector<Candidates> find_candidates(Reduction function, const Array& in, const Reduced& dims) {
  std::vector<Candidates> out(static_cast<size_t>(element_count(dims.shape)));
  walk(dims.walk, [&](int64_t i, int64_t o, int64_t at) {
    const Interval range = sought(function, in, i);
    if (range.is_nan()) return;
    Candidates& c = out[o];
    if (c.least < 0 || range.lo > c.lo || (range.lo == c.lo && at < c.least)) c.lo = range.lo, c.least = at;
    c.hi = std::max(c.hi, range.hi);
    c.unknown |= std::isinf(in.radius_at(i));
    if (in.excused_at(i)) c.excused = std::max(c.excused, range.hi);
  });
  return out;
}

// The least or greatest number of a dtype: what an extremum of nothing is.
Constant end_of(DType dtype, bool greatest) {
  if (is_float(dtype)) return Constant::from_double(dtype, greatest ? kInfinity : -kInfinity);
  if (dtype == DType::boolean) return Constant::from_bool(greatest);
  const auto bits = 8 * size_of(dtype);
  if (is_unsigned(dtype)) return Constant::from_int64(dtype, greatest ? -1 : 0);
  return Constant::from_int64(dtype, greatest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits));
}

Array extremum(Reduction function, DType dtype, const Array& in, const Reduced& dims,
               const std::vector<Winner>& winners) {
  Array out = make_array(dtype, dims.shape);
  const bool least = is_least(function), open = !in.radius.empty();
  const auto candidates = open ? find_candidates(function, in, dims) : std::vector<Candidates>();
  for (int64_t o = 0; o < out.elements(); ++o) {
    const int64_t winner = winners[o].element;
    const Constant none = end_of(out.dtype, least);
    const double value = winner >= 0 ? in.value[winner] : none.to_double();
    if (!out.integers.empty()) out.integers[o] = winner >= 0 ? in.integers[winner] : none.to_int64();
    out.value[o] = value;
    // A NaN that is sure wins whatever the others are.
    if (winner < 0 || !open || (std::isnan(value) && in.radius[winner] == 0)) continue;
    const Candidates& c = candidates[o];
    const Interval range = least ? Interval{-c.hi, -c.lo} : Interval{c.lo, c.hi};
    Settled settled{value, kInfinity};
    if (!c.unknown) settled = settle(out.dtype, value, {std::min(range.lo, value), std::max(range.hi, value)}, 0);
    const bool excused = c.excused >= c.lo && c.excused > -kInfinity;
    set_float(out, o, settled, excused || (!is_float(out.dtype) && settled.radius != 0));
  }
  return out;
}

// Positions: the winner's, and those of all others that may be the extremum.
Array position(Reduction function, const Array& in, const Reduced& dims, const std::vector<Winner>& winners) {
  Array out = make_array(DType::i64, dims.shape);
  std::map<int64_t, std::vector<Point>> open;  // by element of the result
  if (!in.radius.empty()) {
    const auto candidates = find_candidates(function, in, dims);
    walk(dims.walk, [&](int64_t i, int64_t o, int64_t at) {
      const Winner& winner = winners[o];
      if (i == winner.element) return;
      const bool earlier = at < winner.position, unknown = std::isinf(in.radius[i]);
      const Interval own = sought(function, in, i), best = sought(function, in, winner.element);
      bool may_win = false;
      if (best.is_nan())  // only a NaN before it wins
        may_win = unknown && earlier;
      else if (!own.is_nan())
        may_win = unknown || own.hi > candidates[o].lo || (own.hi == candidates[o].lo && at <= candidates[o].least);
      if (may_win) open[o].push_back({static_cast<double>(at), 0});
    });
  }
  for (int64_t o = 0; o < out.elements(); ++o) set_integer(out, o, std::max<int64_t>(winners[o].position, 0));
  for (auto& [o, others] : open) {
    others.insert(others.begin(), {out.value[o], 0});
    set_possible(out, o, join(out.dtype, others), true);
  }
  return out;
}

template <class T>
std::vector<Array> with_position(const T& op, Reduction extremum, Reduction position, const Operands& operands,
                                 const Context& context) {
  const Terms terms(operands.at(op.in));
  const Reduced dims = reduced((*terms).shape, op.dims, context.shape(op.results[0]->shape()));
  std::vector<Array> out;
  out.push_back(evaluate_extremum(extremum, op.results[0]->dtype, *terms, dims));
  out.push_back(evaluate_extremum(position, op.results[1]->dtype, *terms, dims));
  return out;
}

}  // namespace

Array evaluate_extremum(Reduction function, DType dtype, const Array& in, const Reduced& dims) {
  const std::vector<Winner> winners = find_winners(function, in, dims);
  return finds_index(function) ? position(function, in, dims, winners) : extremum(function, dtype, in, dims, winners);
}

std::vector<Array> evaluate_with_position(const MaxWithArgmax& op, const Operands& operands, const Context& context) {
  return with_position(op, Reduction::amax, Reduction::argmax, operands, context);
}
std::vector<Array> evaluate_with_position(const MinWithArgmin& op, const Operands& operands, const Context& context) {
  return with_position(op, Reduction::amin, Reduction::argmin, operands, context);
}

}  // namespace plait::reference
