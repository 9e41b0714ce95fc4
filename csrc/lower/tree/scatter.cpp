#include "lower/tree/scatter.h"

#include <algorithm>

#include "axes/operand_read.h"
#include "base/error.h"
#include "scalar/index_status.h"

namespace plait::lowering {

ScatterEmitter::ScatterEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes,
                               KernelExtents& extents, const LowerOptions& options, kir::Kernel& kernel)
    : TreeEmitter(group, tree, extents, options, kernel), tree_(tree), axes_(axes) {
  const auto refused = plan_scatters(group.graph->ops(), group.graph->outputs(), plan_);
  PLAIT_CHECK(!refused, "kernel {}: {}", options.name, refused->reason);
  const auto& numbers = std::get<schedules::Scatter>(group.schedule);
  on_gpu_ = options.target == TargetKind::cuda;
  lanes_ = numbers.vector.value_or(1);
  rows_ = numbers.rows.value_or(0);
  columns_ = numbers.columns.value_or(0);
  chunk_ = numbers.chunk.value_or(0);
  atomics_ = numbers.atomics.value_or(0) > 0;
  for (size_t k = 0; k < plan_.parts.size(); ++k) part_of_[plan_.parts[k].op] = k;
}

void ScatterEmitter::run() {
  const ScatterPart& widest = plan_.parts[plan_.widest];
  const size_t dim = size_t(widest.op->dim), last = widest.op->results[0]->rank() - 1;
  places_ = extents_(widest.op->in->extent(dim));
  updates_ = extents_(widest.op->index->extent(dim));
  if (places_.constant() == 0 || updates_.constant() == 0) rows_ = 0;  // nothing to sort
  const bool cut = widest.has_inner() && columns_ > 0;
  tiles_ = cut ? sym::ceildiv(extents_(widest.op->in->extent(last)), columns_) : number(1);
  const auto narrow = [](const ScatterPart& p) { return !p.has_inner(); };
  if (widest.has_inner() && std::any_of(plan_.parts.begin(), plan_.parts.end(), narrow)) {
    tiles_ =
        rows_ > 0 ? sym::max(tiles_, 1) : number(1);  // without ranges each task would write all that has no column
    if (rows_ == 0) columns_ = 0;
  }
  declare();
  if (atomics_) return in_atomics();
  rows_ > 0 ? in_ranges() : in_one_walk();
}

uint32_t ScatterEmitter::declare_buffer(std::string name, DType dtype, sym::Expr extent, kir::Space space) {
  const auto taken = [&](const kir::Buffer& b) { return b.name == name; };
  while (std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), taken)) name += "_";
  kernel_.buffers.push_back({name, dtype, extent, false, false, space});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

// Arguments first, then the status, workspaces, what lies on the stack.
void ScatterEmitter::declare() {
  const Fusion& graph = *group_.graph;
  const auto elements = [&](const TensorView& t) {
    sym::Expr count = number(1);
    for (const Axis& a : t.domain.logical) count = count * extents_(a.extent);
    return count;
  };
  for (const TensorView* t : graph.inputs())
    arguments_[t] = declare_buffer(t->name, t->dtype, elements(*t), kir::Space::argument);
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const TensorView* t = graph.outputs()[i];
    arguments_[t] = declare_buffer(group_.outputs[i], t->dtype, elements(*t), kir::Space::argument);
    kernel_.buffers.back().written = true;
  }
  declare_status();
  if (rows_ > 0) declare_sorted();
  homes_.resize(plan_.parts.size());
  for (const bool on_stack : {false, true})
    for (size_t k = 0; k < plan_.parts.size(); ++k)
      if (stack_elements(plan_.parts[k]).has_value() == on_stack) declare_result(k);
}

