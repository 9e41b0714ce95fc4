// Sums of products: the arithmetic below the canonical form of add and mul.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {

int64_t floor_divide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b < 0 ? 1 : 0);
}

int64_t floor_remainder(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

int64_t gcd64(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  uint64_t g = std::gcd(x, y);
  return g > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX / 2 + 1 : static_cast<int64_t>(g);
}

std::span<const Expr> factors(const Node* base) {
  if (!base) return {};
  return base->kind == Kind::mul ? base->operands : std::span<const Expr>(&base->self, 1);
}

Poly to_poly(Expr e) {
  Poly p;
  auto add_one = [&p](const Node* n) {
    if (n->kind == Kind::constant) {
      p.constant = n->value;
    } else {
      p.terms.push_back({n->kind == Kind::mul ? n->value : 1, n->base});
    }
  };
  if (e.kind() != Kind::add) {
    add_one(e.node());
  } else {
    p.terms.reserve(e.operands().size());
    for (Expr t : e.operands()) add_one(t.node());
  }
  return p;
}

const Node* monomial(Pool::Impl& pool, std::span<const Expr> sorted) {
  if (sorted.empty()) return nullptr;
  return sorted.size() == 1 ? sorted[0].node() : pool.intern(Kind::mul, 1, sorted);
}

const Node* product(Pool::Impl& pool, const Node* a, const Node* b) {
  if (!a) return b;
  if (!b) return a;
  std::span<const Expr> fa = factors(a), fb = factors(b);
  Exprs out;
  std::merge(fa.begin(), fa.end(), fb.begin(), fb.end(), std::back_inserter(out),
             [](Expr x, Expr y) { return compare(x.node(), y.node()) < 0; });
  return monomial(pool, out);
}

const Node* without(Pool::Impl& pool, const Node* base, Expr factor) {
  std::span<const Expr> f = factors(base);
  Exprs out(f.data(), f.data() + f.size());
  auto it = std::find(out.begin(), out.end(), factor);
  PLAIT_CHECK(it != out.end(), "factor is not in the monomial");
  out.erase(it);
  return monomial(pool, out);
}

static size_t count_sums(std::span<const Expr> factors) {
  return static_cast<size_t>(
      std::count_if(factors.begin(), factors.end(), [](Expr f) { return f.kind() == Kind::add; }));
}

std::optional<Mono> divide(Pool::Impl& pool, Mono a, Mono b) {
  if (b.coef == 0 || (b.coef == -1 && a.coef == INT64_MIN) || a.coef % b.coef != 0) return std::nullopt;
  std::span<const Expr> fa = factors(a.base), fb = factors(b.base);
  if (fb.size() > fa.size()) return std::nullopt;
  Exprs rest(fa.data(), fa.data() + fa.size());
  for (Expr f : fb) {
    auto it = std::find(rest.begin(), rest.end(), f);
    if (it == rest.end()) return std::nullopt;
    rest.erase(it);
  }
  if (const size_t sums = count_sums(rest); sums != 0 && sums != count_sums(fa)) return std::nullopt;
  return Mono{a.coef / b.coef, monomial(pool, rest)};
}

Mono common(Pool::Impl& pool, Mono a, Mono b) {
  std::span<const Expr> fb = factors(b.base);
  Exprs left(fb.data(), fb.data() + fb.size()), shared;
  for (Expr f : factors(a.base)) {
    auto it = std::find(left.begin(), left.end(), f);
    if (it == left.end() || f.kind() == Kind::add) continue;
    shared.push_back(f);
    left.erase(it);
  }
  return {gcd64(a.coef, b.coef), monomial(pool, shared)};
}

std::optional<Mono> as_mono(const Poly& p) {
  if (p.is_constant()) return Mono{p.constant, nullptr};
  if (p.terms.size() == 1 && p.constant == 0) return Mono{p.terms[0].coef, p.terms[0].base};
  return std::nullopt;
}

Expr term_expr(Pool::Impl& pool, Term t) {
  if (t.coef == 1) return Expr(t.base);
  Exprs operands{pool.pool->constant(t.coef)};
  for (Expr f : factors(t.base)) operands.push_back(f);
  return Expr(pool.intern(Kind::mul, t.coef, operands, t.base));
}

bool add_scaled(Poly& a, const Poly& b, int64_t scale) {
  int64_t scaled;
  if (__builtin_mul_overflow(b.constant, scale, &scaled)) return false;
  if (__builtin_add_overflow(a.constant, scaled, &a.constant)) return false;
  if (scale == 0 || b.terms.empty()) return true;
  if (a.terms.empty()) {
    a.terms = b.terms;
    for (Term& t : a.terms)
      if (__builtin_mul_overflow(t.coef, scale, &t.coef)) return false;
    return true;
  }
  SmallVector<Term, 4> out;
  out.reserve(a.terms.size() + b.terms.size());
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    int order = i == a.terms.size() ? 1 : j == b.terms.size() ? -1 : compare(a.terms[i].base, b.terms[j].base);
    if (order < 0) {
      out.push_back(a.terms[i++]);
      continue;
    }
    int64_t coef;
    if (__builtin_mul_overflow(b.terms[j].coef, scale, &coef)) return false;
    if (order == 0 && __builtin_add_overflow(coef, a.terms[i++].coef, &coef)) return false;
    if (coef != 0) out.push_back({coef, b.terms[j].base});
    ++j;
  }
  a.terms = std::move(out);
  return true;
}

