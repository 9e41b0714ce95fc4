// Scatters by atomics, of GPUs: the results get what their operands hold, then each update goes to its place whenever
// its thread comes, then what stands behind the scatters is computed.
#include <algorithm>

#include "base/error.h"
#include "lower/tree/scatter.h"

namespace plait::lowering {

// body() at every element of a tensor of the part's dims, `width` of the last one for each thread; `along_` is its
// place in the scattered dim.
void ScatterEmitter::over_elements(const ScatterPart& part, const TensorView& of, int64_t width, const Body& body) {
  const size_t rank = of.rank(), last = rank - 1;
  sym::Expr count = number(1);
  for (size_t d = 0; d < rank; ++d) count = count * extents_(of.extent(d));
  const auto at = [&](sym::Expr rest) {
    inner_.assign(rank - part.inner, number(0));
    batch_.assign(part.inner, number(0));
    for (size_t d = rank; d-- > 0;) {
      const sym::Expr extent = extents_(of.extent(d)), coordinate = d == 0 ? rest : sym::mod(rest, extent);
      if (d > 0) rest = sym::floordiv(rest, extent);
      if (d == size_t(part.op->dim))
        along_ = coordinate;
      else
        (d >= part.inner ? inner_[last - d] : batch_[d]) = coordinate;
    }
    body();
    inner_.clear();
  };
  const sym::Expr blocks = sym::ceildiv(count, kThreadsOfElements * width), block = variable_below(blocks);
  const sym::Expr thread = variable_below(number(kThreadsOfElements));
  loop(block, blocks, kir::LoopKind::block_x, [&] {
    loop(thread, number(kThreadsOfElements), kir::LoopKind::threads, [&] {
      const sym::Expr first = (block * kThreadsOfElements + thread) * width;
      guarded(sym::lt(first, count), [&] {
        if (width == 1) return at(first);
        const sym::Expr lane = variable_below(number(width));
        loop(lane, number(width), kir::LoopKind::lanes, [&] { at(first + lane); });
      });
    });
  });
}

void ScatterEmitter::in_atomics() {
  const ScatterPart& widest = plan_.parts[plan_.widest];
  begin_phase();
  over_elements(widest, *widest.op->results[0], widest.has_inner() ? lanes_ : 1, [&] {
    for (size_t k = 0; k < plan_.parts.size(); ++k) {
      const ScatterPart& part = plan_.parts[k];
      store(homes_[k].buffer, home_index(k, along_), operand_at(*part.op, 0, coordinates(part, along_)));
    }
  });
  for (size_t k = 0; k < plan_.parts.size(); ++k) add_updates(k);
  std::vector<std::vector<const TensorView*>> left;
  for (size_t k = 0; k < plan_.parts.size(); ++k) left.push_back(unwritten(k));
  if (std::ranges::all_of(left, [](const auto& outputs) { return outputs.empty(); })) return;
  begin_phase();
  over_elements(widest, *widest.op->results[0], widest.has_inner() ? lanes_ : 1, [&] {
    for (size_t k = 0; k < plan_.parts.size(); ++k) write(left[k], plan_.parts[k]);
  });
}

// A thread has one element of src. Of those that share an index the first one reports it.
void ScatterEmitter::add_updates(size_t k) {
  const ScatterPart& part = plan_.parts[k];
  begin_phase();
  over_elements(part, *part.op->index, 1, [&] {
    const sym::Expr update = along_, place = index_at(part, update);
    guarded(is_inside(place), [&] {
      const std::optional<AtomicOp> op = atomic_of(part.op->update);
      PLAIT_CHECK(op, "there is no atomic for {}", name(part.op->update));
      auto atomic = std::make_unique<kir::Atomic>();
      atomic->buffer = homes_[k].buffer;
      atomic->index = home_index(k, place);
      atomic->in = operand_at(*part.op, 2, coordinates(part, update));
      atomic->op = *op;
      add(std::move(atomic));
    });
    sym::Expr first = number(1);
    if (!part.per_element)
      for (sym::Expr at : inner_) first = sym::logical_and(first, sym::eq(at, 0));
    guarded(first, [&] { report_outside(part, place, update); });
  });
}

}  // namespace plait::lowering
