// What a warp does with a tile of keys: scores, logits, the greatest of each row so far, weights, sums of values.
#include <algorithm>
#include <limits>
#include <numbers>

#include "lower/tree/attention_blocks.h"

namespace plait::lowering {

using attention_blocks::kHalf;

void AttentionEmitter::tile(sym::Expr first) {
  zero(scores_, width_);
  multiply(panels_[0], {query_, {}}, scores_, true);
  find_logits(first);
  find_rows();
  find_weights(first);
  multiply(panels_[1], {weights_, {}}, sums_, false);
}

// body(whether threads are to ask for themselves, whether conditions are what they usually are): a tile may reach
// behind the last query or key, where nothing is read.
void AttentionEmitter::where_present(sym::Expr first, bool reads, sym::Expr certain,
                                     const std::function<void(bool, bool)>& body) {
  sym::Expr usual = certain ? certain : number(1);
  if (reads) usual = sym::logical_and(usual, is_whole(first, true));
  guarded(usual, [&] { body(false, bool(certain)); });
  guarded(sym::logical_not(usual), [&] { body(reads, false); });
}

// Keys behind the last one weigh nothing.
void AttentionEmitter::find_logits(sym::Expr first) {
  const TensorView* scores = attention_.scores->out();
  const auto logit = [&](const Element& e, bool certain) {
    hold_conditions(e, first, certain);
    held_[scores] = load(scores_, index_of(e, width_));
    const Coordinates at = head_and({row_of(e.tile, e.half), first + column_of(e)});
    store(scores_, index_of(e, width_), evaluated(*attention_.logits, at));
    held_.clear();
  };
  const auto is_there = [&](const Element& e) { return sym::lt(first + column_of(e), columns_); };
  if (attention_.logits != scores)
    where_present(first, attention_.reads_logits, are_certain(first), [&](bool ask, bool certain) {
      over_elements(width_, !ask, [&](const Element& e) {
        const sym::Expr there = sym::logical_and(is_there(e), sym::lt(row_of(e.tile, e.half), rows_));
        ask ? guarded(there, [&] { logit(e, certain); }) : logit(e, certain);
      });
    });
  guarded(sym::gt(first + width_, columns_), [&] {
    over_elements(width_, false, [&](const Element& e) {
      guarded(sym::logical_not(is_there(e)),
              [&] { store(scores_, index_of(e, width_), constant(-std::numeric_limits<double>::infinity())); });
    });
  });
}

// What terms are apart from, of a row; `otherwise` where it has no logit above -inf yet.
kir::Value AttentionEmitter::shift_of(Value greatest, Value otherwise, sym::Expr query) {
  held_[attention_.greatest->out()] = greatest;
  const Value shift = evaluated(*attention_.shift, head_and({query, number(0)}));
  held_.clear();
  const Value none = apply(Pointwise::eq, {greatest, constant(-std::numeric_limits<double>::infinity())});
  return apply(Pointwise::where, {none, otherwise, shift});
}

// The greatest logit so far; what was summed is scaled to it.
void AttentionEmitter::find_rows() {
  const int64_t columns = value_columns_;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2, [&](sym::Expr half) {
      const sym::Expr row = tile * 2 + half, query = row_of(tile, half);
      const auto at = [&](sym::Expr column, sym::Expr lane, int64_t of) {
        return index_of({tile, column, half, lane}, of);
      };
      store(shift_, row, load(scores_, at(number(0), number(0), width_)));
      unrolled(width_ / kHalf, [&](sym::Expr column) {
        unrolled(2, [&](sym::Expr lane) {
          store(shift_, row, apply(Pointwise::max, {load(shift_, row), load(scores_, at(column, lane, width_))}));
        });
      });
      const Value before = load(greatest_, row);
      const Value now = apply(Pointwise::max, {before, across_row(Pointwise::max, load(shift_, row))});
      const Value shift = shift_of(now, constant(0), query);
      const Value scale = power(attention_.exponential, apply(Pointwise::sub, {shift_of(before, shift, query), shift}));
      store(greatest_, row, now);
      store(shift_, row, shift);
      store(total_, row, apply(Pointwise::mul, {load(total_, row), scale}));
      unrolled(columns / kHalf, [&](sym::Expr column) {
        loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
          const sym::Expr place = at(column, lane, columns);
          store(sums_, place, apply(Pointwise::mul, {load(sums_, place), scale}));
        });
      });
    });
  });
}

// Terms, their sum, and weights as the left operands of products with values.
void AttentionEmitter::find_weights(sym::Expr first) {
  const auto at = [&](const Element& e) { return head_and({row_of(e.tile, e.half), first + column_of(e)}); };
  over_elements(width_, true, [&](const Element& e) {
    const Value logit = load(scores_, index_of(e, width_));
    store(scores_, index_of(e, width_),
          power(attention_.exponential, apply(Pointwise::sub, {logit, load(shift_, state_of(e))})));
  });
  over_elements(width_, false, [&](const Element& e) {
    store(total_, state_of(e), apply(Pointwise::add, {load(total_, state_of(e)), load(scores_, index_of(e, width_))}));
  });
  const auto weight = [&](const Element& e, bool ask) {
    held_[attention_.terms] = load(scores_, index_of(e, width_));
    const Value value = evaluated(*attention_.weights, at(e));
    held_.clear();
    store(ask ? scores_ : weights_, index_of(e, width_), value);
  };
  where_present(first, attention_.reads_weights, {}, [&](bool ask, bool) {
    if (ask)
      over_elements(width_, false, [&](const Element& e) {
        const sym::Expr key = first + column_of(e), query = row_of(e.tile, e.half);
        guarded(sym::logical_and(sym::lt(key, columns_), sym::lt(query, rows_)), [&] { weight(e, true); });
      });
    over_elements(width_, true, [&](const Element& e) {
      ask ? store(weights_, index_of(e, width_), load(scores_, index_of(e, width_))) : weight(e, false);
    });
  });
}

}  // namespace plait::lowering
