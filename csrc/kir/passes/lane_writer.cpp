#include "kir/passes/lane_writer.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace plait::kir {

Value VectorStatements::wide(const Value& v, int lanes, Block& out) {
  if (v.lanes == lanes) return v;
  PLAIT_CHECK(v.lanes == 1, "kernel {}: %{} of {} lanes is read beside {} lanes", kernel_.name, v.id, v.lanes, lanes);
  const Value result = fresh(v.dtype, lanes);
  if (const Literal* literal = widths_.literal(v.id)) {
    auto& stmt = put<Literal>(out);
    stmt.out = result;
    stmt.constant = literal->constant;
  } else {
    auto& stmt = put<Convert>(out);
    stmt.out = result;
    stmt.in = v;
  }
  return result;
}

Value VectorStatements::mask(sym::Expr active, int lanes, Block& out) {
  const auto coordinate = [&](sym::Expr index) {
    auto& stmt = put<Coordinate>(out);
    stmt.out = fresh(DType::i64, lanes);
    stmt.index = index;
    return stmt.out;
  };
  const Value at = coordinate(lane_), end = coordinate(active);
  auto& stmt = put<Compute>(out);
  stmt.out = fresh(DType::boolean, lanes);
  stmt.function = Pointwise::lt;
  stmt.in = {at, end};
  return stmt.out;
}

Value VectorStatements::where(const Value& condition, const Value& yes, const Value& no, Block& out) {
  auto& stmt = put<Compute>(out);
  stmt.out = fresh(yes.dtype, yes.lanes);
  stmt.function = Pointwise::where;
  stmt.in = {condition, yes, no};
  return stmt.out;
}

std::vector<Value> VectorStatements::masked_state(const std::vector<Value>& in, sym::Expr active, const Start& start,
                                                  Block& out) {
  auto& identity = put<Start>(out);
  identity.combine = start.combine;
  identity.element = start.element;
  for (const Value& v : in) identity.state.push_back(fresh(v.dtype, v.lanes));
  const std::vector<Value> none = identity.state;
  const Value there = mask(active, in[0].lanes, out);
  std::vector<Value> result;
  for (size_t i = 0; i < in.size(); ++i) result.push_back(where(there, in[i], none[i], out));
  return result;
}

void LaneWriter::write(For& loop, Block& out) {
  lanes_ = {&loop, loop.var, static_cast<int>(loop.extent.value())};
  block(loop.body, {}, out);
}

Value LaneWriter::operand(const Value& v, Block& out) {
  const Value current = now(v);
  PLAIT_CHECK(current.lanes == 1 || widths_.inside(v.id, lanes_),
              "kernel {}: lanes loop {} reads %{}, a state of its lanes, without a fold", kernel_.name,
              lanes_.var.symbol_name(), v.id);
  return wide(current, lanes_.width, out);
}

bool LaneWriter::masked(const Value& variable, const LaneMask& mask) const {
  const auto declared = depth_.find(variable.id);
  return mask.active && mask.depth > (declared == depth_.end() ? 0 : declared->second);
}

bool LaneWriter::known(sym::Expr condition) const {
  return sym::proven(condition) || std::find(assumed_.begin(), assumed_.end(), condition) != assumed_.end();
}

// The index as it speaks of lanes, and how these meet memory.
LaneWriter::Place LaneWriter::place(sym::Expr index) const {
  const auto slope = slope_in(index, lanes_.var);
  if (!slope) return {sym::substitute(index, {{lanes_.var.symbol_name(), lane_}}), Access::lanewise};
  const sym::Expr at = slope->at_zero + lane_ * slope->step;
  if (slope->step != 1) return {at, Access::lanewise, slope->step == -1};
  return {at, sym::divisor(slope->at_zero) % lanes_.width == 0 ? Access::aligned : Access::contiguous};
}

void LaneWriter::block(Block& in, const LaneMask& mask, Block& out) {
  for (size_t i = 0; i < in.size();) {
    size_t end = widths_.outlined(in, i, lanes_);
    const Load* load = as<Load>(*in[i]);
    const int part = end > i || load != nullptr ? part_lanes(in, i, std::max(end, i + 1)) : 1;
    if (load != nullptr && part > 1 && short_pieces(load->index, part)) end = i + 1;
    if (end == i) {
      statement(std::move(in[i++]), mask, out);
    } else if (in[i]->kind == StmtKind::If) {
      sides(std::move(in[i++]), mask, part, out);
    } else {
      outline(in, i, end, mask, part, out);
      i = end;
    }
  }
}

