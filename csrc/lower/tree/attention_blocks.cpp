#include "lower/tree/attention_blocks.h"

#include <cmath>

#include "axes/operand_read.h"
#include "base/error.h"

namespace plait::lowering {

using attention_blocks::kAccess;
using attention_blocks::kHalf;
using attention_blocks::kMatrix;
using attention_blocks::kWarp;

AttentionEmitter::AttentionEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes,
                                   KernelExtents& extents, const LowerOptions& options, kir::Kernel& kernel)
    : TreeEmitter(group, tree, extents, options, kernel), tree_(tree), axes_(axes) {
  const auto refused = attention_blocks::plan(*group.graph, attention_);
  PLAIT_CHECK(!refused, "kernel {}: {}", options.name, refused->reason);
  const auto& numbers = std::get<schedules::Attention>(group.schedule);
  tiles_ = *numbers.queries / kMatrix;
  warps_ = *numbers.block / *numbers.queries;
  keys_ = *numbers.keys;
  stages_ = *numbers.stages;
  features_ = *numbers.features;
  value_columns_ = *numbers.values;
  narrow_ = attention_.scores->a->dtype;
}

void AttentionEmitter::run() {
  const std::vector<sym::Expr> shape = attention_.scores->out()->shape();
  for (size_t d = 0; d + 2 < shape.size(); ++d) batch_.push_back(extents_(shape[d]));
  queries_ = extents_(shape[shape.size() - 2]);
  all_keys_ = extents_(shape.back());
  declare();
  find_conditions();
  frames_.push_back({&kernel_.phases[0].body, std::nullopt});
  sym::Expr blocks = sym::ceildiv(queries_, warps_ * tiles_ * kMatrix);
  for (sym::Expr extent : batch_) blocks = blocks * extent;
  loop(blocks, kir::LoopKind::block_x, false, [&](sym::Expr block) {
    first_query_ = find_head(block) * (warps_ * tiles_ * kMatrix);
    loop(number(warps_), kir::LoopKind::thread_y, false, [&](sym::Expr warp) {
      warp_ = warp;
      loop(number(kWarp), kir::LoopKind::thread_x, false, [&](sym::Expr thread) {
        thread_ = thread;
        this->block();
      });
    });
  });
  leave();
}

// Arguments first, then what a block has in shared memory, and a thread in registers.
void AttentionEmitter::declare() {
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
  const auto panel = [&](const Matmul& m, int64_t most, sym::Expr elements, bool transposed, const char* name) {
    Panel out{0, m.out()->definition, transposed, most, attention_blocks::panel_row(most), extents_(elements)};
    out.buffer = declare_buffer(name, narrow_, keys_ * out.row, kir::Space::shared);
    kernel_.buffers.back().turned = out.row;
    return out;
  };
  key_panel_ = panel(*attention_.scores, features_, attention_.features, true, "tile_of_keys");
  value_panel_ = panel(*attention_.product, value_columns_, attention_.values, false, "tile_of_values");
  const auto stack = [&](const char* name, DType dtype, int64_t extent) {
    return declare_buffer(name, dtype, extent, kir::Space::stack);
  };
  const int64_t rows = 2 * tiles_;
  query_ = stack("queries", narrow_, tiles_ * features_ / 2);
  scores_ = stack("scores", DType::f32, tiles_ * keys_ / 2);
  weights_ = stack("weights", narrow_, tiles_ * keys_ / 2);
  matrices_ = stack("matrices", narrow_, kHalf);
  sums_ = stack("sums", DType::f32, tiles_ * value_columns_ / 2);
  greatest_ = stack("greatest", DType::f32, rows);
  shift_ = stack("shift", DType::f32, rows);
  total_ = stack("total", DType::f32, rows);
}

