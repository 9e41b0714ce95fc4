// Behind all keys: rows as the graph has them, values of keys that nobody saw, results.
#include <limits>

#include "axes/operand_read.h"
#include "lower/tree/attention_blocks.h"

namespace plait::lowering {

using attention_blocks::kAccess;
using attention_blocks::kHalf;
using attention_blocks::kMatrix;
using attention_blocks::kWarp;

// Sums of all threads of a row; of one whose greatest logit is -inf, all terms are what the graph makes of that.
void AttentionEmitter::finish_rows() {
  const int64_t columns = value_columns_;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2, [&](sym::Expr half) {
      const sym::Expr row = tile * 2 + half, query = row_of(tile, half);
      const Value greatest = load(greatest_, row);
      held_[attention_.greatest->out()] = greatest;
      const Value shift = evaluated(*attention_.shift, head_and({query, number(0)}));
      held_.clear();
      const Value none = apply(Pointwise::eq, {greatest, constant(-std::numeric_limits<double>::infinity())});
      const Value any = coordinate(all_keys_);
      const Value keys = apply(Pointwise::gt, {any, convert(coordinate(number(0)), DType::i64)});
      const Value term = power(apply(Pointwise::sub, {greatest, shift}));
      const Value more = apply(Pointwise::where, {apply(Pointwise::logical_and, {none, keys}), term, constant(0)});
      store(total_, row, apply(Pointwise::add, {across_row(Pointwise::add, load(total_, row)), more}));
      unrolled(columns / kHalf, [&](sym::Expr column) {
        loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
          const sym::Expr place = index_of({tile, column, half, lane}, columns);
          store(sums_, place, apply(Pointwise::add, {load(sums_, place), more}));
        });
      });
    });
  });
}

// A weight of 0 times an infinite value is NaN, also of keys that were left out. Each thread goes along some of these,
// of a few values side by side; NaN times 0 of any of them goes to the rows of all.
void AttentionEmitter::poison() {
  const int64_t row = value_panel_.row, pieces = row / kAccess, threads = kWarp * warps_;
  const int64_t rows = std::max<int64_t>(1, threads / pieces), accesses = std::max<int64_t>(1, pieces / threads);
  const int64_t pitch = row + pieces;
  poison_part_ = declare_buffer("unseen_part", DType::f32, accesses * kAccess, kir::Space::stack);
  poison_ = declare_buffer("unseen", DType::f32, rows * pitch, kir::Space::shared);
  allocate(poison_part_);
  allocate(poison_);
  unrolled(accesses * kAccess, [&](sym::Expr i) { store(poison_part_, i, constant(0)); });
  if (attention_.behind) scan_values(number(0), first_tile(), poison_part_, accesses);
  if (attention_.ahead) scan_values(last_tile(), tiles_of_keys(), poison_part_, accesses);
  const sym::Expr thread = warp_ * kWarp + thread_;
  unrolled(accesses, [&](sym::Expr access) {
    unrolled(kAccess, [&](sym::Expr lane) {
      const sym::Expr place = access * threads + thread;
      store(poison_, sym::floordiv(place, pieces) * pitch + sym::mod(place, pieces) + lane * pieces,
            load(poison_part_, access * kAccess + lane));
    });
  });
  add(std::make_unique<kir::Sync>());
  const int64_t columns = value_columns_;
  unrolled(columns / kHalf, [&](sym::Expr column) {
    unrolled(2, [&](sym::Expr lane) {
      const sym::Expr x = column * kHalf + sym::mod(thread_, 4) * 2 + lane;
      const Value all = variable(Constant::from_double(DType::f32, 0));
      loop(number(rows), kir::LoopKind::serial, false, [&](sym::Expr r) {
        const sym::Expr place = r * pitch + sym::floordiv(x, kAccess) + sym::mod(x, kAccess) * pieces;
        assign(all, apply(Pointwise::add, {all, load(poison_, place)}));
      });
      unrolled(tiles_, [&](sym::Expr tile) {
        unrolled(2, [&](sym::Expr half) {
          const sym::Expr place = index_of({tile, column, half, lane}, columns);
          store(sums_, place, apply(Pointwise::add, {load(sums_, place), all}));
        });
      });
    });
  });
}

