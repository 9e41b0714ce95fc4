// The walk over the loop tree: blocks, guards, buffers.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "lower/tree/emitter.h"
#include "scalar/index_status.h"
#include "schedule/nest.h"

namespace plait::lowering {

namespace {

bool same_term(const RangeTerm& a, const RangeTerm& b) { return a.value == b.value && a.bound == b.bound; }

bool has_term(const std::vector<RangeTerm>& list, const RangeTerm& term) {
  return std::any_of(list.begin(), list.end(), [&](const RangeTerm& t) { return same_term(t, term); });
}

// Whether `by` says as much: q < ceildiv(n, w) where q*w + r < n and 0 <= r < w.
bool is_implied(const RangeTerm& term, const RangeTerm& by) {
  if (!sym::proven(sym::ge(term.value, 0))) return false;
  for (int64_t w = 2; w <= 64; w *= 2) {
    if (sym::ceildiv(by.bound, w) != term.bound) continue;
    const sym::Expr rest = by.value - term.value * w;
    if (sym::proven(sym::ge(rest, 0)) && sym::proven(sym::lt(rest, w))) return true;
  }
  return false;
}

kir::LoopKind loop_kind(ParallelType type) {
  switch (type) {
    case ParallelType::cpu_thread:
      return kir::LoopKind::cpu_thread;
    case ParallelType::vectorize:
      return kir::LoopKind::lanes;
    case ParallelType::block_x:
      return kir::LoopKind::block_x;
    case ParallelType::block_y:
      return kir::LoopKind::block_y;
    case ParallelType::thread_x:
      return kir::LoopKind::threads;
    case ParallelType::thread_y:
      return kir::LoopKind::threads_y;
    case ParallelType::cluster:
      return kir::LoopKind::clusters;
    case ParallelType::serial:
    case ParallelType::unroll:
      return kir::LoopKind::serial;
    default:
      break;
  }
  PLAIT_CHECK(false, "a {} loop in a loop tree", name(type));
}

}  // namespace

TreeEmitter::TreeEmitter(const ScheduledGroup& group, const LoopTree& tree, KernelExtents& extents,
                         const LowerOptions& options, kir::Kernel& kernel)
    : group_(group), tree_(tree), extents_(extents), options_(options), kernel_(kernel) {}

void TreeEmitter::run() {
  find_parts();
  declare_buffers();
  declare_tiles();
  find_terms();
  kernel_.phases.resize(1 + tree_.later.size());
  for (size_t i = 0; i < kernel_.phases.size(); ++i) {
    frames_.push_back({&kernel_.phases[i].body, std::nullopt});
    items(i == 0 ? tree_.items : tree_.later[i - 1], -1);
    leave();
  }
}

void TreeEmitter::declare_buffers() {
  const Fusion& graph = *group_.graph;
  const auto declare = [&](const TensorView& t, const std::string& name, bool written) {
    sym::Expr count = number(1);
    for (const Axis& a : t.domain.logical) count = count * extents_(a.extent);
    arguments_[&t] = static_cast<uint32_t>(kernel_.buffers.size());
    kernel_.buffers.push_back({name, t.dtype, count, written});
  };
  for (const TensorView* t : graph.inputs()) declare(*t, t->name, false);
  for (size_t i = 0; i < graph.outputs().size(); ++i) declare(*graph.outputs()[i], group_.outputs[i], true);
  declare_status();
  declare_workspaces();
  for (const Op* op : graph.ops()) {
    const auto it = tree_.ops.find(op);
    if (it == tree_.ops.end()) continue;
    for (const TensorView* t : op->results) {
      const Home home = tree_.home(*t);
      if (graph.readers(t).empty()) continue;
      if (has_tile_in_memory(*op))
        locals_[t] = tiles_.at(op);
      else if (const PanelLayout* panel = panel_of(*t))
        locals_[t] = declare_panel(*t, *panel);
      else if (home == Home::buffer || home == Home::logical)
        locals_[t] = declare_local(*t, it->second);
    }
  }
}

uint32_t TreeEmitter::declare_local(const TensorView& tensor, const PlacedOp& placed) {
  sym::Expr count = number(1);
  if (tree_.home(tensor) == Home::buffer)
    for (sym::Expr e : placed.dims) count = count * e;
  else
    for (const Axis& a : tensor.domain.logical) count = count * extents_(a.extent);
  const DType dtype = compute_type(tensor.dtype);
  const auto kept = group_.kept.find(&tensor);
  if (kept != group_.kept.end()) count = sym::min(count, kept->second.value());
  const int64_t most = sym::bounds(count).hi;
  if (most == INT64_MAX || most > kir::most_stack_bytes(options_.target) / static_cast<int64_t>(size_of(dtype)))
    throw UserError(fmt::format("%{} needs a buffer of {} elements in the kernel", tensor.name, sym::print(count)),
                    fmt::format("kernel {}", options_.name),
                    "compute it in the loops of its readers, or in a segment of its own");
  kernel_.buffers.push_back({free_name(tensor.name), dtype, count, false, false, kir::Space::stack});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

std::string TreeEmitter::free_name(std::string name) const {
  const auto taken = [&](const kir::Buffer& b) { return b.name == name; };
  while (std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), taken)) name += "_";
  return name;
}

