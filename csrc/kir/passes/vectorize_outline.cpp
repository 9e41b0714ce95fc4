// Statements without a vector form run lane by lane in a serial loop, or in parts of as many lanes as have one. What
// they read of the lanes of values, and what others read of theirs, goes through stack buffers of one element per lane;
// a state that they combine into is combined for each lane by itself and merged behind the loop.
#include <algorithm>

#include "base/error.h"
#include "kir/passes/lane_writer.h"

namespace plait::kir {

struct LaneWriter::Outline {
  std::map<uint32_t, Value> inputs;                 // values of several lanes that are read
  std::map<uint32_t, Value> variables;              // variables that are assigned
  std::map<uint32_t, const Start*> states;          // by their first value: started outside, combined into
  std::map<uint32_t, std::vector<Value>> combined;  // their values
  std::vector<Value> results, declared;             // values and variables that others read
  std::map<uint32_t, size_t> uses;
  std::set<uint32_t> defined;
  std::map<uint32_t, uint32_t> buffers;  // by value
  std::optional<Copier> copier;
};

// What a statement and its body read, define and change.
void LaneWriter::survey(const Stmt& stmt, Outline& o) const {
  for (const Value& v : operands(stmt)) o.uses[v.id] += 1;
  for (const Value& v : results(stmt)) o.defined.insert(v.id);
  const auto combines = [&](const std::vector<Value>& state) {
    if (o.defined.contains(state[0].id)) return;
    o.states[state[0].id] = &widths_.start_of(state[0].id);
    o.combined[state[0].id] = state;
  };
  if (const auto* s = as<Accumulate>(stmt)) combines(s->state);
  if (const auto* s = as<Merge>(stmt)) combines(s->state);
  if (const auto* s = as<Assign>(stmt); s != nullptr && !o.defined.contains(s->variable.id))
    o.variables[s->variable.id] = now(s->variable);
  const bool combining = stmt.kind == StmtKind::Accumulate || stmt.kind == StmtKind::Merge;
  for (const Value& v : operands(stmt)) {
    const bool of_state = combining && o.combined.contains(v.id);
    if (!of_state && !o.defined.contains(v.id) && is_wide(v)) o.inputs[v.id] = now(v);
  }
  if (const Block* body = body_of(stmt))
    for (const auto& inner : *body) survey(*inner, o);
}

uint32_t LaneWriter::scratch(DType dtype, Block& out) {
  const uint32_t buffer = editor_.buffer("lanes", dtype, kernel_.pool->constant(lanes_.width));
  put<Alloc>(out).buffer = buffer;
  return buffer;
}

void LaneWriter::store_lanes(uint32_t buffer, const Value& v, Block& out) {
  auto& s = put<Store>(out);
  s.buffer = buffer;
  s.index = lane_;
  s.in = v;
  s.access = Access::aligned;
}

Value LaneWriter::load_lanes(uint32_t buffer, Value v, Block& out) {
  auto& s = put<Load>(out);
  s.buffer = buffer;
  s.index = lane_;
  s.out = v;
  s.access = Access::aligned;
  return v;
}

Value LaneWriter::load_lane(uint32_t buffer, Block& out) {
  auto& s = put<Load>(out);
  s.buffer = buffer;
  s.index = at_;
  s.out = fresh(compute_type(kernel_.buffers[buffer].dtype), 1);
  return s.out;
}

void LaneWriter::store_lane(uint32_t buffer, const Value& v, Block& out) {
  auto& s = put<Store>(out);
  s.buffer = buffer;
  s.index = at_;
  s.in = v;
}

// Values of one lane in front of the statements.
void LaneWriter::enter_lane(Outline& o, Block& out) {
  for (const auto& [id, v] : o.inputs)
    if (!o.variables.contains(id)) o.copier->values[id] = load_lane(o.buffers.at(id), out);
  for (const auto& [id, v] : o.variables) {
    const Value before = load_lane(o.buffers.at(id), out);
    auto& variable = put<Variable>(out);
    variable.out = o.copier->values[id] = fresh(v.dtype, 1);
    variable.initial = Constant::from_int64(v.dtype, 0);
    auto& assign = put<Assign>(out);
    assign.variable = o.copier->values[id];
    assign.in = before;
  }
  for (const auto& [id, start] : o.states) {
    auto& s = put<Start>(out);
    s.combine = start->combine;
    s.element = start->element;
    for (const Value& v : o.combined.at(id)) s.state.push_back(o.copier->values[v.id] = fresh(v.dtype, 1));
  }
}

void LaneWriter::leave_lane(Outline& o, Block& out) {
  for (const auto& [id, v] : o.variables) store_lane(o.buffers.at(id), o.copier->values.at(id), out);
  for (const auto& [id, state] : o.combined)
    for (const Value& v : state) store_lane(o.buffers.at(v.id), o.copier->values.at(v.id), out);
}

void LaneWriter::find_results(const Block& in, size_t begin, size_t end, Outline& o) const {
  for (size_t i = begin; i < end; ++i) survey(*in[i], o);
  for (size_t i = begin; i < end; ++i)
    for (const Value& v : results(*in[i])) {
      if (widths_.uses(v.id) == o.uses[v.id]) continue;
      PLAIT_CHECK(in[i]->kind != StmtKind::Start,
                  "kernel {}: state %{} is started among statements without a vector form", kernel_.name, v.id);
      (in[i]->kind == StmtKind::Variable ? o.declared : o.results).push_back(now(v));
    }
  for (const auto& [id, state] : o.combined)
    for (const Value& v : state)
      PLAIT_CHECK(!o.inputs.contains(v.id), "kernel {}: statements without a vector form read %{} and combine into it",
                  kernel_.name, v.id);
  for (const auto* values : {&o.inputs, &o.variables})
    for (const auto& [id, v] : *values)
      PLAIT_CHECK(widths_.inside(id, lanes_),
                  "kernel {}: lanes loop {} reads %{}, a state of its lanes, without a fold", kernel_.name,
                  lanes_.var.symbol_name(), id);
}

// One buffer for each value that goes in or out.
void LaneWriter::fill_buffers(Outline& o, Block& out) {
  for (const auto* values : {&o.inputs, &o.variables})
    for (const auto& [id, v] : *values)
      if (!o.buffers.contains(id)) store_lanes(o.buffers[id] = scratch(v.dtype, out), v, out);
  for (const auto* values : {&o.results, &o.declared})
    for (const Value& v : *values) {
      const uint32_t buffer = o.buffers[v.id] = scratch(v.dtype, out);
      auto& zero = put<Literal>(out);
      zero.out = fresh(v.dtype, v.lanes);
      zero.constant = Constant::from_int64(v.dtype, 0);
      store_lanes(buffer, Value(zero.out), out);
    }
  for (const auto& [id, state] : o.combined)
    for (const Value& v : state) o.buffers[v.id] = scratch(v.dtype, out);
}

void LaneWriter::read_buffers(const Outline& o, Block& out) {
  const auto restore = [&](const Value& v) {
    const Value after = load_lanes(o.buffers.at(v.id), fresh(v.dtype, v.lanes), out);
    auto& assign = put<Assign>(out);
    assign.variable = v;
    assign.in = after;
  };
  for (const Value& v : o.results) load_lanes(o.buffers.at(v.id), v, out);
  for (const Value& v : o.declared) {
    auto& variable = put<Variable>(out);
    variable.out = v;
    variable.initial = Constant::from_int64(v.dtype, 0);
    restore(v);
  }
  for (const auto& [id, v] : o.variables) restore(v);
  for (const auto& [id, state] : o.combined) {
    std::vector<Value> parts, into;
    for (const Value& v : state) {
      parts.push_back(load_lanes(o.buffers.at(v.id), fresh(v.dtype, lanes_.width), out));
      into.push_back(now(v));
    }
    auto& s = put<Merge>(out);
    s.combine = o.states.at(id)->combine;
    s.state = into;
    s.in = parts;
  }
}

void LaneWriter::outline(const Block& in, size_t begin, size_t end, const LaneMask& mask, int part, Block& out) {
  Outline o;
  find_results(in, begin, end, o);
  fill_buffers(o, out);
  sym::Pool& pool = *kernel_.pool;
  const sym::Expr width = pool.constant(lanes_.width);
  auto loop = std::make_unique<For>();
  loop->var = at_ = lanes_.var;
  const bool all = part > 1 || !mask.active || !o.combined.empty();  // every lane has a state
  loop->extent = all ? width : sym::proven(sym::le(mask.active, width)) ? mask.active : sym::min(mask.active, width);
  o.copier.emplace(editor_);
  o.copier->new_buffers = true;
  if (part > 1) {
    const auto& [number, lane] = parts_.at({lanes_.width, part});
    at_ = number * part + lane;
    o.copier->symbols[lanes_.var.symbol_name()] = at_;
    loop->var = lane;
    loop->extent = pool.constant(part);
    loop->loop = LoopKind::lanes;
  }
  enter_lane(o, loop->body);
  auto guarded = std::make_unique<If>();
  guarded->condition = all && mask.active ? sym::lt(at_, mask.active) : pool.constant(1);
  Block& body = sym::proven(guarded->condition) ? loop->body : guarded->body;
  for (size_t i = begin; i < end; ++i) o.copier->copy(*in[i], body);
  for (const auto* values : {&o.results, &o.declared})
    for (const Value& v : *values) store_lane(o.buffers.at(v.id), o.copier->values.at(v.id), body);
  if (!guarded->body.empty()) loop->body.push_back(std::move(guarded));
  leave_lane(o, loop->body);
  if (part > 1) {
    auto parts = std::make_unique<For>();
    parts->var = parts_.at({lanes_.width, part}).first;
    parts->extent = pool.constant(lanes_.width / part);
    parts->body.push_back(std::move(loop));
    loop = std::move(parts);
  }
  out.push_back(std::move(loop));
  read_buffers(o, out);
}

}  // namespace plait::kir
