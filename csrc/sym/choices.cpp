// Canonical forms of min and max: S13, and how choices meet sums, quotients and each other (S39 to S43, S45). Where a
// coefficient would pass 64 bits a rule is not applied.
#include <algorithm>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr size_t kMaxOperands = 32;  // of min and max that a sum is spread over
constexpr size_t kMaxFlat = 1024;    // of min and max that are themselves operands of one; more are nested
constexpr size_t kMaxCompared = 64;  // operands of one min or max that are compared with each other

bool is_choice(const Node* n) { return n->kind == Kind::min || n->kind == Kind::max; }
Kind other(Kind kind) { return kind == Kind::min ? Kind::max : Kind::min; }

struct Operand {
  Expr value;
  size_t group;  // operands of one node do not beat each other
};
using Operands = std::vector<Operand>;

// p without its term at i.
Poly dropped(const Poly& p, size_t i) {
  Poly out = p;
  out.terms.erase(out.terms.begin() + static_cast<ptrdiff_t>(i));
  return out;
}

// rest + scale*e for every operand e; nothing on overflow.
std::optional<std::vector<Expr>> shifted(Pool::Impl& pool, std::span<const Expr> operands, int64_t scale,
                                         const Poly& rest) {
  std::vector<Expr> out;
  for (Expr e : operands) {
    Poly p = rest;
    if (!add_scaled(p, to_poly(e), scale)) return std::nullopt;
    out.push_back(from_poly(pool, std::move(p)));
  }
  return out;
}

// S39 for one operand: false where it holds no choice that opens.
bool open_operand(Kind kind, Operands& all, size_t at) {
  const Poly p = to_poly(all[at].value);
  for (size_t i = 0; i < p.terms.size(); ++i) {
    const Term t = p.terms[i];
    if (!is_choice(t.base) || (t.base->kind == kind) != (t.coef > 0)) continue;
    const bool alone = p.terms.size() == 1 && p.constant == 0 && t.coef == 1;
    if (all.size() + t.base->operands.size() - 1 > (alone ? kMaxFlat : kMaxOperands)) continue;
    const auto parts = shifted(impl_of(all[at].value), t.base->operands, t.coef, dropped(p, i));
    if (!parts) continue;
    size_t group = all[at].group;
    all.erase(all.begin() + static_cast<ptrdiff_t>(at));
    for (const Operand& o : all) group = std::max(group, o.group);
    for (Expr e : *parts) all.push_back({e, alone ? group + 1 : ++group});
    return true;
  }
  return false;
}

// S43: `all` are a number and a choice of the other kind between a number and one more operand.
Expr clamp_of(Kind kind, const Operands& all) {
  if (all.size() != 2) return {};
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Expr limit = all[i].value, inner = all[1 - i].value;
    if (kind != Kind::min || !limit.is_constant() || inner.kind() != Kind::max || inner.operands().size() != 2)
      continue;
    for (size_t j : {size_t{0}, size_t{1}}) {
      const Expr least = inner.operands()[j];
      if (!least.is_constant()) continue;
      return least.value() < limit.value() ? max(least, min(limit, inner.operands()[1 - j])) : limit;
    }
  }
  return {};
}

// S41: whether terms stand in the operands and all have negative coefficients.
bool all_negative(const Operands& all) {
  bool any = false;
  for (const Operand& o : all) {
    const Poly p = to_poly(o.value);
    for (const Term& t : p.terms)
      if (t.coef > 0 || t.coef == INT64_MIN) return false;
    any = any || !p.terms.empty();
    if (p.constant == INT64_MIN) return false;
  }
  return any;
}

// S13: the winner is chosen wherever both have a value.
bool beats(Kind kind, Expr winner, Expr loser) {
  Poly d = to_poly(kind == Kind::min ? loser : winner);
  if (!add_scaled(d, to_poly(kind == Kind::min ? winner : loser), -1)) return false;
  return prove_nonnegative(impl_of(winner), d, kConstructionWork);
}

// S13: sorted, without duplicates and without those that are beaten.
void prune(Kind kind, Operands& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Operand& a, const Operand& b) { return compare(a.value.node(), b.value.node()) < 0; });
  auto same = [](const Operand& a, const Operand& b) { return a.value == b.value; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  for (size_t i = all.size() <= kMaxCompared ? all.size() : 0; i-- > 0;) {
    for (size_t j = 0; j < all.size(); ++j) {
      if (all[j].group == all[i].group || !beats(kind, all[j].value, all[i].value)) continue;
      all.erase(all.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
  }
}

}  // namespace

Expr extremum_of(Kind kind, std::span<const Expr> operands) {
  Operands all;
  for (size_t i = 0; i < operands.size(); ++i) all.push_back({operands[i], i});
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < all.size() && !again; ++i) again = open_operand(kind, all, i);
  }
  prune(kind, all);
  if (all.size() == 1) return all[0].value;
  if (const Expr e = clamp_of(kind, all)) return e;
  std::vector<Expr> values;
  const bool negative = all_negative(all);
  for (const Operand& o : all) values.push_back(negative ? -o.value : o.value);
  if (negative) return -extremum_of(other(kind), values);
  return settle(impl_of(values[0]).raw(kind, values));
}

