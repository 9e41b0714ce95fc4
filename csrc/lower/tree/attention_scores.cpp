// What a warp does with a tile of keys: scores, logits, the greatest of each row so far, weights, sums of values.
#include <algorithm>
#include <limits>
#include <numbers>

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

// body(whether threads are to ask for themselves, whether conditions are what they usually are): a tile may reach
// behind the last query or key, where nothing is read.
void AttentionEmitter::where_present(sym::Expr first, bool reads, sym::Expr certain,
                                     const std::function<void(bool, bool)>& body) {
  sym::Expr usual = certain ? certain : number(1);
  if (reads) {
    const sym::Expr last = first_query_ + warps_ * tiles_ * kMatrix;
    usual = sym::logical_and(usual, sym::logical_and(sym::le(first + keys_, all_keys_), sym::le(last, queries_)));
  }
  guarded(usual, [&] { body(false, bool(certain)); });
  guarded(sym::logical_not(usual), [&] { body(reads, false); });
}

namespace {

// Whether each of the op's operands is read at an element's own last coordinates.
bool reads_in_place(const Op& op) {
  if (op.kind == OpKind::PointwiseOp) return true;
  const auto* spread = as<Broadcast>(op);
  if (spread == nullptr) return false;
  const auto ahead = static_cast<int64_t>(op.results[0]->rank() - spread->dims.size());
  for (size_t d = 0; d < spread->dims.size(); ++d)
    if (spread->dims[d] != ahead + static_cast<int64_t>(d)) return false;
  return true;
}

// What logits are made of, where the last dims are queries and keys of the same element for all readers.
std::set<const TensorView*> in_place_of(const TensorView& logits, const TensorView& scores) {
  std::set<const TensorView*> in_place, moved;
  std::vector<std::pair<const TensorView*, bool>> left = {{&logits, true}};
  while (!left.empty()) {
    const auto [t, same] = left.back();
    left.pop_back();
    if (t == &scores || t->definition == nullptr || !(same ? in_place : moved).insert(t).second) continue;
    const bool holds = same && reads_in_place(*t->definition);
    for (const TensorView* in : inputs(*t->definition)) left.emplace_back(in, holds);
  }
  for (const TensorView* t : moved) in_place.erase(t);
  return in_place;
}

}  // namespace

void AttentionEmitter::find_conditions() {
  const Fusion& graph = *group_.graph;
  const std::set<const TensorView*> in_place = in_place_of(*attention_.logits, *attention_.scores->out());
  const auto is_least = [](const TensorView* t) {
    const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
    return full != nullptr && full->value.to_double() == -std::numeric_limits<double>::infinity();
  };
  for (const Op* op : graph.ops()) {
    const TensorView& t = *op->results[0];
    if (t.dtype != DType::boolean || !in_place.contains(&t)) continue;
    std::vector<KeyDistance> distances = distances_of(t, attention_.scores->out()->shape());
    if (distances.empty()) continue;
    const auto hides = [&](const Op* reader) {
      const auto* p = as<PointwiseOp>(*reader);
      return p != nullptr && (p->function == Pointwise::logical_not || p->function == Pointwise::logical_or ||
                              (p->function == Pointwise::where && p->in[0] == &t && is_least(p->in[1])));
    };
    const bool usual = std::ranges::none_of(graph.readers(&t), hides);
    if (usual || distances.size() == 1) conditions_.push_back({&t, usual, std::move(distances)});
  }
}

// Whether all conditions are what they usually are, for all queries of the block and keys of a tile; null: there are
// none.
sym::Expr AttentionEmitter::are_certain(sym::Expr first) {
  sym::Expr out;
  for (const Condition& c : conditions_)
    for (const KeyDistance& d : c.distances) {
      const auto end = [&](int factor, sym::Expr begin, int64_t count) {
        return (begin + ((factor > 0) == c.usual ? 0 : count - 1)) * factor;
      };
      const sym::Expr limit = extents_.value(d.offset) + end(d.keys, first, keys_) +
                              end(d.queries, first_query_, warps_ * tiles_ * kMatrix);
      const sym::Expr holds = c.usual ? sym::ge(limit, 0) : sym::lt(limit, 0);
      out = out ? sym::logical_and(out, holds) : holds;
    }
  return out;
}

// A comparison of positions, in numbers of 32 bits: how far it is from its limit at the first column of a thread, once
// for each row, and what an element adds to that.
kir::Value AttentionEmitter::compared(const Condition& condition, const Element& e, sym::Expr first) {
  constexpr int64_t kFar = int64_t{1} << 30;
  const auto whole = [&](int64_t n) { return literal(Constant::from_int64(DType::i64, n)); };
  std::optional<Value> out;
  for (const KeyDistance& d : condition.distances) {
    const sym::Expr key = first + sym::mod(thread_, 4) * 2;
    const Value far = coordinate(extents_.value(d.offset) + key * d.keys + row_of(e.tile, e.half) * d.queries);
    const Value near = apply(Pointwise::max, {apply(Pointwise::min, {far, whole(kFar)}), whole(-kFar)});
    const Value more = convert(coordinate((e.column * kHalf + e.lane) * d.keys), DType::i32);
    const Value all = apply(Pointwise::add, {convert(near, DType::i32), more});
    const Value holds = apply(Pointwise::ge, {all, literal(Constant::from_int64(DType::i32, 0))});
    out = out ? apply(Pointwise::logical_and, {*out, holds}) : holds;
  }
  return *out;
}

// Keys behind the last one weigh nothing.
void AttentionEmitter::find_logits(sym::Expr first) {
  const TensorView* scores = attention_.scores->out();
  const auto logit = [&](const Element& e, bool certain) {
    for (const Condition& c : conditions_)
      held_[c.tensor] = certain ? literal(Constant::from_int64(DType::boolean, c.usual)) : compared(c, e, first);
    held_[scores] = load(scores_, index_of(e, keys_));
    const Coordinates at = head_and({row_of(e.tile, e.half), first + column_of(e)});
    store(scores_, index_of(e, keys_), evaluated(*attention_.logits, at));
    held_.clear();
  };
  const auto is_there = [&](const Element& e) { return sym::lt(first + column_of(e), all_keys_); };
  if (attention_.logits != scores)
    where_present(first, attention_.reads_logits, are_certain(first), [&](bool ask, bool certain) {
      over_elements(keys_, !ask, [&](const Element& e) {
        const sym::Expr there = sym::logical_and(is_there(e), sym::lt(row_of(e.tile, e.half), queries_));
        ask ? guarded(there, [&] { logit(e, certain); }) : logit(e, certain);
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

// Exponentials are those of 2, which machines have: the error of the factor is that of the distance.
kir::Value AttentionEmitter::power(Value apart) {
  if (attention_.exponential == Pointwise::exp) apart = apply(Pointwise::mul, {apart, constant(std::numbers::log2e)});
  return apply(Pointwise::exp2, {apart});
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
    const Value logit = load(scores_, index_of(e, keys_));
    store(scores_, index_of(e, keys_), power(apply(Pointwise::sub, {logit, load(shift_, state_of(e))})));
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
  where_present(first, attention_.reads_weights, {}, [&](bool ask, bool) {
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