void LaneWriter::loop(For& stmt, const LaneMask& mask) {
  Block body;
  block(stmt.body, mask, body);
  stmt.body = std::move(body);
}

void LaneWriter::statement(std::unique_ptr<Stmt> stmt, const LaneMask& mask, Block& out) {
  switch (Stmt& s = *stmt; s.kind) {
    case StmtKind::If:
      return branch(static_cast<If&>(s), mask, out);
    case StmtKind::Fold:
      if (fold(static_cast<Fold&>(s), out)) return;
      break;
    case StmtKind::For:
      loop(static_cast<For&>(s), mask);
      break;
    case StmtKind::Load:
      return load(std::move(stmt), mask, out);
    case StmtKind::Store:
      store(static_cast<Store&>(s), mask, out);
      break;
    case StmtKind::CopyAsync:
      copy(static_cast<CopyAsync&>(s), mask);
      break;
    case StmtKind::Assign:
      assign(static_cast<Assign&>(s), mask, out);
      break;
    case StmtKind::Accumulate:
      accumulate(static_cast<Accumulate&>(s), mask, out);
      break;
    case StmtKind::Merge:
      merge(static_cast<Merge&>(s), mask, out);
      break;
    case StmtKind::Start:
    case StmtKind::Variable:
      declare(s, mask);
      break;
    case StmtKind::Literal:
    case StmtKind::Bind:
    case StmtKind::Alloc:
    case StmtKind::Atomic:
      break;
    case StmtKind::Coordinate:
    case StmtKind::Compute:
    case StmtKind::Random:
    case StmtKind::Convert:
    case StmtKind::Round:
      if (pure(s, out)) return;
      break;
    case StmtKind::Half:
    case StmtKind::Transpose:
    case StmtKind::Running:
    case StmtKind::Commit:
    case StmtKind::Wait:
    case StmtKind::LoadMatrix:
    case StmtKind::Mma:
    case StmtKind::Sync:
    case StmtKind::LastBlock:
    case StmtKind::Await:
    case StmtKind::Shuffle:
    case StmtKind::LoadOfBlock:
    case StmtKind::Prefix:
      PLAIT_CHECK(false, "kernel {}: a {} within lanes loop {}", kernel_.name, name(s.kind), lanes_.var.symbol_name());
  }
  out.push_back(std::move(stmt));
}

// Whether a copy stands in its place: the state is one of each lane. Threads fold each lane by itself.
bool LaneWriter::fold(Fold& stmt, Block& out) {
  const bool inside = widths_.inside(stmt.state[0].id, lanes_);
  if (inside && stmt.threads == 1) {
    copy_state(stmt, out);
    return true;
  }
  for (const Value& v : stmt.state)
    PLAIT_CHECK(inside || !widths_.combines(v.id, lanes_), "kernel {}: lanes loop {} combines into %{} and folds it",
                kernel_.name, lanes_.var.symbol_name(), v.id);
  edit_operands(stmt, [&](const Value& v) { return now(v); });
  if (inside) edit_results(stmt, [&](const Value& v) { return now(v); });
  return false;
}

void LaneWriter::declare(Stmt& stmt, const LaneMask& mask) {
  edit_results(stmt, [&](const Value& v) {
    depth_[v.id] = mask.depth;
    return now(v);
  });
}

// One result; the seed of random numbers stays one. Whether others stand in its place.
bool LaneWriter::pure(Stmt& stmt, Block& out) {
  if (stmt.kind == StmtKind::Coordinate && pieces(static_cast<Coordinate&>(stmt), out)) return true;
  if (stmt.kind == StmtKind::Compute && compares_lanes(static_cast<Compute&>(stmt), out)) return true;
  const Value result = results(stmt)[0];
  if (!is_wide(result)) return false;
  if (stmt.kind != StmtKind::Random) edit_operands(stmt, [&](const Value& v) { return operand(v, out); });
  edit_results(stmt, [&](const Value& v) { return now(v); });
  edit_fields(stmt, [&](const auto& field, auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, sym::Expr>)
      if (field.name == "index" && depends(member)) member = place(member).index;
  });
  return false;
}

