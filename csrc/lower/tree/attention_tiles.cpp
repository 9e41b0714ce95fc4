#include "lower/tree/attention_tiles.h"

#include <cmath>
#include <numbers>

#include "axes/operand_read.h"
#include "base/error.h"

namespace plait::lowering {

using attention_blocks::kAccess;
using attention_blocks::kHalf;
using attention_blocks::kMatrix;
using attention_blocks::kWarp;

AttentionTiles::AttentionTiles(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes,
                               KernelExtents& extents, const LowerOptions& options, kir::Kernel& kernel)
    : TreeEmitter(group, tree, extents, options, kernel), tree_(tree), axes_(axes) {
  const auto& numbers = std::get<schedules::Attention>(group.schedule);
  tiles_ = *numbers.queries / kMatrix;
  warps_ = *numbers.block / *numbers.queries;
  width_ = *numbers.keys;
  stages_ = *numbers.stages;
}

void AttentionTiles::set_shape(const Matmul& scores, bool by_keys) {
  by_keys_ = by_keys;
  narrow_ = scores.a->dtype;
  const std::vector<sym::Expr> shape = scores.out()->shape();
  for (size_t d = 0; d + 2 < shape.size(); ++d) batch_.push_back(extents_(shape[d]));
  rows_ = extents_(shape[shape.size() - (by_keys ? 1 : 2)]);
  columns_ = extents_(shape[shape.size() - (by_keys ? 2 : 1)]);
}

void AttentionTiles::over_blocks(const std::function<void()>& block) {
  frames_.push_back({&kernel_.phases[0].body, std::nullopt});
  sym::Expr blocks = sym::ceildiv(rows_, warps_ * tiles_ * kMatrix);
  for (sym::Expr extent : batch_) blocks = blocks * extent;
  loop(blocks, kir::LoopKind::block_x, false, [&](sym::Expr index) {
    first_row_ = find_head(index) * (warps_ * tiles_ * kMatrix);
    loop(number(warps_), kir::LoopKind::thread_y, false, [&](sym::Expr warp) {
      warp_ = warp;
      loop(number(kWarp), kir::LoopKind::thread_x, false, [&](sym::Expr thread) {
        thread_ = thread;
        block();
      });
    });
  });
  leave();
}

void AttentionTiles::declare_arguments() {
  const Fusion& graph = *group_.graph;
  const auto argument = [&](const TensorView& t, const std::string& name, bool written) {
    sym::Expr count = number(1);
    for (const Axis& a : t.domain.logical) count = count * extents_(a.extent);
    arguments_[&t] = static_cast<uint32_t>(kernel_.buffers.size());
    kernel_.buffers.push_back({free_name(name), t.dtype, count, written});
  };
  for (const TensorView* t : graph.inputs()) argument(*t, t->name, false);
  for (size_t i = 0; i < graph.outputs().size(); ++i) argument(*graph.outputs()[i], group_.outputs[i], true);
  declare_status();
}

AttentionTiles::Panel AttentionTiles::declare_panel(const Matmul& m, Side side, int64_t most, sym::Expr elements,
                                                    const char* name, bool rows) {
  Panel out{0, m.out()->definition, side, most, attention_blocks::panel_row(most), extents_(elements)};
  out.buffer = declare_buffer(name, narrow_, (rows ? warps_ * tiles_ * kMatrix : width_) * out.row, kir::Space::shared);
  kernel_.buffers.back().turned = out.row;
  return out;
}

uint32_t AttentionTiles::declare_buffer(const std::string& name, DType dtype, int64_t extent, kir::Space space) {
  kernel_.buffers.push_back({free_name(name), dtype, number(extent), false, false, space});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

// The tile of rows of a block; of causal masks those with most columns come first.
sym::Expr AttentionTiles::find_head(sym::Expr block) {
  const sym::Expr tiles = sym::ceildiv(rows_, warps_ * tiles_ * kMatrix);
  sym::Expr rest = sym::floordiv(block, tiles);
  head_.assign(batch_.size(), number(0));
  size_t first = 0;
  while (first < batch_.size() && batch_[first].constant() == 1) ++first;
  for (size_t d = batch_.size(); d-- > first;) {
    head_[d] = d > first ? sym::mod(rest, batch_[d]) : rest;
    if (d > first) rest = sym::floordiv(rest, batch_[d]);
  }
  const sym::Expr tile = sym::mod(block, tiles);
  return after_ ? tiles - 1 - tile : tile;
}

void AttentionTiles::loop(sym::Expr extent, kir::LoopKind kind, bool unroll,
                          const std::function<void(sym::Expr)>& body) {
  auto stmt = std::make_unique<kir::For>();
  stmt->var = kernel_.pool->symbol(fmt::format("i{}", loops_++), sym::index_facts(extent));
  stmt->extent = extent;
  stmt->loop = kind;
  stmt->unroll = unroll;
  const sym::Expr var = stmt->var;
  frames_.push_back({&stmt->body, std::nullopt});
  body(var);
  leave();
  add(std::move(stmt));
}

void AttentionTiles::over_elements(int64_t columns, bool lanes, const std::function<void(const Element&)>& body) {
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(columns / kHalf, [&](sym::Expr column) {
      unrolled(2, [&](sym::Expr half) {
        loop(number(2), lanes ? kir::LoopKind::lanes : kir::LoopKind::serial, !lanes,
             [&](sym::Expr lane) { body({tile, column, half, lane}); });
      });
    });
  });
}

