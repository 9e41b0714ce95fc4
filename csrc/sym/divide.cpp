// Floor division and remainder: the rules S6 to S12. Where a coefficient would pass 64 bits a rule is not applied.
#include <algorithm>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr size_t kMaxGroups = 8;  // common divisors tried by S9

struct Split {
  Poly quotient, rest;
};

// S6 by a constant, S7. Coefficients keep their sign, the constant of the rest is in [0, d).
Split split_constant(Pool::Impl& pool, const Poly& y, int64_t d) {
  Split s;
  s.quotient.constant = floor_divide(y.constant, d);
  s.rest.constant = floor_remainder(y.constant, d);
  const bool lone = y.terms.size() == 1 && s.rest.constant == 0;
  for (Term t : y.terms) {
    if (int64_t q = t.coef / d) s.quotient = sum(s.quotient, Poly{{{q, t.base}}, 0});
    t.coef %= d;
    if (t.coef == 0) continue;
    const bool whole = divisor_of(Poly{{t}, 0}) % d == 0;
    if (whole && !lone) {
      s.quotient = sum(s.quotient, to_poly(floordiv_poly(pool, Poly{{t}, 0}, pool.pool->constant(d))));
    } else {
      s.rest.terms.push_back(t);
    }
  }
  return s;
}

// S6 by a sum: leading terms are divided as long as that shortens the rest.
Split split_sum(Pool::Impl& pool, const Poly& y, const Poly& d) {
  Split s{{}, y};
  for (bool again = true; again;) {
    again = false;
    for (const Term& t : s.rest.terms) {
      std::optional<Mono> q = divide(pool, {t.coef, t.base}, {d.terms[0].coef, d.terms[0].base});
      if (!q) continue;
      Poly factor, product_poly, next = s.rest;
      if (!add_term(pool, factor, *q) || !multiply(pool, factor, d, product_poly)) continue;
      if (!add_scaled(next, product_poly, -1) || next.terms.size() >= s.rest.terms.size()) continue;
      s.quotient = sum(s.quotient, factor);
      s.rest = next;
      again = true;
      break;
    }
  }
  return s;
}

Split split_once(Pool::Impl& pool, const Poly& y, Expr d) {
  if (d.is_constant()) return split_constant(pool, y, d.value());
  const Poly dp = to_poly(d);
  const std::optional<Mono> m = as_mono(dp);
  if (!m) return split_sum(pool, y, dp);
  Split s;
  s.rest.constant = y.constant;
  for (const Term& t : y.terms) {
    if (std::optional<Mono> q = divide(pool, {t.coef, t.base}, *m)) {
      Poly factor;
      add_term(pool, factor, *q);
      s.quotient = sum(s.quotient, factor);
    } else {
      s.rest.terms.push_back(t);
    }
  }
  return s;
}

// Splits are merged in the rest, which may hold whole blocks again then.
Split split(Pool::Impl& pool, const Poly& y, Expr d) {
  Split s{{}, y};
  do {
    Split next = split_once(pool, s.rest, d);
    s.quotient = sum(s.quotient, next.quotient);
    s.rest = std::move(next.rest);
  } while (recombine(pool, s.rest));
  return s;
}

// S9: g and the parts of y it does and does not divide.
struct Group {
  Poly multiple;  // y = g*multiple + rest
  Poly rest;
  Expr g, e;  // divisor = g*e
};

bool make_group(Pool::Impl& pool, const Poly& y, Mono d, Mono g, Group& out) {
  out = {};
  for (const Term& t : y.terms) {
    if (std::optional<Mono> q = divide(pool, {t.coef, t.base}, g)) {
      if (!add_term(pool, out.multiple, *q)) return false;
    } else {
      out.rest.terms.push_back(t);
    }
  }
  out.rest.constant = y.constant;
  if (!g.base) {
    out.multiple.constant = floor_divide(y.constant, g.coef);
    out.rest.constant = floor_remainder(y.constant, g.coef);
  }
  const std::optional<Mono> e = divide(pool, d, g);
  if (!e) return false;
  Poly gp, ep;
  add_term(pool, gp, g);
  add_term(pool, ep, *e);
  out.g = from_poly(pool, gp);
  out.e = from_poly(pool, ep);
  return prove_positive(out.g) && prove_positive(out.e) && in_range(pool, out.rest, gp);
}

