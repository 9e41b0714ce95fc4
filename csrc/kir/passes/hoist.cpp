#include "kir/passes/hoist.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "kir/lane.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

class Hoist {
 public:
  explicit Hoist(const Kernel& kernel) : kernel_(kernel) {}

  void phase(Block& body) {
    values_.clear();
    changed_.clear();
    position_ = 0;
    number(body);
    position_ = 0;
    levels_.clear();
    levels_.push_back({});
    base_ = 0;
    block(body);
  }

 private:
  // A block that is being gone through: what stands in it so far, and its place among all statements.
  struct Level {
    const For* loop = nullptr;  // whose body it is
    sym::Expr condition;        // or under which it is
    Block out;
    size_t begin = 0, end = 0;
  };

  // Where statements change what, by their position in the order of the text.
  void number(const Block& body) {
    for (const auto& stmt : body) {
      const size_t at = position_++;
      for (Cell cell : changes(*stmt)) changed_[cell].push_back(at);
      if (const Block* inner = body_of(*stmt)) {
        if (stmt->kind == StmtKind::For && cooperates(*inner)) together_.insert(stmt.get());
        number(*inner);
        end_[stmt.get()] = position_;
      }
    }
  }

  bool changes_within(Cell cell, const Level& level) const {
    const auto found = changed_.find(cell);
    if (found == changed_.end()) return false;
    const auto at = std::lower_bound(found->second.begin(), found->second.end(), level.begin);
    return at != found->second.end() && *at < level.end;
  }

  void block(Block& body) {
    std::vector<std::string> bound;
    for (auto& stmt : body) {
      const size_t at = position_++;
      if (Block* inner = body_of(*stmt)) enter(*stmt, *inner, at);
      const size_t here = levels_.size() - 1;
      const size_t to = is_pure(stmt->kind) ? target(*stmt) : here;
      if (to < here && stmt->kind == StmtKind::Load) guard(static_cast<Load&>(*stmt), to);
      for (const Value& v : results(*stmt)) values_[v.id] = to;
      if (const Bind* bind = as<Bind>(*stmt)) {
        bound.push_back(bind->var.symbol_name());
        symbols_[bound.back()] = here;
      }
      if (const Alloc* alloc = as<Alloc>(*stmt)) buffers_[alloc->buffer] = here;
      levels_[to].out.push_back(std::move(stmt));
    }
    body = std::move(levels_.back().out);
    for (const std::string& name : bound) symbols_.erase(name);
  }

  void enter(const Stmt& stmt, Block& inner, size_t at) {
    const For* loop = as<For>(stmt);
    const If* branch = as<If>(stmt);
    levels_.push_back({loop, branch != nullptr ? branch->condition : sym::Expr(), {}, at, end_.at(&stmt)});
    const size_t base = base_;
    if (loop != nullptr) symbols_[loop->var.symbol_name()] = levels_.size() - 1;
    if (loop != nullptr && is_parallel(loop->loop)) base_ = levels_.size() - 1;
    block(inner);
    if (loop != nullptr) symbols_.erase(loop->var.symbol_name());
    base_ = base;
    levels_.pop_back();
  }

  // The outermost level where all that the statement speaks of has a value.
  size_t allowed(const Stmt& stmt) const {
    size_t level = base_;
    for (const Value& v : operands(stmt)) level = std::max(level, values_.at(v.id));
    for (sym::Expr e : expressions(stmt))
      for (const std::string& symbol : sym::symbols(e))
        if (const auto found = symbols_.find(symbol); found != symbols_.end()) level = std::max(level, found->second);
    if (const uint32_t* buffer = buffer_of(stmt); buffer != nullptr && kernel_.buffers[*buffer].is_local())
      level = std::max(level, buffers_.at(*buffer));
    return level;
  }

  size_t target(const Stmt& stmt) const {
    const size_t here = levels_.size() - 1;
    for (size_t to = allowed(stmt); to < here; ++to) {
      if (levels_[to + 1].loop == nullptr) continue;
      if (reads_changed(stmt, levels_[to + 1])) continue;
      if (const Load* load = as<Load>(stmt);
          load != nullptr && !runs(to) && !in_range(*load, to, {}) && !guarded(*load, to))
        continue;
      return to;
    }
    return here;
  }

  // Conditions between the level and here that hold of what is known there.
  std::vector<sym::Expr> known_conditions(size_t level) const {
    std::vector<sym::Expr> out;
    const auto is_known = [&](const std::string& name) {
      const auto found = symbols_.find(name);
      return found == symbols_.end() || found->second <= level;
    };
    for (size_t l = level + 1; l < levels_.size(); ++l) {
      if (!levels_[l].condition) continue;
      for (sym::Expr conjunct : conjuncts(levels_[l].condition))
        if (std::ranges::all_of(sym::symbols(conjunct), is_known)) out.push_back(conjunct);
    }
    return out;
  }

  // Whether the load of a GPU, of what the kernel leaves as it is, may stand there under such conditions, for all
  // iterations of a loop that threads go through together.
  bool guarded(const Load& load, size_t level) const {
    if (kernel_.target != TargetKind::cuda || load.active || load.access == Access::reversed || !is_left(load.buffer))
      return false;
    const auto of_threads = [&](const Level& l) { return l.loop != nullptr && together_.contains(l.loop); };
    if (std::none_of(levels_.begin() + static_cast<std::ptrdiff_t>(level) + 1, levels_.end(), of_threads)) return false;
    const std::vector<sym::Expr> conditions = known_conditions(level);
    return !conditions.empty() && in_range(load, level, conditions);
  }

