// Loop variables, roles of the loops, and the walk from them to every axis.
#include <algorithm>

#include "base/error.h"
#include "kir/stmt.h"
#include "lower/statements.h"

namespace plait::lowering {

namespace {

kir::LoopKind bound_kind(const State& state, ParallelType type) {
  switch (type) {
    case ParallelType::block_x:
      return kir::LoopKind::block_x;
    case ParallelType::block_y:
      return kir::LoopKind::block_y;
    case ParallelType::block_z:
      return kir::LoopKind::block_z;
    case ParallelType::thread_x:
      return kir::LoopKind::thread_x;
    case ParallelType::thread_y:
      return kir::LoopKind::thread_y;
    case ParallelType::thread_z:
      return kir::LoopKind::thread_z;
    case ParallelType::cpu_thread:
      return kir::LoopKind::cpu_thread;
    case ParallelType::serial:
    case ParallelType::vectorize:
    case ParallelType::unroll:
      return kir::LoopKind::serial;
    case ParallelType::cluster:
    case ParallelType::stream:
      break;
  }
  throw UserError(fmt::format("a {} axis inside a kernel of one nest", name(type)), state.where(),
                  "bind it to threads or leave it serial");
}

[[noreturn]] void refuse(const State& state, const std::string& what, const std::string& remedy) {
  throw UserError(fmt::format("loops of %{}: {}", state.nest.reference->name, what), state.where(), remedy);
}

int64_t constant_extent(const State& state, const Loop& loop, const char* what) {
  const auto extent = loop.extent.constant();
  if (!extent || *extent < 1 || *extent > 64)
    refuse(state, fmt::format("a {} loop of extent {}", what, sym::print(loop.extent)), "split off 1 to 64 iterations");
  return *extent;
}

Loop make_loop(State& state, const NestLoop& l, size_t number) {
  Loop loop;
  loop.cls = l.cls;
  loop.idle = l.idle;
  loop.extent = state.group.graph.extent(l.cls);
  loop.kind = bound_kind(state, l.parallel);
  loop.role = l.parallel == ParallelType::vectorize ? (l.reduction ? LoopRole::sum_lane : LoopRole::lane)
              : l.parallel == ParallelType::unroll  ? LoopRole::unroll
              : loop.kind != kir::LoopKind::serial  ? LoopRole::bound
              : l.reduction                         ? LoopRole::sum
                                                    : LoopRole::serial;
  if (loop.role == LoopRole::sum_lane && state.kernel.target != TargetKind::cpu)
    refuse(state, "a summed axis is vectorize, which belongs to target cpu", "leave summed axes serial");
  if (l.reduction && !loop.is_summed())
    refuse(state, fmt::format("a summed axis is {}", plait::name(l.parallel)),
           "leave summed axes serial or vectorize one");
  loop.var = state.pool->symbol(loop.is_lane() ? std::string(kir::kLane) : fmt::format("i{}", number),
                                sym::index_facts(loop.extent));
  return loop;
}

// Bound loops stand outermost; kept loops stand outside of sums, so that a sum needs no memory, but for those that run
// once; lanes are innermost.
void check_order(const State& state, const std::vector<Loop>& loops) {
  const auto rank = [](const Loop& l) { return l.role == LoopRole::bound ? 0 : l.role == LoopRole::sum ? 2 : 1; };
  int last = 0;
  for (const Loop& l : loops) {
    const bool once = l.idle && l.role == LoopRole::serial && last == 2;
    if (once || l.is_lane() || l.role == LoopRole::unroll) continue;
    if (rank(l) < last)
      refuse(state,
             last == 2 ? "a kept loop stands inside of a summed one" : "a bound loop stands inside of a serial one",
             last == 2 ? "reorder: kept loops first" : "reorder: bound loops first");
    last = rank(l);
  }
}

// A scan goes along one serial loop, inside of all others.
void find_scan(State& state) {
  for (const Op* op : state.group.ops) {
    const auto scan = scan_of(*op);
    if (!scan) continue;
    const auto& axes = state.group.axes.at(op->results[0]).logical;
    const int cls = state.group.graph.find(axes[static_cast<size_t>(scan->dim)]);
    if (state.group.graph.unit(cls)) return;
    const auto serial = [](const Loop& l) { return l.role == LoopRole::bound || l.role == LoopRole::serial; };
    const Loop& last = state.loops.back();
    if (last.cls != cls || last.role != LoopRole::serial ||
        !std::all_of(state.loops.begin(), state.loops.end(), serial))
      refuse(state, fmt::format("the scan along dim {} is not its innermost serial loop", scan->dim),
             "leave that dim whole, serial and last, and no lanes");
    state.scan = last.var;
  }
}

// A scatter writes anywhere in a range of its dim, along which one serial loop goes, or which is one place; the bound
// loops tell which range.
void find_scatter(State& state) {
  const auto* op = as<Scatter>(*state.group.ops.front());
  if (op == nullptr) return;
  const int cls = state.group.graph.find(state.group.axes.at(op->out()).logical[static_cast<size_t>(op->dim)]);
  const sym::Expr at = state.walk->value(cls);
  bool one = true;
  for (const Loop& l : state.loops) {
    if (l.role == LoopRole::bound || !depends_on(at, l.var)) continue;
    const auto step = affine_in(at, l.var);
    one = one && !state.scatter && l.role == LoopRole::serial && step && step->step == 1;
    state.scatter = l.var;
  }
  const auto in_lanes = [](const Loop& l) { return l.is_lane(); };
  if (!one || std::any_of(state.loops.begin(), state.loops.end(), in_lanes))
    refuse(state, fmt::format("the scatter along dim {} is not a serial loop of its own", op->dim),
           "leave that dim, or its ranges, whole and serial, and no lanes");
}

// A sort has loops of its own along its dim; those of the nest hold its other dims, one element each.
void find_sort(const State& state) {
  const auto* op = as<Sort>(*state.group.ops.front());
  if (op == nullptr) return;
  const int cls = state.group.graph.find(state.group.axes.at(op->results[0]).logical[static_cast<size_t>(op->dim)]);
  const bool unit = state.group.graph.unit(cls);
  const auto fits = [&](const Loop& l) {
    return !l.is_lane() && l.role != LoopRole::unroll && (l.cls != cls || unit || l.role == LoopRole::serial);
  };
  const auto along = [&](const Loop& l) { return l.cls == cls; };
  if (!std::all_of(state.loops.begin(), state.loops.end(), fits) ||
      (!unit && std::none_of(state.loops.begin(), state.loops.end(), along)))
    refuse(state, fmt::format("dim {}, which is sorted, is not a serial loop of its own", op->dim),
           "leave that dim whole and serial, and no lanes");
}

}  // namespace

void index_loops(State& state) {
  std::vector<Loop> loops;
  for (const NestLoop& l : state.nest.loops) loops.push_back(make_loop(state, l, loops.size()));
  check_order(state, loops);
  for (const Loop& l : loops) {
    if (l.role == LoopRole::unroll) constant_extent(state, l, "unroll");
    if (!l.is_lane()) continue;
    if (state.lane) refuse(state, "two vectorize loops", "vectorize one");
    if (l.idle) refuse(state, "the vectorize loop drives no axis", "vectorize an axis that is longer than 1");
    const int lanes = static_cast<int>(constant_extent(state, l, "vectorize"));
    if ((lanes & (lanes - 1)) != 0) refuse(state, fmt::format("{} lanes", lanes), "lanes are a power of two");
    (l.role == LoopRole::lane ? state.lanes : state.sum_lanes) = lanes;
    state.lane = l.var;
  }
  const auto place = [](const Loop& l) { return l.is_lane() ? 2 : l.role == LoopRole::sum ? 1 : 0; };
  std::stable_sort(loops.begin(), loops.end(), [&](const Loop& a, const Loop& b) { return place(a) < place(b); });
  state.loops = std::move(loops);
  find_scan(state);
  state.walk.emplace(state.group.graph);
  for (const Loop& l : state.loops) state.walk->seed(l.cls, l.var);
  state.walk->run();
  find_scatter(state);
  find_sort(state);
}

}  // namespace plait::lowering
