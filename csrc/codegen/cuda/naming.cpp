#include "codegen/cuda/naming.h"

#include <algorithm>

#include "kir/lane.h"
#include "kir/statements.h"

namespace plait::codegen::cuda {
namespace {

using namespace kir;
using sym::Expr;
using sym::Kind;

bool is_division(Expr expr) {
  return (expr.kind() == Kind::floordiv || expr.kind() == Kind::mod) && !expr.operands()[1].is_constant();
}

// Whether the division is one of C++ and may be done anywhere.
bool is_safe(Expr division) {
  return sym::bounds(division.operands()[0]).lo >= 0 && sym::bounds(division.operands()[1]).lo >= 1;
}

// Whether a part may not be computed outside of what guards it.
bool divides_by_unknown(Expr expr) {
  const Kind kind = expr.kind();
  if (kind == Kind::chunk || kind == Kind::chunk_start || (is_division(expr) && !is_safe(expr))) return true;
  return std::any_of(expr.operands().begin(), expr.operands().end(), divides_by_unknown);
}

bool is_leaf(Expr expr) { return expr.is_constant() || expr.is_symbol(); }

Expr without_constant(Expr sum) {
  const Expr last = sum.operands().back();
  return last.is_constant() ? sum - last : sum;
}

// A statement within the statements around it, outermost first.
using Path = std::vector<const Stmt*>;

class Naming {
 public:
  explicit Naming(const Kernel& kernel) : kernel_(kernel) {
    for (const Phase& phase : kernel.phases) block(phase.body);
    for (Expr expr : order_) place(expr, uses_.at(expr.id()));
  }
  std::map<const Stmt*, std::vector<Expr>> names;

 private:
  void block(const Block& body) {
    for (const auto& stmt : body) {
      path_.push_back(stmt.get());
      visit(*stmt, [&](const auto& s) { collect(s); });
      if (const Block* inner = body_of(*stmt)) block(*inner);
      path_.pop_back();
    }
  }

  void use(Expr expr) {
    if (!expr) return;
    divisions(expr);
    name(expr);
  }

  // Divisions take most of the time of an index: each is done once. A remainder is what the quotient leaves.
  void divisions(Expr expr) {
    for (Expr operand : expr.operands()) divisions(operand);
    if (!is_division(expr) || !is_safe(expr)) return;
    const Expr a = expr.operands()[0], b = expr.operands()[1];
    name(b);
    const Expr quotient = sym::floordiv(a, b);
    if (quotient.kind() == Kind::floordiv) name(quotient);
    name(expr);
  }

  void name(Expr expr) {
    if (is_leaf(expr) || divides_by_unknown(expr)) return;
    std::vector<Path>& paths = uses_[expr.id()];
    if (paths.empty()) order_.push_back(expr);
    paths.push_back(path_);
  }

  // Sums in a condition share a name with an index; alone they need none.
  void condition(Expr expr) {
    if (expr.kind() == Kind::add) {
      const Expr sum = without_constant(expr);
      if (!is_leaf(sum)) conditions_[sum.id()].push_back(path_);
      return;
    }
    for (Expr operand : expr.operands()) condition(operand);
  }

  void collect(const For& s) {
    if (s.loop == LoopKind::serial) use(s.extent);
  }
  void collect(const If& s) { asked(s.condition); }
  void asked(Expr of) {
    divisions(of);
    condition(of);
  }
  void collect(const Coordinate& s) { use(named_part(s.index, s.out.lanes)); }
  void collect(const Random& s) {
    use(named_part(s.index, s.out.lanes));
    use(s.offset);
  }
  Expr placed(uint32_t buffer, Expr index) const { return place_in_banks(kernel_.buffers[buffer], index); }
  void collect(const Load& s) {
    use(named_part(placed(s.buffer, s.index), s.out.lanes));
    if (!s.active) return;
    if (s.out.lanes == 1) return asked(s.active);
    s.active.kind() == Kind::select ? asked(s.active.operands()[0]) : use(s.active);
  }
  void collect(const Store& s) {
    use(named_part(placed(s.buffer, s.index), s.in.lanes));
    use(s.active);
  }
  void collect(const CopyAsync& s) {
    use(named_part(placed(s.to, s.to_index), s.lanes));
    use(named_part(s.index, s.lanes));
    use(s.active);
  }
  void collect(const LoadMatrix& s) { use(placed(s.from, s.index)); }
  void collect(const Atomic& s) { use(s.index); }
  void collect(const LastBlock& s) {
    use(s.index);
    use(s.blocks);
  }
  void collect(const Await& s) { use(s.from); }
  void collect(const Bind& s) { bound_[s.var.symbol_name()] = path_; }
  void collect(const Stmt&) {}

  // Whether a symbol of the expression is bound inside of the statement.
  bool binds_part(const Stmt& stmt, Expr expr) const {
    for (const std::string& symbol : sym::symbols(expr)) {
      const auto at = bound_.find(symbol);
      if (at != bound_.end() && std::find(at->second.begin(), at->second.end(), &stmt) != at->second.end()) return true;
    }
    return false;
  }

  void place(Expr expr, std::vector<Path> paths) {
    if (const auto more = conditions_.find(expr.id()); more != conditions_.end())
      paths.insert(paths.end(), more->second.begin(), more->second.end());
    size_t depth = 0;  // statements that all uses stand in
    const auto shared = [&](size_t level) {
      return std::all_of(paths.begin(), paths.end(), [&](const Path& p) {
        return p.size() > level + 1 && paths[0].size() > level && p[level] == paths[0][level];
      });
    };
    while (shared(depth)) ++depth;
    const auto loop_without = [&](const Stmt* stmt) {
      const For* loop = as<For>(*stmt);
      return loop != nullptr && loop->loop == LoopKind::serial &&
             !sym::symbols(expr).contains(loop->var.symbol_name()) && !binds_part(*stmt, expr);
    };
    while (depth > 0 && loop_without(paths[0][depth - 1])) --depth;
    names[paths[0][depth]].push_back(expr);
  }

  const Kernel& kernel_;
  Path path_;
  std::vector<Expr> order_;
  std::map<uint64_t, std::vector<Path>> uses_, conditions_;
  std::map<std::string, Path> bound_;  // to the statement that binds a symbol
};

}  // namespace

Expr named_part(Expr index, int lanes) {
  const Expr first = at_lane(index, 0);
  const bool even = lanes == 1 || !depends_on_lane(index) || lane_stride(index);
  return even && !is_leaf(first) ? first : Expr();
}

std::map<const Stmt*, std::vector<Expr>> plan_names(const Kernel& kernel) { return Naming(kernel).names; }

}  // namespace plait::codegen::cuda