// Elements of a range where it has a buffer on the stack. An output whose tasks share no element is updated in memory.
std::optional<int64_t> ScatterEmitter::stack_elements(const ScatterPart& part) const {
  if (rows_ == 0 || on_gpu_) return std::nullopt;
  const TensorView& t = *part.op->results[0];
  const bool is_output = arguments_.contains(&t), apart = part.has_inner() || !plan_.parts[plan_.widest].has_inner();
  if (is_output && apart) return std::nullopt;
  if (!part.has_inner()) return rows_;
  for (size_t d = part.inner; d + 1 < t.rank(); ++d)
    if (t.extent(d).constant() != 1) return std::nullopt;
  const int64_t most = kir::kMostStackBytes / int64_t(size_of(t.dtype));
  const int64_t columns = columns_ > 0 ? columns_ : sym::bounds(t.extent(t.rank() - 1)).hi;
  return columns <= most / rows_ ? std::optional(rows_ * columns) : std::nullopt;
}

void ScatterEmitter::declare_result(size_t k) {
  const ScatterPart& part = plan_.parts[k];
  const TensorView& t = *part.op->results[0];
  if (const auto elements = stack_elements(part)) {
    homes_[k] = {declare_buffer(t.name + "_rows", t.dtype, number(*elements), kir::Space::stack), true};
    return;
  }
  if (const auto argument = arguments_.find(&t); argument != arguments_.end()) {
    homes_[k] = {argument->second, false};
    kernel_.buffers[argument->second].updated = true;
    return;
  }
  sym::Expr count = number(1);
  for (const Axis& a : t.domain.logical) count = count * extents_(a.extent);
  homes_[k] = {declare_buffer(t.name, t.dtype, count, kir::Space::workspace), false};
}

sym::Expr ScatterEmitter::variable_below(sym::Expr extent) {
  return kernel_.pool->symbol(fmt::format("i{}", loops_++), sym::index_facts(extent));
}

void ScatterEmitter::begin_phase() {
  if (!frames_.empty()) kernel_.phases.emplace_back();
  frames_.clear();
  values_.clear();
  frames_.push_back({&kernel_.phases.back().body, std::nullopt});
}

void ScatterEmitter::loop(sym::Expr var, sym::Expr extent, kir::LoopKind kind, const Body& body) {
  auto stmt = std::make_unique<kir::For>();
  stmt->var = var;
  stmt->extent = extent;
  stmt->loop = kind;
  frames_.push_back({&stmt->body, std::nullopt});
  body();
  leave();
  add(std::move(stmt));
}

// Coordinates of an element of the part's tensors: `along` the scattered dim, the others as the loops have them.
TreeEmitter::Coordinates ScatterEmitter::coordinates(const ScatterPart& part, sym::Expr along) const {
  const TensorView& t = *part.op->results[0];
  Coordinates at;
  for (size_t d = 0; d < t.rank(); ++d) {
    const bool inner = d >= part.inner && t.rank() - 1 - d < inner_.size();
    const bool batch = d < part.inner && d < batch_.size();
    at.push_back(d == size_t(part.op->dim) ? along : inner ? inner_[t.rank() - 1 - d] : batch ? batch_[d] : number(0));
  }
  return at;
}

// Loops over the inner dims of `of`, the last one in vectors and only its tile.
void ScatterEmitter::over_inner(const ScatterPart& part, const TensorView& of, bool vectors, const Body& body) {
  if (!part.has_inner()) return body();
  const size_t rank = of.rank();
  inner_.assign(rank - part.inner, number(0));
  std::function<void(size_t)> over = [&](size_t d) {
    const sym::Expr extent = extents_(of.extent(d));
    if (d + 1 < rank) {
      if (extent.constant() == 1) return over(d + 1);
      const sym::Expr var = inner_[rank - 1 - d] = variable_below(extent);
      return loop(var, extent, kir::LoopKind::serial, [&] { over(d + 1); });
    }
    int64_t width = vectors ? lanes_ : 1;
    while (columns_ % width != 0) width /= 2;  // a tile is whole vectors
    const sym::Expr cut = columns_ > 0 ? number(columns_) : extent;
    const sym::Expr steps = sym::ceildiv(cut, width), step = variable_below(steps);
    const sym::Expr start = columns_ > 0 ? tile_ * columns_ : number(0);
    const auto element = [&](sym::Expr column) {
      inner_[0] = column;
      guarded(sym::lt(column, extent), body);
    };
    loop(step, steps, on_gpu_ ? kir::LoopKind::threads : kir::LoopKind::serial, [&] {
      if (width == 1) return element(start + step);
      const sym::Expr lane = variable_below(number(width));
      loop(lane, number(width), kir::LoopKind::lanes, [&] { element(start + step * width + lane); });
    });
  };
  over(part.inner);
  inner_.clear();
}

