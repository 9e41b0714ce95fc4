#include "lower/tree/attention_gradient.h"

#include <algorithm>

#include "base/error.h"

namespace plait::lowering {

using attention_blocks::kHalf;
using attention_blocks::most_elements;

AttentionGradientEmitter::AttentionGradientEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes,
                                                   KernelExtents& extents, const LowerOptions& options,
                                                   kir::Kernel& kernel)
    : AttentionTiles(group, tree, axes, extents, options, kernel) {
  const auto refused = attention_blocks::plan(*group.graph, gradient_);
  PLAIT_CHECK(!refused, "kernel {}: {}", options.name, refused->reason);
  before_ = gradient_.by_keys ? gradient_.ahead : gradient_.behind;
  after_ = gradient_.by_keys ? gradient_.behind : gradient_.ahead;
  for (const Matmul* m : gradient_.scores) scores_out_.insert(m->out());
  for (const TensorView* t : gradient_.dependent) {
    const auto* p = as<PointwiseOp>(*t->definition);
    if (p != nullptr && t->dtype == DType::f32 && (p->function == Pointwise::exp || p->function == Pointwise::exp2))
      powers_.insert(t);
  }
}

void AttentionGradientEmitter::run() {
  set_shape(*gradient_.scores[0], gradient_.by_keys);
  declare();
  find_conditions(gradient_.weights, scores_out_);
  over_blocks([&] { block(); });
}

// Arguments first, then what a block has in shared memory, and a thread in registers.
void AttentionGradientEmitter::declare() {
  declare_arguments();
  const auto& numbers = std::get<schedules::Attention>(group_.schedule);
  const auto most = [&](const Matmul& m, Side side) { return most_elements(gradient_, numbers, m, side); };
  for (const auto& [of, side] : gradient_.panels) {
    const sym::Expr elements = side == Side::values ? of->b->shape().back() : of->a->shape().back();
    panels_.push_back(
        declare_panel(*of, side, most(*of, side), elements, by_keys_ ? "tile_of_queries" : "tile_of_keys"));
  }
  for (const Matmul* m : gradient_.scores) {
    const bool shared = attention_blocks::shares_rows(gradient_, numbers);
    const Side side = by_keys_ ? Side::right : Side::left;
    const int64_t each = most(*m, Side::left);
    own_.push_back({declare_stack("rows", narrow_, shared ? tiles_ * kHalf : tiles_ * each / 2), {}});
    if (shared) own_.back().rows = declare_panel(*m, side, each, m->a->shape().back(), "rows_of_block", true);
    scores_.push_back(declare_stack("scores", DType::f32, tiles_ * width_ / 2));
  }
  for (const Matmul* m : gradient_.products) {
    weights_.push_back(declare_stack("weights", narrow_, tiles_ * width_ / 2));
    sums_.push_back(declare_stack("sums", DType::f32, tiles_ * most(*m, Side::values) / 2));
  }
  for (const TensorView* t : gradient_.rows) {
    if (t->definition == nullptr) held_inputs_.insert(t);
    row_values_[t] = declare_stack("row_values", DType::f32, by_keys_ ? width_ / 4 : 2 * tiles_);
  }
  matrices_ = declare_stack("matrices", narrow_, kHalf);
}

void AttentionGradientEmitter::block() {
  for (const auto* list : {&scores_, &weights_, &sums_})
    for (const uint32_t buffer : *list) allocate(buffer);
  for (const TensorView* t : gradient_.rows) allocate(row_values_.at(t));
  allocate(matrices_);
  load_own();
  if (!by_keys_) find_own_rows();
  for (size_t j = 0; j < sums_.size(); ++j) zero(sums_[j], panels_[gradient_.product_panels[j]].most);
  over_columns(panels_, [&](sym::Expr first) { tile(first); });
  std::vector<Weighed> weighed;
  for (size_t j = 0; j < sums_.size(); ++j) weighed.push_back({&panels_[gradient_.product_panels[j]], sums_[j]});
  if (before_ || after_) poison(weighed);
  store_results();
}

// In registers, or in shared memory, where there are too few.
void AttentionGradientEmitter::load_own() {
  const auto& numbers = std::get<schedules::Attention>(group_.schedule);
  for (size_t i = 0; i < own_.size(); ++i) {
    allocate(own_[i].fragments);
    if (own_[i].rows)
      allocate(own_[i].rows->buffer);
    else
      load_rows(*gradient_.scores[i], own_[i].fragments,
                most_elements(gradient_, numbers, *gradient_.scores[i], Side::left));
  }
  if (!own_[0].rows) return;
  for (const Left& own : own_) copy_panel(*own.rows, first_row_, true);
  add(std::make_unique<kir::Commit>());
  add(std::make_unique<kir::Wait>());
  add(std::make_unique<kir::Sync>());
}

void AttentionGradientEmitter::tile(sym::Expr first) {
  for (size_t i = 0; i < scores_.size(); ++i) {
    zero(scores_[i], width_);
    multiply(panels_[gradient_.score_panels[i]], own_[i], scores_[i], true);
  }
  if (by_keys_) find_rows(first);
  find_weights(first);
  for (size_t j = 0; j < sums_.size(); ++j)
    multiply(panels_[gradient_.product_panels[j]], {weights_[j], {}}, sums_[j], false);
}

