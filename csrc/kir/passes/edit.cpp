#include "kir/passes/edit.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/overloaded.h"

namespace plait::kir {

bool depends_on(sym::Expr e, sym::Expr var) { return e && sym::symbols(e).contains(var.symbol_name()); }

std::optional<Slope> slope_in(sym::Expr value, sym::Expr var) {
  if (!depends_on(value, var)) return Slope{value, 0};
  sym::Pool& pool = value.pool();
  const sym::Expr base = sym::substitute(value, {{var.symbol_name(), pool.constant(0)}});
  const sym::Expr next = sym::substitute(value, {{var.symbol_name(), pool.constant(1)}});
  const auto step = (next - base).constant();
  if (!step) return std::nullopt;
  const sym::Expr linear = base + var * *step;
  if (value != linear && !sym::proven(sym::eq(value, linear))) return std::nullopt;
  return Slope{base, *step};
}

std::vector<sym::Expr> conjuncts(sym::Expr condition) {
  if (condition.kind() != sym::Kind::logical_and) return {condition};
  return {condition.operands().begin(), condition.operands().end()};
}

std::optional<sym::Expr> negative_where(sym::Expr condition) {
  const bool negated = condition.kind() == sym::Kind::logical_not;
  const sym::Expr c = negated ? condition.operands()[0] : condition;
  if (c.kind() != sym::Kind::lt && c.kind() != sym::Kind::le) return std::nullopt;
  const sym::Expr a = c.operands()[0], b = c.operands()[1];
  const bool strict = c.kind() == sym::Kind::lt;
  if (negated) return strict ? b - a - 1 : b - a;
  return strict ? a - b : a - b - 1;
}

Editor::Editor(Kernel& kernel) : kernel(kernel), next_id_(next_value_id(kernel)) {
  for (const Buffer& b : kernel.buffers) buffers_.insert(b.name);
}

sym::Expr Editor::symbol(sym::Expr like, sym::SymbolInfo facts) {
  int& tries = tries_[like.symbol_name()];
  for (;;) {
    const std::string name = fmt::format("{}_{}", like.symbol_name(), ++tries);
    if (!kernel.pool->find_symbol(name)) return kernel.pool->symbol(name, facts);
  }
}

uint32_t Editor::buffer(const std::string& like, DType dtype, sym::Expr extent) {
  Buffer buffer;
  int& tries = tries_["%" + like];
  do buffer.name = fmt::format("{}_{}", like, ++tries);
  while (!buffers_.insert(buffer.name).second);
  buffer.dtype = dtype;
  buffer.extent = extent;
  buffer.space = Space::stack;
  kernel.buffers.push_back(buffer);
  return static_cast<uint32_t>(kernel.buffers.size() - 1);
}

std::unique_ptr<For> Editor::loop_like(const For& like) {
  auto out = std::make_unique<For>();
  out->loop = like.loop;
  out->extent = like.extent;
  out->unroll = like.unroll;
  out->var = symbol(like.var, sym::index_facts(like.extent));
  return out;
}

std::unique_ptr<For> nested(std::vector<std::unique_ptr<For>> loops) {
  for (size_t i = loops.size() - 1; i > 0; --i) loops[i - 1]->body.push_back(std::move(loops[i]));
  return std::move(loops.front());
}

const uint32_t* buffer_of(const Stmt& stmt) {
  if (const auto* alloc = as<Alloc>(stmt)) return &alloc->buffer;
  if (const auto* load = as<Load>(stmt)) return &load->buffer;
  if (const auto* store = as<Store>(stmt)) return &store->buffer;
  if (const auto* atomic = as<Atomic>(stmt)) return &atomic->buffer;
  if (const auto* copy = as<CopyAsync>(stmt)) return &copy->to;
  if (const auto* load = as<LoadMatrix>(stmt)) return &load->to;
  if (const auto* load = as<LoadOfBlock>(stmt)) return &load->buffer;
  if (const auto* mma = as<Mma>(stmt)) return &mma->sums;
  if (const auto* last = as<LastBlock>(stmt)) return &last->buffer;
  if (const auto* await = as<Await>(stmt)) return &await->buffer;
  return nullptr;
}

uint32_t* buffer_of(Stmt& stmt) { return const_cast<uint32_t*>(buffer_of(static_cast<const Stmt&>(stmt))); }

std::vector<uint32_t*> buffers_of(Stmt& stmt) {
  std::vector<uint32_t*> out;
  if (uint32_t* buffer = buffer_of(stmt)) out.push_back(buffer);
  if (stmt.kind == StmtKind::CopyAsync) out.push_back(&static_cast<CopyAsync&>(stmt).from);
  if (stmt.kind == StmtKind::LoadMatrix) out.push_back(&static_cast<LoadMatrix&>(stmt).from);
  if (stmt.kind == StmtKind::Mma) out.insert(out.end(), {&static_cast<Mma&>(stmt).a, &static_cast<Mma&>(stmt).b});
  return out;
}

bool is_pure(StmtKind kind) {
  switch (kind) {
    case StmtKind::Literal:
    case StmtKind::Coordinate:
    case StmtKind::Load:
    case StmtKind::Compute:
    case StmtKind::Convert:
    case StmtKind::Round:
    case StmtKind::Half:
    case StmtKind::Transpose:
    case StmtKind::Running:
    case StmtKind::Random:
    case StmtKind::Fold:
    case StmtKind::Prefix:
      return true;
    case StmtKind::For:
    case StmtKind::If:
    case StmtKind::Alloc:
    case StmtKind::Variable:
    case StmtKind::Assign:
    case StmtKind::Bind:
    case StmtKind::Store:
    case StmtKind::Atomic:
    case StmtKind::CopyAsync:
    case StmtKind::Commit:
    case StmtKind::Wait:
    case StmtKind::LoadMatrix:
    case StmtKind::Mma:
    case StmtKind::Sync:
    case StmtKind::LastBlock:
    case StmtKind::Await:
    case StmtKind::Shuffle:
    case StmtKind::LoadOfBlock:
    case StmtKind::Start:
    case StmtKind::Accumulate:
    case StmtKind::Merge:
      return false;
  }
  __builtin_unreachable();
}

std::vector<Cell> changes(const Stmt& stmt) {
  const auto states = [](const std::vector<Value>& state) {
    std::vector<Cell> out;
    for (const Value& v : state) out.push_back(cell_of(v));
    return out;
  };
  if (stmt.kind == StmtKind::Sync || stmt.kind == StmtKind::LastBlock || stmt.kind == StmtKind::Await ||
      stmt.kind == StmtKind::Wait)
    return {kOfThreads};
  if (const auto* assign = as<Assign>(stmt)) return {cell_of(assign->variable)};
  if (const auto* accumulate = as<Accumulate>(stmt)) return states(accumulate->state);
  if (const auto* merge = as<Merge>(stmt)) return states(merge->state);
  const uint32_t* buffer = buffer_of(stmt);
  if (buffer != nullptr && stmt.kind != StmtKind::Load) return {cell_of_buffer(*buffer)};
  return {};
}

Value Copier::renamed(const Value& v) const {
  const auto found = values.find(v.id);
  return found == values.end() ? v : found->second;
}

Value Copier::defined(const Value& v) {
  const Value out = editor_.value(v.dtype, v.lanes);
  values[v.id] = out;
  return out;
}

void Copier::copy(const Block& from, Block& to) {
  for (const auto& stmt : from) copy(*stmt, to);
}

void Copier::copy_loop(const For& from, Block& to) {
  auto loop = std::make_unique<For>();
  loop->var = from.var;
  loop->extent = (*this)(from.extent);
  loop->loop = from.loop;
  loop->unroll = from.unroll;
  loop->stages = from.stages;
  const sym::Expr below = editor_.kernel.pool->info(from.var).below;
  const auto outer = symbols.find(from.var.symbol_name());
  const bool hidden = outer != symbols.end();
  const sym::Expr kept = hidden ? outer->second : sym::Expr();
  symbols.erase(from.var.symbol_name());
  if (loop->extent != from.extent || (*this)(below) != below) {
    loop->var = editor_.symbol(from.var, sym::index_facts(loop->extent));
    symbols[from.var.symbol_name()] = loop->var;
  }
  copy(from.body, loop->body);
  symbols.erase(from.var.symbol_name());
  if (hidden) symbols[from.var.symbol_name()] = kept;
  to.push_back(std::move(loop));
}

void Copier::copy_branch(const If& from, Block& to) {
  sym::Expr condition = editor_.kernel.pool->constant(1);
  for (sym::Expr c : conjuncts(from.condition)) {
    const auto found = conditions.find(c.node());
    const sym::Expr now = found == conditions.end() ? (*this)(c) : found->second;
    if (now) condition = sym::logical_and(condition, now);
  }
  const sym::Truth truth = sym::prove(condition);
  if (truth == sym::Truth::no) return;
  if (truth == sym::Truth::yes) return copy(from.body, to);
  auto branch = std::make_unique<If>();
  branch->condition = condition;
  copy(from.body, branch->body);
  if (!branch->body.empty()) to.push_back(std::move(branch));
}

bool Copier::is_new(const Buffer& buffer) const {
  const auto extent = buffer.extent.constant();
  return !extent || *extent <= most_new_bytes / static_cast<int64_t>(size_of(buffer.dtype));
}

void Copier::copy(const Stmt& from, Block& to) {
  if (const For* loop = as<For>(from)) return copy_loop(*loop, to);
  if (const If* branch = as<If>(from)) return copy_branch(*branch, to);
  std::unique_ptr<Stmt> out = clone(from);
  if (Block* body = body_of(*out)) {
    body->clear();
    copy(*body_of(from), *body);
  }
  edit_operands(*out, [&](const Value& v) { return renamed(v); });
  edit_fields(*out, [&](const auto& field, auto& member) {
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<T, sym::Expr>)
      if (field.name != "var") member = (*this)(member);
  });
  edit_results(*out, [&](const Value& v) { return defined(v); });
  if (const Bind* bind = as<Bind>(from))
    symbols[bind->var.symbol_name()] = static_cast<Bind&>(*out).var = editor_.symbol(bind->var, {});
  if (uint32_t* buffer = buffer_of(*out)) {
    if (new_buffers && out->kind == StmtKind::Alloc && is_new(editor_.kernel.buffers[*buffer])) {
      const Buffer like = editor_.kernel.buffers[*buffer];
      buffers_[*buffer] = editor_.buffer(like.name, like.dtype, (*this)(like.extent));
      editor_.kernel.buffers.back().space = like.space;
      editor_.kernel.buffers.back().turned = like.turned;
    }
  }
  for (uint32_t* buffer : buffers_of(*out))
    if (const auto found = buffers_.find(*buffer); found != buffers_.end()) *buffer = found->second;
  to.push_back(std::move(out));
}