void TreeEmitter::declare_status() {
  for (const Op* op : group_.graph->ops()) {
    const auto lookup = checked_lookup(*op);
    if (!lookup) continue;
    ordinals_[op] = extents_.argument(group_.graph->pool().constant(lookup->ordinal));
    if (status_) continue;
    status_ = static_cast<uint32_t>(kernel_.buffers.size());
    kernel_.buffers.push_back({free_name("status"), DType::u64, number(kStatusWords), true, true});
  }
}

// Terms of the op's own statement, those that others imply left out.
TreeEmitter::Terms TreeEmitter::own_terms(const PlacedOp& placed) const {
  Terms all = placed.write;
  const bool in_memory = std::any_of(placed.op->results.begin(), placed.op->results.end(), [&](const TensorView* t) {
    return tree_.home(*t) == Home::memory || tree_.home(*t) == Home::logical;
  });
  if (in_memory) all.insert(all.end(), placed.once.begin(), placed.once.end());
  all.insert(all.end(), placed.reduce.begin(), placed.reduce.end());
  Terms out;
  for (const RangeTerm& t : all) {
    if (sym::proven(condition(t)) || has_term(out, t)) continue;
    const auto implies = [&](const RangeTerm& by) { return !same_term(by, t) && is_implied(t, by); };
    if (std::none_of(all.begin(), all.end(), implies)) out.push_back(t);
  }
  return out;
}

// Whether the loops down to `loop` give the expression a value.
bool TreeEmitter::is_bound(sym::Expr e, int loop) const {
  std::set<std::string> names = sym::symbols(e);
  for (; loop >= 0; loop = tree_.loops[static_cast<size_t>(loop)].parent)
    names.erase(tree_.loops[static_cast<size_t>(loop)].var.symbol_name());
  for (const TreeLoop& l : tree_.loops)
    if (names.contains(l.var.symbol_name())) return false;
  return true;
}

void TreeEmitter::find_terms() {
  Readers readers;
  for (const auto& [op, placed] : tree_.ops) {
    terms_[op] = own_terms(placed);
    if (is_filled_panel(*op)) panel_terms_[op] = std::exchange(terms_[op], {});
    if (sums_panels(*op)) terms_[op].clear();
    for (const PlacedOperand& in : placed.operands) readers[in.tensor].push_back(op);
  }
  const std::vector<Op*>& ops = group_.graph->ops();
  for (size_t i = ops.size(); i-- > 0;)
    if (tree_.ops.contains(ops[i])) add_reader_terms(*ops[i], readers);
}

// Where none of its readers is computed, a local result is not needed either. A scan goes on all the same.
void TreeEmitter::add_reader_terms(const Op& op, const Readers& readers) {
  if (kind_of(op).form == Form::scan || is_filled_panel(op) || sums_panels(op)) return;
  const PlacedOp& at = placed(op);
  std::optional<Terms> common;
  for (const TensorView* t : op.results) {
    if (tree_.home(*t) == Home::memory) return;
    const auto all = readers.find(t);
    if (all == readers.end()) continue;
    for (const Op* reader : all->second) {
      const Terms& theirs = terms_.at(reader);
      Terms both;
      for (const RangeTerm& term : theirs)
        if ((!common || has_term(*common, term)) && is_bound(term.value, at.loop)) both.push_back(term);
      common = std::move(both);
    }
  }
  if (!common) return;
  Terms& own = terms_.at(&op);
  Terms out;
  for (const RangeTerm& term : *common)
    if (!has_term(own, term)) out.push_back(term);
  out.insert(out.end(), own.begin(), own.end());
  own = std::move(out);
}

