// Comparisons, logic, select: the rules S14 to S19.
#include <algorithm>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr size_t kMaxConjuncts = 64;  // more are nested

int64_t coefficient_divisor(const Poly& p) {
  int64_t g = 0;
  for (const Term& t : p.terms) g = gcd64(g, t.coef);
  return g;
}

// left and right sums of the terms with negative and positive coefficients.
bool sides(Pool::Impl& pool, const Poly& p, Poly& left, Poly& right) {
  for (const Term& t : p.terms) {
    if (t.coef == INT64_MIN) return false;
    if (!add_term(pool, t.coef < 0 ? left : right, {t.coef < 0 ? -t.coef : t.coef, t.base})) return false;
  }
  return true;
}

// S15, S16: the condition 0 < p; null where the canonical form overflows.
Expr positive(Pool::Impl& pool, Poly p) {
  recombine(pool, p);
  if (p.is_constant()) return pool.pool->constant(p.constant > 0);
  const int64_t g = coefficient_divisor(p);
  PLAIT_CHECK(g > 0, "{} terms without a divisor", p.terms.size());
  for (Term& t : p.terms) t.coef /= g;
  if (p.constant == INT64_MIN) return {};
  p.constant = -floor_divide(-p.constant, g);
  Poly above = p, below;
  if (add_scaled(above, Poly{{}, -1}, 1) && prove_nonnegative(pool, above, kConstructionWork))
    return pool.pool->constant(1);
  if (add_scaled(below, p, -1) && prove_nonnegative(pool, below, kConstructionWork)) return pool.pool->constant(0);
  if (p.terms.size() == 1 && is_boolean(Expr(p.terms[0].base))) {
    const Expr c(p.terms[0].base);
    return p.terms[0].coef == 1 ? c : logical_not(c);  // all other cases have a proven sign
  }
  Poly left, right;
  if (!sides(pool, p, left, right)) return {};
  if (p.constant > 1) right.constant = p.constant;
  if (p.constant < 0) left.constant = -p.constant;
  return pool.raw(p.constant == 1 ? Kind::le : Kind::lt, {from_poly(pool, left), from_poly(pool, right)});
}

// a + slack > b as a condition.
Expr ordered(Expr b, Expr a, int64_t slack) {
  Pool::Impl& pool = common_pool(a, b).impl();
  Poly p = to_poly(a);
  if (add_scaled(p, to_poly(b), -1) && add_scaled(p, Poly{{}, slack}, 1))
    if (Expr e = positive(pool, p)) return e;
  const Kind kind = slack ? Kind::le : Kind::lt;
  if (a.is_constant() && b.is_constant())
    return a.pool().constant(slack ? b.value() <= a.value() : b.value() < a.value());
  return pool.raw(kind, {b, a});
}

// S15, S16, S17: the condition a == b, p their difference.
Expr equal(Expr a, Expr b, Poly p) {
  Pool::Impl& pool = impl_of(a);
  recombine(pool, p);
  if (p.is_constant()) return pool.pool->constant(p.constant == 0);
  const int64_t g = coefficient_divisor(p);
  PLAIT_CHECK(g > 0, "{} terms without a divisor", p.terms.size());
  if (p.constant % g != 0) return pool.pool->constant(0);
  const bool flip = p.terms[0].coef < 0;
  Poly q;
  for (Term t : p.terms) q.terms.push_back({t.coef / g, t.base});
  q.constant = p.constant / g;
  Poly scaled;
  if (!add_scaled(scaled, q, flip ? -1 : 1)) return pool.raw(Kind::eq, {a, b});
  Poly over = scaled, under;
  if (add_scaled(over, Poly{{}, -1}, 1) && prove_nonnegative(pool, over, kConstructionWork))
    return pool.pool->constant(0);
  if (add_scaled(under, scaled, -1) && add_scaled(under, Poly{{}, -1}, 1) &&
      prove_nonnegative(pool, under, kConstructionWork))
    return pool.pool->constant(0);
  const Poly rest_sum{scaled.terms, 0};
  const int64_t d = divisor_of(rest_sum);
  if (d > 1 && scaled.constant % d != 0) return pool.pool->constant(0);
  Poly right, left;
  if (scaled.constant == INT64_MIN || !sides(pool, scaled, right, left)) return pool.raw(Kind::eq, {a, b});
  (scaled.constant > 0 ? left : right).constant = scaled.constant > 0 ? scaled.constant : -scaled.constant;
  const Expr l = from_poly(pool, left), r = from_poly(pool, right);
  if (is_boolean(l) && r.is_constant() && is_boolean(r)) return r.value() == 1 ? l : logical_not(l);
  return pool.raw(Kind::eq, {l, r});
}

Expr as_condition(Expr e) { return is_boolean(e) ? e : ne(e, 0); }

}  // namespace

