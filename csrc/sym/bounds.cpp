// Interval bounds (S23 to S27) and proven divisors (S28, S29).
// Of a Bounds, a `lo` of INT64_MIN and a `hi` of INT64_MAX are unknown. A `lo` of INT64_MAX is a number (values past it
// satisfy it), and so is a `hi` of INT64_MIN.
#include <algorithm>

#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr int64_t kLow = INT64_MIN, kHigh = INT64_MAX;
constexpr Wide kInfinite = Wide(1) << 126;  // no product of two int64 is larger

int64_t clamp(Wide v) { return v <= kLow ? kLow : v >= kHigh ? kHigh : static_cast<int64_t>(v); }

Wide extended_product(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  const auto infinite = [](Wide v) { return v >= kInfinite || v <= -kInfinite; };
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kInfinite : -kInfinite;
  return a * b;
}

// S23: extremes of a product lie at the corners. By a known number two of them are left.
Bounds scaled(int64_t by, Bounds r) {
  if (by == 0) return {0, 0};
  if (by < 0) std::swap(r.lo, r.hi);
  const bool low_known = r.lo != (by < 0 ? kHigh : kLow), high_known = r.hi != (by < 0 ? kLow : kHigh);
  return {low_known ? clamp(Wide(by) * r.lo) : kLow, high_known ? clamp(Wide(by) * r.hi) : kHigh};
}

Bounds multiply(Bounds a, Bounds b) {
  if (a.lo == a.hi && a.lo != kLow && a.lo != kHigh) return scaled(a.lo, b);
  const auto low = [](Bounds r) { return r.lo == kLow ? -kInfinite : Wide(r.lo); };
  const auto high = [](Bounds r) { return r.hi == kHigh ? kInfinite : Wide(r.hi); };
  const Wide v[4] = {extended_product(low(a), low(b)), extended_product(low(a), high(b)),
                     extended_product(high(a), low(b)), extended_product(high(a), high(b))};
  return {clamp(*std::min_element(v, v + 4)), clamp(*std::max_element(v, v + 4))};
}

// S23: side by side; an unknown side stays unknown.
class SumBounds {
 public:
  void add(Bounds b) {
    low_known_ = low_known_ && b.lo != kLow;
    high_known_ = high_known_ && b.hi != kHigh;
    lo_ += b.lo;
    hi_ += b.hi;
  }
  Bounds get() const { return {low_known_ ? clamp(lo_) : kLow, high_known_ ? clamp(hi_) : kHigh}; }

 private:
  Wide lo_ = 0, hi_ = 0;
  bool low_known_ = true, high_known_ = true;
};

// S24. Holds wherever the quotient has a value, that is for divisors >= 1.
Bounds quotient(Bounds x, Bounds d) {
  d.lo = std::max<int64_t>(d.lo, 1);
  d.hi = std::max(d.hi, d.lo);
  auto div = [](int64_t a, int64_t b) {
    if (b == kHigh) return a < 0 ? int64_t{-1} : int64_t{0};
    return floor_divide(a, b);
  };
  return {x.lo == kLow ? kLow : div(x.lo, x.lo >= 0 ? d.hi : d.lo),
          x.hi == kHigh ? kHigh : div(x.hi, x.hi >= 0 ? d.lo : d.hi)};
}

// S25.
Bounds remainder(Bounds x, Bounds d) {
  const int64_t last = d.hi == kHigh ? kHigh : std::max<int64_t>(d.hi, 1) - 1;
  if (x.lo < 0) return {0, last};
  if (x.hi < d.lo) return x;
  return {0, std::min(last, x.hi)};
}

// S27.
Bounds piece(const Node* n, bool start) {
  const Bounds size = range_of(n->operands[0].node());
  const Bounds parts = range_of(n->operands[1].node());
  const int64_t granule = n->operands[3].node()->value;
  int64_t hi = std::max<int64_t>(size.hi, 0);
  if (start || hi == kHigh || granule < 1) return {0, hi};
  const int64_t count = std::max<int64_t>(parts.lo, 1);
  const Wide granules = (Wide(hi) + granule - 1) / granule;
  return {0, clamp(std::min<Wide>(hi, (granules + count - 1) / count * granule))};
}

