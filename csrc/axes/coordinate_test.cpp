#include "axes/coordinate_test.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"

namespace plait {
namespace {

// Small deterministic generator (xorshift): the test must give the same answer everywhere.
struct Random {
  uint64_t state;
  int64_t below(int64_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<int64_t>(state % static_cast<uint64_t>(std::max<int64_t>(n, 1)));
  }
};

// Values of all symbols of the graph's extents that respect bounds and divisibility, `range` of them: small sizes meet
// holes, large ones do not hide what is taken apart by a constant that is longer than a small size.
sym::Environment sample(const AxisGraph& graph, const std::set<std::string>& names, int64_t range, Random& random) {
  sym::Environment env;
  for (const std::string& name : names) {
    const sym::SymbolInfo& info = graph.pool().info(graph.pool().find_symbol(name));
    const int64_t step = info.multiple_of;
    const int64_t lo = std::max<int64_t>(info.lo.value_or(1), 1);
    const int64_t first = (lo + step - 1) / step * step;
    int64_t value = first + step * random.below(range);
    if (info.hi && value > *info.hi) value = std::min(first + step * random.below(7), *info.hi / step * step);
    env[name] = value;
  }
  return env;
}

class Test {
 public:
  Test(const AxisGraph& graph, const sym::Environment& env) : graph_(graph), env_(env) {}

  int64_t extent(int cls) {
    const auto [it, fresh] = extents_.try_emplace(graph_.find(cls), 0);
    if (fresh) it->second = sym::evaluate(graph_.extent(cls), env_);
    return it->second;
  }
  void set(int cls, int64_t value) {
    cls = graph_.find(cls);
    if (graph_.unit(cls)) return;
    const auto [it, fresh] = values_.try_emplace(cls, value);
    if (fresh)
      work_.push_back(cls);
    else if (it->second != value)
      conflict_ = true;
  }
  bool run() {
    while (!work_.empty() && !conflict_) {
      const int cls = work_.back();
      work_.pop_back();
      for (int id : graph_.uses(cls))
        if (!graph_.relation(id).dead) push(graph_.relation(id), cls);
    }
    return conflict_;
  }

 private:
  std::optional<int64_t> value(int cls) const {
    if (graph_.unit(cls)) return 0;
    const auto it = values_.find(graph_.find(cls));
    return it == values_.end() ? std::nullopt : std::optional(it->second);
  }
  // Values go on outside of a class's range: two ways to a class that never are in range together still disagree. An
  // inner part outside of its range, and a hole of a cover, belong to no whole.
  void push(const Relation& r, int from) {
    const int64_t v = *value(from);
    if (r.kind == RelationKind::shift) {
      const int64_t low = sym::evaluate(r.low, env_);
      if (graph_.find(r.whole) == from) set(r.outer, v + low);
      if (graph_.find(r.outer) == from) set(r.whole, v - low);
      return;
    }
    const int64_t n = extent(r.inner);
    if (n < 1 || (graph_.unit(r.outer) && (v < 0 || v >= n))) return;
    if (graph_.find(r.whole) == from) {
      const int64_t inner = (v % n + n) % n;
      set(r.outer, (v - inner) / n);
      set(r.inner, inner);
    }
    const auto o = value(r.outer), i = value(r.inner);
    if (!o || !i || *i < 0 || *i >= n) return;
    int64_t whole = 0;
    if (__builtin_mul_overflow(*o, n, &whole) || __builtin_add_overflow(whole, *i, &whole))
      throw UserError("a coordinate past 64 bits", "coordinate test", "smaller sizes");
    if (r.kind == RelationKind::fold || (whole >= 0 && whole < extent(r.whole))) set(r.whole, whole);
  }

  const AxisGraph& graph_;
  const sym::Environment& env_;
  std::map<int, int64_t> extents_, values_;
  std::vector<int> work_;
  bool conflict_ = false;
};

}  // namespace

bool coordinates_conflict(const AxisGraph& graph, std::span<const int> domain, int trials) {
  std::set<int> classes;
  for (int c : domain)
    if (!graph.unit(c) && !classes.insert(graph.find(c)).second) return true;
  if (graph.relation_count() == 0) return false;
  Random random{0x9E3779B97F4A7C15u};
  // Whether they disagree at one point; nothing where the sampled sizes have no value for some extent, or too large a
  // one.
  const auto disagree = [&](int t, int64_t range) -> std::optional<bool> {
    const sym::Environment env = sample(graph, graph.symbols(), range, random);
    try {
      Test test(graph, env);
      for (int c : classes) {
        const int64_t extent = test.extent(c);
        // Half of the points are small: they lie inside ranges left by holes.
        test.set(c, random.below(t % 2 == 0 ? extent : std::min<int64_t>(extent, t % 3 + 2)));
      }
      return test.run();
    } catch (const UserError&) {
      return std::nullopt;
    }
  };
  constexpr int64_t kSmall = 7, kLarge = 1000;
  for (int t = 0; t < trials; ++t) {
    std::optional<bool> found = disagree(t, t % 3 == 0 ? kSmall : kLarge);
    if (!found) found = disagree(t, kSmall);
    if (found.value_or(false)) return true;
  }
  return false;
}

}  // namespace plait
