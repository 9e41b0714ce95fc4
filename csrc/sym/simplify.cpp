// Canonical forms of add, mul, chunk; every rule of the package has its number here, its theorem with proof
// in docs/math.md, and a test of that number in tests/unit/sym.
//
// Sums and products
//   S1  a sum is one sorted list of coefficient*monomial plus one constant: equal sums are one node
//   S2  a product is expanded over sums up to kMaxTerms terms: products of sums meet their expansions
//   S3  k*b*floordiv(z, b) + k*mod(z, b) = k*z: a split index is merged back
//   S4  k*b*mod(floordiv(z, b), c) + k*mod(z, b) = k*mod(z, b*c): the same below another split
//   S5  c*y + sum of c_j*floordiv(y, a_j) = q*y + r*floordiv(y, d) where the facts show that all a_j divide y: exact
//       splits leave no trace, however many are added up
// Division by d, proven positive (divide.cpp)
//   S6  floordiv(q*d + r, d) = q + floordiv(r, d), mod(q*d + r, d) = mod(r, d), term by term: whole blocks leave
//   S7  a term that the facts show to be a multiple of d is split off as a whole
//   S8  0 <= r < d proven: the quotient is 0 and the remainder r; constant d: also any other single bucket
//   S9  floordiv(g*x + r, g*e) = floordiv(x, e), mod(g*x + r, g*e) = g*mod(x, e) + r, with 0 <= r < g proven
//   S10 floordiv(floordiv(x, a) + c, b) = floordiv(x + a*c, a*b): one division instead of two
//   S11 mod(k*mod(x, a) + y, d) = mod(k*x + y, d) where d divides k*a
//   S12 floordiv(mod(x, a*b), a) = mod(floordiv(x, a), b): digits of an index have one form
// Choices
//   S13 min and max are flat, sorted, without duplicates and without operands that another one is proven to beat
//   S14 select with a known condition, equal branches, a negated condition, or the branches 1 and 0
// Conditions (condition.cpp)
//   S15 a comparison is the sign of one difference, divided by the common divisor of its coefficients
//   S16 a difference with a proven sign is a constant (bounds, then `below` facts, see prove.cpp)
//   S17 an equality whose coefficients' common divisor does not divide its constant is false
//   S18 conjunctions are flat, sorted, without duplicates; a condition beside its negation is false
//   S19 the negation of a comparison is a comparison; double negations cancel
// Pieces
//   S20 chunk(n, 1, r) = n; granule*parts divides n: chunk = floordiv(n, parts), start = r*chunk
//   S21 constants fold; rank 0 starts at 0; an empty n has empty pieces
// Any
//   S22 floordiv, mod, min, max, select, chunk whose bounds meet are that constant
// Bounds and divisors of expressions (bounds.cpp)
//   S23 sums of bounds; products have their extremes at the corners
//   S24 a quotient has its extremes at those of its operands, each with the divisor that fits its sign
//   S25 a remainder is in 0..d-1, at most a dividend >= 0, and is a dividend in 0..d-1
//   S26 min, max and select by their operands; conditions are 0 or 1
//   S27 a start is in 0..n; a chunk is at most the first chunk of the largest n in the fewest parts
//   S28 a common divisor divides sums, remainders, choices; with the granule, pieces
//   S29 divisors of factors multiply; an exact quotient divides the divisor
// Facts (pool.cpp, facts.cpp)
//   S30 bounds of a multiple move inwards to multiples
//   S31 x < b gives x <= (upper bound of b) - 1
//   S32 facts are intersected: larger lo, smaller hi, common multiple, the lower one of two symbolic bounds
// Proofs (prove.cpp)
//   S33 p = slope*a + rest >= slope*b + rest, where slope <= 0 and a <= b, or slope >= 0 and a >= b
//   S34 what bounds an atom: `below` - 1, divisor - 1, operands of min and max, n and n - start of a piece, numbers
//   S35 a difference with a quotient by d is nonnegative where d times it, plus d - 1, is
//   S36 a difference with a choice is nonnegative where it is with each branch
//   S37 conditions by differences and three-valued logic
//   S38 facts imply others: each one is proven in a pool that has the facts
// Choices within sums, quotients and each other (choices.cpp)
//   S39 max(k*max(x, y) + z, w) = max(k*x + z, k*y + z, w) for k > 0, and the same with -k*min; min likewise
//   S40 t + k*max(x, y) = k*max(x + t/k, y + t/k) where the term t cancels in x or y: m - min(m, 1) = max(0, m - 1)
//   S41 max(-x, -y) = -min(x, y), and the reverse, where every term of the operands has a negative coefficient
//   S42 floordiv(k*max(x, c) + y, d) = max(floordiv(k*x + y, d), floordiv(k*c + y, d)) for numbers c, k > 0, d
//       and floordiv(y - k*min(x, c), d) = max(floordiv(y - k*x, d), floordiv(y - k*c, d))
//   S43 min(k, max(c, x)) = max(c, min(k, x)) for numbers c < k: a clamp has one form
//   S45 k*min(x, y) + k*max(t - x, t - y) = k*t and k*min(x + t, y + t) - k*min(x, y) = k*t: parts make the whole
// Division again (divide.cpp)
//   S44 floordiv(g*x + r, g*e) = floordiv(g*x, g*e) where facts say that g divides what stands for g*x, 0 <= r < g
#include <algorithm>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr size_t kMaxTerms = 256;  // a product with more is kept as a product of sums