  void guard(Load& load, size_t to) const {
    if (load.active || runs(to) || in_range(load, to, {})) return;
    sym::Expr all;
    for (sym::Expr condition : known_conditions(to)) all = all ? sym::logical_and(all, condition) : condition;
    sym::Pool& pool = *kernel_.pool;
    load.active = load.out.lanes == 1 ? all : sym::select(all, pool.constant(load.out.lanes), pool.constant(0));
  }

  // Whether no statement of the kernel changes it.
  bool is_left(uint32_t buffer) const {
    const Buffer& from = kernel_.buffers[buffer];
    return from.space == Space::argument && !from.written && !from.replaced;
  }

  bool reads_changed(const Stmt& stmt, const Level& level) const {
    const uint32_t* buffer = buffer_of(stmt);
    if (buffer != nullptr && changes_within(cell_of_buffer(*buffer), level)) return true;
    if (stmt.kind == StmtKind::Load && !is_left(*buffer) && changes_within(kOfThreads, level)) return true;
    const std::vector<Value> read = operands(stmt);
    return std::any_of(read.begin(), read.end(), [&](const Value& v) { return changes_within(cell_of(v), level); });
  }

  // Whether all between a level and here runs wherever the level does.
  bool runs(size_t level) const {
    return std::all_of(levels_.begin() + static_cast<std::ptrdiff_t>(level) + 1, levels_.end(),
                       [](const Level& l) { return l.loop != nullptr && sym::proven(sym::gt(l.loop->extent, 0)); });
  }

  // Whether the expression is at least 0 wherever a level's statements run: by what symbols are, or with one of the
  // conditions around, or of `more`.
  bool at_least_zero(sym::Expr e, size_t level, const std::vector<sym::Expr>& more) const {
    if (sym::proven(sym::ge(e, 0)) || std::ranges::any_of(more, [&](sym::Expr c) { return follows(e, c); }))
      return true;
    for (size_t l = 1; l <= level; ++l) {
      if (!levels_[l].condition) continue;
      for (sym::Expr conjunct : conjuncts(levels_[l].condition))
        if (follows(e, conjunct)) return true;
    }
    return false;
  }

  // Whether e is at least 0 where the condition holds.
  static bool follows(sym::Expr e, sym::Expr condition) {
    const auto below = negative_where(condition);  // so that -1 - below is at least 0
    if (!below) return false;
    for (const std::string& name : sym::symbols(*below)) {
      const sym::Expr symbol = e.pool().find_symbol(name);
      const auto of_both = std::pair(slope_in(e, symbol), slope_in(*below, symbol));
      if (!of_both.first || !of_both.second || of_both.second->step == 0) continue;
      const int64_t times = -of_both.first->step / of_both.second->step;
      if (times > 0 && proven_sum(e, *below + 1, times)) return true;
    }
    return false;
  }

  // Whether a + b * times is at least 0.
  static bool proven_sum(sym::Expr a, sym::Expr b, int64_t times) {
    try {
      return sym::proven(sym::ge(a + b * times, 0));
    } catch (const UserError&) {  // past 64 bits
      return false;
    }
  }

  bool in_range(const Load& load, size_t level, const std::vector<sym::Expr>& more) const {
    const auto inside = [&](int lane) {
      const sym::Expr index = load.out.lanes == 1 ? load.index : at_lane(load.index, lane);
      return at_least_zero(index, level, more) &&
             at_least_zero(kernel_.buffers[load.buffer].extent - index - 1, level, more);
    };
    // A workspace may have elements that nothing has written, which checkers of GPUs report.
    const bool of_launch = kernel_.buffers[load.buffer].space == Space::workspace;
    if (of_launch && kernel_.target == TargetKind::cuda) return false;
    const bool affine = load.out.lanes == 1 || lane_stride(load.index).has_value();
    return affine && inside(0) && (load.out.lanes == 1 || inside(load.out.lanes - 1));
  }

  const Kernel& kernel_;
  std::vector<Level> levels_;
  size_t base_ = 0, position_ = 0;  // base: level of the innermost parallel loop
  std::unordered_map<uint32_t, size_t> values_, buffers_;
  std::map<std::string, size_t> symbols_;
  std::unordered_map<Cell, std::vector<size_t>> changed_;
  std::unordered_map<const Stmt*, size_t> end_;  // positions behind bodies
  std::set<const Stmt*> together_;               // loops in which threads meet
};

// A loop that does nothing but under a condition of what is around it goes under the condition. Whether one did.
bool conditions_out(Block& block) {
  bool some = false;
  for (auto& stmt : block) {
    Block* body = body_of(*stmt);
    if (body != nullptr) some |= conditions_out(*body);
    const For* loop = as<For>(*stmt);
    if (loop == nullptr || is_parallel(loop->loop) || loop->body.size() != 1) continue;
    const If* branch = as<If>(*loop->body[0]);
    if (branch == nullptr || depends_on(branch->condition, loop->var)) continue;
    std::unique_ptr<Stmt> outer = std::move(body->front());
    *body = std::exchange(*body_of(*outer), {});
    body_of(*outer)->push_back(std::move(stmt));
    stmt = std::move(outer);
    some = true;
  }
  return some;
}

}  // namespace

void hoist(Kernel& kernel) {
  Hoist pass(kernel);
  for (Phase& phase : kernel.phases) {
    pass.phase(phase.body);
    while (conditions_out(phase.body)) pass.phase(phase.body);  // what leaves a loop may leave a condition alone in it
  }
}

}  // namespace plait::kir
