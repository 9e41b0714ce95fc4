#pragma once
// Random expressions as plain trees with their own evaluator, which shares no code with csrc/sym.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sym/expr.h"

namespace plait::sym::testing {

// Operators by letter: c constant, s symbol, + - * / % m(in) M(ax) C(hunk) S(tart) < l(e) = ! & | ~ ?
struct Tree {
  char op = 'c';
  int64_t value = 0;  // of a constant; granule of a piece
  std::string name;
  std::vector<Tree> kids;
};

inline int64_t naive_floor(int64_t a, int64_t b) {
  int64_t q = 0;
  while (q * b > a) --q;
  while ((q + 1) * b <= a) ++q;
  return q;
}

// Nothing where the expression has no value.
inline std::optional<int64_t> naive(const Tree& t, const Environment& env) {
  if (t.op == 'c') return t.value;
  if (t.op == 's') return env.find(t.name)->second;
  if (t.op == '?') {
    auto c = naive(t.kids[0], env);
    if (!c) return {};
    return naive(t.kids[*c != 0 ? 1 : 2], env);
  }
  std::vector<int64_t> v;
  for (const Tree& k : t.kids) {
    auto x = naive(k, env);
    if (!x || *x > 4000 || *x < -4000) return {};
    v.push_back(*x);
  }
  switch (t.op) {
    case '+':
      return v[0] + v[1];
    case '-':
      return v[0] - v[1];
    case '*':
      return v[0] * v[1];
    case '/':
      return v[1] < 1 ? std::optional<int64_t>() : naive_floor(v[0], v[1]);
    case '%':
      return v[1] < 1 ? std::optional<int64_t>() : v[0] - v[1] * naive_floor(v[0], v[1]);
    case 'm':
      return v[0] < v[1] ? v[0] : v[1];
    case 'M':
      return v[0] > v[1] ? v[0] : v[1];
    case '<':
      return v[0] < v[1];
    case 'l':
      return v[0] <= v[1];
    case '=':
      return v[0] == v[1];
    case '!':
      return v[0] != v[1];
    case '&':
      return v[0] != 0 && v[1] != 0;
    case '|':
      return v[0] != 0 || v[1] != 0;
    case '~':
      return v[0] == 0;
    default:
      break;
  }
  // A piece, by walking over the ranks in front of it.
  const int64_t n = v[0], parts = v[1], rank = v[2], g = t.value;
  if (n < 0 || parts < 1 || rank < 0 || rank >= parts) return {};
  int64_t granules = 0;
  while (granules * g < n) ++granules;
  int64_t each = 0;
  while (each * parts < granules) ++each;
  int64_t at = 0;
  for (int64_t r = 0; r < rank; ++r) at = std::min(n, at + each * g);
  return t.op == 'S' ? at : std::min(n, at + each * g) - at;
}

inline Expr build(Pool& pool, const Tree& t) {
  std::vector<Expr> k;
  for (const Tree& kid : t.kids) k.push_back(build(pool, kid));
  switch (t.op) {
    case 'c':
      return pool.constant(t.value);
    case 's':
      return pool.symbol(t.name);
    case '+':
      return k[0] + k[1];
    case '-':
      return k[0] - k[1];
    case '*':
      return k[0] * k[1];
    case '/':
      return floordiv(k[0], k[1]);
    case '%':
      return mod(k[0], k[1]);
    case 'm':
      return min(k[0], k[1]);
    case 'M':
      return max(k[0], k[1]);
    case '<':
      return lt(k[0], k[1]);
    case 'l':
      return le(k[0], k[1]);
    case '=':
      return eq(k[0], k[1]);
    case '!':
      return ne(k[0], k[1]);
    case '&':
      return logical_and(k[0], k[1]);
    case '|':
      return logical_or(k[0], k[1]);
    case '~':
      return logical_not(k[0]);
    case '?':
      return select(k[0], k[1], k[2]);
    case 'C':
      return chunk(k[0], k[1], k[2], t.value);
    default:
      return chunk_start(k[0], k[1], k[2], t.value);
  }
}

using Random = std::mt19937_64;
inline int64_t draw(Random& random, int64_t lo, int64_t hi) {
  return lo + static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
}

// Of a long run: PLAIT_TEST_SEED, or another one each time; printed, so that a failure can be run again.
inline uint64_t fresh_seed() {
  const char* given = std::getenv("PLAIT_TEST_SEED");  // NOLINT
  const uint64_t seed = given ? std::stoull(given) : std::random_device()();
  std::printf("PLAIT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

// i in 0..5, j in 0..n-1, k in 0..n*m-1, n in 1..6, m a multiple of 4 in 4..12, p in 1..4, r in 0..p-1, x and y free.
inline void declare(Pool& pool) {
  const Expr n = pool.symbol("n", {.lo = 1, .hi = 6});
  const Expr m = pool.symbol("m", {.lo = 4, .hi = 12, .multiple_of = 4});
  const Expr p = pool.symbol("p", {.lo = 1});
  pool.symbol("i", {.lo = 0, .hi = 5});
  pool.symbol("j", {.lo = 0, .below = n});
  pool.symbol("k", {.lo = 0, .below = n * m});
  pool.symbol("r", {.lo = 0, .below = p});
  pool.symbol("x");
  pool.symbol("y");
}

inline Environment draw_values(Random& random) {
  Environment e;
  e["n"] = draw(random, 1, 6);
  e["m"] = 4 * draw(random, 1, 3);
  e["p"] = draw(random, 1, 4);
  e["i"] = draw(random, 0, 5);
  e["j"] = draw(random, 0, e["n"] - 1);
  e["k"] = draw(random, 0, e["n"] * e["m"] - 1);
  e["r"] = draw(random, 0, e["p"] - 1);
  e["x"] = draw(random, -9, 9);
  e["y"] = draw(random, -9, 9);
  return e;
}

inline Tree leaf(Random& random) {
  static const char* const kNames[] = {"i", "j", "k", "n", "m", "p", "r", "x", "y"};
  Tree t;
  if (random() % 3 == 0) {
    t.value = draw(random, -4, 16);
  } else {
    t.op = 's';
    t.name = kNames[random() % 9];
  }
  return t;
}

inline Tree symbol_tree(const char* name) { return Tree{'s', 0, name, {}}; }

inline Tree draw_tree(Random& random, int depth);

// a*floordiv(z, b) + c*mod(z, b) with coefficients that match in about half of the cases.
inline Tree draw_split(Random& random, int depth) {
  const Tree z = draw_tree(random, depth - 1);
  const int64_t b = draw(random, 2, 4), c = draw(random, 1, 2);
  auto number = [](int64_t v) { return Tree{'c', v, "", {}}; };
  const Tree q{'*', 0, "", {number(random() % 2 ? b * c : draw(random, 1, 8)), Tree{'/', 0, "", {z, number(b)}}}};
  return Tree{'+', 0, "", {q, Tree{'*', 0, "", {number(c), Tree{'%', 0, "", {z, number(b)}}}}}};
}

inline Tree draw_tree(Random& random, int depth) {
  if (depth == 0 || random() % 8 == 0) return leaf(random);
  if (random() % 16 == 0) return draw_split(random, depth);
  static const std::string kOps = "+++---***///////%%%%%%mMCS<l=!&|~??";
  Tree t;
  t.op = kOps[random() % kOps.size()];
  auto kid = [&] { return draw_tree(random, depth - 1); };
  if (t.op == 'C' || t.op == 'S') {
    t.value = random() % 2 ? 1 : draw(random, 1, 5);
    t.kids = {kid(), symbol_tree("p"), symbol_tree("r")};
    if (random() % 2) t.kids[1] = Tree{'c', draw(random, 1, 4), "", {}};
    if (random() % 2) t.kids[2] = leaf(random);
    return t;
  }
  const size_t count = t.op == '~' ? 1 : t.op == '?' ? 3 : 2;
  for (size_t i = 0; i < count; ++i) t.kids.push_back(kid());
  if ((t.op == '/' || t.op == '%') && random() % 8 != 0) {
    static const int64_t kDivisors[] = {1, 2, 3, 4, 4, 6, 8, 8, 12, 16};
    const uint64_t pick = random() % 5;
    t.kids[1] = pick == 0   ? symbol_tree("n")
                : pick == 1 ? symbol_tree("m")
                : pick == 2 ? Tree{'*', 0, "", {symbol_tree("n"), symbol_tree("m")}}
                            : Tree{'c', kDivisors[random() % 10], "", {}};
  }
  return t;
}

}  // namespace plait::sym::testing
