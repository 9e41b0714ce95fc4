#include "kir/statements.h"

#include <algorithm>

namespace plait::kir {
namespace {

void append(std::vector<Value>& out, const Value& value) { out.push_back(value); }
void append(std::vector<Value>& out, const std::vector<Value>& values) {
  out.insert(out.end(), values.begin(), values.end());
}
template <class T>
void append(std::vector<Value>&, const T&) {}

std::vector<Value> values_of(const Stmt& stmt, Role role) {
  std::vector<Value> out;
  visit(stmt, [&](const auto& s) {
    for_each_field(s, [&](const auto& field, const auto& value) {
      if (field.role == role) append(out, value);
    });
  });
  return out;
}

void copy(const Block& from, Block& to) { to = clone(from); }
template <class T>
void copy(const T& from, T& to) {
  to = from;
}

uint32_t next_value_id(const Block& block) {
  uint32_t next = 0;
  for (const auto& stmt : block) {
    for (const Value& v : results(*stmt)) next = std::max(next, v.id + 1);
    if (const Block* body = body_of(*stmt)) next = std::max(next, next_value_id(*body));
  }
  return next;
}

}  // namespace

std::vector<Value> operands(const Stmt& stmt) { return values_of(stmt, Role::operand); }

std::vector<Value> results(const Stmt& stmt) { return values_of(stmt, Role::result); }

std::vector<sym::Expr> expressions(const Stmt& stmt) {
  std::vector<sym::Expr> out;
  visit(stmt, [&](const auto& s) {
    for_each_field(s, [&](const auto& field, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, sym::Expr>)
        if (value && field.name != "var") out.push_back(value);
    });
  });
  return out;
}

const Block* body_of(const Stmt& stmt) {
  if (const For* loop = as<For>(stmt)) return &loop->body;
  if (const If* branch = as<If>(stmt)) return &branch->body;
  if (const LastBlock* last = as<LastBlock>(stmt)) return &last->body;
  return nullptr;
}

Block* body_of(Stmt& stmt) { return const_cast<Block*>(body_of(static_cast<const Stmt&>(stmt))); }

uint32_t next_value_id(const Kernel& kernel) {
  uint32_t next = 0;
  for (const Phase& phase : kernel.phases) next = std::max(next, next_value_id(phase.body));
  return next;
}

std::unique_ptr<Stmt> clone(const Stmt& stmt) {
  return visit(stmt, [](const auto& s) -> std::unique_ptr<Stmt> {
    using T = std::remove_cvref_t<decltype(s)>;
    auto out = std::make_unique<T>();
    std::apply([&](auto... field) { (copy(s.*(field.member), (*out).*(field.member)), ...); }, T::fields());
    return out;
  });
}

Block clone(const Block& block) {
  Block out;
  for (const auto& stmt : block) out.push_back(clone(*stmt));
  return out;
}

namespace {

bool indexes_stack(const Kernel& kernel, const Block& body, const std::string& var) {
  const auto meets = [&](uint32_t buffer, sym::Expr index) {
    return kernel.buffers[buffer].space == Space::stack && sym::symbols(index).contains(var);
  };
  return std::any_of(body.begin(), body.end(), [&](const auto& stmt) {
    if (const Load* s = as<Load>(*stmt)) return meets(s->buffer, s->index);
    if (const Store* s = as<Store>(*stmt)) return meets(s->buffer, s->index);
    const Block* inner = body_of(*stmt);
    return inner != nullptr && indexes_stack(kernel, *inner, var);
  });
}

}  // namespace

bool cooperates(const Stmt& stmt) {
  if (const Fold* fold = as<Fold>(stmt)) return fold->threads > 1;
  return stmt.kind == StmtKind::Sync || stmt.kind == StmtKind::Shuffle || stmt.kind == StmtKind::LoadOfBlock ||
         stmt.kind == StmtKind::Prefix || stmt.kind == StmtKind::LastBlock || stmt.kind == StmtKind::Await ||
         stmt.kind == StmtKind::LoadMatrix || stmt.kind == StmtKind::Mma;
}

bool cooperates(const Block& body) {
  return std::any_of(body.begin(), body.end(), [](const auto& stmt) {
    const Block* inner = body_of(*stmt);
    return cooperates(*stmt) || (inner != nullptr && cooperates(*inner));
  });
}

bool indexes_stack(const Kernel& kernel, const For& loop) {
  return indexes_stack(kernel, loop.body, loop.var.symbol_name());
}

Kernel clone(const Kernel& kernel) {
  Kernel out{kernel.name, kernel.target, kernel.schedule, kernel.pool, kernel.buffers, kernel.integers,
             {},          kernel.narrow};
  for (const Phase& phase : kernel.phases) out.phases.push_back({clone(phase.body), phase.beside});
  return out;
}

}  // namespace plait::kir
