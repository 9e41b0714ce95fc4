// Values of expressions, substitution, import into another pool, symbols of an expression.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr uint32_t kMemoSize = 64;  // larger trees remember the values of shared parts and are not recursed into

Wide floor_wide(Wide a, Wide b) {
  Wide q = a / b;
  return q - (a % b < 0 ? 1 : 0);
}

std::string number(Wide v) {
  if (v >= INT64_MIN && v <= INT64_MAX) return std::to_string(static_cast<int64_t>(v));
  return v < 0 ? "a number below -2^63" : "a number above 2^63";
}

class Evaluator {
 public:
  Evaluator(const Environment& environment, bool memo) : environment_(environment), memo_(memo) {}

  // For any depth of nesting: needed parts first, from the bottom.
  Wide deep_value(Expr root) {
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
      const Expr e = stack.back();
      const Expr missing = known(e) ? Expr() : next_needed(e);
      if (missing) {
        stack.push_back(missing);
      } else {
        value(e);
        stack.pop_back();
      }
    }
    return value(root);
  }

  Wide value(Expr e) {
    if (e.is_constant()) return e.node()->value;
    if (!memo_ || e.is_symbol()) return compute(e);
    if (auto it = known_.find(e.node()); it != known_.end()) return it->second;
    const Wide v = compute(e);
    known_.emplace(e.node(), v);
    return v;
  }

 private:
  bool known(Expr e) const { return e.operands().empty() || known_.count(e.node()) != 0; }

  // The first operand whose value is needed and not known yet; conditions decide what is needed.
  Expr next_needed(Expr e) {
    std::span<const Expr> o = e.operands();
    if (e.kind() == Kind::select) {
      if (!known(o[0])) return o[0];
      o = o.subspan(value(o[0]) != 0 ? 1 : 2, 1);
    }
    for (Expr part : o) {
      if (!known(part)) return part;
      if (e.kind() == Kind::logical_and && value(part) == 0) break;
    }
    return {};
  }

  Wide symbol(Expr e) {
    auto it = environment_.find(e.symbol_name());
    if (it != environment_.end()) return it->second;
    throw UserError(fmt::format("symbol '{}' has no value", e.symbol_name()), "", "give a value for it");
  }

  Wide divisor(Expr whole) {
    const Wide d = value(whole.operands()[1]);
    if (d < 1) throw UserError(fmt::format("division by {}", number(d)), brief(whole), "divisors must be positive");
    return d;
  }

  Wide piece(Expr e) {
    std::span<const Expr> o = e.operands();
    const Wide n = value(o[0]), parts = value(o[1]), rank = value(o[2]), granule = o[3].value();
    if (n < 0 || parts < 1 || granule < 1 || rank < 0 || rank >= parts)
      throw UserError(fmt::format("no piece {} of {} in {} parts, granule {}", number(rank), number(n), number(parts),
                                  number(granule)),
                      brief(e), "extents are at least 0, parts and granules at least 1, ranks below the parts");
    const auto ceil = [](Wide a, Wide b) { return a / b + (a % b != 0); };
    const Wide c = checked_product(granule, ceil(ceil(n, granule), parts));
    const Wide start = c != 0 && rank > n / c ? n : checked_product(rank, c);
    return e.kind() == Kind::chunk_start ? start : std::min(c, n - start);
  }

  static Wide checked_product(Wide a, Wide b) {
    Wide v;
    if (__builtin_mul_overflow(a, b, &v)) fail_overflow("evaluating");
    return v;
  }

  Wide compute(Expr e) {
    std::span<const Expr> o = e.operands();
    switch (e.kind()) {
      case Kind::constant:
        return e.node()->value;
      case Kind::symbol:
        return symbol(e);
      case Kind::mul:
        return product(e);
      case Kind::add:
      case Kind::min:
      case Kind::max:
        return fold(e);
      case Kind::floordiv: {
        const Wide d = divisor(e);
        return floor_wide(value(o[0]), d);
      }
      case Kind::mod: {
        const Wide d = divisor(e), v = value(o[0]) % d;
        return v < 0 ? v + d : v;
      }
      case Kind::chunk:
      case Kind::chunk_start:
        return piece(e);
      case Kind::lt:
        return value(o[0]) < value(o[1]);
      case Kind::le:
        return value(o[0]) <= value(o[1]);
      case Kind::eq:
        return value(o[0]) == value(o[1]);
      case Kind::logical_and:
        return std::all_of(o.begin(), o.end(), [this](Expr c) { return value(c) != 0; });
      case Kind::logical_not:
        return value(o[0]) == 0;
      case Kind::select:
        return value(o[0]) != 0 ? value(o[1]) : value(o[2]);
    }
    return 0;
  }

  // A factor 0 makes the product 0, whatever the others come to before it.
  Wide product(Expr e) {
    Wide out = 1;
    bool zero = false, overflow = false;
    for (Expr f : e.operands()) {
      const Wide v = value(f);
      zero = zero || v == 0;
      overflow = overflow || __builtin_mul_overflow(out, v, &out);
    }
    if (overflow && !zero) fail_overflow("evaluating");
    return zero ? 0 : out;
  }

  Wide fold(Expr e) {
    Wide out = value(e.operands()[0]);
    for (Expr next : e.operands().subspan(1)) {
      const Wide v = value(next);
      if (e.kind() == Kind::min) {
        out = std::min(out, v);
      } else if (e.kind() == Kind::max) {
        out = std::max(out, v);
      } else if (__builtin_add_overflow(out, v, &out)) {
        fail_overflow("evaluating");
      }
    }
    return out;
  }

  const Environment& environment_;
  const bool memo_;
  std::unordered_map<const Node*, Wide> known_;
};

