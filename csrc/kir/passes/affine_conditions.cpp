#include "kir/passes/affine_conditions.h"

#include <algorithm>

namespace plait::kir {

namespace {

// Finds the conjuncts of conditions in a body that are affine in a loop around it and in inner loops.
class Finder {
 public:
  Finder(sym::Expr var, int sign) : var_(var), sign_(sign) {}

  std::vector<Term> find(const Block& body, const std::vector<InnerLoop>& inner) {
    inner_ = inner;
    block(body);
    std::vector<Term> out;
    for (const sym::Node* node : order_)
      if (!refused_.contains(node)) out.push_back(terms_.at(node));
    return out;
  }

 private:
  void block(const Block& body) {
    std::vector<std::string> bound;
    for (const auto& stmt : body) {
      if (const Bind* bind = as<Bind>(*stmt)) {
        bound.push_back(bind->var.symbol_name());
        local_.insert(bound.back());
      } else if (const For* loop = as<For>(*stmt)) {
        const bool inner = is_inner(*loop);
        if (inner)
          inner_.push_back({loop->var, loop->extent.value()});
        else
          local_.insert(loop->var.symbol_name());
        block(loop->body);
        if (inner) inner_.pop_back();
        local_.erase(loop->var.symbol_name());
      } else if (const If* branch = as<If>(*stmt)) {
        for (sym::Expr c : conjuncts(branch->condition)) add(c);
        block(branch->body);
      }
    }
    for (const std::string& name : bound) local_.erase(name);
  }

  // A conjunct may stand in several places: each must be such a term.
  void add(sym::Expr conjunct) {
    if (refused_.contains(conjunct.node())) return;
    if (var_ && !depends_on(conjunct, var_)) return;
    const std::optional<Term> term = term_of(conjunct);
    if (!term) {
      refused_.insert(conjunct.node());
      return;
    }
    const auto [known, fresh] = terms_.emplace(conjunct.node(), *term);
    if (fresh) order_.push_back(conjunct.node());
    known->second.reach = std::max(known->second.reach, term->reach);
  }

  std::optional<Term> term_of(sym::Expr conjunct) const {
    const auto negative = negative_where(conjunct);
    if (!negative) return std::nullopt;
    Term term{conjunct, *negative, *negative, 0, 0};
    if (var_) {
      const auto slope = slope_in(*negative, var_);
      if (!slope || slope->step * sign_ < 1) return std::nullopt;
      term.step = slope->step * sign_;
      term.room = term.inner = slope->at_zero;
    }
    for (const InnerLoop& loop : inner_) {
      const auto slope = slope_in(term.room, loop.var);
      if (!slope || slope->step * sign_ < 0) return std::nullopt;
      term.room = slope->at_zero;
      term.reach += slope->step * sign_ * (loop.extent - 1);
    }
    for (const std::string& symbol : sym::symbols(term.room))
      if (local_.contains(symbol)) return std::nullopt;
    if (var_ ? term.reach >= term.step : term.reach == 0) return std::nullopt;
    term.inner = (term.inner - term.room) * sign_;
    term.room = sign_ > 0 ? -term.room : term.room + 1;
    return term;
  }

  sym::Expr var_;
  int sign_;  // of the slopes: -1 where conditions hold from some iteration on
  std::vector<InnerLoop> inner_;
  std::set<std::string> local_;  // symbols that have no value outside of the body
  std::map<const sym::Node*, Term> terms_;
  std::set<const sym::Node*> refused_;
  std::vector<const sym::Node*> order_;
};

}  // namespace

bool is_inner(const For& loop) { return (loop.loop == LoopKind::lanes || loop.unroll) && loop.extent.is_constant(); }

std::vector<Term> affine_conditions(const Block& body, sym::Expr var, const std::vector<InnerLoop>& around,
                                    bool from_on) {
  return Finder(var, from_on ? -1 : 1).find(body, around);
}

bool only_where(const Block& body, const std::vector<sym::Expr>& some) {
  return std::all_of(body.begin(), body.end(), [&](const auto& stmt) {
    if (const If* branch = as<If>(*stmt)) {
      const auto all = conjuncts(branch->condition);
      if (std::find_first_of(all.begin(), all.end(), some.begin(), some.end()) != all.end()) return true;
    }
    const Block* inner = body_of(*stmt);
    const bool nothing = stmt->kind == StmtKind::Alloc || stmt->kind == StmtKind::Load || is_pure(stmt->kind);
    return nothing || (inner != nullptr && only_where(*inner, some));
  });
}

void drop(Block& block, const std::set<const sym::Node*>& holding) {
  Block out;
  for (auto& stmt : block) {
    if (Block* body = body_of(*stmt)) drop(*body, holding);
    if (const If* branch = as<If>(*stmt)) {
      sym::Expr left = branch->condition.pool().constant(1);
      for (sym::Expr c : conjuncts(branch->condition))
        if (!holding.contains(c.node())) left = sym::logical_and(left, c);
      static_cast<If&>(*stmt).condition = left;
      if (sym::proven(left)) {
        Block& body = *body_of(*stmt);
        std::move(body.begin(), body.end(), std::back_inserter(out));
        continue;
      }
    }
    out.push_back(std::move(stmt));
  }
  block = std::move(out);
}

}  // namespace plait::kir