Expr lt(Expr a, Expr b) { return ordered(a, b, 0); }
Expr le(Expr a, Expr b) { return ordered(a, b, 1); }
Expr gt(Expr a, Expr b) { return lt(b, a); }
Expr ge(Expr a, Expr b) { return le(b, a); }
Expr ne(Expr a, Expr b) { return logical_not(eq(a, b)); }
Expr lt(Expr a, int64_t b) { return lt(a, a.pool().constant(b)); }
Expr le(Expr a, int64_t b) { return le(a, a.pool().constant(b)); }
Expr gt(Expr a, int64_t b) { return gt(a, a.pool().constant(b)); }
Expr ge(Expr a, int64_t b) { return ge(a, a.pool().constant(b)); }
Expr eq(Expr a, int64_t b) { return eq(a, a.pool().constant(b)); }
Expr ne(Expr a, int64_t b) { return ne(a, a.pool().constant(b)); }

Expr eq(Expr a, Expr b) {
  Pool& pool = common_pool(a, b);
  if (a.is_constant() && !b.is_constant()) std::swap(a, b);
  if (b.is_constant() && is_boolean(b) && is_boolean(a)) return b.value() == 1 ? a : logical_not(a);
  if (compare(a.node(), b.node()) > 0 && !b.is_constant()) std::swap(a, b);
  Poly p = to_poly(a);
  if (!add_scaled(p, to_poly(b), -1)) {
    if (a.is_constant() && b.is_constant()) return pool.constant(a == b);
    return pool.impl().raw(Kind::eq, {a, b});
  }
  return equal(a, b, p);
}

// S18.
Expr and_of(Pool& pool, std::span<const Expr> operands) {
  std::vector<Expr> all;
  size_t count = 0;
  for (Expr e : operands) count += e.kind() == Kind::logical_and ? e.operands().size() : 1;
  for (Expr e : operands) {
    const Expr c = as_condition(e);
    if (c.is_constant() && c.value() == 0) return c;
    if (c.is_constant()) continue;
    if (c.kind() == Kind::logical_and && count <= kMaxConjuncts) {
      all.insert(all.end(), c.operands().begin(), c.operands().end());
    } else {
      all.push_back(c);
    }
  }
  std::sort(all.begin(), all.end(), [](Expr a, Expr b) { return compare(a.node(), b.node()) < 0; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (Expr c : all) {
    if (c.kind() == Kind::logical_and) continue;
    if (std::find(all.begin(), all.end(), logical_not(c)) != all.end()) return pool.constant(0);
  }
  if (all.empty()) return pool.constant(1);
  if (all.size() == 1) return all[0];
  return pool.impl().raw(Kind::logical_and, all);
}

Expr logical_and(Expr a, Expr b) {
  const Expr operands[2] = {a, b};
  return and_of(common_pool(a, b), operands);
}

Expr logical_or(Expr a, Expr b) { return logical_not(logical_and(logical_not(a), logical_not(b))); }

// S19 for one node, the branches of a select being negated already.
static Expr negation_of(Expr c) {
  std::span<const Expr> o = c.operands();
  switch (c.kind()) {
    case Kind::constant:
      return c.pool().constant(1 - c.value());
    case Kind::logical_not:
      return o[0];
    case Kind::lt:
      return le(o[1], o[0]);
    case Kind::le:
      return lt(o[1], o[0]);
    case Kind::select:
      return select(o[0], logical_not(o[1]), logical_not(o[2]));
    default:
      return impl_of(c).raw(Kind::logical_not, {c});
  }
}

Expr logical_not(Expr a) {
  PLAIT_CHECK(a, "null expression");
  const Expr c = as_condition(a);
  if (c.kind() != Kind::select) return negation_of(c);
  // Branches are shared and nested deeply: each node remembers its negation.
  const uint32_t epoch = impl_of(c).epoch;
  visit_upwards(
      c, [epoch](Expr e) { return e.kind() != Kind::select || !is_boolean(e) || e.node()->negation_epoch == epoch; },
      [epoch](Expr e) {
        e.node()->negation = negation_of(e).node();
        e.node()->negation_epoch = epoch;
      });
  return Expr(c.node()->negation);
}

// S14.
Expr select(Expr condition, Expr then_value, Expr else_value) {
  common_pool(condition, then_value);
  Pool& pool = common_pool(then_value, else_value);
  Expr c = as_condition(condition);
  if (c.is_constant()) return c.value() ? then_value : else_value;
  if (then_value == else_value) return then_value;
  if (c.kind() == Kind::logical_not) {
    c = c.operands()[0];
    std::swap(then_value, else_value);
  }
  if (then_value.is_constant() && else_value.is_constant()) {
    if (then_value.value() == 1 && else_value.value() == 0) return c;
    if (then_value.value() == 0 && else_value.value() == 1) return logical_not(c);
  }
  return settle(pool.impl().raw(Kind::select, {c, then_value, else_value}));
}

}  // namespace plait::sym