// Terms of the elements that a reduction keeps.
TreeEmitter::Terms TreeEmitter::kept_terms(const Op& op) const {
  Terms out = terms_.at(&op);
  std::erase_if(out, [&](const RangeTerm& t) { return has_term(placed(op).reduce, t); });
  return out;
}

namespace {

// Whether the item speaks of states, not of elements.
bool is_of_states(const TreeItem& item) {
  return item.kind == TreeItem::Kind::save || item.kind == TreeItem::Kind::part || item.kind == TreeItem::Kind::init;
}

}  // namespace

// Buffers, and states that are variables; those of a tile are elements like others.
bool TreeEmitter::comes_first(const TreeItem& item) const {
  return item.kind == TreeItem::Kind::alloc || (item.kind == TreeItem::Kind::init && !has_tile(*item.op));
}

// What all statements in the body of a loop need, of what has a value at loop `at`.
TreeEmitter::Terms TreeEmitter::needed_inside(int loop, int at) const {
  std::optional<Terms> common;
  for (const TreeItem& i : tree_.loops[static_cast<size_t>(loop)].items) {
    if (comes_first(i)) continue;
    Terms theirs = i.kind == TreeItem::Kind::loop ? needed_inside(i.loop, at)
                   : is_of_states(i)              ? kept_terms(*i.op)
                                                  : terms_.at(i.op);
    std::erase_if(theirs,
                  [&](const RangeTerm& t) { return !is_bound(t.value, at) || (common && !has_term(*common, t)); });
    common = std::move(theirs);
  }
  return common.value_or(Terms());
}

// Loops over blocks stand in no guards: what they need is entered inside of them.
TreeEmitter::Terms TreeEmitter::needed(const TreeItem& item, int loop) const {
  if (item.kind == TreeItem::Kind::loop) {
    const ParallelType kind = tree_.loops[static_cast<size_t>(item.loop)].parallel;
    if (kind >= ParallelType::block_x && kind <= ParallelType::block_z) return {};
  }
  Terms out = item.kind == TreeItem::Kind::loop ? needed_inside(item.loop, loop)
              : is_of_states(item)              ? kept_terms(*item.op)
                                                : terms_.at(item.op);
  std::erase_if(out, [&](const RangeTerm& t) { return !is_bound(t.value, loop); });
  drop_terms_of_threads(item, out);
  return out;
}

// Buffers and states come first: they live as long as the body, whatever guards stand inside of it.
void TreeEmitter::items(const std::vector<TreeItem>& list, int loop) {
  const size_t base = frames_.size();
  for (const TreeItem& i : list) {
    if (!adds_to_.empty()) break;
    if (const Op* op = tile_begun_by(i); op != nullptr && !has_tile_in_memory(*op) && !is_inside_of_start(*op, loop))
      allocate(tiles_.at(op));
    if (i.op == nullptr) continue;  // a loop
    if (i.kind == TreeItem::Kind::init && has_tile(*i.op)) continue;
    const bool scans = kind_of(*i.op).form == Form::scan;
    if (i.kind == TreeItem::Kind::init && scans) start_scan(*i.op, loop);
    if (i.kind == TreeItem::Kind::init && !scans) whole_[i.op] = start(*i.op, part_of_.contains(i.op));
    if (i.kind == TreeItem::Kind::merge) whole_[i.op] = start(*i.op, has_parts(*i.op));
    if (i.kind != TreeItem::Kind::alloc || has_tile_in_memory(*i.op)) continue;
    for (const TensorView* t : i.op->results) {
      if (locals_.contains(t)) allocate(locals_.at(t));
    }
  }
  for (const TreeItem& i : list) {
    if (comes_first(i) || ends_tile_in_memory(i)) continue;
    enter_terms(base, needed(i, loop));
    item(i);
  }
  while (frames_.size() > base) leave();
}

void TreeEmitter::allocate(uint32_t buffer) {
  auto stmt = std::make_unique<kir::Alloc>();
  stmt->buffer = buffer;
  add(std::move(stmt));
}