sym::Expr AttentionTiles::row_of(sym::Expr tile, sym::Expr half) const {
  return first_row_ + (warp_ * tiles_ + tile) * kMatrix + half * kHalf + sym::floordiv(thread_, 4);
}
sym::Expr AttentionTiles::column_of(const Element& e) const {
  return e.column * kHalf + sym::mod(thread_, 4) * 2 + e.lane;
}
sym::Expr AttentionTiles::index_of(const Element& e, int64_t columns) const {
  return ((e.tile * (columns / kHalf) + e.column) * 2 + e.half) * 2 + e.lane;
}

TreeEmitter::Coordinates AttentionTiles::head_and(std::initializer_list<sym::Expr> last) const {
  Coordinates out = head_;
  out.insert(out.end(), last);
  return out;
}

// Coordinates of an operand's element: of the row or column `index`, its feature or value x.
TreeEmitter::Coordinates AttentionTiles::element_at(const Op& op, Side side, sym::Expr index, sym::Expr x) const {
  const auto extent = [&](sym::Expr e) { return extents_(e); };
  const bool values = side == Side::values;
  const Coordinates own = values               ? head_and({number(0), x})
                          : side == Side::left ? head_and({index, number(0)})
                                               : head_and({number(0), index});
  const Coordinates term = {values ? index : x};
  return operand_read(axes_, op, side == Side::left ? 0 : 1, {own, term}, extent).at;
}

// The tensor's value at these coordinates, computed here from what is in memory and what the kernel holds.
kir::Value AttentionTiles::value_at(const TensorView& t, const Coordinates& at) {
  if (const auto held = held_.find(&t); held != held_.end()) return held->second;
  if (is_input(t)) return load_at(t, at);
  std::vector<uint64_t> ids;
  for (sym::Expr e : at) ids.push_back(e.id());
  if (const auto known = known_.find({&t, ids}); known != known_.end()) return known->second;
  const Op& op = *t.definition;
  if (const auto* pointwise = as<PointwiseOp>(op); pointwise != nullptr && pointwise->function == Pointwise::div)
    if (const auto made = divided(*pointwise, at)) return known_[{&t, ids}] = *made;
  if (powers_.contains(&t)) {
    const auto* pointwise = as<PointwiseOp>(op);
    return known_[{&t, ids}] = power(pointwise->function, value_at(*pointwise->in[0], at));
  }
  const auto value_of = [&](const TensorView& in, const Coordinates& there) { return value_at(in, there); };
  return known_[{&t, ids}] = computed_at(op, at, axes_, tree_, value_of);
}

namespace {

// A number that has a reciprocal of as many digits: a size, the root of one, a number of the fusion.
bool has_reciprocal(const TensorView& t) {
  if (t.rank() != 0 || t.dtype != DType::f32 || t.definition == nullptr) return false;
  if (const auto* size = as<Size>(*t.definition)) return sym::proven(sym::ge(size->value, 1));
  const auto* root = as<PointwiseOp>(*t.definition);
  if (root != nullptr && root->function == Pointwise::sqrt) return has_reciprocal(*root->in[0]);
  const auto* full = as<Full>(*t.definition);
  const double value = full != nullptr ? std::abs(full->value.to_double()) : 0;
  return value >= 0x1p-100 && value <= 0x1p100;
}

}  // namespace

// Scores by a number that is the same for all: times its reciprocal, which is computed once. The sums of scores have
// larger errors than that.
std::optional<kir::Value> AttentionTiles::divided(const PointwiseOp& op, const Coordinates& at) {
  const TensorView& by = *op.in[1];
  if (std::ranges::none_of(scores_out_, [&](const TensorView* t) { return held_.contains(t); }) ||
      op.out()->dtype != DType::f32 || op.in[0]->dtype != DType::f32 || op.in[0]->rank() != op.out()->rank() ||
      !has_reciprocal(by))
    return std::nullopt;
  const Value numerator = value_at(*op.in[0], at), denominator = value_at(by, {});
  return apply(Pointwise::mul, {numerator, apply(Pointwise::div, {constant(1), denominator})});
}

kir::Value AttentionTiles::evaluated(const TensorView& t, const Coordinates& at) {
  known_.clear();
  return value_at(t, at);
}

