// Loops of the nest with their tails and guards. A term becomes the bound of a serial loop where it is affine in the
// loop's variable; where it cuts a vector, whole vectors run first and one tail with active lanes follows.
#include <algorithm>

#include "base/error.h"
#include "lower/statements.h"

namespace plait::lowering {

namespace {

class BodyWriter {
 public:
  explicit BodyWriter(State& state) : state_(state), out_(state) {
    for (const Loop& l : state.loops) {
      if (l.is_summed())
        sums_.push_back(&l);
      else if (l.role != LoopRole::lane)
        kept_.push_back(&l);
    }
  }

  void run() {
    Leaf leaf;
    if (state_.scan && reverse_scan()) leaf.copies = {{{state_.scan.symbol_name(), last_of_scan() - state_.scan}}};
    std::vector<Term> terms;
    for (const Term& t : state_.terms) (speaks_of(t, sums_) ? leaf.sum_terms : terms).push_back(t);
    const Form form = kind_of(*state_.group.ops.front()).form;
    if (form == Form::scatter) return scatter(leaf, terms);
    if (form == Form::sort) drop_sorted(terms);
    for (const Term& t : leaf.sum_terms)
      if (state_.lanes > 1 && on_lane(t))
        refuse("a predicate of the sum cuts its vectors", "vectorize an axis that divides");
    write(0, leaf, terms);
  }

 private:
  using Terms = std::vector<Term>;

  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const {
    throw UserError(fmt::format("loops of %{}: {}", state_.nest.reference->name, what), state_.where(), remedy);
  }
  static bool speaks_of(const Term& t, const std::vector<const Loop*>& loops) {
    return std::any_of(loops.begin(), loops.end(), [&](const Loop* l) { return depends_on(t.value, l->var); });
  }
  bool on_lane(const Term& t) const { return depends_on(t.value, state_.lane); }
  // Whether a term speaks of a loop after the i-th, which has no value yet.
  bool later(const Term& t, size_t i) const {
    for (size_t j = i + 1; j < kept_.size(); ++j)
      if (depends_on(t.value, kept_[j]->var)) return true;
    return false;
  }

  // The loops of a sort are those of its other dims.
  void drop_sorted(Terms& terms) {
    const auto& op = *as<Sort>(*state_.group.ops.front());
    const auto& axes = state_.group.axes.at(op.results[0]).logical;
    const int cls = state_.group.graph.find(axes[static_cast<size_t>(op.dim)]);
    for (const Loop* l : std::vector<const Loop*>(kept_)) {
      if (l->cls != cls || l->role != LoopRole::serial) continue;
      std::erase(kept_, l);
      std::erase_if(terms, [&](const Term& t) { return depends_on(t.value, l->var); });
    }
    sorts_ = true;
  }

  // Inside of the bound loops: the operand is copied, then the updates follow in the order of the index. Where the
  // loops go over ranges of the dim, each walks the whole index and takes what falls into its own.
  void scatter(const Leaf& leaf, const Terms& terms) {
    const auto& op = *as<Scatter>(*state_.group.ops.front());
    const auto bound = [](const Loop* l) { return l->role == LoopRole::bound; };
    const auto inner = std::find_if_not(kept_.begin(), kept_.end(), bound) - kept_.begin();
    const std::vector<const Loop*> copied = kept_;
    Loop along;
    along.extent = state_.extent(op.index->extent(static_cast<size_t>(op.dim)));
    along.var = state_.pool->symbol("s0", sym::index_facts(along.extent));
    inner_ = static_cast<size_t>(inner);
    at_inner_ = [&](const Terms& rest) {
      inner_.reset();
      write(static_cast<size_t>(inner), leaf, rest);
      place_ = along.var;
      std::erase_if(kept_, [&](const Loop* l) { return l->var == state_.scatter; });
      kept_.insert(kept_.begin() + inner, &along);
      Terms others;
      for (const Term& t : rest)
        if (!depends_on(t.value, state_.scatter)) others.push_back(t);
      write(static_cast<size_t>(inner), leaf, others);
      kept_ = copied;
      place_ = {};
    };
    write(0, leaf, terms);
  }

