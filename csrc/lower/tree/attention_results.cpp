// Behind all keys: rows as the graph has them, values of keys that nobody saw, results.
#include <limits>

#include "lower/tree/attention_blocks.h"

namespace plait::lowering {

using attention_blocks::kAccess;
using attention_blocks::kHalf;
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
      const Value any = coordinate(columns_);
      const Value keys = apply(Pointwise::gt, {any, convert(coordinate(number(0)), DType::i64)});
      const Value term = power(attention_.exponential, apply(Pointwise::sub, {greatest, shift}));
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

// A weight of 0 times an infinite value is NaN, also of columns that were left out. Each thread goes along some of
// these, of a few values side by side; NaN times 0 of any of them goes to the rows of all, where there is one.
void AttentionTiles::poison(std::span<const Weighed> all_weighed) {
  const int64_t threads = kWarp * warps_;
  int64_t most = 0;
  for (const Weighed& w : all_weighed) most = std::max(most, unseen_of(*w.panel).extent());
  const uint32_t all = declare_buffer("unseen", DType::f32, most, kir::Space::shared);
  const uint32_t any = declare_buffer("unseen_of_warps", DType::f32, warps_, kir::Space::shared);
  for (const uint32_t buffer : {all, any}) allocate(buffer);
  for (const Weighed& w : all_weighed) {
    if (&w != all_weighed.data()) add(std::make_unique<kir::Sync>());
    const UnseenPlaces u = unseen_of(*w.panel);
    const uint32_t part = declare_stack("unseen_part", DType::f32, u.accesses * kAccess);
    allocate(part);
    unrolled(u.accesses * kAccess, [&](sym::Expr i) { store(part, i, constant(0)); });
    if (before_) scan_values(*w.panel, number(0), first_tile(), part, u);
    if (after_) scan_values(*w.panel, last_tile(), tiles_of_columns(), part, u);
    const Value sum = variable(Constant::from_double(DType::f32, 0));
    unrolled(u.accesses, [&](sym::Expr access) {
      unrolled(kAccess, [&](sym::Expr lane) {
        const sym::Expr place = access * threads + warp_ * kWarp + thread_;
        const Value value = load(part, access * kAccess + lane);
        store(all, sym::floordiv(place, u.pieces) * u.pitch + sym::mod(place, u.pieces) + lane * u.step, value);
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
    guarded(sym::eq(is_found, 1), [&] { spread_poison(w, all, u); });
  }
}

// From one value of a thread to the next, and from row to row: threads side by side, those that share a row of sums,
// and rows of a warp meet different banks.
AttentionTiles::UnseenPlaces AttentionTiles::unseen_of(const Panel& panel) const {
  const int64_t pieces = panel.row / kAccess, threads = kWarp * warps_, step = pieces + 1;
  return {.pieces = pieces,
          .rows = std::max<int64_t>(1, threads / pieces),
          .accesses = std::max<int64_t>(1, pieces / threads),
          .step = step,
          .pitch = (kAccess * step - 1 - pieces + kBanks - 1) / kBanks * kBanks + pieces};
}

void AttentionTiles::spread_poison(const Weighed& to, uint32_t all, const UnseenPlaces& u) {
  const int64_t columns = to.panel->most;
  unrolled(columns / kHalf, [&](sym::Expr column) {
    unrolled(2, [&](sym::Expr lane) {
      const sym::Expr x = column * kHalf + sym::mod(thread_, 4) * 2 + lane;
      const Value sum = variable(Constant::from_double(DType::f32, 0));
      loop(number(u.rows), kir::LoopKind::serial, false, [&](sym::Expr r) {
        const sym::Expr place = r * u.pitch + sym::floordiv(x, kAccess) + sym::mod(x, kAccess) * u.step;
        assign(sum, apply(Pointwise::add, {sum, load(all, place)}));
      });
      unrolled(tiles_, [&](sym::Expr tile) {
        unrolled(2, [&](sym::Expr half) {
          const sym::Expr place = index_of({tile, column, half, lane}, columns);
          store(to.sums, place, apply(Pointwise::add, {load(to.sums, place), sum}));
        });
      });
    });
  });
}

// sums += 0 times each value of the tiles of columns.
void AttentionTiles::scan_values(const Panel& panel, sym::Expr begin, sym::Expr end, uint32_t sums,
                                 const UnseenPlaces& u) {
  const TensorView& values = *inputs(*panel.op)[panel.side == Side::left ? 0 : 1];
  const sym::Expr first = begin * width_, last = sym::min(end * width_, columns_);
  loop(sym::ceildiv(last - first, u.rows), kir::LoopKind::serial, false, [&](sym::Expr step) {
    unrolled(u.accesses, [&](sym::Expr access) {
      const sym::Expr place = access * (kWarp * warps_) + warp_ * kWarp + thread_;
      const sym::Expr column = first + step * u.rows + sym::floordiv(place, u.pieces);
      const sym::Expr x = sym::mod(place, u.pieces) * kAccess;
      guarded(sym::logical_and(sym::lt(column, last), sym::lt(x, panel.elements)), [&] {
        loop(number(kAccess), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
          const Value value = evaluated(values, element_at(*panel.op, panel.side, column, x + lane));
          const sym::Expr at = access * kAccess + lane;
          store(sums, at, apply(Pointwise::fma, {value, constant(0), load(sums, at)}));
        });
      });
    });
  });
}

// What stands behind a product, of one element of each of a thread's sums.
void AttentionTiles::store_product(const TensorView& t, const Matmul& product, const Weighed& from,
                                   const std::function<void(const Element&)>& hold) {
  const int64_t columns = from.panel->most;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2, [&](sym::Expr half) {
      const sym::Expr row = row_of(tile, half);
      guarded(sym::lt(row, rows_), [&] {
        unrolled(columns / kHalf, [&](sym::Expr column) {
          guarded(sym::lt(column * kHalf, from.panel->elements), [&] {
            loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
              const Element e{tile, column, half, lane};
              held_[product.out()] = load(from.sums, index_of(e, columns));
              hold(e);
              const Coordinates place = head_and({row, column_of(e)});
              const Value value = evaluated(t, place);
              held_.clear();
              store(arguments_.at(&t), memory_offset(t, place), value);
            });
          });
        });
      });
    });
  });
}

void AttentionEmitter::store_results() {
  const std::set<const TensorView*> behind = coming_of(group_.graph->ops(), *attention_.product->out());
  const std::vector<TensorView*>& outputs = group_.graph->outputs();
  const auto hold = [&](const Element& e) {
    held_[attention_.greatest->out()] = load(greatest_, state_of(e));
    held_[attention_.total->out()] = load(total_, state_of(e));
  };
  for (const TensorView* t : outputs)
    behind.contains(t) ? store_product(*t, *attention_.product, {&panels_[1], sums_}, hold) : store_row(*t);
}

// One thread of those that share a row has it.
void AttentionEmitter::store_row(const TensorView& t) {
  const bool reshaped = t.definition->kind == OpKind::Reshape;
  const TensorView& row = reshaped ? *inputs(*t.definition)[0] : t;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2, [&](sym::Expr half) {
      const sym::Expr query = row_of(tile, half);
      guarded(sym::logical_and(sym::eq(sym::mod(thread_, 4), 0), sym::lt(query, rows_)), [&] {
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

}  // namespace plait::lowering
