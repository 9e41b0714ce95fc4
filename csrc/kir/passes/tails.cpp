#include "kir/passes/tails.h"

#include <algorithm>

#include "base/error.h"
#include "kir/passes/affine_conditions.h"
#include "kir/passes/edit.h"
#include "kir/passes/tail_rows.h"

namespace plait::kir {
namespace {

constexpr int64_t kMostNewBytes = 16 << 10;

// How the iterations of a loop are divided: `whole` ones, then at most one, `first`, where `some` holds.
struct Division {
  std::vector<Term> terms, ending;  // ending: of which something is left where `some` holds
  sym::Expr whole, first, some;
};

class Tails {
 public:
  explicit Tails(Kernel& kernel) : editor_(kernel) {}

  // `in_tail`: what is cut here is known not to be whole.
  void block(Block& in, bool in_tail) {
    Block out;
    for (auto& stmt : in) {
      if (stmt->kind == StmtKind::For)
        loop(std::unique_ptr<For>(static_cast<For*>(stmt.release())), out, in_tail);
      else {
        const size_t count = assumed_.size();
        const If* branch = as<If>(*stmt);
        if (branch != nullptr && sym::prove(branch->condition) == sym::Truth::no) continue;  // of no elements
        if (branch != nullptr)
          for (sym::Expr c : conjuncts(branch->condition)) assumed_.push_back(c);
        if (Block* body = body_of(*stmt)) block(*body, in_tail);
        assumed_.resize(count);
        out.push_back(std::move(stmt));
      }
    }
    in = std::move(out);
  }

 private:
  bool assumed(sym::Expr condition) const {
    return std::find(assumed_.begin(), assumed_.end(), condition) != assumed_.end();
  }
  bool known(sym::Expr condition) const { return sym::proven(condition) || assumed(condition); }

  void loop(std::unique_ptr<For> stmt, Block& out, bool in_tail) {
    // Of a GPU, where the loop's iterations have registers of their own, they stay as many.
    const Kernel& kernel = editor_.kernel;
    const bool registers = kernel.target == TargetKind::cuda && stmt->loop == LoopKind::serial &&
                           stmt->extent.is_constant() && indexes_stack(kernel, *stmt);
    // Threads that wait for each other go through as many iterations as the others.
    const bool together = kernel.target == TargetKind::cuda && cooperates(stmt->body);
    if (is_parallel(stmt->loop) || registers || together) {
      block(stmt->body, in_tail);
      out.push_back(std::move(stmt));
      return;
    }
    if (is_inner(*stmt)) {
      auto terms = affine_conditions(stmt->body, {}, {{stmt->var, stmt->extent.value()}});
      std::erase_if(terms, [&](const Term& t) { return !only_where(stmt->body, {t.conjunct}); });
      sym::Expr all = editor_.number(1);
      for (const Term& t : terms) all = sym::logical_and(all, sym::lt(editor_.number(t.reach), t.room));
      in_tail |= known(sym::logical_not(all)) || std::any_of(terms.begin(), terms.end(), [&](const Term& t) {
                   return assumed(sym::lt(editor_.number(0), t.room));  // as a tail asks
                 });
      if (!terms.empty() && !in_tail) return versions(std::move(stmt), terms, all, out);
      const bool cut =
          std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return depends_on(t.conjunct, stmt->var); });
      if (!stmt->unroll || !cut) {
        block(stmt->body, in_tail);
        out.push_back(std::move(stmt));
        return;
      }
      stmt->unroll = false;
    }
    serial(std::move(stmt), out, in_tail);
  }

  // Vectors without a serial loop around them: whole ones, else what is there of them.
  void versions(std::unique_ptr<For> stmt, const std::vector<Term>& terms, sym::Expr all, Block& out) {
    std::set<const sym::Node*> holding;
    for (const Term& t : terms) holding.insert(t.conjunct.node());
    Block cut;
    // Where what is left is whole vectors, there are all lanes or none.
    const bool parted = std::any_of(terms.begin(), terms.end(),
                                    [](const Term& t) { return sym::divisor(t.room) % (t.reach + 1) != 0; });
    if (parted && !sym::proven(all)) Copier(editor_).copy(*stmt, cut);
    drop(stmt->body, holding);
    block(stmt->body, false);
    block(cut, true);
    if (sym::proven(all)) {
      out.push_back(std::move(stmt));
      return;
    }
    Block whole;
    whole.push_back(std::move(stmt));
    branch(all, std::move(whole), out);
    branch(sym::logical_not(all), std::move(cut), out);
  }

  void branch(sym::Expr condition, Block body, Block& out) {
    const sym::Truth truth = sym::prove(condition);
    if (truth == sym::Truth::no || body.empty()) return;
    if (truth == sym::Truth::yes) {
      std::move(body.begin(), body.end(), std::back_inserter(out));
      return;
    }
    auto stmt = std::make_unique<If>();
    stmt->condition = condition;
    stmt->body = std::move(body);
    out.push_back(std::move(stmt));
  }

