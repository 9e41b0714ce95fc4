// Loop variables, roles of the loops, and the walk from them to every axis.
#include <algorithm>

#include "base/error.h"
#include "kir/stmt.h"
#include "lower/state.h"

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
    case ParallelType::stream:
      break;
  }
  throw UserError("a stream axis inside a kernel", state.where(), "bind it to threads or leave it serial");
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
  sym::SymbolInfo facts;
  facts.lo = 0;
  if (const auto n = loop.extent.constant())
    facts.hi = std::max<int64_t>(*n - 1, 0);
  else
    facts.below = loop.extent;
  loop.var = state.pool->symbol(loop.is_lane() ? std::string(kir::kLane) : fmt::format("i{}", number), facts);
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

// A running sum goes along one serial loop, inside of all others.
void find_scan(State& state) {
  for (const Op* op : state.group.ops) {
    const auto* sum = as<CumSum>(*op);
    if (sum == nullptr) continue;
    const int cls = state.group.graph.find(state.group.axes.at(sum->out()).logical[static_cast<size_t>(sum->dim)]);
    if (state.group.graph.unit(cls)) return;
    const auto serial = [](const Loop& l) { return l.role == LoopRole::bound || l.role == LoopRole::serial; };
    const Loop& last = state.loops.back();
    if (last.cls != cls || last.role != LoopRole::serial ||
        !std::all_of(state.loops.begin(), state.loops.end(), serial))
      refuse(state, fmt::format("the running sum along dim {} is not its innermost serial loop", sum->dim),
             "leave that dim whole, serial and last, and no lanes");
    state.scan = last.var;
  }
}

// A scatter writes anywhere along its dim, which therefore stays within one iteration of the bound loops.
void find_scatter(State& state) {
  const auto* op = as<ScatterAdd>(*state.group.ops.front());
  if (op == nullptr) return;
  state.scatter = state.group.graph.find(state.group.axes.at(op->out()).logical[static_cast<size_t>(op->dim)]);
  const auto along = [&](const Loop& l) { return l.cls == state.scatter && l.role == LoopRole::serial; };
  const auto in_lanes = [](const Loop& l) { return l.is_lane(); };
  const bool whole =
      state.group.graph.unit(state.scatter) || std::any_of(state.loops.begin(), state.loops.end(), along);
  if (!whole || std::any_of(state.loops.begin(), state.loops.end(), in_lanes))
    refuse(state, fmt::format("the scatter along dim {} is not a serial loop of its own", op->dim),
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
  find_scatter(state);
  state.walk.emplace(state.group.graph);
  for (const Loop& l : state.loops) state.walk->seed(l.cls, l.var);
  state.walk->run();
}

}  // namespace plait::lowering
