// Where statements stand, what is loaded and stored, and in which order the ops of an iteration are written.
#include "lower/statements.h"

#include <algorithm>

#include "base/error.h"
#include "lower/vector_width.h"

namespace plait::lowering {

bool depends_on(sym::Expr e, sym::Expr var) { return var && sym::symbols(e).contains(var.symbol_name()); }

std::optional<Affine> affine_in(sym::Expr value, sym::Expr var) {
  if (!depends_on(value, var)) return std::nullopt;
  sym::Pool& pool = value.pool();
  const sym::Expr base = sym::substitute(value, {{var.symbol_name(), pool.constant(0)}});
  const sym::Expr next = sym::substitute(value, {{var.symbol_name(), pool.constant(1)}});
  const auto step = (next - base).constant();
  if (!step || *step < 1) return std::nullopt;
  const sym::Expr linear = base + var * *step;
  if (value != linear && !sym::proven(sym::eq(value, linear))) return std::nullopt;
  return Affine{base, *step};
}

Statements::Statements(State& state) : state_(state) { levels_.push_back({&state.kernel.phases[0].body, {}}); }

void Statements::enter(kir::Block& block, std::vector<std::string> binds) {
  levels_.push_back({&block, std::move(binds)});
}

void Statements::leave() {
  const size_t gone = innermost();
  std::erase_if(known_, [&](const auto& entry) { return entry.second.level >= gone; });
  levels_.pop_back();
}

size_t Statements::level_of(sym::Expr e) const {
  const std::set<std::string> names = sym::symbols(e);
  for (size_t i = levels_.size(); i-- > 0;)
    for (const std::string& name : levels_[i].binds)
      if (names.contains(name)) return std::max(i, base_);
  return base_;
}

bool Statements::whole_vectors_first(const Loop& l, const Term& t, const Leaf& leaf, const OfLeaf& body) {
  const int width = state_.width();
  const auto on_loop = affine_in(t.value, l.var);
  if (!on_loop || on_loop->step != width) return false;
  const auto lanes = affine_in(on_loop->base, state_.lane);
  if (!lanes || lanes->step != 1) return false;
  const sym::Expr room = t.bound - lanes->base, most = l.extent * width;
  const sym::Expr count = sym::proven(sym::le(room, most)) ? room : sym::min(room, most);
  const sym::Expr whole = sym::floordiv(count, width), tail = sym::mod(count, width);
  loop(l, whole, [&] { body(leaf); });
  Leaf last = leaf;
  last.replace[l.name()] = whole;
  last.active = tail;
  guard(sym::logical_and(sym::gt(tail, 0), sym::gt(count, 0)), [&] { body(last); }, {l.name()});
  return true;
}

void Statements::in_range(const std::vector<Term>& terms, const Leaf& leaf, const OfLeaf& body) {
  const int width = state_.width();
  sym::Expr condition = state_.pool->constant(1), room;
  for (const Term& t : terms) {
    if (!depends_on(t.value, state_.lane)) {
      condition = sym::logical_and(condition, sym::lt(t.value, t.bound));
      continue;
    }
    const auto a = affine_in(t.value, state_.lane);
    if (!a)
      throw UserError(fmt::format("loops of %{}: a predicate is not affine in the lanes", state_.nest.reference->name),
                      state_.where(), "vectorize an axis split off last, or leave it serial");
    const sym::Expr lanes = sym::ceildiv(t.bound - a->base, a->step);
    room = room ? sym::min(room, lanes) : lanes;
  }
  guard(condition, [&] {
    if (!room) return body(leaf);
    guard(sym::ge(room, width), [&] { body(leaf); });
    Leaf last = leaf;
    last.active = room;
    guard(sym::logical_and(sym::gt(room, 0), sym::lt(room, width)), [&] { body(last); });
  });
}

// An expression over loop variables as it stands in this copy of this leaf.
sym::Expr Statements::placed(sym::Expr e, const Replacements& copy) const {
  if (!copy.empty()) e = sym::substitute(e, copy);
  return leaf_->replace.empty() ? e : sym::substitute(e, leaf_->replace);
}

std::vector<sym::Expr> Statements::own_coordinates(const TensorView& tensor, const Replacements& copy) const {
  std::vector<sym::Expr> out;
  for (int a : state_.group.axes.at(&tensor).logical) {
    const sym::Expr e = state_.walk->value(a);
    out.push_back(copy.empty() ? e : sym::substitute(e, copy));
  }
  return out;
}

std::vector<sym::Expr> Statements::read_coordinates(const Edge& edge, const Replacements& copy) const {
  std::vector<sym::Expr> out;
  for (int place : edge.pairing) {
    const sym::Expr e =
        place < 0 ? state_.pool->constant(0) : state_.walk->value(state_.group.root_class(*edge.op, place));
    out.push_back(copy.empty() ? e : sym::substitute(e, copy));
  }
  return out;
}

// Whether what the edge reads is in range wherever the loop variables are, predicates or not.
bool Statements::lossless(const Edge& edge) const {
  for (int place : edge.pairing)
    if (place >= 0 && !state_.walk->lossy(state_.group.root_class(*edge.op, place)).empty()) return false;
  return true;
}

Statements::Key Statements::key_of(const TensorView& tensor, const std::vector<sym::Expr>& at, int lanes,
                                   bool rounded) const {
  Key key{&tensor, lanes, rounded, {}};
  for (sym::Expr e : at) key.coordinates.push_back(e.id());
  return key;
}

uint32_t Statements::buffer_of(const TensorView& tensor) const {
  const auto& in = state_.segment.inputs;
  const auto it = std::find(in.begin(), in.end(), &tensor);
  PLAIT_CHECK(it != in.end(), "segment @{} reads %{}, which is not its input", state_.segment.name, tensor.name);
  return static_cast<uint32_t>(it - in.begin());
}

Statements::Place Statements::place(sym::Expr index, int lanes) const {
  if (lanes == 1) return {index, kir::Access::contiguous};
  const auto form = lane_form(index, state_.lane, lanes);
  if (!form || form->stride > 1 || form->stride < 0) return {index, kir::Access::lanewise};
  const sym::Expr first = sym::substitute(index, {{state_.lane.symbol_name(), state_.pool->constant(0)}});
  if (form->stride == 0) return {first, kir::Access::splat};
  const bool aligned = sym::divisor(first) % lanes == 0;
  return {first + state_.lane, aligned ? kir::Access::aligned : kir::Access::contiguous};
}

kir::Value Statements::load(const Edge& edge, const std::vector<sym::Expr>& at, int lanes) {
  const TensorView& tensor = *edge.operand;
  const Key key = key_of(tensor, at, lanes, false);
  if (const auto it = known_.find(key); it != known_.end()) return it->second.value;
  const sym::Expr raw = memory_offset(state_, tensor, at);
  const auto [index, access] = place(placed(raw, {}), lanes);
  auto stmt = std::make_unique<kir::Load>();
  stmt->buffer = buffer_of(tensor);
  stmt->out = fresh(compute_type(state_.kernel.buffers[stmt->buffer].dtype), lanes);
  stmt->index = index;
  stmt->access = access;
  if (access != kir::Access::splat && lanes > 1) stmt->active = leaf_->active;
  const size_t level = stmt->active || !lossless(edge) ? innermost() : level_of(raw);
  const kir::Value out = put(std::move(stmt), level);
  known_.emplace(key, Known{out, level});
  return out;
}

void Statements::store(size_t buffer, const TensorView& tensor, const Replacements& copy) {
  const bool empty = state_.kernel.buffers[buffer].extent.constant() == 0;  // strides are 0 too
  if (empty) return;
  const kir::Value in = value_of(tensor, copy, state_.lanes);
  const auto [index, access] =
      place(placed(memory_offset(state_, tensor, own_coordinates(tensor, copy)), {}), state_.lanes);
  PLAIT_CHECK(access != kir::Access::splat, "all lanes store to one element of %{}", tensor.name);
  auto stmt = std::make_unique<kir::Store>();
  stmt->buffer = static_cast<uint32_t>(buffer);
  stmt->index = index;
  stmt->in = in;
  stmt->access = access;
  stmt->active = leaf_->active;
  levels_.back().block->push_back(std::move(stmt));
}

// A tensor whose coordinates move with a sum loop is computed on demand, inside of the sum.
bool Statements::inside_sum(const TensorView& tensor) const {
  for (int a : state_.group.axes.at(&tensor).logical)
    for (const Loop& l : state_.loops)
      if (l.is_summed() && depends_on(state_.walk->value(a), l.var)) return true;
  return false;
}

void Statements::write(const Leaf& leaf) {
  leaf_ = &leaf;
  for (const Op* op : state_.group.ops) {
    if (inside_sum(*op->results[0])) continue;
    switch (kind_of(*op).form) {
      case Form::sum:
        reduction(*op);
        break;
      case Form::scan:
        scan(*op);
        break;
      case Form::element:
      case Form::read:
      case Form::scatter:
        for (const Replacements& copy : leaf.copies) value_of(*op->out(), copy, state_.lanes);
        break;
      case Form::sort:
        PLAIT_CHECK(false, "{} stands in rows of its own", describe(*op));
      case Form::none:
        PLAIT_CHECK(false, "{} has no kernel", describe(*op));
    }
  }
  const size_t first = state_.segment.inputs.size();
  for (size_t i = 0; i < state_.segment.outputs.size(); ++i)
    for (const Replacements& copy : leaf.copies) store(first + i, *state_.segment.outputs[i], copy);
  leaf_ = nullptr;
}

}  // namespace plait::lowering