// A condition on first lanes stands for itself where it asks whether there are any; within, masks say which.
void LaneWriter::branch(If& stmt, const LaneMask& mask, Block& out) {
  const Limits limits = *limits_of(stmt.condition, lanes_);
  LaneMask inner = mask;
  sym::Expr condition = limits.scalar;
  if (limits.limit) {
    if (versions(stmt, limits.limit, mask, out)) return;
    inner.active = mask.active ? sym::min(mask.active, limits.limit) : at_most_all(limits.limit);
    inner.depth += 1;
    const sym::Expr some = sym::lt(kernel_.pool->constant(0), limits.limit);  // of those that the mask leaves
    if (!known(some)) condition = sym::logical_and(condition, some);
  }
  guarded(condition, stmt.body, inner, out);
}

// No more lanes are active than there are.
sym::Expr LaneWriter::at_most_all(sym::Expr limit) const {
  const sym::Expr all = kernel_.pool->constant(lanes_.width);
  return known(sym::le(limit, all)) || known(sym::lt(limit, all)) ? limit : sym::min(limit, all);
}

// Little to do, such as a load, is done without a mask where all lanes are there.
bool LaneWriter::versions(If& stmt, sym::Expr limit, const LaneMask& mask, Block& out) {
  constexpr size_t kMostStatements = 8;
  const bool little = stmt.body.size() <= kMostStatements &&
                      std::all_of(stmt.body.begin(), stmt.body.end(),
                                  [](const auto& s) { return is_pure(s->kind) || s->kind == StmtKind::Assign; });
  const sym::Expr whole = sym::le(kernel_.pool->constant(lanes_.width), limit), cut = sym::logical_not(whole);
  if (!little || known(cut)) return false;
  If rest;
  rest.condition = stmt.condition;
  Copier copier(editor_);
  copier.copy(stmt.body, rest.body);
  for (const auto& [from, to] : copier.values) widths_.copied(from, to.id);
  const sym::Expr scalar = limits_of(stmt.condition, lanes_)->scalar;
  guarded(sym::logical_and(scalar, whole), stmt.body, mask, out);
  const size_t count = assume(cut);
  Block body;
  branch(rest, mask, body);
  forget(count);
  auto other = std::make_unique<If>();
  other->condition = cut;
  other->body = std::move(body);
  if (!other->body.empty()) out.push_back(std::move(other));
  return true;
}

void LaneWriter::guarded(sym::Expr condition, Block& body, const LaneMask& mask, Block& out) {
  if (sym::prove(condition) == sym::Truth::no) return;
  if (known(condition)) return block(body, mask, out);
  auto stmt = std::make_unique<If>();
  stmt->condition = condition;
  const size_t count = assume(condition);
  block(body, mask, stmt->body);
  forget(count);
  if (!stmt->body.empty()) out.push_back(std::move(stmt));
}

size_t LaneWriter::assume(sym::Expr condition) {
  const size_t count = assumed_.size();
  for (sym::Expr c : conjuncts(condition)) assumed_.push_back(c);
  return count;
}

// Any other condition. If it is affine, it holds for all lanes where it holds for the first and for the last, and for
// none where a conjunct holds for neither.
void LaneWriter::sides(std::unique_ptr<Stmt> stmt, const LaneMask& mask, int part, Block& out) {
  auto& s = static_cast<If&>(*stmt);
  sym::Expr all = kernel_.pool->constant(1), some = all;
  bool affine = true, whole = true;  // whole: no condition parts a vector
  for (sym::Expr c : conjuncts(s.condition)) {
    const auto negative = depends(c) ? negative_where(c) : std::nullopt;
    const auto slope = negative ? slope_in(*negative, lanes_.var) : std::nullopt;
    affine &= !depends(c) || slope.has_value();
    if (depends(c) && !slope) continue;
    const Slope along = slope.value_or(Slope{});
    const auto end = [&](bool greatest) {
      const bool last = (along.step > 0) == greatest;
      return sym::lt(along.at_zero + (last ? along.step * (lanes_.width - 1) : 0), 0);
    };
    const int64_t first = along.step < 0 ? along.step * (lanes_.width - 1) : 0;
    const bool together = slope && std::abs(along.step) == 1 && sym::divisor(along.at_zero + first) % lanes_.width == 0;
    whole &= !slope || together;
    all = sym::logical_and(all, slope ? end(true) : c);
    some = sym::logical_and(some, slope ? end(together) : c);
  }
  if (affine && known(all)) return block(s.body, mask, out);  // within the like of an outer condition
  Block single, group;
  group.push_back(std::move(stmt));
  outline(group, 0, 1, mask, part, single);
  if (!affine || sym::prove(all) == sym::Truth::no) {
    std::move(single.begin(), single.end(), std::back_inserter(out));
    return;
  }
  guarded(all, s.body, mask, out);
  auto cut = std::make_unique<If>();
  cut->condition = sym::logical_and(some, sym::logical_not(all));
  cut->body = std::move(single);
  if (!whole && sym::prove(cut->condition) != sym::Truth::no) out.push_back(std::move(cut));
}

