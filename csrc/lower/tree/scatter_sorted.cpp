// Scatters in phases. Chunks of the index count their updates per range of places; one task makes of the counts
// where each chunk's updates of a range begin; the chunks put their updates there, so that those of a range lie side by
// side in the order of the index; then each range is copied, updated and finished while it is in the cache.
#include "base/error.h"
#include "lower/tree/scatter.h"

namespace plait::lowering {

namespace {

DType number_type(sym::Expr count) { return sym::bounds(count).hi <= INT32_MAX ? DType::i32 : DType::i64; }

}  // namespace

void ScatterEmitter::declare_sorted() {
  ranges_ = sym::ceildiv(places_, rows_);
  chunks_ = sym::max(sym::ceildiv(updates_, chunk_), 1);
  counts_ = declare_buffer("counts", number_type(updates_), ranges_ * chunks_, kir::Space::workspace);
  targets_ = declare_buffer("places", number_type(places_), updates_, kir::Space::workspace);
  moved_.resize(plan_.parts.size());
  for (size_t k = 0; k < plan_.parts.size(); ++k) {
    const ScatterPart& part = plan_.parts[k];
    if (part.has_inner())
      numbers_ = numbers_.value_or(0);
    else
      moved_[k] =
          declare_buffer(part.op->results[0]->name + "_moved", part.op->src->dtype, updates_, kir::Space::workspace);
  }
  if (numbers_) numbers_ = declare_buffer("numbers", number_type(updates_), updates_, kir::Space::workspace);
}

kir::Value ScatterEmitter::plus_one(Value value) {
  return apply(Pointwise::add, {value, literal(Constant::from_int64(value.dtype, 1))});
}

void ScatterEmitter::in_ranges() {
  count();
  make_places();
  put_updates();
  walk_ranges();
}

// body(chunk, update) for every update whose place is in range.
void ScatterEmitter::over_chunk(const std::function<void(sym::Expr chunk, sym::Expr update)>& body) {
  begin_phase();
  const bool counts = kernel_.phases.size() == 1;  // whose last block makes places of the counts: it has its threads
  const auto task = [&](sym::Expr chunk) {
    if (counts) {
      const sym::Expr range = variable_below(ranges_);
      loop(range, ranges_, kir::LoopKind::serial, [&] {
        store(counts_, slot(chunk, range), literal(Constant::from_int64(kernel_.buffers[counts_].dtype, 0)));
      });
    }
    const sym::Expr step = variable_below(number(chunk_));
    loop(step, number(chunk_), kir::LoopKind::serial, [&] {
      const sym::Expr update = chunk * chunk_ + step;
      guarded(sym::lt(update, updates_), [&] { body(chunk, update); });
    });
  };
  over_tasks(chunks_, true, task, counts ? kThreadsOfCounts : kThreadsOfTasks);
}

void ScatterEmitter::count() {
  over_chunk([&](sym::Expr chunk, sym::Expr update) {
    const sym::Expr place = index_at(plan_.parts[plan_.widest], update);
    guarded(is_inside(place), [&] {
      const sym::Expr at = slot(chunk, sym::floordiv(place, rows_));
      store(counts_, at, plus_one(load(counts_, at)));
    });
    for (const ScatterPart& part : plan_.parts) report_outside(part, place, update);
  });
}

// Of a GPU, the chunks of threads side by side lie side by side.
sym::Expr ScatterEmitter::slot(sym::Expr chunk, sym::Expr range) const {
  return on_gpu_ ? range * chunks_ + chunk : chunk * ranges_ + range;
}

// One block goes through all counts, some for each of its threads at once.
void ScatterEmitter::make_places_by_threads() {
  const DType type = compute_type(kernel_.buffers[counts_].dtype);
  const auto zero = [&] { return Constant::from_int64(type, 0); };
  const sym::Expr all = ranges_ * chunks_, steps = sym::ceildiv(all, kThreadsOfCounts * kCountsOfThread);
  const Value before = variable(zero());
  const sym::Expr step = variable_below(steps), thread = variable_below(number(kThreadsOfCounts));
  loop(step, steps, kir::LoopKind::serial, [&] {
    loop(thread, number(kThreadsOfCounts), kir::LoopKind::threads, [&] {
      const auto each = [&](const std::function<void(sym::Expr)>& body) {
        const sym::Expr i = variable_below(number(kCountsOfThread));
        const sym::Expr at = (step * kThreadsOfCounts + thread) * kCountsOfThread + i;
        loop(i, number(kCountsOfThread), kir::LoopKind::serial, [&] { guarded(sym::lt(at, all), [&] { body(at); }); });
      };
      const Value own = variable(zero());
      each([&](sym::Expr at) { assign(own, apply(Pointwise::add, {own, load(counts_, at)})); });
      auto start = std::make_unique<kir::Start>();
      start->combine = Combine::sum;
      start->state = {fresh(type)};
      auto add_own = std::make_unique<kir::Accumulate>();
      add_own->combine = Combine::sum;
      add_own->state = start->state;
      add_own->in = {own};
      auto prefix = std::make_unique<kir::Prefix>();
      prefix->combine = Combine::sum;
      prefix->state = start->state;
      prefix->threads = kThreadsOfCounts;
      prefix->before = {fresh(type)};
      prefix->all = {fresh(type)};
      const Value in_front = prefix->before[0], of_all = prefix->all[0];
      add(std::move(start));
      add(std::move(add_own));
      add(std::move(prefix));
      const Value next = variable(zero());
      assign(next, apply(Pointwise::add, {before, in_front}));
      each([&](sym::Expr at) {
        const Value count = load(counts_, at);
        store(counts_, at, next);
        assign(next, apply(Pointwise::add, {next, count}));
      });
      assign(before, apply(Pointwise::add, {before, of_all}));
    });
  });
}

void ScatterEmitter::make_places() {
  begin_phase();
  if (on_gpu_) return make_places_by_threads();
  const Value before = variable(Constant::from_int64(kernel_.buffers[counts_].dtype, 0));
  const sym::Expr range = variable_below(ranges_), chunk = variable_below(chunks_);
  loop(range, ranges_, kir::LoopKind::serial, [&] {
    loop(chunk, chunks_, kir::LoopKind::serial, [&] {
      const sym::Expr at = chunk * ranges_ + range;
      const Value sum = apply(Pointwise::add, {before, load(counts_, at)});
      store(counts_, at, before);
      assign(before, sum);
    });
  });
}

void ScatterEmitter::put_updates() {
  over_chunk([&](sym::Expr chunk, sym::Expr update) {
    const sym::Expr place = index_at(plan_.parts[plan_.widest], update);
    guarded(is_inside(place), [&] {
      const sym::Expr at = slot(chunk, sym::floordiv(place, rows_));
      const Value free = load(counts_, at);
      store(counts_, at, plus_one(free));
      const sym::Expr to = bind(free);
      store(targets_, to, convert(coordinate(place), compute_type(kernel_.buffers[targets_].dtype)));
      if (numbers_) store(*numbers_, to, convert(coordinate(update), compute_type(kernel_.buffers[*numbers_].dtype)));
      for (size_t k = 0; k < plan_.parts.size(); ++k)
        if (moved_[k]) store(*moved_[k], to, operand_at(*plan_.parts[k].op, 2, coordinates(plan_.parts[k], update)));
    });
  });
}

void ScatterEmitter::walk_ranges() {
  begin_phase();
  const bool tiled = tiles_.constant() != 1;
  over_tasks(ranges_ * tiles_, !plan_.parts[plan_.widest].has_inner(), [&](sym::Expr task) {
    const sym::Expr range = tiled ? sym::floordiv(task, tiles_) : task;
    tile_ = tiled ? sym::mod(task, tiles_) : number(0);
    first_ = range * rows_;
    count_ = number(rows_);
    copy();
    // Counts are where the updates of a chunk and a range end now.
    const Value before = variable(Constant::from_int64(compute_type(kernel_.buffers[counts_].dtype), 0));
    guarded(sym::gt(range, 0), [&] { assign(before, load(counts_, slot(chunks_ - 1, range - 1))); });
    const sym::Expr begin = bind(before), end = bind(load(counts_, slot(chunks_ - 1, range)));
    const sym::Expr step = variable_below(end - begin);
    loop(step, end - begin, kir::LoopKind::serial, [&] {
      const sym::Expr place = bind(load(targets_, begin + step));
      const sym::Expr update = numbers_ ? bind(load(*numbers_, begin + step)) : number(0);
      for (size_t k = 0; k < plan_.parts.size(); ++k) {
        const ScatterPart& part = plan_.parts[k];
        const auto src = [&](const Coordinates& at) {
          return moved_[k] ? load(*moved_[k], begin + step) : operand_at(*part.op, 2, at);
        };
        over_inner(part, *part.op->index, true, [&] { apply_update(k, place, src, update); });
      }
    });
    finish();
  });
}

}  // namespace plait::lowering