// sums += 0 times each value of the tiles of keys.
void AttentionEmitter::scan_values(sym::Expr begin, sym::Expr end, uint32_t sums, int64_t accesses) {
  const int64_t row = value_panel_.row, pieces = row / kAccess, threads = kWarp * warps_;
  const int64_t rows = std::max<int64_t>(1, threads / pieces);
  const TensorView& values = *attention_.product->b;
  const auto extent = [&](sym::Expr e) { return extents_(e); };
  const sym::Expr first = begin * keys_, last = sym::min(end * keys_, all_keys_);
  loop(sym::ceildiv(last - first, rows), kir::LoopKind::serial, false, [&](sym::Expr step) {
    unrolled(accesses, [&](sym::Expr access) {
      const sym::Expr place = access * threads + warp_ * kWarp + thread_;
      const sym::Expr key = first + step * rows + sym::floordiv(place, pieces);
      const sym::Expr column = sym::mod(place, pieces) * kAccess;
      guarded(sym::logical_and(sym::lt(key, last), sym::lt(column, value_panel_.elements)), [&] {
        loop(number(kAccess), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
          const Coordinates own = head_and({number(0), column + lane}), term = {key};
          const Value value =
              evaluated(values, operand_read(axes_, *attention_.product->out()->definition, 1, {own, term}, extent).at);
          const sym::Expr at = access * kAccess + lane;
          store(sums, at, apply(Pointwise::fma, {value, constant(0), load(sums, at)}));
        });
      });
    });
  });
}

void AttentionEmitter::store_results() {
  const std::set<const TensorView*> behind = coming_of(group_.graph->ops(), *attention_.product->out());
  const std::vector<TensorView*>& outputs = group_.graph->outputs();
  for (const TensorView* t : outputs) behind.contains(t) ? store_product(*t) : store_row(*t);
}

// One thread of those that share a row has it.
void AttentionEmitter::store_row(const TensorView& t) {
  const bool reshaped = t.definition->kind == OpKind::Reshape;
  const TensorView& row = reshaped ? *inputs(*t.definition)[0] : t;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2, [&](sym::Expr half) {
      const sym::Expr query = row_of(tile, half);
      guarded(sym::logical_and(sym::eq(sym::mod(thread_, 4), 0), sym::lt(query, queries_)), [&] {
        held_[attention_.greatest->out()] = load(greatest_, tile * 2 + half);
        held_[attention_.total->out()] = load(total_, tile * 2 + half);
        const Coordinates at = head_and({query, number(0)});
        const Value value = evaluated(row, at);
        held_.clear();
        store(arguments_.at(&t), memory_offset(t, reshaped ? reshaped_at(t, row, at) : at), value);
      });
    });
  });
}

// The coordinates of a reshape's element that is the operand's at these.
TreeEmitter::Coordinates AttentionEmitter::reshaped_at(const TensorView& t, const TensorView& from,
                                                       const Coordinates& at) {
  sym::Expr place = number(0);
  for (size_t d = 0; d < at.size(); ++d) place = place * extents_(from.extent(d)) + at[d];
  Coordinates out(t.rank());
  for (size_t d = t.rank(); d-- > 0;) {
    const sym::Expr extent = extents_(t.extent(d));
    out[d] = d > 0 ? sym::mod(place, extent) : place;
    if (d > 0) place = sym::floordiv(place, extent);
  }
  return out;
}

void AttentionEmitter::store_product(const TensorView& t) {
  const int64_t columns = value_columns_;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2, [&](sym::Expr half) {
      const sym::Expr query = row_of(tile, half);
      guarded(sym::lt(query, queries_), [&] {
        unrolled(columns / kHalf, [&](sym::Expr column) {
          guarded(sym::lt(column * kHalf, value_panel_.elements), [&] {
            loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
              const Element e{tile, column, half, lane};
              held_[attention_.product->out()] = load(sums_, index_of(e, columns));
              held_[attention_.greatest->out()] = load(greatest_, state_of(e));
              held_[attention_.total->out()] = load(total_, state_of(e));
              const Coordinates at = head_and({query, column_of(e)});
              const Value value = evaluated(t, at);
              held_.clear();
              store(arguments_.at(&t), memory_offset(t, at), value);
            });
          });
        });
      });
    });
  });
}

}  // namespace plait::lowering
