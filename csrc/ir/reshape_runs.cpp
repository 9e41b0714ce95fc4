#include "ir/reshape_runs.h"

#include <algorithm>
#include <utility>

namespace plait {

namespace {

// The least i_end > i and j_end > j with equal products of a[i..i_end) and b[j..j_end); none: all that is left.
std::pair<size_t, size_t> end_of_run(const std::vector<sym::Expr>& a, size_t i, const std::vector<sym::Expr>& b,
                                     size_t j) {
  for (size_t length = 2; length <= a.size() - i + b.size() - j; ++length) {
    for (size_t from_a = 1; from_a < length; ++from_a) {
      const size_t i_end = i + from_a, j_end = j + length - from_a;
      if (i_end > a.size() || j_end > b.size()) continue;
      sym::Expr left = a[i], right = b[j];
      for (size_t k = i + 1; k < i_end; ++k) left = left * a[k];
      for (size_t k = j + 1; k < j_end; ++k) right = right * b[k];
      if (left == right) return {i_end, j_end};
    }
  }
  return {a.size(), b.size()};
}

// k where big is known to be k * small, else 0.
int64_t steps(sym::Expr big, sym::Expr small) {
  constexpr int64_t kMost = 4096;
  if (big == small) return 1;
  if (const auto x = big.constant(), y = small.constant(); x && y) return *y > 0 && *x % *y == 0 ? *x / *y : 0;
  const int64_t divisor = sym::divisor(big);
  for (int64_t k = 2; k <= std::min(divisor, kMost); ++k)
    if (divisor % k == 0 && big == small * k) return k;
  return 0;
}

bool is_unit(sym::Expr e) { return e.constant() == 1; }

Factor of_dims(int operand_dim, int result_dim, FactorKind kind, sym::Expr extent) {
  Factor f;
  f.kind = kind;
  f.extent = extent;
  f.operand_dim = {operand_dim};
  f.result_dim = {result_dim};
  return f;
}

}  // namespace

std::vector<ReshapeRun> reshape_runs(const Reshape& op) {
  const std::vector<sym::Expr> a = op.in->shape(), b = op.out()->shape();
  std::vector<ReshapeRun> out;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && is_unit(a[i])) {
      ++i;
      continue;
    }
    if (j < b.size() && is_unit(b[j])) {
      ++j;
      continue;
    }
    const bool both = i < a.size() && j < b.size();
    const auto [i_end, j_end] = both ? end_of_run(a, i, b, j) : std::pair(a.size(), b.size());
    out.push_back({i, i_end, j, j_end});
    i = i_end, j = j_end;
  }
  return out;
}

std::vector<Factor> reshape_factors(const Reshape& op) {
  const std::vector<sym::Expr> a = op.in->shape(), b = op.out()->shape();
  std::vector<Factor> out, rest;
  size_t seen = 0;  // dims of the result
  const auto between = [&](size_t until) {
    for (; seen < until; ++seen) out.push_back(of_dims(-1, static_cast<int>(seen), FactorKind::whole, b[seen]));
  };
  for (const ReshapeRun& run : reshape_runs(op)) {
    between(run.out);
    size_t i = run.in, j = run.out;
    const bool both = i < run.in_end && j < run.out_end;
    const int64_t down = both ? steps(a[i], b[j]) : 0, up = both && down == 0 ? steps(b[j], a[i]) : 0;
    if (down + up > 0) {
      Factor f = of_dims(static_cast<int>(i), static_cast<int>(j), FactorKind::pass, down > 0 ? b[j] : a[i]);
      if (down > 0)
        f.operand_scale = {down};
      else
        f.result_scale = up;
      out.push_back(std::move(f));
      ++i, ++j;
    }
    for (; j < run.out_end; ++j) out.push_back(of_dims(-1, static_cast<int>(j), FactorKind::regroup, b[j]));
    for (; i < run.in_end; ++i) rest.push_back(of_dims(static_cast<int>(i), -1, FactorKind::regroup, a[i]));
    seen = run.out_end;
  }
  between(b.size());
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace plait