// Exponentials are those of 2, which machines have: the error of the factor is that of the operand.
kir::Value AttentionTiles::power(Pointwise function, Value in) {
  if (function == Pointwise::exp) in = apply(Pointwise::mul, {in, constant(std::numbers::log2e)});
  return apply(Pointwise::exp2, {in});
}

kir::Value AttentionTiles::shuffled(Value in, int64_t by) {
  auto stmt = std::make_unique<kir::Shuffle>();
  stmt->out = fresh(in.dtype);
  stmt->in = in;
  stmt->by = by;
  return put(std::move(stmt));
}

// As the left operands of products: [tile, 16 features, 8 of these, row, two of them].
void AttentionTiles::load_rows(const Matmul& scores, uint32_t fragments, int64_t most) {
  const Side side = by_keys_ ? Side::right : Side::left;
  const Op& op = *scores.out()->definition;
  const TensorView& operand = by_keys_ ? *scores.b : *scores.a;
  const sym::Expr elements = extents_(scores.a->shape().back());
  const int64_t steps = most / kMatrix;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2 * steps, [&](sym::Expr part) {
      unrolled(2, [&](sym::Expr half) {
        const sym::Expr row = row_of(tile, half);
        const auto place = [&](sym::Expr lane) { return ((tile * steps * 2 + part) * 2 + half) * 2 + lane; };
        const sym::Expr there = sym::lt(part * kHalf, elements);
        loop(number(2), kir::LoopKind::lanes, false,
             [&](sym::Expr lane) { store(fragments, place(lane), constant(0)); });
        guarded(sym::logical_and(sym::lt(row, rows_), there), [&] {
          loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
            const sym::Expr x = part * kHalf + sym::mod(thread_, 4) * 2 + lane;
            store(fragments, place(lane), evaluated(operand, element_at(op, side, row, x)));
          });
        });
      });
    });
  });
}

sym::Expr AttentionTiles::first_tile() const {
  if (!before_) return number(0);
  return sym::max(sym::floordiv(first_row_ - extents_(*before_), width_), 0);
}
// One behind the last tile that some row of the block sees.
sym::Expr AttentionTiles::last_tile() const {
  if (!after_) return tiles_of_columns();
  const sym::Expr last = first_row_ + (warps_ * tiles_ * kMatrix - 1) + extents_(*after_);
  return sym::min(sym::floordiv(last, width_) + 1, tiles_of_columns());
}

// Copies of the next tile are under way while one is multiplied (pass `pipeline`).
void AttentionTiles::over_columns(std::span<const Panel> panels, const std::function<void(sym::Expr)>& tile) {
  const sym::Expr begin = first_tile(), count = last_tile() - begin;
  auto stmt = std::make_unique<kir::For>();
  stmt->var = kernel_.pool->symbol(fmt::format("i{}", loops_++), sym::index_facts(count));
  stmt->extent = count;
  stmt->stages = stages_;
  const sym::Expr first = (begin + stmt->var) * width_;
  frames_.push_back({&stmt->body, std::nullopt});
  for (const Panel& panel : panels) allocate(panel.buffer);
  for (const Panel& panel : panels) copy_panel(panel, first);
  add(std::make_unique<kir::Commit>());
  add(std::make_unique<kir::Wait>());
  add(std::make_unique<kir::Sync>());
  tile(first);
  add(std::make_unique<kir::Sync>());
  leave();
  add(std::move(stmt));
}

// Rows of a tile in shared memory, of a column each, or, `rows`, of a row of the block; 0 where there is none.
void AttentionTiles::copy_panel(const Panel& panel, sym::Expr first, bool rows) {
  const int64_t together = kAccess * kWarp * warps_;
  const TensorView& operand = *inputs(*panel.op)[panel.side == Side::left ? 0 : 1];
  unrolled((rows ? warps_ * tiles_ * kMatrix : width_) * panel.row / together, [&](sym::Expr access) {
    const sym::Expr place = access * together + (warp_ * kWarp + thread_) * kAccess;
    const sym::Expr column = first + sym::floordiv(place, panel.row), x = sym::mod(place, panel.row);
    loop(number(kAccess), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
      kir::Block block;
      frames_.push_back({&block, std::nullopt});
      evaluated(operand, element_at(*panel.op, panel.side, column, x + lane));
      leave();
      const auto* load = block.size() == 1 ? kir::as<kir::Load>(*block[0]) : nullptr;
      PLAIT_CHECK(load != nullptr, "kernel {} does not copy %{}", options_.name, operand.name);
      auto copy = std::make_unique<kir::CopyAsync>();
      copy->to = panel.buffer;
      copy->to_index = place + lane;
      copy->from = load->buffer;
      copy->index = load->index;
      const sym::Expr there = sym::logical_and(sym::lt(column, rows ? rows_ : columns_), sym::lt(x, panel.elements));
      if (!sym::proven(there)) copy->active = there;
      add(std::move(copy));
    });
  });
}

}  // namespace plait::lowering
