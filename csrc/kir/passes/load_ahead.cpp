#include "kir/passes/load_ahead.h"

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// What of a loop is taken apart: the conditions around all that an iteration does, and its loads that come first.
struct Iteration {
  std::vector<sym::Expr> conditions;
  const Block* body = nullptr;
  std::set<const Stmt*> loads;
  int64_t bytes = 0;
};

// At most so many iterations, and as a loop of just so many has them under a condition: any number where null.
struct Count {
  std::optional<int64_t> most;
  sym::Expr below;  // iterations before it run; null: all
};

Count count_of(sym::Expr extent) {
  if (const auto all = extent.constant()) return {all, {}};
  if (extent.kind() != sym::Kind::min) return {std::nullopt, extent};
  Count out;
  for (sym::Expr e : extent.operands()) {
    if (const auto most = e.constant())
      out.most = most;
    else
      out.below = out.below ? sym::min(out.below, e) : e;
  }
  return out;
}

int64_t statements(const Block& block) {
  int64_t out = 0;
  for (const auto& stmt : block) {
    out += 1;
    if (const Block* body = body_of(*stmt)) out += statements(*body);
  }
  return out;
}

// Whether threads meet in it: wait for each other, or have shared memory.
bool meets(const Kernel& kernel, const Block& block) {
  return std::any_of(block.begin(), block.end(), [&](const auto& stmt) {
    switch (stmt->kind) {
      case StmtKind::Atomic:
      case StmtKind::Sync:
      case StmtKind::Wait:
      case StmtKind::Commit:
      case StmtKind::CopyAsync:
      case StmtKind::LastBlock:
      case StmtKind::Await:
      case StmtKind::Shuffle:
      case StmtKind::LoadOfBlock:
      case StmtKind::Prefix:
      case StmtKind::LoadMatrix:
      case StmtKind::Mma:
        return true;
      default:
        break;
    }
    const uint32_t* buffer = buffer_of(*stmt);
    if (buffer != nullptr && kernel.buffers[*buffer].space == Space::shared) return true;
    const Block* body = body_of(*stmt);
    return body != nullptr && meets(kernel, *body);
  });
}

class LoadAhead {
 public:
  explicit LoadAhead(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      const For* loop = as<For>(*stmt);
      if (loop == nullptr || loop->loop != LoopKind::serial || !apart(*loop, out)) out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

 private:
  Iteration iteration_of(const For& loop) const {
    Iteration out;
    out.body = &loop.body;
    while (out.body->size() == 1 && as<If>(*out.body->front()) != nullptr) {
      const If& branch = *as<If>(*out.body->front());
      out.conditions.push_back(branch.condition);
      out.body = &branch.body;
    }
    std::set<std::string> bound;  // by a statement of the body itself
    for (const auto& stmt : *out.body) {
      if (const Bind* bind = as<Bind>(*stmt)) bound.insert(bind->var.symbol_name());
      const Load* load = as<Load>(*stmt);
      if (load != nullptr && load->active) return {};  // reads ahead already, or is a tail
      if (load != nullptr && is_of_all(*load, loop)) return {};
      if (load == nullptr || load->access == Access::reversed || !is_ahead(*load, bound)) continue;
      out.loads.insert(load);
      out.bytes +=
          std::max<int64_t>(4, load->out.lanes * static_cast<int64_t>(size_of(kernel_.buffers[load->buffer].dtype)));
    }
    return out;
  }

  // Whether the load is of what the kernel leaves as it is, at a place that no statement of the body says.
  bool is_ahead(const Load& load, const std::set<std::string>& bound) const {
    const Buffer& from = kernel_.buffers[load.buffer];
    if (from.space != Space::argument || from.written || from.replaced) return false;
    const auto names = sym::symbols(load.index);
    return std::none_of(names.begin(), names.end(), [&](const std::string& name) { return bound.contains(name); });
  }

  // Whether all iterations read the same of an argument, which `hoist` takes out of a loop that is one.
  bool is_of_all(const Load& load, const For& loop) const {
    return kernel_.buffers[load.buffer].space == Space::argument && !depends_on(load.index, loop.var);
  }

  // Takes the loop apart, or leaves it.
  bool apart(const For& loop, Block& out) {
    const Iteration one = iteration_of(loop);
    if (one.body == nullptr || one.loads.empty() || meets(kernel_, *one.body) ||
        statements(*one.body) > kMostStatements)
      return false;
    const Count count = count_of(loop.extent);
    if (!count.below && one.conditions.empty()) return false;
    const int64_t room = kBytesAhead / one.bytes;
    if (room < 2) return false;
    if (count.most && *count.most <= kMostAhead) {
      if (*count.most < 2) return false;
      const int64_t parts = (*count.most + room - 1) / room, each = (*count.most + parts - 1) / parts;
      for (int64_t first = 0; first < *count.most; first += each)
        together(loop, one, count.below, editor_.number(first), std::min(each, *count.most - first), out);
      return true;
    }
    const int64_t each = std::min(kAhead, room);
    auto outer = std::make_unique<For>();
    outer->extent = sym::ceildiv(loop.extent, each);
    outer->var = editor_.symbol(loop.var, sym::index_facts(outer->extent));
    together(loop, one, loop.extent, outer->var * each, each, outer->body);
    out.push_back(std::move(outer));
    return true;
  }

  // Iterations first, first + 1, ... of the loop, those that are below `below`.
  void together(const For& loop, const Iteration& one, sym::Expr below, sym::Expr first, int64_t count, Block& out) {
    std::vector<Block> bodies(static_cast<size_t>(count));
    std::vector<sym::Expr> holds(bodies.size());
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      Copier copier(editor_);
      copier.new_buffers = i > 0;
      const sym::Expr index = first + i;
      copier.symbols[loop.var.symbol_name()] = index;
      sym::Expr condition = editor_.number(1);
      if (below) condition = sym::lt(index, below);
      for (sym::Expr each : one.conditions) condition = sym::logical_and(condition, copier(each));
      holds[at] = condition;
      if (sym::prove(condition) == sym::Truth::no) continue;
      for (const auto& stmt : *one.body)
        one.loads.contains(stmt.get()) ? ahead(*as<Load>(*stmt), condition, copier, out)
                                       : copier.copy(*stmt, bodies[at]);
    }
    for (size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].empty()) continue;
      if (sym::proven(holds[i])) {
        for (auto& stmt : bodies[i]) out.push_back(std::move(stmt));
        continue;
      }
      auto branch = std::make_unique<If>();
      branch->condition = holds[i];
      branch->body = std::move(bodies[i]);
      out.push_back(std::move(branch));
    }
  }

  void ahead(const Load& load, sym::Expr condition, Copier& copier, Block& out) {
    Block one;
    copier.copy(load, one);
    auto& now = static_cast<Load&>(*one.front());
    if (!sym::proven(condition))
      now.active =
          load.out.lanes == 1 ? condition : sym::select(condition, editor_.number(load.out.lanes), editor_.number(0));
    out.push_back(std::move(one.front()));
  }

  Kernel& kernel_;
  Editor editor_;
};

}  // namespace

void load_ahead(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  LoadAhead pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
