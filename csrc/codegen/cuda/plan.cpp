#include "codegen/cuda/plan.h"

#include <algorithm>

#include "base/error.h"
#include "kir/lane.h"

namespace plait::codegen::cuda {
namespace {

using namespace kir;

// Values that a statement reads.
std::vector<Value> operands(const Stmt& stmt) {
  return visit(stmt, overloaded{
                         [](const Assign& s) { return std::vector<Value>{s.in}; },
                         [](const Bind& s) { return std::vector<Value>{s.in}; },
                         [](const Store& s) { return std::vector<Value>{s.in}; },
                         [](const AtomicMin& s) { return std::vector<Value>{s.in}; },
                         [](const Compute& s) { return s.in; },
                         [](const Convert& s) { return std::vector<Value>{s.in}; },
                         [](const Round& s) { return std::vector<Value>{s.in}; },
                         [](const Half& s) { return std::vector<Value>{s.in}; },
                         [](const Random& s) { return std::vector<Value>{s.seed}; },
                         [](const For&) { return std::vector<Value>{}; },
                         [](const If&) { return std::vector<Value>{}; },
                         [](const Variable&) { return std::vector<Value>{}; },
                         [](const Literal&) { return std::vector<Value>{}; },
                         [](const Coordinate&) { return std::vector<Value>{}; },
                         [](const Load&) { return std::vector<Value>{}; },
                     });
}

// The value that a statement defines, or null.
const Value* result(const Stmt& stmt) {
  return visit(stmt, overloaded{
                         [](const Variable& s) { return &s.out; },
                         [](const Literal& s) { return &s.out; },
                         [](const Coordinate& s) { return &s.out; },
                         [](const Load& s) { return &s.out; },
                         [](const Compute& s) { return &s.out; },
                         [](const Convert& s) { return &s.out; },
                         [](const Round& s) { return &s.out; },
                         [](const Half& s) { return &s.out; },
                         [](const Random& s) { return &s.out; },
                         [](const For&) -> const Value* { return nullptr; },
                         [](const If&) -> const Value* { return nullptr; },
                         [](const Assign&) -> const Value* { return nullptr; },
                         [](const Bind&) -> const Value* { return nullptr; },
                         [](const Store&) -> const Value* { return nullptr; },
                         [](const AtomicMin&) -> const Value* { return nullptr; },
                     });
}

bool quads(const Random& s) {
  return s.out.lanes % 4 == 0 && lane_stride(s.index) == 1 && sym::divisor(at_lane(s.index, 0)) % 4 == 0;
}

// Form of a statement with lanes whose result differs between lanes.
Form lane_form(const Kernel& kernel, const Stmt& stmt) {
  if (const Load* s = as<Load>(stmt)) return s->access == Access::aligned && !s->active ? Form::wide : Form::lanes;
  if (const Store* s = as<Store>(stmt)) {
    const bool whole = s->access == Access::aligned && !s->active;
    return whole && s->in.dtype == compute_type(kernel.buffers[s->buffer].dtype) ? Form::wide : Form::lane_store;
  }
  if (const Random* s = as<Random>(stmt)) return quads(*s) ? Form::wide : Form::lanes;
  return Form::lanes;
}

int lanes_of(const Stmt& stmt) {
  if (const Store* s = as<Store>(stmt)) return s->in.lanes;
  if (const Assign* s = as<Assign>(stmt)) return s->in.lanes;
  const Value* out = result(stmt);
  return out == nullptr ? 1 : out->lanes;
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

Plan::Plan(const Kernel& kernel) : kernel_(kernel) { block(kernel_.body); }

// Whether a statement that stands alone only defines a scalar from what never changes.
bool Plan::is_pure(const Stmt& stmt) const {
  const std::vector<Value> read = operands(stmt);
  return result(stmt) != nullptr && stmt.kind != StmtKind::Variable &&
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
    const std::vector<Value> read = operands(*stmt);
    const bool uniform =
        lanes == 1 || (own_uniform(*stmt) &&
                       std::all_of(read.begin(), read.end(), [&](const Value& v) { return values_.at(v.id).uniform; }));
    if (const Literal* literal = as<Literal>(*stmt)) {
      values_[literal->out.id] = {true, false, false, false, literal};
      continue;
    }
    const bool control = stmt->kind == StmtKind::For || stmt->kind == StmtKind::If || stmt->kind == StmtKind::Variable;
    const Form form = uniform || control ? Form::single : lane_form(kernel_, *stmt);
    add(runs, *stmt, form, lanes);
    for (const Value& value : read) use(value, form);
    if (const Value* out = result(*stmt)) define(*out, uniform, form);
    if (const Variable* variable = as<Variable>(*stmt)) values_[variable->out.id].variable = true;
    if (const For* loop = as<For>(*stmt)) block(loop->body);
    if (const If* branch = as<If>(*stmt)) block(branch->body);
  }
  runs_[&body] = std::move(runs);
}

}  // namespace plait::codegen::cuda