std::optional<Group> find_group(Pool::Impl& pool, const Poly& y, Expr divisor_expr) {
  const std::optional<Mono> d = as_mono(to_poly(divisor_expr));
  if (!d || y.terms.empty()) return std::nullopt;
  std::vector<Mono> candidates;
  Mono all = *d;
  for (const Term& t : y.terms) all = common(pool, all, {t.coef, t.base});
  candidates.push_back(all);
  for (const Term& t : y.terms) candidates.push_back(common(pool, *d, {t.coef, t.base}));
  std::vector<Mono> tried;
  for (const Mono& g : candidates) {
    if ((g.coef == 1 && !g.base) || tried.size() == kMaxGroups) continue;
    auto same = [&g](const Mono& m) { return m.coef == g.coef && m.base == g.base; };
    if (std::any_of(tried.begin(), tried.end(), same) || same(*d)) continue;
    tried.push_back(g);
    Group out;
    if (make_group(pool, y, *d, g, out)) return out;
  }
  return std::nullopt;
}

// The number that, by facts, divides d and all terms of y.
int64_t common_divisor(const Poly& y, Expr d) {
  return gcd64(d.is_constant() ? d.value() : divisor_of(to_poly(d)), divisor_of(Poly{y.terms, 0}));
}

// S44 for a remainder: what the constant of y has beyond a multiple of the common divisor leaves y.
int64_t take_below_divisor(Poly& y, Expr d) {
  if (y.terms.empty() || y.constant == 0) return 0;
  const int64_t below = floor_remainder(y.constant, common_divisor(y, d));
  y.constant -= below;
  return below;
}

// S44 for a quotient: the constant of y becomes a multiple; the last one below d is d - 1, and the last one below 0 is
// -1, as in ceildiv.
void round_constant(Poly& y, Expr d) {
  if (y.terms.empty() || y.constant == 0) return;
  const int64_t g = common_divisor(y, d), below = floor_remainder(y.constant, g);
  y.constant -= below;
  const int64_t last = d.is_constant() ? d.value() - g : -g;
  if (y.constant != 0 && y.constant == last) y.constant += g - 1;
}

// S8: the one bucket of a constant divisor in which the value is proven to lie.
std::optional<int64_t> bucket(const Poly& y, Expr d) {
  if (!d.is_constant()) return std::nullopt;
  const Bounds r = range_of(y);
  if (r.lo == INT64_MIN || r.hi == INT64_MAX) return std::nullopt;
  const int64_t q = floor_divide(r.lo, d.value());
  return q == floor_divide(r.hi, d.value()) ? std::optional<int64_t>(q) : std::nullopt;
}

// S8 with bucket 0 of any divisor.
bool fits(Pool::Impl& pool, const Poly& y, Expr d) { return y.is_zero() || in_range(pool, y, to_poly(d)); }

// S10 for a quotient, S12 for a remainder; null where neither applies.
Expr flatten_quotient(Pool::Impl& pool, const Poly& y, Expr d) {
  if (y.terms.size() != 1 || y.terms[0].coef != 1) return {};
  const Node* inner = y.terms[0].base;
  if (inner->kind == Kind::floordiv && prove_positive(inner->operands[1])) {
    const Expr x = inner->operands[0], a = inner->operands[1];
    Poly scaled, moved = to_poly(x), by;
    if (!multiply(pool, to_poly(a), to_poly(d), by)) return {};
    if (!add_scaled(moved, to_poly(a), y.constant)) return {};
    return floordiv_poly(pool, moved, from_poly(pool, by));
  }
  if (inner->kind == Kind::mod && y.constant == 0) {
    const std::optional<Mono> whole = as_mono(to_poly(inner->operands[1])), by = as_mono(to_poly(d));
    const std::optional<Mono> left = whole && by ? divide(pool, *whole, *by) : std::nullopt;
    if (!left || !prove_positive(inner->operands[1])) return {};
    Poly rest;
    add_term(pool, rest, *left);
    const Expr outer = from_poly(pool, rest);
    if (prove_positive(outer)) return mod(floordiv(inner->operands[0], d), outer);
  }
  return {};
}