size_t term_count(Expr sum) { return sum.operands().size(); }

bool holds_division(const Node* base) {
  for (Expr f : factors(base))
    if (f.kind() == Kind::mod || f.kind() == Kind::floordiv) return true;
  return false;
}

// Replaces the terms at i and j (j may be i) by m * value; false, with p as it was, where that overflows.
bool replace(Pool::Impl& pool, Poly& p, size_t i, size_t j, Mono m, Expr value) {
  Poly next = p, factor, scaled;
  next.terms.erase(next.terms.begin() + static_cast<ptrdiff_t>(std::max(i, j)));
  if (i != j) next.terms.erase(next.terms.begin() + static_cast<ptrdiff_t>(std::min(i, j)));
  if (!add_term(pool, factor, m) || !multiply(pool, factor, to_poly(value), scaled) || !add_scaled(next, scaled, 1))
    return false;
  p = std::move(next);
  return true;
}

// rest*floordiv(scale*y, a) where the facts show that a divides y.
struct ExactQuotient {
  const Node* rest = nullptr;
  Expr y;
  int64_t scale = 1, divisor = 0;
};

std::optional<ExactQuotient> exact_quotient(Pool::Impl& pool, const Node* base, Expr factor) {
  if (factor.kind() != Kind::floordiv) return std::nullopt;
  const std::optional<int64_t> a = factor.operands()[1].constant();
  ExactQuotient out{without(pool, base, factor), factor.operands()[0], 1, a.value_or(0)};
  if (!a || *a < 1 || divisor_of(out.y.node()) % *a != 0) return std::nullopt;
  const std::optional<Mono> y = as_mono(to_poly(out.y));
  if (y && y->base && divisor_of(y->base) % *a == 0) {
    out.y = Expr(y->base);
    out.scale = y->coef;
  }
  return out;
}

struct Fraction {
  int64_t numerator = 0, denominator = 1;

  // Adds n / d; false where that overflows.
  bool add(int64_t n, int64_t d) {
    int64_t common = 0, scaled = 0, other = 0;
    if (__builtin_mul_overflow(denominator / gcd64(denominator, d), d, &common)) return false;
    if (__builtin_mul_overflow(numerator, common / denominator, &scaled)) return false;
    if (__builtin_mul_overflow(n, common / d, &other) || __builtin_add_overflow(scaled, other, &numerator))
      return false;
    denominator = common;
    return true;
  }
};

// p += coef*rest*value; false where that overflows.
bool add_product(Pool::Impl& pool, Poly& p, int64_t coef, const Node* rest, Expr value) {
  Poly factor, scaled;
  return coef == 0 || (add_term(pool, factor, {coef, rest}) && multiply(pool, factor, to_poly(value), scaled) &&
                       add_scaled(p, scaled, 1));
}

// S5 for the terms that are multiples of the quotient's rest*y.
bool join_exact_quotients(Pool::Impl& pool, Poly& p, const ExactQuotient& quotient) {
  const std::optional<Mono> y = as_mono(to_poly(quotient.y));
  const Node* whole = y && y->base && y->coef == 1 ? product(pool, quotient.rest, y->base) : nullptr;
  Fraction sum;  // what rest*y is multiplied by
  Poly left;
  left.constant = p.constant;
  for (const Term& t : p.terms) {
    int64_t numerator = t.coef, denominator = t.base == whole ? 1 : 0;
    for (Expr f : factors(t.base)) {
      const auto other = denominator == 0 ? exact_quotient(pool, t.base, f) : std::nullopt;
      if (!other || other->y != quotient.y || other->rest != quotient.rest) continue;
      if (__builtin_mul_overflow(t.coef, other->scale, &numerator)) return false;
      denominator = other->divisor;
    }
    if (denominator == 0) {
      left.terms.push_back(t);
      continue;
    }
    if (!sum.add(numerator, denominator)) return false;
  }
  const int64_t common = gcd64(sum.numerator, sum.denominator);
  const int64_t denominator = sum.denominator / common, numerator = sum.numerator / common;
  if (!add_product(pool, left, numerator / denominator, quotient.rest, quotient.y) ||
      !add_product(pool, left, numerator % denominator, quotient.rest,
                   floordiv(quotient.y, pool.pool->constant(denominator))))
    return false;
  const bool same = std::ranges::equal(
      left.terms, p.terms, [](const Term& a, const Term& b) { return a.base == b.base && a.coef == b.coef; });
  if (same) return false;
  p = std::move(left);
  return true;
}