class Rebuilder {
 public:
  Rebuilder(Pool& pool, const std::map<std::string, Expr>& replacements, std::unordered_set<const Node*>& importing)
      : pool_(pool), replacements_(replacements), importing_(importing) {}

  Expr operator()(Expr root) {
    visit_upwards(
        root, [this](Expr e) { return done_.count(e.node()) != 0; },
        [this](Expr e) {
          const Expr made = make(e);
          done_.emplace(e.node(), made);
        });
    return done_.at(root.node());
  }

 private:
  Expr make(Expr e) {
    if (e.is_constant()) return &e.pool() == &pool_ ? e : pool_.constant(e.value());
    if (e.is_symbol()) {
      auto it = replacements_.find(e.symbol_name());
      return it == replacements_.end() ? import_symbol(e) : import(pool_, it->second);
    }
    std::vector<Expr> operands;
    operands.reserve(e.operands().size());
    bool same = &e.pool() == &pool_;
    for (Expr o : e.operands()) {
      operands.push_back(done_.at(o.node()));
      same = same && operands.back() == o;
    }
    return same ? e : rebuild(pool_, e.kind(), operands);
  }

  Expr import_symbol(Expr e) {
    if (&e.pool() == &pool_) return e;
    SymbolInfo info = e.pool().info(e);
    const Expr below = info.below;
    info.below = {};
    const Expr out = pool_.symbol(e.symbol_name(), info);
    if (!below || !importing_.insert(e.node()).second) return out;  // symbols may bound each other in a circle
    info.below = Rebuilder(pool_, kNothing, importing_)(below);
    return pool_.symbol(e.symbol_name(), info);
  }

  // A bound speaks of the symbols themselves: replacements do not reach into it.
  inline static const std::map<std::string, Expr> kNothing;

  Pool& pool_;
  const std::map<std::string, Expr>& replacements_;
  std::unordered_set<const Node*>& importing_;  // symbols whose bound has been looked at
  std::unordered_map<const Node*, Expr> done_;  // for lookup only
};

}  // namespace

int64_t evaluate(Expr expr, const Environment& environment) {
  PLAIT_CHECK(expr, "null expression");
  const bool large = expr.node()->tree_size > kMemoSize;
  Evaluator evaluator(environment, large);
  const Wide v = large ? evaluator.deep_value(expr) : evaluator.value(expr);
  if (v < INT64_MIN || v > INT64_MAX)
    throw UserError("integer overflow past 64 bits while evaluating a size or index", brief(expr),
                    "use smaller extents: every size, stride and index must be below 2^63");
  return static_cast<int64_t>(v);
}

void check_facts(const Pool& pool, const Environment& environment) {
  for (const auto& [name, value] : environment) {
    const Expr symbol = pool.find_symbol(name);
    if (!symbol) continue;
    const SymbolInfo& info = pool.info(symbol);
    auto refuse = [&](const std::string& fact) {
      throw UserError(fmt::format("value {} contradicts what is known: {}", value, fact),
                      fmt::format("symbol '{}'", name), "change the value");
    };
    if (info.lo && value < *info.lo) refuse(fmt::format("at least {}", *info.lo));
    if (info.hi && value > *info.hi) refuse(fmt::format("at most {}", *info.hi));
    if (value % info.multiple_of != 0) refuse(fmt::format("a multiple of {}", info.multiple_of));
    if (!info.below) continue;
    const std::set<std::string> needed = symbols(info.below);
    if (!std::all_of(needed.begin(), needed.end(), [&](const std::string& n) { return environment.count(n) != 0; }))
      continue;
    if (value >= evaluate(info.below, environment)) refuse("below " + print(info.below));
  }
}

Expr substitute(Pool& pool, Expr expr, const std::map<std::string, Expr>& replacements) {
  PLAIT_CHECK(expr, "null expression");
  std::unordered_set<const Node*> importing;
  return Rebuilder(pool, replacements, importing)(expr);
}
Expr substitute(Expr expr, const std::map<std::string, Expr>& replacements) {
  PLAIT_CHECK(expr, "null expression");
  return substitute(expr.pool(), expr, replacements);
}
Expr import(Pool& pool, Expr expr) {
  PLAIT_CHECK(expr, "null expression");
  if (&expr.pool() == &pool) return expr;
  return substitute(pool, expr, {});
}

void symbols(Expr expr, std::set<std::string>& names) {
  std::unordered_set<const Node*> seen;
  visit_upwards(
      expr, [&seen](Expr e) { return seen.count(e.node()) != 0; },
      [&](Expr e) {
        seen.insert(e.node());
        if (e.is_symbol()) names.insert(e.symbol_name());
      });
}
std::set<std::string> symbols(Expr expr) {
  std::set<std::string> names;
  symbols(expr, names);
  return names;
}

}  // namespace plait::sym
