#include "sym/quotient.h"

#include "sym/node.h"

namespace plait::sym {

namespace {

std::vector<Mono> monos(const Poly& p) {
  std::vector<Mono> out;
  for (const Term& t : p.terms) out.push_back({t.coef, t.base});
  if (p.constant != 0) out.push_back({p.constant, nullptr});
  return out;
}

}  // namespace

std::optional<Expr> exact_quotient(Expr a, Expr b) {
  if (b.constant() == 0) return std::nullopt;
  if (a == b) return b.pool().constant(1);
  Pool::Impl& pool = b.pool().impl();
  const Poly whole = to_poly(a), by = to_poly(b);
  const std::vector<Mono> parts = monos(by);
  Poly out;
  for (const Mono& term : monos(whole)) {
    const auto one = divide(pool, term, parts[0]);
    // Of a sum the quotient has one term, that of its first one with some term.
    Poly product, single;
    if (parts.size() > 1 && one && add_term(pool, single, *one) && multiply(pool, by, single, product) &&
        from_poly(pool, product) == a)
      return from_poly(pool, single);
    if (parts.size() == 1 && (!one || !add_term(pool, out, *one))) return std::nullopt;
  }
  if (parts.size() > 1) return std::nullopt;
  return from_poly(pool, out);
}

}  // namespace plait::sym