namespace {

using Uses = std::unordered_map<uint32_t, size_t>;

void count_uses(const Block& block, Uses& uses) {
  for (const auto& stmt : block) {
    for (const Value& v : operands(*stmt)) uses[v.id] += 1;
    if (const Block* body = body_of(*stmt)) count_uses(*body, uses);
  }
}

// From the end, so that what only a removed statement reads goes too.
void remove_unused(Block& block, Uses& uses) {
  for (size_t i = block.size(); i-- > 0;) {
    const Stmt& stmt = *block[i];
    if (Block* body = body_of(*block[i])) {
      remove_unused(*body, uses);
      if (body->empty()) block[i].reset();
      continue;
    }
    const std::vector<Value> out = results(stmt);
    const bool read = std::any_of(out.begin(), out.end(), [&](const Value& v) { return uses[v.id] > 0; });
    if (read || !is_pure(stmt.kind)) continue;
    for (const Value& v : operands(stmt)) uses[v.id] -= 1;
    block[i].reset();
  }
  std::erase(block, nullptr);
}

void find_loaded(const Block& block, std::set<uint32_t>& out) {
  for (const auto& stmt : block) {
    if (const Load* load = as<Load>(*stmt)) out.insert(load->buffer);
    if (const LoadMatrix* load = as<LoadMatrix>(*stmt)) out.insert({load->from, load->to});
    if (const Mma* mma = as<Mma>(*stmt)) out.insert({mma->sums, mma->a, mma->b});
    if (const Block* body = body_of(*stmt)) find_loaded(*body, out);
  }
}

void remove_others(const Kernel& kernel, const std::set<uint32_t>& loaded, Block& block) {
  std::erase_if(block, [&](const auto& stmt) {
    const bool speaks =
        stmt->kind == StmtKind::Alloc || stmt->kind == StmtKind::Store || stmt->kind == StmtKind::CopyAsync;
    return speaks && kernel.buffers[*buffer_of(*stmt)].is_local() && !loaded.contains(*buffer_of(*stmt));
  });
  for (auto& stmt : block)
    if (Block* body = body_of(*stmt)) remove_others(kernel, loaded, *body);
}

}  // namespace

void remove_unread_buffers(const Kernel& kernel, Block& block) {
  std::set<uint32_t> loaded;
  find_loaded(block, loaded);
  remove_others(kernel, loaded, block);
}

void remove_unused(Block& block) {
  Uses uses;
  count_uses(block, uses);
  remove_unused(block, uses);
}

}  // namespace plait::kir
