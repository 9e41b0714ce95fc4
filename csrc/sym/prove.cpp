// The prover: a difference is nonnegative if bounds say so, or if replacing one of its atoms by a bound of that atom,
// in the direction that can only lower the difference, leaves a nonnegative difference (S33 to S36). Depth-first,
// bounded work, polynomial arithmetic only: it never builds an expression that a rule would have to simplify.
#include <algorithm>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr int kMaxDepth = 8;
constexpr int kMaxConditions = 64;  // parts of one condition that are looked at

class Prover {
 public:
  Prover(Pool::Impl& pool, int work) : pool_(pool), work_(work) {}

  bool nonnegative(const Poly& p, int depth) {
    if (--work_ < 0) return false;
    const Bounds r = range_of(p);
    if (r.lo >= 0) return true;
    if (depth == 0 || r.hi < 0) return false;
    Exprs atoms;
    for (const Term& t : p.terms)
      for (Expr f : factors(t.base))
        if (std::find(atoms.begin(), atoms.end(), f) == atoms.end()) atoms.push_back(f);
    for (Expr a : atoms)
      if (useful(p, a) && by_atom(p, a, depth)) return true;
    return false;
  }

 private:
  // Where an atom has bounds only and stands by itself, the bounds of the difference have used them.
  static bool useful(const Poly& p, Expr a) {
    const bool bounds_only = a.is_symbol() ? !a.node()->symbol->info.below : is_boolean(a) && a.kind() != Kind::select;
    return !bounds_only || std::any_of(p.terms.begin(), p.terms.end(), [a](const Term& t) {
      std::span<const Expr> f = factors(t.base);
      return f.size() > 1 && std::find(f.begin(), f.end(), a) != f.end();
    });
  }

  // p = slope*a + rest, one occurrence of the atom taken out of each of its terms.
  void take_out(const Poly& p, Expr a, Poly& slope, Poly& rest) {
    rest.constant = p.constant;
    for (const Term& t : p.terms) {
      std::span<const Expr> f = factors(t.base);
      if (t.base == a.node()) {
        slope.constant = t.coef;
      } else if (std::find(f.begin(), f.end(), a) == f.end()) {
        rest.terms.push_back(t);
      } else {
        add_term(pool_, slope, {t.coef, without(pool_, t.base, a)});
      }
    }
  }

  bool try_value(const Poly& slope, const Poly& rest, const Poly& value, int depth) {
    Poly next;
    if (slope.is_constant()) {
      next = rest;
      return add_scaled(next, value, slope.constant) && nonnegative(next, depth - 1);
    }
    return multiply(pool_, slope, value, next) && add_scaled(next, rest, 1) && nonnegative(next, depth - 1);
  }
  bool try_value(const Poly& slope, const Poly& rest, Expr value, int64_t offset, int depth) {
    Poly v = to_poly(value);
    return add_scaled(v, Poly{{}, offset}, 1) && try_value(slope, rest, v, depth);
  }

  // S33 by the sign of the slope; S36: a choice is one of its branches.
  bool by_atom(const Poly& p, Expr a, int depth) {
    Poly slope, rest;
    take_out(p, a, slope, rest);
    std::span<const Expr> o = a.operands();
    if (a.kind() == Kind::min || a.kind() == Kind::max || a.kind() == Kind::select) {
      std::span<const Expr> branches = a.kind() == Kind::select ? o.subspan(1) : o;
      const bool all =
          std::all_of(branches.begin(), branches.end(), [&](Expr b) { return try_value(slope, rest, b, 0, depth); });
      if (all) return true;
    }
    const Bounds s = range_of(slope);
    if (s.hi <= 0) return by_upper(slope, rest, a, depth);
    if (s.lo >= 0) return by_lower(slope, rest, a, depth);
    return false;
  }

  // S35: a quotient q of x by d lies in [(x - d + 1)/d, x/d]. The difference times d is an integer combination again,
  // and an integer above -1 is nonnegative, which is worth d - 1.
  bool by_quotient(const Poly& slope, const Poly& rest, Expr a, bool upper, int depth) {
    const Expr d = a.operands()[1];
    if (bounds(d).lo < 1) return false;
    const Poly by = to_poly(d);
    Poly x = to_poly(a.operands()[0]), next, scaled;
    if (!upper && (!add_scaled(x, by, -1) || !add_scaled(x, Poly{{}, 1}, 1))) return false;
    if (!multiply(pool_, slope, x, next) || !multiply(pool_, rest, by, scaled)) return false;
    return add_scaled(next, scaled, 1) && add_scaled(next, by, 1) && add_scaled(next, Poly{{}, -1}, 1) &&
           nonnegative(next, depth - 1);
  }