uint32_t AttentionEmitter::declare_buffer(const std::string& name, DType dtype, int64_t extent, kir::Space space) {
  kernel_.buffers.push_back({free_name(name), dtype, number(extent), false, false, space});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

// The tile of queries of a block; of causal masks those with most keys come first.
sym::Expr AttentionEmitter::find_head(sym::Expr block) {
  const sym::Expr tiles = sym::ceildiv(queries_, warps_ * tiles_ * kMatrix);
  sym::Expr rest = sym::floordiv(block, tiles);
  head_.assign(batch_.size(), number(0));
  size_t first = 0;
  while (first < batch_.size() && batch_[first].constant() == 1) ++first;
  for (size_t d = batch_.size(); d-- > first;) {
    head_[d] = d > first ? sym::mod(rest, batch_[d]) : rest;
    if (d > first) rest = sym::floordiv(rest, batch_[d]);
  }
  const sym::Expr tile = sym::mod(block, tiles);
  return attention_.ahead ? tiles - 1 - tile : tile;
}

void AttentionEmitter::loop(sym::Expr extent, kir::LoopKind kind, bool unroll,
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

void AttentionEmitter::over_elements(int64_t columns, bool lanes, const std::function<void(const Element&)>& body) {
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(columns / kHalf, [&](sym::Expr column) {
      unrolled(2, [&](sym::Expr half) {
        loop(number(2), lanes ? kir::LoopKind::lanes : kir::LoopKind::serial, !lanes,
             [&](sym::Expr lane) { body({tile, column, half, lane}); });
      });
    });
  });
}

sym::Expr AttentionEmitter::row_of(sym::Expr tile, sym::Expr half) const {
  return first_query_ + (warp_ * tiles_ + tile) * kMatrix + half * kHalf + sym::floordiv(thread_, 4);
}
sym::Expr AttentionEmitter::column_of(const Element& e) const {
  return e.column * kHalf + sym::mod(thread_, 4) * 2 + e.lane;
}
sym::Expr AttentionEmitter::index_of(const Element& e, int64_t columns) const {
  return ((e.tile * (columns / kHalf) + e.column) * 2 + e.half) * 2 + e.lane;
}

TreeEmitter::Coordinates AttentionEmitter::head_and(std::initializer_list<sym::Expr> last) const {
  Coordinates out = head_;
  out.insert(out.end(), last);
  return out;
}

// The tensor's value at these coordinates, computed here from what is in memory and what the kernel holds.
kir::Value AttentionEmitter::value_at(const TensorView& t, const Coordinates& at) {
  if (const auto held = held_.find(&t); held != held_.end()) return held->second;
  if (is_input(t)) return load_at(t, at);
  std::vector<uint64_t> ids;
  for (sym::Expr e : at) ids.push_back(e.id());
  if (const auto known = known_.find({&t, ids}); known != known_.end()) return known->second;
  const Op& op = *t.definition;
  if (const auto* pointwise = as<PointwiseOp>(op); pointwise != nullptr && pointwise->function == Pointwise::div)
    if (const auto made = divided(*pointwise, at)) return known_[{&t, ids}] = *made;
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
std::optional<kir::Value> AttentionEmitter::divided(const PointwiseOp& op, const Coordinates& at) {
  const TensorView& by = *op.in[1];
  if (!held_.contains(attention_.scores->out()) || op.out()->dtype != DType::f32 || op.in[0]->dtype != DType::f32 ||
      op.in[0]->rank() != op.out()->rank() || !has_reciprocal(by))
    return std::nullopt;
  const Value numerator = value_at(*op.in[0], at), denominator = value_at(by, {});
  return apply(Pointwise::mul, {numerator, apply(Pointwise::div, {constant(1), denominator})});
}

kir::Value AttentionEmitter::evaluated(const TensorView& t, const Coordinates& at) {
  known_.clear();
  return value_at(t, at);
}

kir::Value AttentionEmitter::shuffled(Value in, int64_t by) {
  auto stmt = std::make_unique<kir::Shuffle>();
  stmt->out = fresh(in.dtype);
  stmt->in = in;
  stmt->by = by;
  return put(std::move(stmt));
}

// Over the four threads that share a row.
kir::Value AttentionEmitter::across_row(Pointwise function, Value in) {
  for (const int64_t by : {1, 2}) in = apply(function, {in, shuffled(in, by)});
  return in;
}

void AttentionEmitter::allocate_fragments() {
  for (const uint32_t buffer : {query_, scores_, weights_, matrices_, sums_, greatest_, shift_, total_})
    allocate(buffer);
}

void AttentionEmitter::block() {
  allocate_fragments();
  load_queries();
  zero(sums_, value_columns_);
  unrolled(2 * tiles_, [&](sym::Expr row) {
    store(greatest_, row, constant(-std::numeric_limits<double>::infinity()));
    store(total_, row, constant(0));
  });
  over_keys();
  finish_rows();
  if (attention_.ahead || attention_.behind) poison();
  store_results();
}

// As the left operands of products: [tile, 16 features, 8 of these, row, two of them].
void AttentionEmitter::load_queries() {
  const TensorView& operand = *attention_.scores->a;
  const auto extent = [&](sym::Expr e) { return extents_(e); };
  const int64_t steps = features_ / kMatrix;
  unrolled(tiles_, [&](sym::Expr tile) {
    unrolled(2 * steps, [&](sym::Expr part) {
      unrolled(2, [&](sym::Expr half) {
        const sym::Expr query = row_of(tile, half);
        const auto at = [&](sym::Expr lane) { return ((tile * steps * 2 + part) * 2 + half) * 2 + lane; };
        const sym::Expr there = sym::lt(part * kHalf, key_panel_.elements);
        loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) { store(query_, at(lane), constant(0)); });
        guarded(sym::logical_and(sym::lt(query, queries_), there), [&] {
          loop(number(2), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
            const Coordinates own = head_and({query, number(0)});
            const Coordinates term = {part * kHalf + sym::mod(thread_, 4) * 2 + lane};
            store(query_, at(lane),
                  evaluated(operand,
                            operand_read(axes_, *attention_.scores->out()->definition, 0, {own, term}, extent).at));
          });
        });
      });
    });
  });
}