// body() at every element of the part's result in the present range and tile; `along_` is its place.
void ScatterEmitter::over_places(const ScatterPart& part, const Body& body) {
  const auto at = [&](sym::Expr offset) {
    along_ = first_ + offset;
    guarded(sym::lt(along_, places_),
            [&] { part.has_inner() ? over_inner(part, *part.op->results[0], true, body) : body(); });
  };
  if (part.has_inner() || lanes_ == 1) {
    const sym::Expr row = variable_below(count_);
    return loop(row, count_, kir::LoopKind::serial, [&] { at(row); });
  }
  int64_t width = lanes_;
  while (rows_ > 0 && width > rows_) width /= 2;
  const sym::Expr steps = sym::ceildiv(count_, width), step = variable_below(steps);
  loop(step, steps, kir::LoopKind::serial, [&] {
    const sym::Expr lane = variable_below(number(width));
    loop(lane, number(width), width > 1 ? kir::LoopKind::lanes : kir::LoopKind::serial, [&] {
      const sym::Expr offset = step * width + lane;
      guarded(sym::lt(offset, count_), [&] { at(offset); });
    });
  });
}

// Where the result has the element at this place, or will have.
sym::Expr ScatterEmitter::home_index(size_t k, sym::Expr place) {
  const ScatterPart& part = plan_.parts[k];
  const TensorView& t = *part.op->results[0];
  if (!homes_[k].is_local) return memory_offset(t, coordinates(part, place));
  if (!part.has_inner()) return place - first_;
  const sym::Expr extent = extents_(t.extent(t.rank() - 1));
  const sym::Expr columns = columns_ > 0 ? sym::min(extent, columns_) : extent;
  return (place - first_) * columns + inner_[0] - (columns_ > 0 ? tile_ * columns_ : number(0));
}

// The tensor's value at these coordinates, computed here from what is in memory and from results of scatters.
kir::Value ScatterEmitter::value_at(const TensorView& t, const Coordinates& at) {
  if (is_input(t)) return load_at(t, at);
  std::vector<uint64_t> ids;
  for (sym::Expr e : at) ids.push_back(e.id());
  if (const auto known = known_.find({&t, ids}); known != known_.end()) return known->second;
  const Op& op = *t.definition;
  if (const auto part = part_of_.find(&op); part != part_of_.end()) {
    const sym::Expr place = at[size_t(plan_.parts[part->second].op->dim)];
    return known_[{&t, ids}] = load(homes_[part->second].buffer, home_index(part->second, place));
  }
  const auto value_of = [&](const TensorView& in, const Coordinates& there) { return value_at(in, there); };
  return known_[{&t, ids}] = computed_at(op, at, axes_, tree_, value_of);
}

// An operand of a scatter, as its result's type holds it.
kir::Value ScatterEmitter::operand_at(const Scatter& op, size_t i, const Coordinates& at) {
  const TensorView& t = *inputs(op)[i];
  PlacedOp placed;
  placed.op = &op;
  placed.operands.resize(inputs(op).size());
  placed.operands[i].at = at;
  known_.clear();
  if (!is_input(t)) {
    const Value value = value_at(t, at);
    tree_.ops[t.definition].op = t.definition;
    values_.insert_or_assign(&t, Known{value, frames_.size() - 1});
  }
  tree_.ops[&op] = placed;
  return operand(op, i, is_narrow(t.dtype));
}