  // By the terms whose ends the loop does not pass, or need not pass. As many iterations as one lies between the whole
  // ones and the end of each.
  std::optional<Division> divide(const For& loop) const {
    Division d;
    sym::Expr extent = loop.extent;
    std::vector<Term>& ending = d.ending;  // terms that end the loop
    const std::vector<Term> found = affine_conditions(loop.body, loop.var);
    const auto ends_with = [&](sym::Expr end) {
      std::vector<sym::Expr> out;
      for (const Term& t : found)
        if (end_of(t) == end) out.push_back(t.conjunct);
      return out;
    };
    for (const Term& t : found) {
      const sym::Expr end = end_of(t);
      const bool same = end == loop.extent, within = same || sym::proven(sym::le(loop.extent, end));
      if (!within && !only_where(loop.body, ends_with(end))) continue;
      if (!within) extent = sym::proven(sym::le(end, extent)) ? end : sym::min(extent, end);
      if (!within || same) ending.push_back(t);
      d.terms.push_back(t);
    }
    if (d.terms.empty()) return std::nullopt;
    const auto ends = [&](const Term& t) { return end_of(t) == extent; };
    const bool ended = std::any_of(ending.begin(), ending.end(), ends);
    bool bounded = ended;
    for (const Term& t : d.terms) {
      const sym::Expr count = sym::floordiv(t.room + (t.step - 1 - t.reach), t.step);
      bounded |= sym::proven(sym::le(count, loop.extent));
      d.whole = d.whole ? sym::min(d.whole, count) : count;
    }
    if (!bounded) d.whole = sym::min(loop.extent, d.whole);
    d.first = sym::proven(sym::ge(d.whole, 0)) ? d.whole : sym::max(d.whole, 0);
    d.some = ended ? editor_.number(1) : sym::lt(d.first, loop.extent);
    for (const Term& t : ending) d.some = sym::logical_and(d.some, sym::lt(editor_.number(0), rest(t, d)));
    return d;
  }

  static sym::Expr end_of(const Term& t) { return sym::ceildiv(t.room, t.step); }
  // What a term leaves to the inner loops in the tail.
  static sym::Expr rest(const Term& t, const Division& d) {
    return d.first == sym::floordiv(t.room, t.step) ? sym::mod(t.room, t.step) : t.room - d.first * t.step;
  }

  void serial(std::unique_ptr<For> stmt, Block& out, bool in_tail) {
    const auto division = divide(*stmt);
    if (!division) {
      block(stmt->body, in_tail);
      out.push_back(std::move(stmt));
      return;
    }
    Block last = tail(*stmt, *division);
    std::set<const sym::Node*> holding;
    for (const Term& t : division->terms) holding.insert(t.conjunct.node());
    drop(stmt->body, holding);
    set_extent(*stmt, division->whole);
    block(stmt->body, in_tail);
    const bool runs = !stmt->body.empty() && sym::prove(sym::gt(stmt->extent, 0)) != sym::Truth::no;
    if (runs) out.push_back(std::move(stmt));
    std::move(last.begin(), last.end(), std::back_inserter(out));
  }

  // A shorter loop has a variable of its own: the old one has facts of the longer one.
  void set_extent(For& loop, sym::Expr extent) {
    if (extent == loop.extent) return;
    loop.extent = extent;
    Copier copier(editor_);
    const sym::Expr var = editor_.symbol(loop.var, sym::index_facts(extent));
    copier.symbols[loop.var.symbol_name()] = var;
    Block body;
    copier.copy(loop.body, body);
    loop.var = var;
    loop.body = std::move(body);
  }

  Block tail(const For& loop, const Division& d) {
    Block body, out;
    const bool whole = std::all_of(d.terms.begin(), d.terms.end(), [](const Term& t) { return t.reach == 0; });
    if (whole || sym::prove(d.some) == sym::Truth::no) return out;
    Copier copier(editor_);
    copier.symbols[loop.var.symbol_name()] = d.first;
    copier.new_buffers = true;  // registers, where the whole ones index theirs by constants
    // What no registers hold, a panel for example, has its place on the stack once.
    if (editor_.kernel.target == TargetKind::cpu) copier.most_new_bytes = kMostNewBytes;
    for (const Term& t : d.terms) copier.conditions[t.conjunct.node()] = sym::lt(t.inner, rest(t, d));
    copier.copy(loop.body, body);
    std::vector<TailRows> rows;
    for (const Term& t : d.ending)
      if (const auto left = copier(t.inner); left.kind() == sym::Kind::symbol)
        rows.push_back({sym::lt(left, rest(t, d)), left, rest(t, d)});
    fill_tail_rows(editor_.kernel, body, rows);
    block(body, true);
    branch(d.some, std::move(body), out);
    return out;
  }

  Editor editor_;
  std::vector<sym::Expr> assumed_;  // conditions around
};

}  // namespace

void tails(Kernel& kernel) {
  Tails pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body, false);
}

}  // namespace plait::kir
