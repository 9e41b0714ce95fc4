#include "kir/passes/begins.h"

#include <algorithm>

#include "kir/passes/affine_conditions.h"

namespace plait::kir {
namespace {

class Begins {
 public:
  explicit Begins(Kernel& kernel) : editor_(kernel) {}

  void block(Block& body) {
    for (auto& stmt : body) {
      if (For* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr)
        if (loop->loop == LoopKind::serial && !is_inner(*loop)) move(*loop);
      if (Block* inner = body_of(*stmt)) block(*inner);
    }
  }

 private:
  // The first iteration in which some of the inner ones hold.
  static sym::Expr begin_of(const Term& t) { return sym::ceildiv(t.room - t.reach, t.step); }

  void move(For& loop) {
    const std::vector<Term> terms = affine_conditions(loop.body, loop.var, {}, true);
    sym::Expr begin;
    std::set<const sym::Node*> holding;
    for (const Term& first : terms) {
      const sym::Expr at = begin_of(first);
      if (sym::proven(sym::le(at, 0))) continue;
      std::vector<sym::Expr> alike;
      for (const Term& t : terms)
        if (begin_of(t) == at) alike.push_back(t.conjunct);
      if (!only_where(loop.body, alike)) continue;
      if (!begin || begin != at) begin = begin ? sym::max(begin, at) : at;
      if (sym::divisor(first.room) % first.step == 0) holding.insert(first.conjunct.node());
    }
    if (!begin) return;
    if (!sym::proven(sym::ge(begin, 0))) begin = sym::max(begin, 0);
    const sym::Expr left = loop.extent - begin;
    loop.extent = sym::proven(sym::ge(left, 0)) ? left : sym::max(left, 0);
    drop(loop.body, holding);
    Copier copier(editor_);
    const sym::Expr var = editor_.symbol(loop.var, sym::index_facts(loop.extent));
    copier.symbols[loop.var.symbol_name()] = var + begin;
    Block body;
    copier.copy(loop.body, body);
    loop.var = var;
    loop.body = std::move(body);
  }

  Editor editor_;
};

}  // namespace

void begins(Kernel& kernel) {
  if (kernel.target == TargetKind::cuda) return;
  Begins pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