// The place that an update of the part goes to, of those that the result has; nothing is known of it.
sym::Expr ScatterEmitter::index_at(const ScatterPart& part, sym::Expr update) {
  const sym::Expr j = bind(operand_at(*part.op, 1, coordinates(part, update)));
  return part.op->range.empty() ? j : j - extents_(part.op->range[0]);
}

sym::Expr ScatterEmitter::is_inside(sym::Expr place) const {
  return sym::logical_and(sym::ge(place, 0), sym::lt(place, places_));
}

// An index that rows share stands first in its tensor where they begin.
void ScatterEmitter::report_outside(const ScatterPart& part, sym::Expr place, sym::Expr update) {
  if (!ordinals_.contains(part.op)) return;
  const std::vector<sym::Expr>& range = part.op->range;
  const sym::Expr j = range.empty() ? place : place + extents_(range[0]);
  sym::Expr outside = sym::logical_not(range.empty() ? is_inside(place)
                                                     : sym::logical_and(sym::ge(j, 0), sym::lt(j, extents_(range[1]))));
  for (size_t d = part.inner; d < part.op->index->rank() && !part.per_element; ++d)
    outside = sym::logical_and(outside, sym::gt(extents_(part.op->index->extent(d)), 0));
  guarded(outside, [&] { report(*part.op, j, coordinates(part, update)); });
}

// The results hold what their operands do.
void ScatterEmitter::copy() {
  for (size_t k = 0; k < plan_.parts.size(); ++k) {
    const ScatterPart& part = plan_.parts[k];
    if (homes_[k].is_local) {
      auto alloc = std::make_unique<kir::Alloc>();
      alloc->buffer = homes_[k].buffer;
      add(std::move(alloc));
    }
    over_places(part, [&] {
      const Value in = operand_at(*part.op, 0, coordinates(part, along_));
      store(homes_[k].buffer, home_index(k, along_), in);
    });
  }
}

// One update of the part, along its inner dims.
void ScatterEmitter::apply_update(size_t k, sym::Expr place, const std::function<Value(const Coordinates&)>& src,
                                  sym::Expr update) {
  const ScatterPart& part = plan_.parts[k];
  const sym::Expr at = home_index(k, place);
  const Value before = part.op->update == ScatterUpdate::set ? Value() : load(homes_[k].buffer, at);
  store(homes_[k].buffer, at, combined(part.op->update, before, src(coordinates(part, update))));
}

// Outputs of the part's dims that are not in memory yet.
std::vector<const TensorView*> ScatterEmitter::unwritten(size_t k) const {
  const std::vector<TensorView*>& outputs = group_.graph->outputs();
  std::vector<const TensorView*> out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto own = part_of_.find(outputs[i]->definition);
    const bool there = own != part_of_.end() && !homes_[own->second].is_local;
    if (plan_.like[i] == k && !there) out.push_back(outputs[i]);
  }
  return out;
}

// Their elements where a pass over places is.
void ScatterEmitter::write(const std::vector<const TensorView*>& outputs, const ScatterPart& part) {
  const Coordinates of = coordinates(part, along_);
  known_.clear();
  for (const TensorView* t : outputs) {
    Coordinates at;
    for (int d : dims_like(*t, part)) at.push_back(d < 0 ? number(0) : of[size_t(d)]);
    const Value value = value_at(*t, at);
    store(arguments_.at(t), memory_offset(*t, at), value);
  }
}

void ScatterEmitter::finish() {
  for (size_t k = 0; k < plan_.parts.size(); ++k) {
    const ScatterPart& part = plan_.parts[k];
    const std::vector<const TensorView*> mine = unwritten(k);
    if (mine.empty()) continue;
    // Of tasks that differ in their columns the first writes what has none.
    guarded(part.has_inner() ? number(1) : sym::eq(tile_, 0), [&] { over_places(part, [&] { write(mine, part); }); });
  }
}