// S11: false where nothing changes.
bool open_remainders(Pool::Impl& pool, Poly& y, Expr d) {
  const std::optional<Mono> by = as_mono(to_poly(d));
  if (!by) return false;
  for (size_t i = 0; i < y.terms.size(); ++i) {
    const Term t = y.terms[i];
    for (Expr f : factors(t.base)) {
      if (f.kind() != Kind::mod || !prove_positive(f.operands()[1])) continue;
      const std::optional<Mono> a = as_mono(to_poly(f.operands()[1]));
      if (!a) continue;
      Mono rest{t.coef, without(pool, t.base, f)}, whole{0, product(pool, rest.base, a->base)};
      if (__builtin_mul_overflow(rest.coef, a->coef, &whole.coef) || !divide(pool, whole, *by)) continue;
      Poly factor, opened;
      add_term(pool, factor, rest);
      if (!multiply(pool, factor, to_poly(f.operands()[0]), opened)) continue;
      Poly next = y;
      next.terms.erase(next.terms.begin() + static_cast<ptrdiff_t>(i));
      if (!add_scaled(next, opened, 1)) continue;
      y = std::move(next);
      return true;
    }
  }
  return false;
}

}  // namespace

Expr floordiv_poly(Pool::Impl& pool, Poly y, Expr d) {
  recombine(pool, y);
  if (!prove_positive(d)) return pool.raw(Kind::floordiv, {from_poly(pool, y), d});
  if (d.is_constant() && d.value() == 1) return from_poly(pool, y);
  if (const Expr choice = divide_choice(pool, y, d)) return choice;
  Split s = split(pool, y, d);
  round_constant(s.rest, d);
  if (std::optional<int64_t> q = bucket(s.rest, d)) {
    s.quotient = sum(s.quotient, Poly{{}, *q});
    return from_poly(pool, s.quotient);
  }
  if (fits(pool, s.rest, d)) return from_poly(pool, s.quotient);
  Expr tail;
  if (std::optional<Group> g = find_group(pool, s.rest, d)) {
    tail = floordiv_poly(pool, g->multiple, g->e);
  } else if (Expr flat = flatten_quotient(pool, s.rest, d)) {
    tail = flat;
  } else {
    tail = settle(pool.raw(Kind::floordiv, {from_poly(pool, s.rest), d}));
  }
  return s.quotient.is_zero() ? tail : from_poly(pool, sum(s.quotient, to_poly(tail)));
}

Expr mod_poly(Pool::Impl& pool, Poly y, Expr d) {
  recombine(pool, y);
  if (!prove_positive(d)) return pool.raw(Kind::mod, {from_poly(pool, y), d});
  if (d.is_constant() && d.value() == 1) return pool.pool->constant(0);
  Poly rest = split(pool, y, d).rest;
  if (const int64_t below = take_below_divisor(rest, d))
    return from_poly(pool, sum(to_poly(mod_poly(pool, std::move(rest), d)), Poly{{}, below}));
  if (d.is_constant() && divisor_of(rest) % d.value() == 0) return pool.pool->constant(0);
  if (std::optional<int64_t> q = bucket(rest, d)) {
    Poly shifted = rest;
    if (add_scaled(shifted, Poly{{}, d.value()}, -*q)) return from_poly(pool, shifted);
  }
  if (fits(pool, rest, d)) return from_poly(pool, rest);
  if (std::optional<Group> g = find_group(pool, rest, d)) {
    Poly whole;
    if (multiply(pool, to_poly(g->g), to_poly(mod_poly(pool, g->multiple, g->e)), whole) &&
        add_scaled(whole, g->rest, 1))
      return from_poly(pool, whole);
  }
  if (open_remainders(pool, rest, d)) return mod_poly(pool, rest, d);
  return settle(pool.raw(Kind::mod, {from_poly(pool, rest), d}));
}

Expr floordiv(Expr a, Expr b) {
  Pool& pool = common_pool(a, b);
  return floordiv_poly(pool.impl(), to_poly(a), b);
}

Expr mod(Expr a, Expr b) {
  Pool& pool = common_pool(a, b);
  return mod_poly(pool.impl(), to_poly(a), b);
}

}  // namespace plait::sym
