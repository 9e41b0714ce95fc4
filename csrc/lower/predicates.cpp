// Predicates: one term per class that a lossy step reaches on the way to the axes of the nest. A class reached by other
// steps from classes in range is in range, so there is no term for the axes themselves. A loop that drives no axis runs
// once.
#include <set>

#include "base/error.h"
#include "lower/state.h"

namespace plait::lowering {

namespace {

bool depends(sym::Expr e, sym::Expr var) { return var && sym::symbols(e).contains(var.symbol_name()); }

// With lanes that start at a multiple of the vector's width, a bound that is a multiple too cuts no vector.
Term uniform_over_lanes(const State& state, Term term) {
  if (!depends(term.value, state.lane)) return term;
  const sym::Expr base = sym::substitute(term.value, {{state.lane.symbol_name(), state.pool->constant(0)}});
  const bool whole = term.value == base + state.lane && sym::divisor(base) % state.width() == 0 &&
                     sym::divisor(term.bound) % state.width() == 0;
  return whole ? Term{base, term.bound} : term;
}

}  // namespace

void derive_predicates(State& state) {
  std::set<int> classes;
  for (const Op* op : state.group.ops) {
    const TensorAxes& axes = state.group.axes.at(op->results[0]);
    for (const auto* list : {&axes.logical, &axes.reduction})
      for (int a : *list)
        if (state.walk->knows(a)) classes.merge(state.walk->lossy(a));
  }
  for (int cls : classes) {
    const Term term{state.walk->value(cls), state.group.graph.extent(cls)};
    if (sym::proven(sym::lt(term.value, term.bound))) continue;
    state.terms.push_back(uniform_over_lanes(state, term));
  }
  for (const Loop& l : state.loops)
    if (l.idle) state.terms.push_back({l.var, state.pool->constant(1)});
}

}  // namespace plait::lowering
