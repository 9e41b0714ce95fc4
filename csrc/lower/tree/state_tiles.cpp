// Reductions inside of which loops over kept dims stand: a state for each of their iterations, on the stack; or, of
// more than that holds, in a workspace, where the states are the result as well. Where those loops are unrolled and
// lanes, as a tile of a matrix product is, the compiler holds the states in registers. Where lanes run along the sum
// each has a state of its own, and these are added in pairs at the end. A long sum of floats has a part (find_parts),
// with a state for each iteration of the kept loops inside of it, which is added to the whole behind it.
#include "base/error.h"
#include "lower/tree/emitter.h"
#include "schedule/nest.h"

namespace plait::lowering {

namespace {

// How an element goes into a state of one value that lies in memory.
Pointwise function_of(Combine combine) {
  for (Pointwise function : {Pointwise::add, Pointwise::mul, Pointwise::max, Pointwise::min})
    if (combine_of(function) == combine) return function;
  PLAIT_CHECK(false, "a tile of states of {}", name(combine));
  __builtin_unreachable();
}

}  // namespace

bool TreeEmitter::has_tile(const Op& op) const {
  const auto at = tree_.ops.find(&op);
  return at != tree_.ops.end() && !at->second.state_loops.empty() && kind_of(op).form == Form::sum;
}

// Of more states than the stack of a task holds.
bool TreeEmitter::has_tile_in_memory(const Op& op) const {
  const auto kept = group_.kept.find(op.results[0]);
  return has_tile(op) && kept != group_.kept.end() &&
         sym::bounds(kept->second).hi > kir::kMostStackBytes / int64_t(size_of(compute_type(op.results[0]->dtype)));
}

// The loop over lanes of what is summed; none where lanes are of kept dims.
const TreeLoop* TreeEmitter::lanes_of_sum(const Op& op) const {
  for (int id : tree_.path(placed(op).loop)) {
    const TreeLoop& l = tree_.loops[static_cast<size_t>(id)];
    if (l.parallel == ParallelType::vectorize && is_reduced_by(placed(op), l.var)) return &l;
  }
  return nullptr;
}

// Loops over the states, outermost first; of those in memory the one over tasks too.
std::vector<int> TreeEmitter::loops_of_tile(const Op& op) const {
  std::vector<int> out = placed(op).state_loops;
  if (!has_tile_in_memory(op)) return out;
  for (int l : tree_.path(placed(op).loop))
    if (tree_.loops[static_cast<size_t>(l)].parallel == ParallelType::cpu_thread) out.insert(out.begin(), l);
  return out;
}

// What a row-major index into the result of the op begins with: the task, where results of all tasks lie in memory.
sym::Expr TreeEmitter::first_of_task(const Op& op) const {
  const std::vector<int> loops = loops_of_tile(op);
  return loops.size() == placed(op).state_loops.size() ? number(0) : tree_.loops[static_cast<size_t>(loops[0])].var;
}

// Whether the item is a loop around nothing but a result that lies in memory already.
bool TreeEmitter::ends_tile_in_memory(const TreeItem& item) const {
  if (item.kind == TreeItem::Kind::finish) return has_tile_in_memory(*item.op);
  if (item.kind != TreeItem::Kind::loop) return false;
  const TreeLoop& loop = tree_.loops[static_cast<size_t>(item.loop)];
  return loop.items.size() == 1 && ends_tile_in_memory(loop.items[0]);
}

void TreeEmitter::declare_tiles() {
  for (const Op* op : group_.graph->ops()) {
    if (!has_tile(*op)) continue;
    PLAIT_CHECK(can_have_tile(*op), "{} needs states of several values for elements of kept loops", describe(*op));
    const auto kept = group_.kept.find(op->results[0]);
    const TreeLoop* lanes = lanes_of_sum(*op);
    const auto count = [&](const std::vector<int>& loops) {
      sym::Expr out = lanes != nullptr ? lanes->extent : number(1);
      for (int l : loops) out = out * tree_.loops[static_cast<size_t>(l)].extent;
      return !out.is_constant() && kept != group_.kept.end() ? sym::min(out, kept->second.value()) : out;
    };
    const Combine combine = combines_of(*op)[0];
    const DType dtype = state_types(combine, inputs(*op).front()->dtype)[0];
    if (!tiles_.contains(op)) {
      tiles_[op] = static_cast<uint32_t>(kernel_.buffers.size());
      kernel_.buffers.push_back({free_name(op->out()->name + "_states"), dtype, count(placed(*op).state_loops), false,
                                 false, kir::Space::stack});
    }
    if (!part_of_.contains(op)) continue;
    part_tiles_[op] = static_cast<uint32_t>(kernel_.buffers.size());
    kernel_.buffers.push_back(
        {free_name(op->out()->name + "_part"), dtype, count(part_loops_[op]), false, false, kir::Space::stack});
  }
}

// The element of a tile over these loops in this iteration: the loops around an init and a finish have the variables of
// those that they stand for.
sym::Expr TreeEmitter::place_in_tile(const std::vector<int>& loops) const {
  sym::Expr at = number(0);
  for (int l : loops) {
    const TreeLoop& loop = tree_.loops[static_cast<size_t>(l)];
    at = at * loop.extent + loop.var;
  }
  return at;
}

// Whether the item is the outermost loop around the initial values of a tile, in front of which the tile comes to life.
const Op* TreeEmitter::tile_begun_by(const TreeItem& item) const {
  if (item.kind != TreeItem::Kind::loop) return nullptr;
  const TreeLoop& loop = tree_.loops[static_cast<size_t>(item.loop)];
  if (loop.items.size() != 1) return nullptr;
  const TreeItem& inner = loop.items[0];
  if (inner.kind == TreeItem::Kind::init && has_tile(*inner.op)) return inner.op;
  return tile_begun_by(inner);
}

bool TreeEmitter::is_inside_of_start(const Op& op, int loop) const {
  return loop >= 0 && tile_begun_by({TreeItem::Kind::loop, loop}) == &op;
}

// For each lane of the sum, of a tile whose states in this iteration are those at `place`, or once where there are no
// lanes.
void TreeEmitter::over_states(const Op& op, const std::vector<int>& loops, const std::function<void(sym::Expr)>& body) {
  const TreeLoop* lanes = lanes_of_sum(op);
  const sym::Expr place = place_in_tile(loops);
  if (lanes == nullptr) return body(place);
  in_loop(*lanes, [&] { body(place * lanes->extent + lanes->var); });
}

// Loops as those over the tile of a part, from the given one inwards.
void TreeEmitter::over_part(const Op& op, size_t loop, const std::function<void()>& body) {
  const std::vector<int>& loops = part_loops_.at(&op);
  if (loop == loops.size()) return within(kept_terms(op), body);
  in_loop(tree_.loops[static_cast<size_t>(loops[loop])], [&] { over_part(op, loop + 1, body); });
}

void TreeEmitter::put_identity(const Op& op, uint32_t tile, const std::vector<int>& loops) {
  const Combine combine = combines_of(op)[0];
  const DType in = inputs(op).front()->dtype;
  const std::vector<DType> types = state_types(combine, in);
  const std::vector<Constant> none = identity(combine, types, types[0] != in ? std::optional(in) : std::nullopt);
  over_states(op, loops, [&](sym::Expr at) { store(tile, at, literal(none[0])); });
}

void TreeEmitter::start_tile(const Op& op) { put_identity(op, tiles_.at(&op), loops_of_tile(op)); }

void TreeEmitter::start_part_tile(const Op& op) {
  allocate(part_tiles_.at(&op));
  over_part(op, 0, [&] { put_identity(op, part_tiles_.at(&op), part_loops_.at(&op)); });
}

void TreeEmitter::merge_part_tile(const Op& op) {
  const TreeLoop* lanes = lanes_of_sum(op);
  over_part(op, 0, [&] {
    over_states(op, loops_of_tile(op), [&](sym::Expr at) {
      const sym::Expr in_part = place_in_tile(part_loops_.at(&op));
      const Value whole = load(tiles_.at(&op), at);
      const Value part = load(part_tiles_.at(&op), lanes != nullptr ? in_part * lanes->extent + lanes->var : in_part);
      store(tiles_.at(&op), at, apply(function_of(combines_of(op)[0]), {whole, part}));
    });
  });
}

// A product of both operands goes in with one rounding.
void TreeEmitter::add_to_tile(const Op& op) {
  const bool in_part = part_of_.contains(&op);
  const uint32_t tile = in_part ? part_tiles_.at(&op) : tiles_.at(&op);
  const DType type = kernel_.buffers[tile].dtype;
  const TreeLoop* lanes = lanes_of_sum(op);
  sym::Expr at = place_in_tile(in_part ? part_loops_.at(&op) : loops_of_tile(op));
  if (lanes != nullptr) at = at * lanes->extent + lanes->var;
  const Value before = load(tile, at), x = convert(operand(op, 0), type);
  if (property(op.kind) != OpProperty::contraction)
    return store(tile, at, apply(function_of(combines_of(op)[0]), {before, x}));
  const Value y = convert(operand(op, 1), type);
  store(tile, at,
        is_float(type) ? apply(Pointwise::fma, {x, y, before})
                       : apply(Pointwise::add, {before, apply(Pointwise::mul, {x, y})}));
}

TreeEmitter::Value TreeEmitter::state_in_tile(const Op& op) {
  if (lanes_of_sum(op) == nullptr) return load(tiles_.at(&op), place_in_tile(loops_of_tile(op)));
  auto start = std::make_unique<kir::Start>();
  start->combine = combines_of(op)[0];
  start->state = {fresh(kernel_.buffers[tiles_.at(&op)].dtype)};
  const Part state = start->state;
  add(std::move(start));
  over_states(op, loops_of_tile(op), [&](sym::Expr at) {
    auto stmt = std::make_unique<kir::Accumulate>();
    stmt->combine = combines_of(op)[0];
    stmt->state = state;
    stmt->in = {load(tiles_.at(&op), at)};
    add(std::move(stmt));
  });
  return fold(combines_of(op)[0], state)[0];
}

}  // namespace plait::lowering