// Of a tensor [..., query, 1], whose batch dims may be 1 or missing.
kir::Value AttentionGradientEmitter::row_value(const TensorView& t, sym::Expr query) {
  Coordinates at = head_and({query, number(0)});
  at.erase(at.begin(), at.end() - static_cast<int64_t>(t.rank()));
  for (size_t d = 0; d < at.size(); ++d)
    if (t.extent(d).constant() == 1) at[d] = number(0);
  return t.definition == nullptr ? load_at(t, at) : evaluated(t, at);
}

void AttentionGradientEmitter::find_own_rows() {
  for (const TensorView* t : gradient_.rows)
    unrolled(tiles_, [&](sym::Expr tile) {
      unrolled(2, [&](sym::Expr half) {
        const sym::Expr row = row_of(tile, half);
        store(row_values_.at(t), tile * 2 + half, constant(0));
        guarded(sym::lt(row, rows_), [&] { store(row_values_.at(t), tile * 2 + half, row_value(*t, row)); });
      });
    });
}

// Of the queries that are columns of a tile, those of a thread.
void AttentionGradientEmitter::find_rows(sym::Expr first) {
  const sym::Expr whole = is_whole(first, false);
  const auto over = [&](bool lanes, const std::function<void(sym::Expr, sym::Expr)>& body) {
    unrolled(width_ / kHalf, [&](sym::Expr column) {
      loop(number(2), lanes ? kir::LoopKind::lanes : kir::LoopKind::serial, !lanes,
           [&](sym::Expr lane) { body(column * 2 + lane, first + column * kHalf + sym::mod(thread_, 4) * 2 + lane); });
    });
  };
  for (const TensorView* t : gradient_.rows) {
    const uint32_t buffer = row_values_.at(t);
    guarded(whole,
            [&] { over(true, [&](sym::Expr place, sym::Expr query) { store(buffer, place, row_value(*t, query)); }); });
    guarded(sym::logical_not(whole), [&] {
      over(false, [&](sym::Expr place, sym::Expr query) {
        store(buffer, place, constant(0));
        guarded(sym::lt(query, columns_), [&] { store(buffer, place, row_value(*t, query)); });
      });
    });
  }
}

// Weights of an element of each product, which share what they are made of.
std::vector<kir::Value> AttentionGradientEmitter::weights_at(const Element& e, sym::Expr first, bool certain) {
  hold_conditions(e, first, certain);
  for (size_t i = 0; i < scores_.size(); ++i) held_[gradient_.scores[i]->out()] = load(scores_[i], index_of(e, width_));
  for (const auto& [t, buffer] : row_values_) held_[t] = load(buffer, by_keys_ ? e.column * 2 + e.lane : state_of(e));
  known_.clear();
  std::vector<Value> out;
  for (const TensorView* t : gradient_.weights)
    out.push_back(value_at(*t, at(row_of(e.tile, e.half), first + column_of(e))));
  held_.clear();
  return out;
}

// Columns behind the last one weigh nothing.
void AttentionGradientEmitter::find_weights(sym::Expr first) {
  const sym::Expr certain = are_certain(first), whole = is_whole(first, gradient_.reads);
  const sym::Expr usual = certain ? sym::logical_and(certain, whole) : whole;
  guarded(usual, [&] {
    over_elements(width_, true, [&](const Element& e) { put(e, weights_at(e, first, true), weights_); });
  });
  guarded(sym::logical_not(usual), [&] { gradient_.reads ? ask_weights(first) : choose_weights(first); });
}

void AttentionGradientEmitter::choose_weights(sym::Expr first) {
  const bool whole = sym::proven(sym::eq(sym::mod(columns_, width_), 0));
  over_elements(width_, true, [&](const Element& e) {
    std::vector<Value> values = weights_at(e, first, false);
    if (!whole)
      for (Value& value : values) value = apply(Pointwise::where, {is_there(e, first), value, constant(0)});
    put(e, values, weights_);
  });
}

// Where tensors are read, each element on its own.
void AttentionGradientEmitter::ask_weights(sym::Expr first) {
  const std::vector<Value> none(weights_.size(), constant(0));
  over_elements(width_, false, [&](const Element& e) {
    const sym::Expr row = row_of(e.tile, e.half);
    const sym::Expr there = sym::logical_and(sym::lt(first + column_of(e), columns_), sym::lt(row, rows_));
    guarded(there, [&] { put(e, weights_at(e, first, false), scores_); });
    guarded(sym::logical_not(there), [&] { put(e, none, scores_); });
  });
  over_elements(width_, true, [&](const Element& e) {
    std::vector<Value> values;
    for (size_t j = 0; j < weights_.size(); ++j) values.push_back(load(scores_[j], index_of(e, width_)));
    put(e, values, weights_);
  });
}

void AttentionGradientEmitter::put(const Element& e, const std::vector<Value>& values,
                                   const std::vector<uint32_t>& buffers) {
  for (size_t j = 0; j < values.size(); ++j) store(buffers[j], index_of(e, width_), values[j]);
}

void AttentionGradientEmitter::store_results() {
  for (size_t j = 0; j < sums_.size(); ++j) {
    const std::set<const TensorView*> behind = coming_of(group_.graph->ops(), *gradient_.products[j]->out());
    for (const TensorView* t : group_.graph->outputs())
      if (behind.contains(t))
        store_product(*t, *gradient_.products[j], {&panels_[gradient_.product_panels[j]], sums_[j]},
                      [](const Element&) {});
  }
}

}  // namespace plait::lowering