// S3 and S4 for the factor mod(z, b) of term i.
bool join_remainder(Pool::Impl& pool, Poly& p, size_t i, Expr remainder) {
  const Expr z = remainder.operands()[0], b = remainder.operands()[1];
  const Term t = p.terms[i];
  const std::optional<Mono> by = as_mono(to_poly(b));
  if (!by || !prove_positive(b)) return false;
  const Mono rest{t.coef, without(pool, t.base, remainder)};
  const Expr q = floordiv(z, b);
  if (q.kind() == Kind::add || q.kind() == Kind::mul || q.is_constant()) return false;
  int64_t coef;
  if (__builtin_mul_overflow(rest.coef, by->coef, &coef)) return false;
  const Node* scale = product(pool, rest.base, by->base);
  for (size_t j = 0; j < p.terms.size(); ++j) {
    if (j == i || p.terms[j].coef != coef) continue;
    for (Expr f : factors(p.terms[j].base)) {
      const bool whole = f == q;
      if (!whole && !(f.kind() == Kind::mod && f.operands()[0] == q)) continue;
      if (without(pool, p.terms[j].base, f) != scale) continue;
      const std::optional<Expr> wider = whole ? b : try_times(pool, b, f.operands()[1]);
      if (wider && replace(pool, p, i, j, rest, whole ? z : mod(z, *wider))) return true;
    }
  }
  return false;
}

bool recombine_once(Pool::Impl& pool, Poly& p) {
  if (join_choices(pool, p) || absorb_term(pool, p)) return true;
  size_t divisions = 0;
  for (const Term& t : p.terms) divisions += holds_division(t.base);
  if (divisions == 0) return false;
  for (size_t i = 0; i < p.terms.size(); ++i) {
    for (Expr f : factors(p.terms[i].base)) {
      const auto exact = exact_quotient(pool, p.terms[i].base, f);
      if (exact && join_exact_quotients(pool, p, *exact)) return true;
      if (f.kind() == Kind::mod && divisions > 1 && join_remainder(pool, p, i, f)) return true;
    }
  }
  return false;
}

}  // namespace

bool recombine(Pool::Impl& pool, Poly& p) {
  bool changed = false;
  while (recombine_once(pool, p)) changed = true;
  return changed;
}

// S1: terms and constant of a polynomial are sorted and collected already.
Expr from_poly(Pool::Impl& pool, Poly p) {
  recombine(pool, p);
  if (p.is_constant()) return pool.pool->constant(p.constant);
  if (p.terms.size() == 1 && p.constant == 0) return term_expr(pool, p.terms[0]);
  Exprs operands;
  operands.reserve(p.terms.size() + 1);
  for (const Term& t : p.terms) operands.push_back(term_expr(pool, t));
  if (p.constant != 0) operands.push_back(pool.pool->constant(p.constant));
  return pool.raw(Kind::add, operands);
}

Expr sum_of(Pool& pool, std::span<const Expr> operands) {
  Poly p;
  for (Expr e : operands) p = sum(p, to_poly(e));
  return from_poly(pool.impl(), std::move(p));
}

// S2.
Expr product_of(Pool& pool, std::span<const Expr> operands) {
  Pool::Impl& impl = pool.impl();
  Exprs sums, others;
  Mono rest{1, nullptr};
  auto take = [&](Expr f) {
    if (f.kind() == Kind::add) {
      sums.push_back(f);
    } else if (!f.is_constant()) {
      others.push_back(f);
    } else if (__builtin_mul_overflow(rest.coef, f.value(), &rest.coef)) {
      fail_overflow("multiplying parts of");
    }
  };
  for (Expr e : operands) {
    if (e.is_constant() && e.value() == 0) return e;
    if (e.kind() == Kind::mul) {
      for (Expr f : e.operands()) take(f);
    } else {
      take(e);
    }
  }
  size_t count = 1;
  for (Expr s : sums) count = std::min(count * term_count(s), kMaxTerms + 1);
  if (sums.size() > 1 && count > kMaxTerms) {
    for (Expr s : sums) others.push_back(s);
    sums = {};
  }
  std::sort(others.begin(), others.end(), [](Expr a, Expr b) { return compare(a.node(), b.node()) < 0; });
  rest.base = monomial(impl, others);
  Poly p;
  add_term(impl, p, rest);
  for (Expr s : sums) p = times(impl, p, to_poly(s));
  return from_poly(impl, std::move(p));
}