// One phase: each task has its columns and its coordinates in front of the inner dims.
void ScatterEmitter::in_one_walk() {
  const ScatterPart& widest = plan_.parts[plan_.widest];
  const TensorView& t = *widest.op->results[0];
  begin_phase();
  first_ = number(0);
  count_ = places_;
  std::vector<sym::Expr> extents(widest.inner, number(1));
  sym::Expr tasks = tiles_;
  for (size_t d = 0; d < widest.inner; ++d) {
    if (d == size_t(widest.op->dim)) continue;
    extents[d] = extents_(t.extent(d));
    tasks = tasks * extents[d];
  }
  const auto task = [&](sym::Expr rest) {
    tile_ = tiles_.constant() == 1 ? number(0) : sym::mod(rest, tiles_);
    if (tiles_.constant() != 1) rest = sym::floordiv(rest, tiles_);
    batch_.assign(widest.inner, number(0));
    std::vector<size_t> dims;
    for (size_t d = 0; d < widest.inner; ++d)
      if (extents[d].constant() != 1) dims.push_back(d);
    for (size_t i = dims.size(); i-- > 0;) {
      batch_[dims[i]] = i > 0 ? sym::mod(rest, extents[dims[i]]) : rest;
      if (i > 0) rest = sym::floordiv(rest, extents[dims[i]]);
    }
    copy();
    for (size_t k = 0; k < plan_.parts.size(); ++k) walk(k);
    finish();
  };
  if (tasks.constant() == 1 && (!on_gpu_ || widest.has_inner())) return task(number(0));
  over_tasks(tasks, !widest.has_inner(), task);
}

// On GPUs a task is a block, whose threads have its columns, or a thread.
void ScatterEmitter::over_tasks(sym::Expr tasks, bool by_threads, const std::function<void(sym::Expr)>& body,
                                int64_t threads) {
  if (!on_gpu_ || !by_threads) {
    const sym::Expr task = variable_below(tasks);
    return loop(task, tasks, on_gpu_ ? kir::LoopKind::block_x : kir::LoopKind::cpu_thread, [&] { body(task); });
  }
  const sym::Expr blocks = sym::ceildiv(tasks, kThreadsOfTasks), block = variable_below(blocks);
  loop(block, blocks, kir::LoopKind::block_x, [&] {
    const sym::Expr thread = variable_below(number(threads));
    loop(thread, number(threads), kir::LoopKind::threads, [&] {
      const sym::Expr task = block * kThreadsOfTasks + thread;
      const sym::Expr has_one = sym::lt(thread, kThreadsOfTasks);
      guarded(sym::logical_and(has_one, sym::lt(task, tasks)), [&] { body(task); });
    });
  });
}

// All updates of a part, in order.
void ScatterEmitter::walk(size_t k) {
  const ScatterPart& part = plan_.parts[k];
  const TensorView& index = *part.op->index;
  sym::Expr reached = number(1);
  for (size_t d = 0; d < part.inner; ++d)
    if (d != size_t(part.op->dim) && index.extent(d) != part.op->in->extent(d))
      reached = sym::logical_and(reached, sym::lt(batch_[d], extents_(index.extent(d))));
  const auto src = [&](const Coordinates& at) { return operand_at(*part.op, 2, at); };
  guarded(reached, [&] {
    const sym::Expr update = variable_below(updates_);
    loop(update, updates_, kir::LoopKind::serial, [&] {
      const auto one = [&] {
        const sym::Expr place = index_at(part, update);
        guarded(is_inside(place), [&] {
          const auto element = [&] { apply_update(k, place, src, update); };
          part.per_element ? element() : over_inner(part, index, true, element);
        });
        report_outside(part, place, update);
      };
      part.per_element ? over_inner(part, index, false, one) : one();
    });
  });
}

}  // namespace plait::lowering
