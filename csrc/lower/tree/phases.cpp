// What the phases of a kernel leave to later ones in workspaces: states of parts of reductions, values of kept dims.
#include <limits>

#include "base/error.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

uint32_t TreeEmitter::declare_workspace(std::string name, DType dtype, const Workspace& workspace) {
  sym::Expr count = number(1);
  for (sym::Expr e : workspace.dims) count = count * e;
  kernel_.buffers.push_back({free_name(std::move(name)), dtype, count, false, false, kir::Space::workspace});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

// Dtypes of the state that a task saves: of f64 where it has parts of its own.
std::vector<std::vector<DType>> TreeEmitter::part_types(const Op& op) const {
  std::vector<std::vector<DType>> out;
  for (Combine combine : combines_of(op))
    out.push_back(state_types(combine, part_of_.contains(&op) ? DType::f64 : inputs(op).front()->dtype));
  return out;
}

void TreeEmitter::declare_workspaces() {
  for (const Op* op : group_.graph->ops()) {
    if (const auto parts = tree_.parts.find(op); parts != tree_.parts.end())
      for (const std::vector<DType>& types : part_types(*op)) {
        auto& buffers = saved_[op].emplace_back();
        for (DType type : types)
          buffers.push_back(declare_workspace(op->results[0]->name + "_parts", type, parts->second));
      }
    if (has_tile_in_memory(*op)) {
      Workspace states;
      for (int l : loops_of_tile(*op)) states.dims.push_back(tree_.loops[static_cast<size_t>(l)].extent);
      tiles_[op] = declare_workspace(op->out()->name + "_states", compute_type(op->out()->dtype), states);
    }
    for (const TensorView* t : op->results)
      if (const auto kept = tree_.cross.find(t); kept != tree_.cross.end())
        cross_[t] = declare_workspace(t->name, compute_type(t->dtype), kept->second);
  }
}

// Row-major.
sym::Expr TreeEmitter::element(const Workspace& workspace) const {
  sym::Expr out = number(0);
  for (size_t d = 0; d < workspace.dims.size(); ++d) out = out * workspace.dims[d] + workspace.index[d];
  return turn_.empty() ? out : sym::substitute(out, turn_);
}

TreeEmitter::Part TreeEmitter::fold(Combine combine, const Part& state) {
  auto stmt = std::make_unique<kir::Fold>();
  stmt->combine = combine;
  stmt->state = state;
  for (const Value& v : state) stmt->out.push_back(fresh(v.dtype));
  Part out = stmt->out;
  add(std::move(stmt));
  return out;
}

void TreeEmitter::save(const Op& op) {
  const std::vector<Combine> combines = combines_of(op);
  const sym::Expr at = element(tree_.parts.at(&op));
  if (has_tile(op)) return store(saved_.at(&op)[0][0], at, state_in_tile(op));
  for (size_t i = 0; i < combines.size(); ++i) {
    const Part part = fold(combines[i], whole_.at(&op)[i]);
    for (size_t k = 0; k < part.size(); ++k) store(saved_.at(&op)[i][k], at, part[k]);
  }
}

void TreeEmitter::over_parts(int loop, bool in_order, const std::function<void()>& body) {
  const TreeLoop& l = tree_.loops[static_cast<size_t>(loop)];
  if (!l.together) return one_by_one(l, body);
  if (!in_order) return take_turns(l, body);
  auto threads = new_loop(l.together, threads_of(l));  // what the one thread writes, it alone has read
  frames_.push_back({&threads->body, std::nullopt});
  guarded(sym::lt(threads->var, 1), [&] { one_by_one(l, body); });
  leave();
  add(std::move(threads));
}

void TreeEmitter::one_by_one(const TreeLoop& l, const std::function<void()>& body) {
  auto parts = std::make_unique<kir::For>();
  parts->var = l.var;
  parts->extent = l.extent;
  frames_.push_back({&parts->body, std::nullopt});
  body();
  leave();
  add(std::move(parts));
}

std::unique_ptr<kir::For> TreeEmitter::new_loop(sym::Expr extent, kir::LoopKind kind) {
  auto out = std::make_unique<kir::For>();
  out->var = kernel_.pool->symbol(fmt::format("p{}", symbols_++), sym::index_facts(extent));
  out->extent = extent;
  out->loop = kind;
  return out;
}

kir::LoopKind TreeEmitter::threads_of(const TreeLoop& parts) {
  return parts.parallel == ParallelType::thread_x ? kir::LoopKind::threads : kir::LoopKind::threads_y;
}

// Thread t of so many takes parts t, t + threads, and so on.
void TreeEmitter::take_turns(const TreeLoop& parts, const std::function<void()>& body) {
  auto turns = new_loop(sym::ceildiv(parts.extent, parts.together), kir::LoopKind::serial);
  auto threads = new_loop(parts.together, threads_of(parts));
  const sym::Expr part = turns->var * parts.together + threads->var;
  frames_.push_back({&threads->body, std::nullopt});
  turn_ = {{parts.var.symbol_name(), part}};
  guarded(sym::lt(part, parts.extent), body);
  turn_.clear();
  leave();
  turns->body.push_back(std::move(threads));
  add(std::move(turns));
}

void TreeEmitter::merge_parts(const Op& op) {
  const std::vector<Combine> combines = combines_of(op);
  const sym::Expr at = element(tree_.parts.at(&op));
  for (size_t i = 0; i < combines.size(); ++i) {
    const Part& whole = whole_.at(&op)[i];
    auto stmt = std::make_unique<kir::Merge>();
    stmt->combine = combines[i];
    stmt->state = whole;
    for (size_t k = 0; k < whole.size(); ++k)
      stmt->in.push_back(convert(load(saved_.at(&op)[i][k], at), whole[k].dtype));
    add(std::move(stmt));
  }
}

// The result of a part where the part reads it.
void TreeEmitter::part_result(const Op& op) {
  const TensorView& t = *op.out();
  const Part state = fold(combines_of(op)[0], whole_.at(&op)[0]);
  values_.insert_or_assign(&t, Known{convert(state.back(), compute_type(t.dtype)), frames_.size() - 1});
  if (const auto between = tree_.online_between.find(&op); between != tree_.online_between.end())
    for (const Op* o : between->second) values_.insert_or_assign(o->out(), Known{compute(*o), frames_.size() - 1});
}

// Sums of exp(x - greatest of the part) become sums of exp(x - greatest of the row), in f64. A part of nothing above
// -inf, whose own sum is no number, adds nothing to a row that has more.
void TreeEmitter::merge_online(const Op& op) {
  const Op& greatest = *tree_.online.at(&op);
  const TensorView& of_row = *greatest.out();
  const Part& whole = whole_.at(&op)[0];
  const DType type = whole[0].dtype, wide = DType::f64;
  const Value part = convert(load(saved_.at(&greatest)[0][0], element(tree_.parts.at(&greatest))), wide);
  const Value sum = convert(load(saved_.at(&op)[0][0], element(tree_.parts.at(&op))), wide);
  const auto known = values_.find(&of_row);
  PLAIT_CHECK(known != values_.end() || cross_.contains(&of_row), "%{} is merged without %{}", op.out()->name,
              of_row.name);
  const Value row = convert(
      known != values_.end() ? known->second.value : load(cross_.at(&of_row), element(tree_.cross.at(&of_row))), wide);
  const Value scale = apply(Pointwise::exp, {apply(Pointwise::sub, {part, row})});
  const Value least = literal(Constant::from_double(wide, -std::numeric_limits<double>::infinity()));
  const Value none = apply(Pointwise::eq, {part, least}), same = apply(Pointwise::eq, {part, row});
  const Value zero = literal(Constant::from_double(wide, 0));
  const Value scaled = apply(Pointwise::where, {none, zero, apply(Pointwise::mul, {sum, scale})});
  auto stmt = std::make_unique<kir::Merge>();
  stmt->combine = Combine::sum;
  stmt->state = whole;
  stmt->in.push_back(convert(apply(Pointwise::where, {same, sum, scaled}), type));
  add(std::move(stmt));
}

}  // namespace plait::lowering