void LaneWriter::load(std::unique_ptr<Stmt> stmt, const LaneMask& mask, Block& out) {
  auto& s = static_cast<Load&>(*stmt);
  if (depends(s.index)) {
    if (!mask.active && pieces(s, out)) return;
    s.out = now(s.out);
    const Place at = place(s.index);
    s.index = at.index;
    s.access = at.backwards && !mask.active ? Access::reversed : at.access;
    s.active = mask.active;
  }
  out.push_back(std::move(stmt));
}

void LaneWriter::store(Store& s, const LaneMask& mask, Block& out) {
  if (!depends(s.index)) return;
  s.in = operand(s.in, out);
  const Place at = place(s.index);
  s.index = at.index;
  s.access = at.access;
  s.active = mask.active;
}

// Its condition, of first lanes (Widths::outlined), becomes their number.
void LaneWriter::copy(CopyAsync& s, const LaneMask& mask) {
  const Place to = place(s.to_index), from = place(s.index);
  s.to_index = to.index;
  s.to_access = to.access;
  s.index = from.index;
  s.access = from.access;
  s.lanes = lanes_.width;
  PLAIT_CHECK(!mask.active, "kernel {}: a copy under a condition on lanes", kernel_.name);
  if (!s.active) return;
  const Limits limits = *limits_of(s.active, lanes_);
  sym::Expr active = limits.limit ? at_most_all(limits.limit) : sym::Expr();
  if (!known(limits.scalar))
    active = sym::select(limits.scalar, active ? active : kernel_.pool->constant(s.lanes), kernel_.pool->constant(0));
  s.active = active;
}

void LaneWriter::assign(Assign& s, const LaneMask& mask, Block& out) {
  if (!is_wide(s.variable)) return;
  s.variable = now(s.variable);
  s.in = operand(s.in, out);
  if (masked(s.variable, mask)) s.in = where(this->mask(mask.active, lanes_.width, out), s.in, s.variable, out);
}

void LaneWriter::accumulate(Accumulate& s, const LaneMask& mask, Block& out) {
  for (Value& v : s.state) v = now(v);
  PLAIT_CHECK(s.state[0].lanes == lanes_.width, "kernel {}: %{} takes elements of {} lanes and of {}", kernel_.name,
              s.state[0].id, s.state[0].lanes, lanes_.width);
  for (Value& v : s.in) v = operand(v, out);
  if (masked(s.state[0], mask)) s.active = mask.active;
}

void LaneWriter::merge(Merge& s, const LaneMask& mask, Block& out) {
  for (Value& v : s.state) v = now(v);
  PLAIT_CHECK(s.state[0].lanes == lanes_.width, "kernel {}: %{} takes states of {} lanes and of {}", kernel_.name,
              s.state[0].id, s.state[0].lanes, lanes_.width);
  for (Value& v : s.in) v = operand(v, out);
  if (masked(s.state[0], mask)) s.in = masked_state(s.in, mask.active, widths_.start_of(s.state[0].id), out);
}

// The state is one of each lane.
void LaneWriter::copy_state(const Fold& s, Block& out) {
  for (size_t i = 0; i < s.out.size(); ++i) {
    auto& stmt = put<Convert>(out);
    stmt.in = now(s.state[i]);
    stmt.out = now(s.out[i]);
  }
}

}  // namespace plait::kir
