// A goal `value >= 0` follows if it is proven, or if it is once something known to be at least 0 is taken off:
// n0*n1 - i0*n1 - i1 - 1 without (n1 - i1 - 1) is n1*(n0 - 1 - i0).
#include "kir/accesses.h"

#include "base/error.h"
#include "kir/lane.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

constexpr int kMostTaken = 3;   // things taken off one goal
constexpr int kMostWork = 400;  // proofs for one goal

class AccessProver {
 public:
  explicit AccessProver(const Kernel& kernel) : kernel_(kernel) {
    multipliers_.push_back(kernel.pool->constant(1));
    for (sym::Expr integer : kernel.integers)
      if (sym::bounds(integer).lo >= 0) multipliers_.push_back(integer);
  }

  std::vector<std::string> run() {
    for (const Phase& phase : kernel_.phases) block(phase.body);
    return std::move(unproven_);
  }

 private:
  // ---- what is known here

  // The expression is at least 0: so are all operands of a min, and the rest of each.
  void know(sym::Expr value) { known_.push_back(value); }

  // `rest + min(a, b)` is at least 0.
  void know_sum(sym::Expr rest, sym::Expr extent) {
    if (extent.kind() == sym::Kind::min)
      for (sym::Expr operand : extent.operands()) know_sum(rest, operand);
    else
      know(extent + rest);
  }

  void know_condition(sym::Expr condition, bool holds) {
    const auto operands = condition.operands();
    switch (condition.kind()) {
      case sym::Kind::logical_and:
        if (holds)
          for (sym::Expr part : operands) know_condition(part, true);
        return;
      case sym::Kind::logical_not:
        return know_condition(operands[0], !holds);
      case sym::Kind::lt:
        return holds ? know_sum(-operands[0] - 1, operands[1]) : know_sum(-operands[1], operands[0]);
      case sym::Kind::le:
        return holds ? know_sum(-operands[0], operands[1]) : know_sum(-operands[1] - 1, operands[0]);
      case sym::Kind::eq:
        if (!holds) return;
        know(operands[0] - operands[1]);
        return know(operands[1] - operands[0]);
      default:
        return;
    }
  }

  // ---- statements

  void block(const Block& body) {
    for (const auto& stmt : body) {
      const size_t before = known_.size();
      if (const For* loop = as<For>(*stmt)) {
        know(loop->var);
        know_sum(-loop->var - 1, loop->extent);
      }
      if (const If* branch = as<If>(*stmt)) know_condition(branch->condition, true);
      if (const Block* inner = body_of(*stmt)) block(*inner);
      if (const Load* s = as<Load>(*stmt)) read(*s, s->buffer, s->index, s->out.lanes, s->active);
      if (const Store* s = as<Store>(*stmt)) access(*s, s->buffer, s->index, s->in.lanes, s->active);
      if (const CopyAsync* s = as<CopyAsync>(*stmt)) copy(*s);
      if (const LoadMatrix* s = as<LoadMatrix>(*stmt)) matrix(*s);
      if (const Mma* s = as<Mma>(*stmt)) mma(*s);
      if (const Atomic* s = as<Atomic>(*stmt)) access(*s, s->buffer, s->index, 1, {});
      if (const LastBlock* s = as<LastBlock>(*stmt)) access(*s, s->buffer, s->index, 1, {});
      known_.resize(before);
    }
  }

  void matrix(const LoadMatrix& s) {
    access(s, s.to, s.to_index, 1, {});
    access(s, s.to, s.to_index + 2 * s.count - 1, 1, {});
    access(s, s.from, s.index, 1, {});
    access(s, s.from, s.index + 7, 1, {});
  }
  void mma(const Mma& s) {
    access(s, s.sums, s.sums_index, 1, {});
    access(s, s.sums, s.sums_index + 3, 1, {});
    access(s, s.a, s.a_index, 1, {});
    access(s, s.a, s.a_index + 7, 1, {});
    access(s, s.b, s.b_index, 1, {});
    access(s, s.b, s.b_index + 3, 1, {});
  }

  void copy(const CopyAsync& s) {
    access(s, s.to, s.to_index, s.lanes, {});
    read(s, s.from, s.index, s.lanes, s.active);
  }
  // Where elements are taken, its condition holds.
  void read(const Stmt& stmt, uint32_t buffer, sym::Expr index, int lanes, sym::Expr active) {
    const size_t before = known_.size();
    if (active && lanes == 1) {
      know_condition(active, true);
      active = {};
    } else if (active && active.kind() == sym::Kind::select) {
      know_condition(active.operands()[0], true);
      active = active.operands()[1];
    }
    access(stmt, buffer, index, lanes, active);
    known_.resize(before);
  }

  void access(const Stmt& stmt, uint32_t buffer, sym::Expr index, int lanes, sym::Expr active) {
    const sym::Expr extent = kernel_.buffers[buffer].extent;
    for (int lane = 0; lane < lanes; ++lane) {
      const size_t before = known_.size();
      if (active) know_sum(kernel_.pool->constant(-lane - 1), active);
      const sym::Expr at = at_lane(index, lane);
      const bool inside = follows(at) && follows(extent - at - 1);
      known_.resize(before);
      if (!inside) return unproven_.push_back(print(kernel_, stmt));
      if (!depends_on_lane(index)) return;  // lane 0 is there where another one is
    }
  }

  // ---- proofs

  bool follows(sym::Expr goal) {
    work_ = kMostWork;
    return follows(goal, kMostTaken);
  }

  bool follows(sym::Expr goal, int taken) {
    if (work_-- <= 0) return false;
    if (sym::proven(sym::ge(goal, 0))) return true;
    if (taken == 0) return false;
    for (size_t i = known_.size(); i-- > 0;)
      for (sym::Expr factor : multipliers_)
        if (shares_symbol(goal, known_[i]) && follows(goal - factor * known_[i], taken - 1)) return true;
    return false;
  }

  static bool shares_symbol(sym::Expr a, sym::Expr b) {
    const std::set<std::string> of_a = sym::symbols(a);
    for (const std::string& symbol : sym::symbols(b))
      if (of_a.contains(symbol)) return true;
    return false;
  }

  const Kernel& kernel_;
  std::vector<sym::Expr> known_, multipliers_;
  std::vector<std::string> unproven_;
  int work_ = 0;
};

}  // namespace

std::vector<std::string> unproven_accesses(const Kernel& kernel) { return AccessProver(kernel).run(); }

}  // namespace plait::kir