sym::Expr AttentionEmitter::tiles_of_keys() const { return sym::ceildiv(all_keys_, keys_); }
sym::Expr AttentionEmitter::first_tile() const {
  if (!attention_.behind) return number(0);
  return sym::max(sym::floordiv(first_query_ - extents_(*attention_.behind), keys_), 0);
}
// One behind the last tile that some query of the block sees.
sym::Expr AttentionEmitter::last_tile() const {
  if (!attention_.ahead) return tiles_of_keys();
  const sym::Expr last = first_query_ + (warps_ * tiles_ * kMatrix - 1) + extents_(*attention_.ahead);
  return sym::min(sym::floordiv(last, keys_) + 1, tiles_of_keys());
}

// Copies of the next tile are under way while one is multiplied (pass `pipeline`).
void AttentionEmitter::over_keys() {
  const sym::Expr begin = first_tile(), count = last_tile() - begin;
  auto stmt = std::make_unique<kir::For>();
  stmt->var = kernel_.pool->symbol(fmt::format("i{}", loops_++), sym::index_facts(count));
  stmt->extent = count;
  stmt->stages = stages_;
  const sym::Expr first = (begin + stmt->var) * keys_;
  frames_.push_back({&stmt->body, std::nullopt});
  for (const Panel* panel : {&key_panel_, &value_panel_}) allocate(panel->buffer);
  for (const Panel* panel : {&key_panel_, &value_panel_}) copy_panel(*panel, first);
  add(std::make_unique<kir::Commit>());
  add(std::make_unique<kir::Wait>());
  add(std::make_unique<kir::Sync>());
  tile(first);
  add(std::make_unique<kir::Sync>());
  leave();
  add(std::move(stmt));
}

// Rows of a tile, of a key each, 0 where there is none.
void AttentionEmitter::copy_panel(const Panel& panel, sym::Expr first) {
  const int64_t together = kAccess * kWarp * warps_;
  const auto extent = [&](sym::Expr e) { return extents_(e); };
  unrolled(keys_ * panel.row / together, [&](sym::Expr access) {
    const sym::Expr place = access * together + (warp_ * kWarp + thread_) * kAccess;
    const sym::Expr key = first + sym::floordiv(place, panel.row), column = sym::mod(place, panel.row);
    loop(number(kAccess), kir::LoopKind::lanes, false, [&](sym::Expr lane) {
      const sym::Expr x = column + lane;
      const Coordinates own = panel.transposed ? head_and({number(0), key}) : head_and({number(0), x});
      const Coordinates term = {panel.transposed ? x : key};
      const TensorView& operand = *inputs(*panel.op)[1];
      kir::Block block;
      frames_.push_back({&block, std::nullopt});
      evaluated(operand, operand_read(axes_, *panel.op, 1, {own, term}, extent).at);
      leave();
      const auto* load = block.size() == 1 ? kir::as<kir::Load>(*block[0]) : nullptr;
      PLAIT_CHECK(load != nullptr, "kernel {} does not copy %{}", options_.name, operand.name);
      auto copy = std::make_unique<kir::CopyAsync>();
      copy->to = panel.buffer;
      copy->to_index = place + lane;
      copy->from = load->buffer;
      copy->index = load->index;
      sym::Expr there = sym::lt(key, all_keys_);
      there = sym::logical_and(there, sym::lt(column, panel.elements));
      if (!sym::proven(there)) copy->active = there;
      add(std::move(copy));
    });
  });
}

}  // namespace plait::lowering
