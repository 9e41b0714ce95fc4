#include "kir/passes/widths.h"

#include <algorithm>

#include "base/error.h"

namespace plait::kir {
namespace {

// Symbols that a statement and its body speak of.
void collect_symbols(const Stmt& stmt, std::set<std::string>& names) {
  for (sym::Expr e : expressions(stmt)) sym::symbols(e, names);
  if (const Block* body = body_of(stmt))
    for (const auto& inner : *body) collect_symbols(*inner, names);
}

}  // namespace

std::optional<Limits> limits_of(sym::Expr condition, const LaneLoop& lanes) {
  Limits out{condition.pool().constant(1), {}};
  for (sym::Expr c : conjuncts(condition)) {
    if (!depends_on(c, lanes.var)) {
      out.scalar = sym::logical_and(out.scalar, c);
      continue;
    }
    const auto negative = negative_where(c);
    const auto slope = negative ? slope_in(*negative, lanes.var) : std::nullopt;
    if (!slope || slope->step < 1) return std::nullopt;
    const sym::Expr limit = sym::ceildiv(-slope->at_zero, slope->step);
    if (sym::proven(sym::ge(limit, lanes.width))) continue;
    if (sym::divisor(limit) % lanes.width == 0) {  // all lanes or none
      out.scalar = sym::logical_and(out.scalar, sym::le(condition.pool().constant(lanes.width), limit));
      continue;
    }
    out.limit = out.limit ? sym::min(out.limit, limit) : limit;
  }
  return out;
}

Widths::Widths(const Kernel& kernel) : kernel_(kernel) {
  for (const Phase& phase : kernel.phases) collect(phase.body, nullptr);
  do {
    changed_ = false;
    for (const Phase& phase : kernel.phases) scan(phase.body, nullptr, 0);
  } while (changed_);
}

int Widths::of(uint32_t id) const {
  const auto found = lanes_.find(id);
  return found == lanes_.end() ? 1 : found->second;
}

bool Widths::inside(uint32_t id, const LaneLoop& lanes) const {
  const auto found = owner_.find(id);
  return found != owner_.end() && found->second == lanes.loop;
}

void Widths::copied(uint32_t from, uint32_t to) {
  const auto copy = [&](auto& map) {
    if (const auto found = map.find(from); found != map.end()) {
      const auto value = found->second;
      map[to] = value;
    }
  };
  copy(lanes_);
  copy(owner_);
  copy(starts_);
  copy(literals_);
  copy(uses_);
}

size_t Widths::uses(uint32_t id) const {
  const auto found = uses_.find(id);
  return found == uses_.end() ? 0 : found->second;
}

const Literal* Widths::literal(uint32_t id) const {
  const auto found = literals_.find(id);
  return found == literals_.end() ? nullptr : found->second;
}

bool Widths::depends(sym::Expr e, const LaneLoop& lanes) const {
  if (!e) return false;
  const auto [found, fresh] = depends_.emplace(std::pair(e.node(), lanes.var.node()), false);
  if (fresh) found->second = depends_on(e, lanes.var);
  return found->second;
}

void Widths::collect(const Block& block, const For* lanes) {
  std::map<std::string, std::pair<const Bind*, size_t>> binds;
  for (size_t i = 0; i < block.size(); ++i) {
    const Stmt& stmt = *block[i];
    for (const Value& v : operands(stmt)) uses_[v.id] += 1;
    for (const Value& v : results(stmt)) {
      if (lanes != nullptr) owner_[v.id] = lanes;
      if (v.lanes > 1) lanes_[v.id] = v.lanes;
      most_ = std::max(most_, v.lanes);
    }
    const bool combines = stmt.kind == StmtKind::Accumulate || stmt.kind == StmtKind::Merge;
    if (lanes != nullptr && combines)
      for (Cell cell : changes(stmt)) combined_.emplace(static_cast<uint32_t>(cell), lanes);
    if (const Start* start = as<Start>(stmt))
      for (const Value& v : start->state) starts_[v.id] = start;
    if (const Literal* literal = as<Literal>(stmt)) literals_[literal->out.id] = literal;
    if (lanes != nullptr && !binds.empty()) {
      std::set<std::string> names;
      collect_symbols(stmt, names);
      for (const auto& [name, bind] : binds)
        if (names.contains(name)) reach_[bind.first] = i + 1 - bind.second;
    }
    if (const Bind* bind = as<Bind>(stmt)) {
      binds[bind->var.symbol_name()] = {bind, i};
      reach_[bind] = 1;
    }
    const For* loop = as<For>(stmt);
    const bool is_lanes = loop != nullptr && loop->loop == LoopKind::lanes;
    PLAIT_CHECK(!is_lanes || lanes == nullptr, "kernel {}: lanes loop {} within another", kernel_.name,
                loop->var.symbol_name());
    if (is_lanes) most_ = std::max(most_, static_cast<int>(loop->extent.value()));
    if (const Block* body = body_of(stmt)) collect(*body, is_lanes ? loop : lanes);
  }
}

size_t Widths::outlined(const Block& block, size_t i, const LaneLoop& lanes) const {
  const Stmt& stmt = *block[i];
  const auto one = [&](bool condition) { return condition ? i + 1 : i; };
  if (const For* s = as<For>(stmt)) return one(depends(s->extent, lanes));
  if (const If* s = as<If>(stmt)) return one(depends(s->condition, lanes) && !limits_of(s->condition, lanes));
  if (const Store* s = as<Store>(stmt)) return one(!depends(s->index, lanes) && of(s->in.id) > 1);
  if (const CopyAsync* s = as<CopyAsync>(stmt))
    return one(!depends(s->to_index, lanes) || (s->active && !limits_of(s->active, lanes)));
  if (const Atomic* s = as<Atomic>(stmt)) return one(depends(s->index, lanes) || of(s->in.id) > 1);
  if (const Random* s = as<Random>(stmt)) return one(depends(s->offset, lanes) || of(s->seed.id) > 1);
  if (const Bind* s = as<Bind>(stmt)) return of(s->in.id) > 1 ? i + reach_.at(s) : i;
  return i;
}

void Widths::widen(const Value& v, int lanes) {
  if (of(v.id) >= lanes) return;
  lanes_[v.id] = lanes;
  changed_ = true;
}

int Widths::widest(const std::vector<Value>& values) const {
  int lanes = 1;
  for (const Value& v : values) lanes = std::max(lanes, of(v.id));
  return lanes;
}

void Widths::scan(const Block& block, const LaneLoop* lanes, int depth) {
  size_t end = 0;  // of statements that run lane by lane
  for (size_t i = 0; i < block.size(); ++i) {
    if (lanes != nullptr && i >= end) end = std::max(i, outlined(block, i, *lanes));
    if (lanes != nullptr && i < end)
      for (const Value& v : results(*block[i])) widen(v, lanes->width);
    scan(*block[i], lanes, i < end ? depth + 1 : depth);
  }
}

void Widths::scan(const Stmt& stmt, const LaneLoop* lanes, int depth) {
  if (const For* loop = as<For>(stmt)) {
    const LaneLoop own{loop, loop->var, static_cast<int>(loop->extent.constant().value_or(1))};
    return scan(loop->body, loop->loop == LoopKind::lanes ? &own : lanes, depth);
  }
  if (const If* branch = as<If>(stmt))
    return scan(branch->body, lanes, lanes != nullptr && depends(branch->condition, *lanes) ? depth + 1 : depth);
  if (lanes == nullptr)
    scan_outer(stmt);
  else
    scan_lanes(stmt, *lanes, depth);
}

// What computes with a state of several lanes has as many.
void Widths::scan_outer(const Stmt& stmt) {
  if (stmt.kind == StmtKind::Fold || stmt.kind == StmtKind::Half || stmt.kind == StmtKind::Bind ||
      stmt.kind == StmtKind::Running)
    return;
  const int lanes = widest(operands(stmt));
  if (lanes == 1) return;
  for (const Value& v : results(stmt)) widen(v, lanes);
  if (const auto* s = as<Accumulate>(stmt))
    for (const Value& v : s->state) widen(v, lanes);
  if (const auto* s = as<Merge>(stmt))
    for (const Value& v : s->state) widen(v, lanes);
  if (const auto* s = as<Assign>(stmt)) widen(s->variable, lanes);
}

void Widths::scan_lanes(const Stmt& stmt, const LaneLoop& lanes, int depth) {
  const auto all = [&](const std::vector<Value>& values) {
    for (const Value& v : values) widen(v, lanes.width);
  };
  switch (stmt.kind) {
    case StmtKind::Start:
      return all(results(stmt));
    case StmtKind::Accumulate:
      return all(as<Accumulate>(stmt)->state);
    case StmtKind::Merge:
      return all(as<Merge>(stmt)->state);
    case StmtKind::Fold:
      if (inside(as<Fold>(stmt)->state[0].id, lanes)) all(results(stmt));
      return;
    case StmtKind::Variable:
      depth_[as<Variable>(stmt)->out.id] = depth;
      return;
    case StmtKind::Assign: {
      const auto& s = *as<Assign>(stmt);
      const auto declared = depth_.find(s.variable.id);
      PLAIT_CHECK(declared != depth_.end(), "kernel {}: lanes loop {} assigns %{}, which is declared outside of it",
                  kernel_.name, lanes.var.symbol_name(), s.variable.id);
      if (of(s.in.id) > 1 || depth > declared->second) widen(s.variable, lanes.width);
      return;
    }
    case StmtKind::Load:
      if (depends(as<Load>(stmt)->index, lanes)) all(results(stmt));
      return;
    case StmtKind::Coordinate:
      if (depends(as<Coordinate>(stmt)->index, lanes)) all(results(stmt));
      return;
    case StmtKind::Random:
      if (depends(as<Random>(stmt)->index, lanes)) all(results(stmt));
      return;
    default:
      if (widest(operands(stmt)) > 1) all(results(stmt));
  }
}

}  // namespace plait::kir