  void write(size_t i, const Leaf& leaf, const Terms& terms) {
    if (inner_ == i) return at_inner_(terms);
    if (i == kept_.size()) return innermost(leaf, terms);
    if (kept_[i]->role == LoopRole::unroll) return unrolled(i, leaf, terms);
    if (i + 1 == kept_.size() && whole_vectors_first(i, leaf, terms)) return;
    looped(i, leaf, terms);
  }

  bool reverse_scan() const { return scan_of(*state_.group.ops.front())->reverse; }
  sym::Expr last_of_scan() const {
    const auto along = [&](const Loop* l) { return l->var == state_.scan; };
    return (*std::find_if(kept_.begin(), kept_.end(), along))->extent - 1;
  }

  void looped(size_t i, const Leaf& leaf, const Terms& terms) {
    if (kept_[i]->var == state_.scan) out_.start_scan();
    Terms here, rest;
    // Guards do not stand between bound loops.
    const bool more_bound =
        kept_[i]->role == LoopRole::bound && i + 1 < kept_.size() && kept_[i + 1]->role == LoopRole::bound;
    for (const Term& t : terms) (more_bound || on_lane(t) || later(t, i) ? rest : here).push_back(t);
    out_.bounded_loop(*kept_[i], here, {}, [&] { write(i + 1, leaf, rest); });
  }

  // Where all copies are whole they stand side by side; else they run one after another.
  void unrolled(size_t i, const Leaf& leaf, const Terms& terms) {
    const Loop& l = *kept_[i];
    const int64_t count = l.extent.value();
    Terms rest;
    sym::Expr whole = state_.pool->constant(1);
    for (const Term& t : terms) {
      if (!depends_on(t.value, l.var)) {
        rest.push_back(t);
        continue;
      }
      Replacements last = {{l.name(), state_.pool->constant(count - 1)}};
      if (on_lane(t)) last[state_.lane.symbol_name()] = state_.pool->constant(state_.lanes - 1);
      if (later(t, i) || !affine_in(t.value, l.var) || (on_lane(t) && !affine_in(t.value, state_.lane)))
        refuse("a predicate is not affine in its unrolled loop", "unroll an axis split off last, or leave it serial");
      whole = sym::logical_and(whole, sym::lt(sym::substitute(t.value, last), t.bound));
    }
    out_.guard(whole, [&] {
      Leaf many = leaf;
      many.copies.clear();
      for (const Replacements& copy : leaf.copies)
        for (int64_t u = 0; u < count; ++u) {
          many.copies.push_back(copy);
          many.copies.back()[l.name()] = state_.pool->constant(u);
        }
      write(i + 1, many, rest);
    });
    out_.guard(sym::logical_not(whole), [&] { looped(i, leaf, terms); });
  }

  // The innermost loop with the one term that cuts its vectors: for q in 0 .. n / W, then the tail.
  bool whole_vectors_first(size_t i, const Leaf& leaf, const Terms& terms) {
    if (state_.lanes == 1 || kept_[i]->role != LoopRole::serial || terms.size() != 1) return false;
    return out_.whole_vectors_first(*kept_[i], terms[0], leaf, [&](const Leaf& part) { out_.write(part); });
  }

  void innermost(const Leaf& leaf, const Terms& terms) {
    out_.in_range(terms, leaf, [&](const Leaf& part) {
      if (sorts_) return out_.sort(part);
      place_ ? out_.update(part, place_) : out_.write(part);
    });
  }

  State& state_;
  Statements out_;
  std::vector<const Loop*> kept_, sums_;
  std::optional<size_t> inner_;  // of a scatter: its first loop that is not bound, where at_inner_ goes on
  std::function<void(const Terms&)> at_inner_;
  sym::Expr place_;     // of a scatter's updates along its dim
  bool sorts_ = false;  // rows of a sort, in loops of their own
};

}  // namespace

void write_body(State& state) { BodyWriter(state).run(); }

}  // namespace plait::lowering
