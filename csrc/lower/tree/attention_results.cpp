// Behind all keys: rows as the graph has them, values of keys that nobody saw, results.
#include <limits>

#include "axes/operand_read.h"
#include "lower/tree/attention_blocks.h"

namespace plait::lowering {

using attention_blocks::kAccess;
using attention_blocks::kHalf;
using attention_blocks::kMatrix;
using attention_blocks::kWarp;

namespace {

constexpr int64_t kBanks = 32;  // of 4 bytes

}  // namespace

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
// of a few values side by side; NaN times 0 of any of them goes to the rows of all, where there is one.
void AttentionEmitter::poison() {
  const int64_t row = value_panel_.row, pieces = row / kAccess, threads = kWarp * warps_;
  const int64_t rows = std::max<int64_t>(1, threads / pieces), accesses = std::max<int64_t>(1, pieces / threads);
  // From one value of a thread to the next, and from row to row: threads side by side, those that share a row of sums,
  // and rows of a warp meet different banks.
  const int64_t step = pieces + 1, pitch = (kAccess * step - 1 - pieces + kBanks - 1) / kBanks * kBanks + pieces;
  const uint32_t part = declare_buffer("unseen_part", DType::f32, accesses * kAccess, kir::Space::stack);
  const uint32_t all = declare_buffer("unseen", DType::f32, rows * pitch, kir::Space::shared);
  const uint32_t any = declare_buffer("unseen_of_warps", DType::f32, warps_, kir::Space::shared);
  for (const uint32_t buffer : {part, all, any}) allocate(buffer);
  unrolled(accesses * kAccess, [&](sym::Expr i) { store(part, i, constant(0)); });
  if (attention_.behind) scan_values(number(0), first_tile(), part, accesses);
  if (attention_.ahead) scan_values(last_tile(), tiles_of_keys(), part, accesses);
  const Value sum = variable(Constant::from_double(DType::f32, 0));
  unrolled(accesses, [&](sym::Expr access) {
    unrolled(kAccess, [&](sym::Expr lane) {
      const sym::Expr place = access * threads + warp_ * kWarp + thread_;
      const Value value = load(part, access * kAccess + lane);
      store(all, sym::floordiv(place, pieces) * pitch + sym::mod(place, pieces) + lane * step, value);
      assign(sum, apply(Pointwise::add, {sum, value}));
    });
  });
  Value of_warp = sum;
  for (int64_t by = 1; by < kWarp; by *= 2) of_warp = apply(Pointwise::add, {of_warp, shuffled(of_warp, by)});
  guarded(sym::eq(thread_, 0), [&] { store(any, warp_, of_warp); });
  add(std::make_unique<kir::Sync>());
  Value found = load(any, number(0));
  for (int64_t warp = 1; warp < warps_; ++warp) found = apply(Pointwise::add, {found, load(any, number(warp))});
  const sym::Expr is_found = bind(convert(apply(Pointwise::ne, {found, found}), DType::i64));
  guarded(sym::eq(is_found, 1), [&] { spread_poison(all, rows, pitch, step); });
}

void AttentionEmitter::spread_poison(uint32_t all, int64_t rows, int64_t pitch, int64_t step) {
  const int64_t columns = value_columns_;
  unrolled(columns / kHalf, [&](sym::Expr column) {
    unrolled(2, [&](sym::Expr lane) {
      const sym::Expr x = column * kHalf + sym::mod(thread_, 4) * 2 + lane;
      const Value sum = variable(Constant::from_double(DType::f32, 0));
      loop(number(rows), kir::LoopKind::serial, false, [&](sym::Expr r) {
        const sym::Expr place = r * pitch + sym::floordiv(x, kAccess) + sym::mod(x, kAccess) * step;
        assign(sum, apply(Pointwise::add, {sum, load(all, place)}));
      });
      unrolled(tiles_, [&](sym::Expr tile) {
        unrolled(2, [&](sym::Expr half) {
          const sym::Expr place = index_of({tile, column, half, lane}, columns);
          store(sums_, place, apply(Pointwise::add, {load(sums_, place), sum}));
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