// S26 for choices and conditions.
Bounds combine(const Node* n) {
  auto r = [n](size_t i) { return range_of(n->operands[i].node()); };
  Bounds out = n->operands.empty() ? Bounds{kLow, kHigh} : r(n->kind == Kind::select ? 1 : 0);
  switch (n->kind) {
    case Kind::constant:
      return {n->value, n->value};
    case Kind::symbol:
      return n->range;
    case Kind::add: {
      SumBounds sum;
      for (size_t i = 0; i < n->operands.size(); ++i) sum.add(r(i));
      return sum.get();
    }
    case Kind::mul:
      for (size_t i = 1; i < n->operands.size(); ++i) out = multiply(out, r(i));
      return out;
    case Kind::floordiv:
      return quotient(out, r(1));
    case Kind::mod:
      return remainder(out, r(1));
    case Kind::min:
      for (size_t i = 1; i < n->operands.size(); ++i) out = {std::min(out.lo, r(i).lo), std::min(out.hi, r(i).hi)};
      return out;
    case Kind::max:
      for (size_t i = 1; i < n->operands.size(); ++i) out = {std::max(out.lo, r(i).lo), std::max(out.hi, r(i).hi)};
      return out;
    case Kind::select:
      return {std::min(out.lo, r(2).lo), std::max(out.hi, r(2).hi)};
    case Kind::chunk:
      return piece(n, false);
    case Kind::chunk_start:
      return piece(n, true);
    case Kind::lt:
    case Kind::le:
    case Kind::eq:
    case Kind::logical_and:
    case Kind::logical_not:
      return {0, 1};
  }
  return {kLow, kHigh};
}

// S28: a common divisor of the operands divides sums, remainders, choices and pieces. S29: products and exact
// quotients.
int64_t combine_divisor(const Node* n) {
  auto d = [n](size_t i) { return divisor_of(n->operands[i].node()); };
  int64_t out = n->operands.empty() ? 1 : d(0);
  switch (n->kind) {
    case Kind::constant:
      return gcd64(n->value, 0);
    case Kind::symbol:
      return n->divisor;
    case Kind::mul:
      for (size_t i = 1; i < n->operands.size(); ++i) {
        int64_t both;
        out = __builtin_mul_overflow(out, d(i), &both) ? std::max(out, d(i)) : both;
      }
      return out;
    case Kind::floordiv: {
      std::optional<int64_t> by = n->operands[1].constant();
      return by && *by > 0 && out % *by == 0 ? out / *by : 1;
    }
    case Kind::chunk:
    case Kind::chunk_start:
      return gcd64(out, n->operands[3].node()->value);
    case Kind::select:
      return gcd64(d(1), d(2));
    case Kind::add:
    case Kind::mod:
    case Kind::min:
    case Kind::max:
      for (size_t i = 1; i < n->operands.size(); ++i) out = gcd64(out, d(i));
      return out;
    case Kind::lt:
    case Kind::le:
    case Kind::eq:
    case Kind::logical_and:
    case Kind::logical_not:
      return 1;
  }
  return 1;
}

}  // namespace

void compute_facts(const Node* n) {
  if (n->kind == Kind::symbol) return;
  n->facts_epoch = n->pool->impl().epoch;
  n->range = combine(n);
  n->divisor = combine_divisor(n);
}

static void refresh(const Node* n) {
  const uint32_t epoch = n->pool->impl().epoch;
  if (n->facts_epoch == epoch || n->kind == Kind::symbol) [[likely]]
    return;
  visit_upwards(
      n->self, [epoch](Expr e) { return e.is_symbol() || e.node()->facts_epoch == epoch; },
      [](Expr e) { compute_facts(e.node()); });
}

const Bounds& range_of(const Node* n) {
  refresh(n);
  return n->range;
}

int64_t divisor_of(const Node* n) {
  refresh(n);
  return n->divisor;
}

Bounds range_of(const Poly& p) {
  SumBounds sum;
  for (const Term& t : p.terms) sum.add(t.coef == 1 ? range_of(t.base) : scaled(t.coef, range_of(t.base)));
  // The constant is a known number, whatever it is.
  Bounds out = sum.get();
  if (out.lo != kLow) out.lo = clamp(Wide(out.lo) + p.constant);
  if (out.hi != kHigh) out.hi = clamp(Wide(out.hi) + p.constant);
  return out;
}

int64_t divisor_of(const Poly& p) {
  int64_t out = gcd64(p.constant, 0);
  for (const Term& t : p.terms) {
    const int64_t d = divisor_of(t.base);
    int64_t both;
    out = gcd64(out, __builtin_mul_overflow(t.coef, d, &both) ? std::max(gcd64(t.coef, 0), d) : both);
  }
  return out;
}

// S22: an unknown side is no meeting.
Expr settle(Expr e) {
  const Bounds r = bounds(e);
  return r.lo == r.hi && r.lo != kLow && r.hi != kHigh ? e.pool().constant(r.lo) : e;
}

Bounds bounds(Expr expr) { return range_of(expr.node()); }

int64_t divisor(Expr expr) {
  constexpr int64_t kCap = int64_t{1} << 20;
  int64_t d = divisor_of(expr.node());
  for (int64_t p = 2; d > kCap && p < 4096; ++p)
    while (d > kCap && d % p == 0) d /= p;
  return d > kCap ? gcd64(d, kCap) : d;
}

}  // namespace plait::sym