  // S34, from above.
  bool by_upper(const Poly& slope, const Poly& rest, Expr a, int depth) {
    std::span<const Expr> o = a.operands();
    switch (a.kind()) {
      case Kind::symbol: {
        const Expr below = a.pool().info(a).below;
        if (below && try_value(slope, rest, below, -1, depth)) return true;
        break;
      }
      case Kind::floordiv:
        if (by_quotient(slope, rest, a, true, depth)) return true;
        break;
      case Kind::mod:
        if (try_value(slope, rest, o[1], -1, depth)) return true;
        if (bounds(o[0]).lo >= 0 && try_value(slope, rest, o[0], 0, depth)) return true;
        break;
      case Kind::min:
        for (Expr b : o)
          if (try_value(slope, rest, b, 0, depth)) return true;
        break;
      case Kind::chunk:
      case Kind::chunk_start: {
        // start + chunk <= n, both >= 0.
        const Expr other = pool_.raw(a.kind() == Kind::chunk ? Kind::chunk_start : Kind::chunk, o);
        Poly left = to_poly(o[0]);
        if (add_scaled(left, to_poly(other), -1) && try_value(slope, rest, left, depth)) return true;
        if (try_value(slope, rest, o[0], 0, depth)) return true;
        break;
      }
      default:
        break;
    }
    const int64_t hi = bounds(a).hi;
    return !slope.is_constant() && hi != INT64_MAX && try_value(slope, rest, Poly{{}, hi}, depth);
  }

  // S34, from below.
  bool by_lower(const Poly& slope, const Poly& rest, Expr a, int depth) {
    if (a.kind() == Kind::floordiv && by_quotient(slope, rest, a, false, depth)) return true;
    if (a.kind() == Kind::max)
      for (Expr b : a.operands())
        if (try_value(slope, rest, b, 0, depth)) return true;
    const int64_t lo = bounds(a).lo;
    return !slope.is_constant() && lo != INT64_MIN && try_value(slope, rest, Poly{{}, lo}, depth);
  }

  Pool::Impl& pool_;
  int work_;
};

// S37: truth of `L < R` or `L <= R` with proof effort.
Truth prove_order(Expr condition) {
  Pool::Impl& pool = impl_of(condition);
  Poly d = to_poly(condition.operands()[1]), opposite = to_poly(condition.operands()[0]);
  const int64_t strict = condition.kind() == Kind::lt ? 1 : 0;
  const Poly lhs = opposite;
  if (!add_scaled(opposite, d, -1) || !add_scaled(d, lhs, -1)) return Truth::unknown;
  if (add_scaled(d, Poly{{}, strict}, -1) && prove_nonnegative(pool, d, kProofWork)) return Truth::yes;
  if (add_scaled(opposite, Poly{{}, 1 - strict}, -1) && prove_nonnegative(pool, opposite, kProofWork)) return Truth::no;
  return Truth::unknown;
}

// S37: logic over three values.
Truth negate(Truth t) { return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes; }

Truth prove_equal(Expr condition) {
  const Expr a = condition.operands()[0], b = condition.operands()[1];
  Poly d = to_poly(a), e = to_poly(b);
  if (!add_scaled(d, to_poly(b), -1) || !add_scaled(e, to_poly(a), -1)) return Truth::unknown;
  Pool::Impl& pool = impl_of(condition);
  const bool ge = prove_nonnegative(pool, d, kProofWork), le = prove_nonnegative(pool, e, kProofWork);
  if (ge && le) return Truth::yes;
  if (add_scaled(d, Poly{{}, -1}, 1) && prove_nonnegative(pool, d, kProofWork)) return Truth::no;
  if (add_scaled(e, Poly{{}, -1}, 1) && prove_nonnegative(pool, e, kProofWork)) return Truth::no;
  return Truth::unknown;
}

}  // namespace

bool prove_nonnegative(Pool::Impl& pool, const Poly& p, int work) {
  return Prover(pool, work).nonnegative(p, kMaxDepth);
}

bool prove_positive(Expr e) {
  const Bounds r = bounds(e);
  if (r.lo >= 1) return true;
  if (r.hi < 1) return false;
  Poly p = to_poly(e);
  return add_scaled(p, Poly{{}, -1}, 1) && prove_nonnegative(impl_of(e), p, kConstructionWork);
}

bool in_range(Pool::Impl& pool, const Poly& value, const Poly& d) {
  Poly left = d;
  return prove_nonnegative(pool, value, kConstructionWork) && add_scaled(left, value, -1) &&
         add_scaled(left, Poly{{}, -1}, 1) && prove_nonnegative(pool, left, kConstructionWork);
}

static Truth prove_part(Expr condition, int& parts) {
  if (--parts < 0) return Truth::unknown;
  const Bounds r = bounds(condition);
  if (r.lo > 0 || r.hi < 0) return Truth::yes;
  if (r.lo == 0 && r.hi == 0) return Truth::no;
  switch (condition.kind()) {
    case Kind::lt:
    case Kind::le:
      return prove_order(condition);
    case Kind::eq:
      return prove_equal(condition);
    case Kind::logical_not:
      return negate(prove_part(condition.operands()[0], parts));
    case Kind::logical_and: {
      Truth all = Truth::yes;
      for (Expr c : condition.operands()) {
        const Truth t = prove_part(c, parts);
        if (t == Truth::no) return t;
        if (t == Truth::unknown) all = t;
      }
      return all;
    }
    case Kind::select: {
      const Truth a = prove_part(condition.operands()[1], parts);
      return a != Truth::unknown && a == prove_part(condition.operands()[2], parts) ? a : Truth::unknown;
    }
    default:
      return is_boolean(condition) ? Truth::unknown : prove_part(ne(condition, 0), parts);
  }
}

Truth prove(Expr condition) {
  PLAIT_CHECK(condition, "null expression");
  int parts = kMaxConditions;
  return prove_part(condition, parts);
}

bool proven(Expr condition) { return prove(condition) == Truth::yes; }

}  // namespace plait::sym
