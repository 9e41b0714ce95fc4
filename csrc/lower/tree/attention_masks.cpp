// Products of a tile of columns, and conditions by position, which few tiles ask.
#include <algorithm>
#include <limits>

#include "lower/tree/attention_tiles.h"
#include "schedule/attention_operands.h"

namespace plait::lowering {

using attention_blocks::kHalf;
using attention_blocks::kMatrix;

void AttentionTiles::zero(uint32_t buffer, int64_t columns) {
  over_elements(columns, true, [&](const Element& e) { store(buffer, index_of(e, columns), constant(0)); });
}

// Scores, of rows by columns: the terms are features; or sums of values, of weights by values: the terms are columns.
void AttentionTiles::multiply(const Panel& panel, const Left& left, uint32_t sums, bool scores) {
  const int64_t steps = (scores ? panel.most : width_) / kMatrix;
  const int64_t pairs = (scores ? width_ : panel.most) / kMatrix;
  const sym::Expr eight = sym::mod(thread_, kHalf), second = sym::mod(sym::floordiv(thread_, kHalf), 2);
  const sym::Expr upper = sym::floordiv(thread_, 2 * kHalf);
  unrolled(steps, [&](sym::Expr step) {
    if (left.rows) load_left(left, step);
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
          mma->sums = sums;
          mma->sums_index = ((tile * pairs + pair) * 2 + column) * 4;
          mma->a = left.fragments;
          mma->a_index = (left.rows ? tile : tile * steps + step) * 8;
          mma->b = matrices_;
          mma->b_index = column * 4;
          add(std::move(mma));
        });
      });
    });
  });
}

// 16 terms of a warp's rows in shared memory.
void AttentionTiles::load_left(const Left& left, sym::Expr step) {
  const sym::Expr eight = sym::mod(thread_, kHalf), second = sym::mod(sym::floordiv(thread_, kHalf), 2);
  unrolled(tiles_, [&](sym::Expr tile) {
    auto load = std::make_unique<kir::LoadMatrix>();
    load->to = left.fragments;
    load->to_index = tile * 8;
    load->from = left.rows->buffer;
    load->count = 4;
    const sym::Expr row = (warp_ * tiles_ + tile) * kMatrix + second * kHalf + eight;
    load->index = row * left.rows->row + step * kMatrix + sym::floordiv(thread_, 2 * kHalf) * kHalf;
    add(std::move(load));
  });
}

// Whether a tile ends in front of the last column; and, `rows`, the block in front of the last row.
sym::Expr AttentionTiles::is_whole(sym::Expr first, bool rows) const {
  const sym::Expr out = sym::le(first + width_, columns_);
  return rows ? sym::logical_and(out, sym::le(first_row_ + rows_of_block(), rows_)) : out;
}

// Of what is `made` of scores.
void AttentionTiles::find_conditions(std::span<const TensorView* const> made,
                                     const std::set<const TensorView*>& scores) {
  const Fusion& graph = *group_.graph;
  const std::set<const TensorView*> in_place = attention_blocks::in_place_of(made, scores);
  const auto is_left_out = [](const TensorView* t) {
    const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
    const double value = full != nullptr ? full->value.to_double() : 1;
    return value == 0 || value == -std::numeric_limits<double>::infinity();
  };
  for (const Op* op : graph.ops()) {
    const TensorView& t = *op->results[0];
    if (t.dtype != DType::boolean || !in_place.contains(&t)) continue;
    std::vector<KeyDistance> distances = distances_of(t, (*scores.begin())->shape());
    if (distances.empty()) continue;
    const auto hides = [&](const Op* reader) {
      const auto* p = as<PointwiseOp>(*reader);
      return p != nullptr && (p->function == Pointwise::logical_not || p->function == Pointwise::logical_or ||
                              (p->function == Pointwise::where && p->in[0] == &t && is_left_out(p->in[1])));
    };
    const bool usual = std::ranges::none_of(graph.readers(&t), hides);
    if (usual || distances.size() == 1) conditions_.push_back({&t, usual, std::move(distances)});
  }
}

// Whether all conditions are what they usually are, for all rows of the block and columns of a tile; null: there are
// none.
sym::Expr AttentionTiles::are_certain(sym::Expr first) {
  sym::Expr out;
  for (const Condition& c : conditions_)
    for (const KeyDistance& d : c.distances) {
      const auto end = [&](int factor, sym::Expr begin, int64_t count) {
        return (begin + ((factor > 0) == c.usual ? 0 : count - 1)) * factor;
      };
      const sym::Expr limit = extents_.value(d.offset) + end(of_column(d), first, width_) +
                              end(of_row(d), first_row_, warps_ * tiles_ * kMatrix);
      const sym::Expr holds = c.usual ? sym::ge(limit, 0) : sym::lt(limit, 0);
      out = out ? sym::logical_and(out, holds) : holds;
    }
  return out;
}

// Whether first + more is not below 0, in numbers of 32 bits: the first is computed once for all columns of a row.
kir::Value AttentionTiles::is_positive(sym::Expr first, sym::Expr more) {
  constexpr int64_t kFar = int64_t{1} << 30;
  const auto whole = [&](int64_t n) { return literal(Constant::from_int64(DType::i64, n)); };
  const Value far = coordinate(first);
  const Value near = apply(Pointwise::max, {apply(Pointwise::min, {far, whole(kFar)}), whole(-kFar)});
  const Value rest = convert(coordinate(more), DType::i32);
  const Value all = apply(Pointwise::add, {convert(near, DType::i32), rest});
  return apply(Pointwise::ge, {all, literal(Constant::from_int64(DType::i32, 0))});
}

// A comparison of positions.
kir::Value AttentionTiles::compared(const Condition& condition, const Element& e, sym::Expr first) {
  std::optional<Value> out;
  const sym::Expr column = first + sym::mod(thread_, 4) * 2;
  for (const KeyDistance& d : condition.distances) {
    const sym::Expr far = extents_.value(d.offset) + column * of_column(d) + row_of(e.tile, e.half) * of_row(d);
    const Value holds = is_positive(far, (e.column * kHalf + e.lane) * of_column(d));
    out = out ? apply(Pointwise::logical_and, {*out, holds}) : holds;
  }
  return *out;
}

kir::Value AttentionTiles::is_there(const Element& e, sym::Expr first) {
  const sym::Expr column = first + sym::mod(thread_, 4) * 2;
  return is_positive(columns_ - 1 - column, (e.column * kHalf + e.lane) * -1);
}

void AttentionTiles::hold_conditions(const Element& e, sym::Expr first, bool certain) {
  for (const Condition& c : conditions_)
    held_[c.tensor] = certain ? literal(Constant::from_int64(DType::boolean, c.usual)) : compared(c, e, first);
}

}  // namespace plait::lowering