// S40.
bool absorb_term(Pool::Impl& pool, Poly& p) {
  for (size_t i = 0; i < p.terms.size() && p.terms.size() > 1; ++i) {
    const Term choice = p.terms[i];
    if (!is_choice(choice.base) || choice.coef == INT64_MIN) continue;
    for (size_t j = 0; j < p.terms.size(); ++j) {
      const Term t = p.terms[j];
      if (j == i || t.coef == INT64_MIN || t.coef % choice.coef != 0) continue;
      const int64_t by = t.coef / choice.coef;
      const auto cancels = [&](Expr e) {
        const Poly o = to_poly(e);
        return std::any_of(o.terms.begin(), o.terms.end(),
                           [&](const Term& s) { return s.base == t.base && s.coef == -by; });
      };
      if (!std::any_of(choice.base->operands.begin(), choice.base->operands.end(), cancels)) continue;
      // A negative factor turns the choice around.
      const bool turn = choice.coef < 0;
      Poly moved, next = dropped(p, std::max(i, j));
      next = dropped(next, std::min(i, j));
      if (!add_scaled(moved, Poly{{{by, t.base}}, 0}, turn ? -1 : 1)) continue;
      const auto parts = shifted(pool, choice.base->operands, turn ? -1 : 1, moved);
      if (!parts) continue;
      const Expr value = extremum_of(turn ? other(choice.base->kind) : choice.base->kind, *parts);
      if (!add_scaled(next, to_poly(value), turn ? -choice.coef : choice.coef)) continue;
      p = std::move(next);
      return true;
    }
  }
  return false;
}

// S45.
bool join_choices(Pool::Impl& pool, Poly& p) {
  const auto pairs = [](const Node* n) { return is_choice(n) && n->operands.size() == 2; };
  for (size_t i = 0; i < p.terms.size(); ++i)
    for (size_t j = i + 1; j < p.terms.size() && pairs(p.terms[i].base); ++j) {
      const Term a = p.terms[i], b = p.terms[j];
      if (!pairs(b.base) || a.coef == INT64_MIN) continue;
      // Either k*min + k*max, or k*min - k*min.
      const bool alike = a.base->kind == b.base->kind;
      if (b.coef != (alike ? -a.coef : a.coef)) continue;
      for (size_t first : {size_t{0}, size_t{1}}) {
        Poly t = to_poly(a.base->operands[0]), other = to_poly(a.base->operands[1]), next = dropped(p, j);
        if (!add_scaled(t, to_poly(b.base->operands[first]), alike ? -1 : 1) ||
            !add_scaled(other, to_poly(b.base->operands[1 - first]), alike ? -1 : 1))
          continue;
        if (from_poly(pool, t) != from_poly(pool, other)) continue;
        next = dropped(next, i);
        if (!add_scaled(next, t, a.coef)) continue;
        p = std::move(next);
        return true;
      }
    }
  return false;
}

// S42.
Expr divide_choice(Pool::Impl& pool, const Poly& y, Expr d) {
  if (!d.is_constant() || d.value() < 2) return {};
  for (size_t i = 0; i < y.terms.size(); ++i) {
    const Term t = y.terms[i];
    const bool grows = t.base->kind == Kind::max ? t.coef > 0 : t.base->kind == Kind::min && t.coef < 0;
    if (!grows || t.coef == INT64_MIN) continue;  // less a least is plus the greatest of the negatives
    std::span<const Expr> o = t.base->operands;
    if (std::none_of(o.begin(), o.end(), [](Expr e) { return e.is_constant(); })) continue;
    const auto parts = shifted(pool, o, t.coef, dropped(y, i));
    if (!parts) continue;
    std::vector<Expr> quotients;
    for (Expr e : *parts) quotients.push_back(floordiv_poly(pool, to_poly(e), d));
    return extremum_of(Kind::max, quotients);
  }
  return {};
}

Expr min(Expr a, Expr b) {
  common_pool(a, b);
  const Expr operands[2] = {a, b};
  return extremum_of(Kind::min, operands);
}
Expr max(Expr a, Expr b) {
  common_pool(a, b);
  const Expr operands[2] = {a, b};
  return extremum_of(Kind::max, operands);
}
Expr min(Expr a, int64_t b) { return min(a, a.pool().constant(b)); }
Expr max(Expr a, int64_t b) { return max(a, a.pool().constant(b)); }

}  // namespace plait::sym
