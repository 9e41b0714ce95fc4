#include "kir/passes/pipeline.h"

#include <algorithm>
#include <utility>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// The parts of a loop's body: buffers, copies into them, (commit, wait, sync,) the rest, (sync).
struct Parts {
  std::vector<const Alloc*> buffers;
  std::vector<const Stmt*> copies, rest;
};

// Whether all that a statement does is to copy.
bool only_copies(const Stmt& stmt) {
  if (stmt.kind == StmtKind::CopyAsync) return true;
  const For* loop = as<For>(stmt);
  return loop != nullptr && !loop->body.empty() &&
         std::ranges::all_of(loop->body, [](const auto& inner) { return only_copies(*inner); });
}

// Whether threads of several warps meet in a statement, or wait for copies.
bool meets_others(const Stmt& stmt) {
  const bool warp = stmt.kind == StmtKind::Shuffle || stmt.kind == StmtKind::LoadMatrix || stmt.kind == StmtKind::Mma;
  const Block* body = body_of(stmt);
  return stmt.kind == StmtKind::Wait || (cooperates(stmt) && !warp) ||
         (body != nullptr && std::ranges::any_of(*body, [](const auto& inner) { return meets_others(*inner); }));
}

std::optional<Parts> parts_of(const Block& body) {
  Parts out;
  size_t at = 0;
  for (; at < body.size(); ++at) {
    const Alloc* alloc = as<Alloc>(*body[at]);
    if (alloc != nullptr)
      out.buffers.push_back(alloc);
    else if (only_copies(*body[at]))
      out.copies.push_back(body[at].get());
    else
      break;
  }
  if (out.copies.empty()) return std::nullopt;
  for (StmtKind kind : {StmtKind::Commit, StmtKind::Wait, StmtKind::Sync}) {
    if (at == body.size() || body[at]->kind != kind) return std::nullopt;
    ++at;
  }
  for (; at < body.size(); ++at) out.rest.push_back(body[at].get());
  if (!out.rest.empty() && out.rest.back()->kind == StmtKind::Sync) out.rest.pop_back();
  const bool waits =
      std::ranges::any_of(out.rest, [](const Stmt* s) { return s->kind == StmtKind::Alloc || meets_others(*s); });
  if (out.rest.empty() || waits) return std::nullopt;
  return out;
}

class Pipeline {
 public:
  explicit Pipeline(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      For* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
      int64_t stages = loop != nullptr ? std::exchange(loop->stages, 1) : 1;
      if (stages > 1) stages = std::min(stages, loop->extent.constant().value_or(stages));
      const auto parts = stages > 1 ? parts_of(loop->body) : std::nullopt;
      if (parts && fits(*parts, stages))
        stage(*loop, *parts, stages, out);
      else
        out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

 private:
  bool fits(const Parts& parts, int64_t stages) const {
    int64_t bytes = 0, all = 0;
    for (const Buffer& buffer : kernel_.buffers)
      if (buffer.space == Space::shared) all += size_of(buffer);
    for (const Alloc* alloc : parts.buffers) bytes += size_of(kernel_.buffers[alloc->buffer]);
    return all + (stages - 1) * bytes <= kMostPipelinedBytes;
  }
  static int64_t size_of(const Buffer& buffer) {
    return buffer.extent.constant().value_or(kMostPipelinedBytes) * static_cast<int64_t>(plait::size_of(buffer.dtype));
  }

  void stage(const For& loop, const Parts& parts, int64_t stages, Block& out) {
    std::vector<Copier> copiers;  // each with the buffers of its stage
    for (int64_t s = 0; s < stages; ++s) {
      copiers.emplace_back(editor_);
      copiers.back().new_buffers = s > 0;
      for (const Alloc* alloc : parts.buffers) copiers.back().copy(*alloc, out);
    }
    for (int64_t s = 0; s + 1 < stages; ++s) begin(loop, parts, copiers[size_t(s)], editor_.number(s), out);
    auto all = std::make_unique<For>();
    all->extent = sym::ceildiv(loop.extent, stages);
    all->var = editor_.symbol(loop.var, sym::index_facts(all->extent));
    for (int64_t s = 0; s < stages; ++s) {
      auto wait = std::make_unique<Wait>();
      wait->left = stages - 2;
      all->body.push_back(std::move(wait));
      all->body.push_back(std::make_unique<Sync>());
      const sym::Expr now = all->var * stages + s;
      begin(loop, parts, copiers[size_t((s + stages - 1) % stages)], now + stages - 1, all->body);
      auto there = std::make_unique<If>();
      there->condition = sym::lt(now, loop.extent);
      Copier& copier = copiers[size_t(s)];
      copier.symbols[loop.var.symbol_name()] = now;
      Block& rest = sym::proven(there->condition) ? all->body : there->body;
      for (const Stmt* stmt : parts.rest) copier.copy(*stmt, rest);
      if (!there->body.empty()) all->body.push_back(std::move(there));
    }
    out.push_back(std::move(all));
    out.push_back(std::make_unique<Wait>());
  }

  // The copies of an iteration, as a group; behind the last one they take nothing.
  void begin(const For& loop, const Parts& parts, Copier& copier, sym::Expr iteration, Block& out) {
    copier.symbols[loop.var.symbol_name()] = iteration;
    const size_t first = out.size();
    for (const Stmt* stmt : parts.copies) copier.copy(*stmt, out);
    const sym::Expr there = sym::lt(iteration, loop.extent);
    if (!sym::proven(there))
      for (size_t i = first; i < out.size(); ++i) only_where(there, *out[i]);
    out.push_back(std::make_unique<Commit>());
  }
  static void only_where(sym::Expr condition, Stmt& stmt) {
    if (stmt.kind == StmtKind::CopyAsync) {
      sym::Expr& active = static_cast<CopyAsync&>(stmt).active;
      active = active ? sym::logical_and(condition, active) : condition;
    }
    if (Block* body = body_of(stmt))
      for (auto& inner : *body) only_where(condition, *inner);
  }

  Kernel& kernel_;
  Editor editor_;
};

}  // namespace

void pipeline(Kernel& kernel) {
  for (Phase& phase : kernel.phases) Pipeline(kernel).block(phase.body);
}

}  // namespace plait::kir