Expr operator+(Expr a, Expr b) {
  Pool& pool = common_pool(a, b);
  return from_poly(pool.impl(), sum(to_poly(a), to_poly(b)));
}
Expr operator-(Expr a, Expr b) {
  Pool& pool = common_pool(a, b);
  return from_poly(pool.impl(), sum(to_poly(a), to_poly(b), -1));
}
Expr operator*(Expr a, Expr b) {
  const Expr operands[2] = {a, b};
  return product_of(common_pool(a, b), operands);
}
Expr operator-(Expr a) { return a * int64_t{-1}; }
Expr operator+(Expr a, int64_t b) { return a + a.pool().constant(b); }
Expr operator-(Expr a, int64_t b) { return a - a.pool().constant(b); }
Expr operator*(Expr a, int64_t b) { return a * a.pool().constant(b); }
Expr operator+(int64_t a, Expr b) { return b + a; }
Expr operator-(int64_t a, Expr b) { return b.pool().constant(a) - b; }
Expr operator*(int64_t a, Expr b) { return b * a; }
Expr floordiv(Expr a, int64_t b) { return floordiv(a, a.pool().constant(b)); }
Expr mod(Expr a, int64_t b) { return mod(a, a.pool().constant(b)); }
Expr ceildiv(Expr a, int64_t b) { return ceildiv(a, a.pool().constant(b)); }
Expr ceildiv(Expr a, Expr b) {
  Pool& pool = common_pool(a, b);
  Poly p = to_poly(a), less = p;
  if (add_scaled(p, to_poly(b), 1) && add_scaled(p, Poly{{}, -1}, 1)) return floordiv_poly(pool.impl(), p, b);
  // a + b - 1 is past 64 bits, a - 1 is not.
  return floordiv_poly(pool.impl(), sum(less, Poly{{}, -1}), b) + 1;
}

// S20, S21.
static Expr piece(Kind kind, Expr n, Expr parts, Expr rank, int64_t granule) {
  common_pool(n, parts);
  Pool& pool = common_pool(n, rank);
  const bool start = kind == Kind::chunk_start;
  const Expr g = pool.constant(granule);
  const Expr raw = pool.impl().raw(kind, {n, parts, rank, g});
  if (granule < 1) return raw;
  if (parts.is_constant()) {
    const int64_t p = parts.value();
    if (p < 1 || (rank.is_constant() && (rank.value() < 0 || rank.value() >= p))) return raw;
    if (p == 1) return start ? pool.constant(0) : n;
  }
  if (n.is_constant() && n.value() < 0) return raw;
  if ((n.is_constant() && n.value() == 0) || (start && rank.is_constant() && rank.value() == 0))
    return pool.constant(0);
  if (n.is_constant() && parts.is_constant() && rank.is_constant()) return pool.constant(evaluate(raw, {}));
  const std::optional<Expr> whole = try_times(pool.impl(), parts, g);
  if (!whole || !prove_positive(parts)) return settle(raw);
  const Expr left = mod(n, *whole);
  if (!left.is_constant() || left.value() != 0) return settle(raw);
  const Expr size = floordiv(n, parts);
  return start ? try_times(pool.impl(), rank, size).value_or(raw) : size;
}

Expr chunk(Expr n, Expr parts, Expr rank, int64_t granule) { return piece(Kind::chunk, n, parts, rank, granule); }
Expr chunk_start(Expr n, Expr parts, Expr rank, int64_t granule) {
  return piece(Kind::chunk_start, n, parts, rank, granule);
}

Expr rebuild(Pool& pool, Kind kind, std::span<const Expr> o) {
  switch (kind) {
    case Kind::add:
      return sum_of(pool, o);
    case Kind::mul:
      return product_of(pool, o);
    case Kind::floordiv:
      return floordiv(o[0], o[1]);
    case Kind::mod:
      return mod(o[0], o[1]);
    case Kind::min:
    case Kind::max:
      return extremum_of(kind, o);
    case Kind::chunk:
      return chunk(o[0], o[1], o[2], o[3].value());
    case Kind::chunk_start:
      return chunk_start(o[0], o[1], o[2], o[3].value());
    case Kind::lt:
      return lt(o[0], o[1]);
    case Kind::le:
      return le(o[0], o[1]);
    case Kind::eq:
      return eq(o[0], o[1]);
    case Kind::logical_and:
      return and_of(pool, o);
    case Kind::logical_not:
      return logical_not(o[0]);
    case Kind::select:
      return select(o[0], o[1], o[2]);
    case Kind::constant:
    case Kind::symbol:
      break;
  }
  PLAIT_CHECK(false, "rebuild of a {}", kind_name(kind));
  return {};
}

}  // namespace plait::sym
