// What a warp does with a tile of keys: scores, logits, the greatest of each row so far, weights, sums of values.
#include <limits>

#include "lower/tree/attention_blocks.h"

namespace plait::lowering {

using attention_blocks::kHalf;
using attention_blocks::kMatrix;

void AttentionEmitter::tile(sym::Expr first) {
  zero(scores_, keys_);
  multiply(key_panel_, true);
  find_logits(first);
  find_rows();
  find_weights(first);
  multiply(value_panel_, false);
}

void AttentionEmitter::zero(uint32_t buffer, int64_t columns) {
  over_elements(columns, true, [&](const Element& e) { store(buffer, index_of(e, columns), constant(0)); });
}

// Scores, of queries by keys: the terms are features; or sums of values, of weights by values: the terms are keys.
void AttentionEmitter::multiply(const Panel& panel, bool scores) {
  const int64_t steps = (scores ? panel.most : keys_) / kMatrix;
  const int64_t pairs = (scores ? keys_ : panel.most) / kMatrix;
  const sym::Expr eight = sym::mod(thread_, kHalf), second = sym::mod(sym::floordiv(thread_, kHalf), 2);
  const sym::Expr upper = sym::floordiv(thread_, 2 * kHalf);
  unrolled(steps, [&](sym::Expr step) {
    unrolled(pairs, [&](sym::Expr pair) {
      auto load = std::make_unique<kir::LoadMatrix>();
      load->to = matrices_;
      load->to_index = number(0);
      load->from = panel.buffer;
      load->count = 4;
      load->transposed = !scores;
      load->index = scores ? (pair * kMatrix + upper * kHalf + eight) * panel.row + step * kMatrix + second * kHalf
                           : (step * kMatrix + second * kHalf + eight) * panel.row + pair * kMatrix + upper * kHalf;
      add(std::move(load));
      unrolled(tiles_, [&](sym::Expr tile) {
        unrolled(2, [&](sym::Expr column) {
          auto mma = std::make_unique<kir::Mma>();
          mma->sums = scores ? scores_ : sums_;
          mma->sums_index = ((tile * pairs + pair) * 2 + column) * 4;
          mma->a = scores ? query_ : weights_;
          mma->a_index = (tile * steps + step) * 8;
          mma->b = matrices_;
          mma->b_index = column * 4;
          add(std::move(mma));
        });
      });
    });
  });
}

// body(whether threads are to ask for themselves): a tile may reach behind the last query or key, where nothing is
// read.
void AttentionEmitter::where_present(sym::Expr first, bool reads, const std::function<void(bool)>& body) {
  if (!reads) return body(false);
  const sym::Expr last = first_query_ + warps_ * tiles_ * kMatrix;
  const sym::Expr whole = sym::logical_and(sym::le(first + keys_, all_keys_), sym::le(last, queries_));
  guarded(whole, [&] { body(false); });
  guarded(sym::logical_not(whole), [&] { body(true); });
}

// Keys behind the last one weigh nothing.
void AttentionEmitter::find_logits(sym::Expr first) {
  const TensorView* scores = attention_.scores->out();
  const auto logit = [&](const Element& e) {
    held_[scores] = load(scores_, index_of(e, keys_));
    const Coordinates at = head_and({row_of(e.tile, e.half), first + column_of(e)});
    store(scores_, index_of(e, keys_), evaluated(*attention_.logits, at));
    held_.clear();
  };
  const auto is_there = [&](const Element& e) { return sym::lt(first + column_of(e), all_keys_); };
  if (attention_.logits != scores)
    where_present(first, attention_.reads_logits, [&](bool ask) {
      over_elements(keys_, !ask, [&](const Element& e) {
        const sym::Expr there = sym::logical_and(is_there(e), sym::lt(row_of(e.tile, e.half), queries_));
        ask ? guarded(there, [&] { logit(e); }) : logit(e);
      });
    });
  guarded(sym::gt(first + keys_, all_keys_), [&] {
    over_elements(keys_, false, [&](const Element& e) {
      guarded(sym::logical_not(is_there(e)),
              [&] { store(scores_, index_of(e, keys_), constant(-std::numeric_limits<double>::infinity())); });
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
      store(shift_, row, load(scores_, at(number(0), number(0), keys_)));
      unrolled(keys_ / kHalf, [&](sym::Expr column) {
        unrolled(2, [&](sym::Expr lane) {
          store(shift_, row, apply(Pointwise::max, {load(shift_, row), load(scores_, at(column, lane, keys_))}));
        });
      });
      const Value before = load(greatest_, row);
      const Value now = apply(Pointwise::max, {before, across_row(Pointwise::max, load(shift_, row))});
      const Value shift = shift_of(now, constant(0), query);
      const Value scale = power(apply(Pointwise::sub, {shift_of(before, shift, query), shift}));
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
  over_elements(keys_, true, [&](const Element& e) {
    held_[attention_.logits] = load(scores_, index_of(e, keys_));
    held_[attention_.shift] = load(shift_, state_of(e));
    const Value term = evaluated(*attention_.terms, at(e));
    held_.clear();
    store(scores_, index_of(e, keys_), term);
  });
  over_elements(keys_, false, [&](const Element& e) {
    store(total_, state_of(e), apply(Pointwise::add, {load(total_, state_of(e)), load(scores_, index_of(e, keys_))}));
  });
  const auto weight = [&](const Element& e, bool ask) {
    held_[attention_.terms] = load(scores_, index_of(e, keys_));
    const Value value = evaluated(*attention_.weights, at(e));
    held_.clear();
    store(ask ? scores_ : weights_, index_of(e, keys_), value);
  };
  where_present(first, attention_.reads_weights, [&](bool ask) {
    if (ask)
      over_elements(keys_, false, [&](const Element& e) {
        const sym::Expr key = first + column_of(e), query = row_of(e.tile, e.half);
        guarded(sym::logical_and(sym::lt(key, all_keys_), sym::lt(query, queries_)), [&] { weight(e, true); });
      });
    over_elements(keys_, true, [&](const Element& e) {
      ask ? store(weights_, index_of(e, keys_), load(scores_, index_of(e, keys_))) : weight(e, false);
    });
  });
}

}  // namespace plait::lowering
