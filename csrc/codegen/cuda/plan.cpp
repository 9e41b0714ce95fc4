#include "codegen/cuda/plan.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "kir/lane.h"
#include "kir/statements.h"

namespace plait::codegen::cuda {
namespace {

using namespace kir;

// Values that a statement reads.
std::vector<Value> values_read(const Stmt& stmt) {
  if (const Assign* s = as<Assign>(stmt)) return {s->in};
  return operands(stmt);
}

// The value that a statement defines; nothing for one without.
std::optional<Value> result(const Stmt& stmt) {
  const std::vector<Value> values = results(stmt);
  return values.empty() ? std::nullopt : std::optional(values[0]);
}

bool quads(const Random& s) {
  return s.out.lanes % 4 == 0 && lane_stride(s.index) == 1 && sym::divisor(at_lane(s.index, 0)) % 4 == 0;
}

// Whether all lanes are active, or none.
bool is_all_or_none(const Load& s) {
  if (!s.active) return true;
  return s.active.kind() == sym::Kind::select && s.active.operands()[1].constant() == s.out.lanes &&
         s.active.operands()[2].constant() == 0;
}
bool is_all_or_none(const Store& s) { return !s.active; }

// Whether an access is one of a whole vector in memory, for which there are helpers: of device memory, and loads of
// shared memory.
template <class S>
bool is_whole(const Kernel& kernel, const S& s) {
  const Buffer& buffer = kernel.buffers[s.buffer];
  const bool helped = !buffer.is_local() || (S::kKind == StmtKind::Load && buffer.space == Space::shared);
  return s.access == Access::aligned && helped && is_all_or_none(s);
}

// Form of a statement with lanes whose result differs between lanes.
Form lane_form(const Kernel& kernel, const Stmt& stmt) {
  if (const Load* s = as<Load>(stmt)) return is_whole(kernel, *s) ? Form::wide : Form::lanes;
  if (const Store* s = as<Store>(stmt)) {
    const bool whole = is_whole(kernel, *s);
    return whole && s->in.dtype == compute_type(kernel.buffers[s->buffer].dtype) ? Form::wide : Form::lane_store;
  }
  if (const Random* s = as<Random>(stmt)) return quads(*s) ? Form::wide : Form::lanes;
  return Form::lanes;
}

int lanes_of(const Stmt& stmt) {
  if (const Store* s = as<Store>(stmt)) return s->in.lanes;
  if (const Assign* s = as<Assign>(stmt)) return s->in.lanes;
  const std::optional<Value> out = result(stmt);
  return out ? out->lanes : 1;
}

// Whether all lanes of the result are equal because the statement's own attributes do not depend on the lane.
bool own_uniform(const Stmt& stmt) {
  if (const Load* s = as<Load>(stmt)) return !s->active && !depends_on_lane(s->index);
  if (const Coordinate* s = as<Coordinate>(stmt)) return !depends_on_lane(s->index);
  if (const Random* s = as<Random>(stmt)) return !depends_on_lane(s->index);
  return stmt.kind == StmtKind::Compute || stmt.kind == StmtKind::Convert || stmt.kind == StmtKind::Round ||
         stmt.kind == StmtKind::Literal;
}

bool is_lane_loop(Form form) { return form == Form::lanes || form == Form::lane_store; }

}  // namespace

Plan::Plan(const Kernel& kernel) : kernel_(kernel) {
  for (const Phase& phase : kernel_.phases) find_fragments(phase.body);
  for (const Phase& phase : kernel_.phases) block(phase.body);
}

void Plan::find_fragments(const Block& body) {
  for (const auto& stmt : body) {
    if (const LoadMatrix* s = as<LoadMatrix>(*stmt)) fragments_.insert(s->to);
    if (const Mma* s = as<Mma>(*stmt)) fragments_.insert({s->a, s->b});
    if (const Block* inner = body_of(*stmt)) find_fragments(*inner);
  }
}

// Whether a statement that stands alone only defines a scalar from what never changes.
bool Plan::is_pure(const Stmt& stmt) const {
  const std::vector<Value> read = values_read(stmt);
  return result(stmt) && stmt.kind != StmtKind::Variable && stmt.kind != StmtKind::Half &&
         std::none_of(read.begin(), read.end(), [&](const Value& v) { return values_.at(v.id).variable; });
}

void Plan::add(std::vector<Run>& runs, const Stmt& stmt, Form form, int lanes) {
  if (form == Form::single && !runs.empty() && is_lane_loop(runs.back().form) && is_pure(stmt)) {
    runs.insert(runs.end() - 1, Run{form, lanes, {&stmt}});  // in front of the loop, which stays open
    return;
  }
  const bool joins = is_lane_loop(form) && !runs.empty() && runs.back().form == form && runs.back().lanes == lanes;
  if (!joins) {
    runs.push_back({form, lanes, {}});
    run_ += 1;
  }
  runs.back().statements.push_back(&stmt);
}

void Plan::use(const Value& value, Form user) {
  ValueForm& form = values_.at(value.id);
  if (form.uniform) return;
  if (run_of_.at(value.id) != run_) form.array = true;
  if (user == Form::wide) form.vector = true;
}

void Plan::define(const Value& value, bool uniform, Form form) {
  ValueForm& out = values_[value.id];
  out.uniform = uniform;
  out.array = !uniform && form != Form::lanes;
  out.vector = form == Form::wide;
  run_of_[value.id] = run_;
}

void Plan::block(const Block& body) {
  std::vector<Run> runs;
  for (const auto& stmt : body) {
    const int lanes = lanes_of(*stmt);
    const std::vector<Value> read = values_read(*stmt);
    const bool uniform =
        lanes == 1 || (own_uniform(*stmt) &&
                       std::all_of(read.begin(), read.end(), [&](const Value& v) { return values_.at(v.id).uniform; }));
    if (const Literal* literal = as<Literal>(*stmt)) {
      values_[literal->out.id] = {true, false, false, false, literal};
      continue;
    }
    const bool control = stmt->kind == StmtKind::For || stmt->kind == StmtKind::If ||
                         stmt->kind == StmtKind::Variable || stmt->kind == StmtKind::Alloc;
    const Store* store = as<Store>(*stmt);
    const bool words = store != nullptr && fragments_.contains(store->buffer);
    const Form form = words ? Form::wide : uniform || control ? Form::single : lane_form(kernel_, *stmt);
    add(runs, *stmt, form, lanes);
    for (const Value& value : read) use(value, form);
    if (const std::optional<Value> out = result(*stmt)) define(*out, uniform, form);
    if (const Variable* variable = as<Variable>(*stmt)) values_[variable->out.id].variable = true;
    if (const Block* inner = body_of(*stmt)) block(*inner);
  }
  runs_[&body] = std::move(runs);
}

namespace {

void find_memory(const Block& block, std::set<uint32_t>& loaded, std::set<uint32_t>& stored) {
  for (const auto& stmt : block) {
    if (const Load* s = as<Load>(*stmt)) loaded.insert(s->buffer);
    if (const Store* s = as<Store>(*stmt)) stored.insert(s->buffer);
    if (const Block* inner = body_of(*stmt)) find_memory(*inner, loaded, stored);
  }
}

}  // namespace

bool carries_memory(const Kernel& kernel, const For& loop) {
  std::set<uint32_t> loaded, stored;
  find_memory(loop.body, loaded, stored);
  return std::ranges::any_of(stored,
                             [&](uint32_t b) { return loaded.contains(b) && kernel.buffers[b].space != Space::stack; });
}

}  // namespace plait::codegen::cuda