void TreeEmitter::item(const TreeItem& item) {
  if (!adds_to_.empty()) return item_for_own(item);
  const std::vector<const Op*> scans = scans_of_threads(item);
  scans.empty() ? statements(item) : scan_across(item, scans);
}

void TreeEmitter::statements(const TreeItem& item) {
  switch (item.kind) {
    case TreeItem::Kind::loop:
      return loop(item.loop);
    case TreeItem::Kind::finish:
      return finish(*item.op);
    case TreeItem::Kind::save:
      return save(*item.op);
    case TreeItem::Kind::part:
      return part_result(*item.op);
    case TreeItem::Kind::merge:
      return over_parts(item.loop, tree_.is_total(item.op), [&] {
        if (tree_.online.contains(item.op)) return merge_online(*item.op);
        tree_.is_total(item.op) ? carry_parts(*item.op) : merge_parts(*item.op);
      });
    case TreeItem::Kind::op:
      if (has_tile(*item.op)) return add_to_tile(*item.op);
      if (is_panel(*item.op)) return fill_panel(*item.op);
      if (kind_of(*item.op).form == Form::sum) return accumulate(*item.op);
      if (kind_of(*item.op).form == Form::scan) return step(*item.op, element_of_scan(*item.op));
      return deliver(*item.op, *item.op->out(), compute(*item.op));
    case TreeItem::Kind::init:
      return start_tile(*item.op);
    case TreeItem::Kind::alloc:
      return;
  }
}

void TreeEmitter::loop(int id) {
  const TreeLoop& l = tree_.loops[static_cast<size_t>(id)];
  in_loop(l, [&] {
    const auto parts = parts_.find(id);
    if (parts != parts_.end())
      for (const Op* op : parts->second) start_part(*op);
    items(l.items, id);
    if (parts != parts_.end())
      for (const Op* op : parts->second) merge_part(*op);
  });
}

void TreeEmitter::in_loop(const TreeLoop& loop, const std::function<void()>& body) {
  auto stmt = std::make_unique<kir::For>();
  if (fills_panels(loop)) stmt->stages = group_.stages;
  stmt->var = loop.var;
  stmt->extent = loop.extent;
  stmt->loop = loop_kind(loop.parallel);
  stmt->unroll = loop.parallel == ParallelType::unroll;
  frames_.push_back({&stmt->body, std::nullopt});
  body();
  leave();
  add(std::move(stmt));
}

sym::Expr TreeEmitter::condition(const RangeTerm& term) const {
  return sym::logical_and(sym::ge(term.value, 0), sym::lt(term.value, term.bound));
}

void TreeEmitter::enter_terms(size_t base, const Terms& terms) {
  const auto is_open = [&](const RangeTerm& term) {
    return std::any_of(frames_.begin(), frames_.end(),
                       [&](const Frame& f) { return f.term && same_term(*f.term, term); });
  };
  size_t kept = base;  // guards that hold here too, in whatever order they were entered
  while (kept < frames_.size() && has_term(terms, *frames_[kept].term)) ++kept;
  while (frames_.size() > kept) leave();
  for (const RangeTerm& term : terms) {
    if (is_open(term)) continue;
    auto stmt = std::make_unique<kir::If>();
    stmt->condition = condition(term);
    kir::Block* body = &stmt->body;
    add(std::move(stmt));
    frames_.push_back({body, term});
  }
}

void TreeEmitter::leave() {
  const size_t gone = frames_.size() - 1;
  std::erase_if(values_, [&](const auto& entry) { return entry.second.frame >= gone; });
  std::erase_if(values_at_, [&](const auto& entry) { return entry.second.frame >= gone; });
  frames_.pop_back();
}

void TreeEmitter::within(const Terms& terms, const std::function<void()>& body) {
  const size_t base = frames_.size();
  enter_terms(base, terms);
  body();
  while (frames_.size() > base) leave();
}

void TreeEmitter::guarded(sym::Expr condition, const std::function<void()>& body) {
  const sym::Truth truth = sym::prove(condition);
  if (truth == sym::Truth::no) return;
  if (truth == sym::Truth::yes) return body();
  auto stmt = std::make_unique<kir::If>();
  stmt->condition = condition;
  frames_.push_back({&stmt->body, std::nullopt});
  body();
  leave();
  add(std::move(stmt));
}

}  // namespace plait::lowering