bool add_term(Pool::Impl&, Poly& p, Mono m) {
  Poly one;
  if (m.base) {
    one.terms.push_back({m.coef, m.base});
  } else {
    one.constant = m.coef;
  }
  if (m.coef == 0) return true;
  return add_scaled(p, one, 1);
}

bool multiply(Pool::Impl& pool, const Poly& a, const Poly& b, Poly& out) {
  if (b.is_constant()) {
    out = {};
    return add_scaled(out, a, b.constant);
  }
  if (a.is_constant()) return multiply(pool, b, a, out);
  Poly result;
  if (__builtin_mul_overflow(a.constant, b.constant, &result.constant)) return false;
  SmallVector<Term, 8> all;
  bool ok = true;
  auto put = [&](const Node* base, int64_t x, int64_t y) {
    int64_t coef;
    if (__builtin_mul_overflow(x, y, &coef)) ok = false;
    if (coef != 0) all.push_back({coef, base});
  };
  for (const Term& s : a.terms) {
    for (const Term& t : b.terms) put(product(pool, s.base, t.base), s.coef, t.coef);
    put(s.base, s.coef, b.constant);
  }
  for (const Term& t : b.terms) put(t.base, t.coef, a.constant);
  if (!ok) return false;
  std::sort(all.begin(), all.end(), [](const Term& x, const Term& y) { return compare(x.base, y.base) < 0; });
  for (const Term& t : all) {
    if (result.terms.empty() || result.terms.back().base != t.base) {
      result.terms.push_back(t);
    } else {
      if (__builtin_add_overflow(result.terms.back().coef, t.coef, &result.terms.back().coef)) return false;
      if (result.terms.back().coef == 0) result.terms.pop_back();
    }
  }
  out = std::move(result);
  return true;
}

std::optional<Expr> try_times(Pool::Impl& pool, Expr a, Expr b) {
  Poly out;
  if (!multiply(pool, to_poly(a), to_poly(b), out)) return std::nullopt;
  return from_poly(pool, std::move(out));
}

Poly sum(const Poly& a, const Poly& b, int64_t scale) {
  Poly out = a;
  if (!add_scaled(out, b, scale)) fail_overflow("adding parts of");
  return out;
}

Poly times(Pool::Impl& pool, const Poly& a, const Poly& b) {
  Poly out;
  if (!multiply(pool, a, b, out)) fail_overflow("multiplying parts of");
  return out;
}

}  // namespace plait::sym
