// Composites that put elements in order, and slices at positions.
#include <numeric>

#include "build/composer.h"

namespace plait::building {

namespace {

Results sorted(Composer& c, TensorView* in, int64_t dim, bool descending, std::vector<sym::Expr> count) {
  auto sort = std::make_unique<Sort>();
  sort->in = in;
  sort->dim = dim;
  sort->descending = descending;
  sort->count = std::move(count);
  return c.emit_all(std::move(sort));
}

// start + at, start + at + 1 ...: `count` places, i64.
TensorView* places(Composer& c, sym::Expr start, TensorView* at, sym::Expr count) {
  TensorView* out = c.iota({count}, 0, DType::i64);
  if (at) out = c.pointwise(Pointwise::add, {out, c.cast(at, DType::i64)});
  if (start && start.constant() != 0) out = c.pointwise(Pointwise::add, {out, c.size(start, DType::i64)});
  return out;
}

TensorView* sliced(Composer& c, TensorView* in, int64_t dim, sym::Expr start, sym::Expr stop) {
  auto slice = std::make_unique<Slice>();
  slice->in = in;
  slice->dim = dim;
  slice->start = start;
  slice->stop = stop;
  return c.emit(std::move(slice));
}

}  // namespace

TensorView* composed(Composer& c, const ArgSort& op) { return sorted(c, op.in, op.dim, op.descending, {})[1]; }

Results composed(Composer& c, const TopK& op) {
  const sym::Expr count = op.results[0]->extent(size_t(op.dim));
  return sorted(c, op.in, op.dim, op.largest, {count});
}

TensorView* composed(Composer& c, const SliceAt& op) {
  auto select = std::make_unique<IndexSelect>();
  select->in = op.in;
  select->index = places(c, {}, op.at, op.size);
  select->dim = op.dim;
  select->bounds = op.bounds;
  select->ordinal = op.ordinal;
  return c.emit(std::move(select));
}

// Whether the result is to end in the operand's memory, where only the update is written.
bool ends_in_operand(const SliceUpdate& op) {
  const auto& aliases = op.in->fusion->aliases;
  const auto it = aliases.find(op.results[0]->name);
  return it != aliases.end() && it->second == op.in->name;
}

// What surely lies within is parts one after another, unless only the update is to be written; else the places are
// those of a scatter.
TensorView* composed(Composer& c, const SliceUpdate& op) {
  const sym::Expr extent = op.in->extent(size_t(op.dim)), count = op.update->extent(size_t(op.dim));
  const auto start = op.start.constant(), width = count.constant(), whole = extent.constant();
  if (!op.at && start && width && whole && !ends_in_operand(op)) {
    auto cat = std::make_unique<Cat>();
    const sym::Expr behind = op.start + count;
    cat->dim = op.dim;
    cat->in = {sliced(c, op.in, op.dim, c.extent(0), op.start), op.update, sliced(c, op.in, op.dim, behind, extent)};
    return c.emit(std::move(cat));
  }
  TensorView* index = places(c, op.start, op.at, count);
  if (const size_t more = op.in->rank() - size_t(op.dim) - 1; more > 0) {
    std::vector<int64_t> dims(more);
    std::iota(dims.begin(), dims.end(), 1);
    index = c.unsqueeze(index, std::move(dims));
  }
  auto scatter = std::make_unique<Scatter>();
  scatter->in = op.in;
  scatter->index = op.in->rank() == 1 ? index : c.broadcast(index, op.update->shape());
  scatter->src = op.update;
  scatter->dim = op.dim;
  scatter->bounds = op.bounds;
  scatter->ordinal = op.ordinal;
  return c.emit(std::move(scatter));
}

}  // namespace plait::building
