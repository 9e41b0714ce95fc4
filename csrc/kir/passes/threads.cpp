#include "kir/passes/threads.h"

#include <algorithm>

#include "base/error.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

const For* first_threads(const Block& body) {
  for (const auto& stmt : body) {
    const For* loop = as<For>(*stmt);
    if (loop != nullptr && loop->loop == LoopKind::threads) return loop;
    if (const Block* inner = body_of(*stmt))
      if (const For* found = first_threads(*inner)) return found;
  }
  return nullptr;
}

// What the innermost block_* loop has, or the phase.
Block& body_of_blocks(Block& body) {
  for (auto& stmt : body) {
    auto* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
    if (loop != nullptr && loop->loop >= LoopKind::block_x && loop->loop <= LoopKind::block_z)
      return body_of_blocks(loop->body);
  }
  return body;
}

class Threads {
 public:
  Threads(Kernel& kernel, const For& like)
      : kernel_(kernel),
        editor_(kernel),
        extent_(like.extent),
        thread_(editor_.symbol(like.var, sym::index_facts(extent_))) {}

  void run(Block& body) {
    while (find_own(body)) {}
    auto loop = std::make_unique<For>();
    loop->var = thread_;
    loop->extent = extent_;
    loop->loop = LoopKind::thread_x;
    rewrite(body, loop->body);
    body.clear();
    body.push_back(std::move(loop));
  }

 private:
  bool is_own(const std::vector<Value>& values) const {
    return std::any_of(values.begin(), values.end(), [&](const Value& v) { return own_.contains(v.id); });
  }

  // Values that differ between threads: states that threads loops change, and what follows from them without a fold.
  // Whether there are more than before.
  bool find_own(const Block& body, bool inside = false) {
    bool more = false;
    for (const auto& stmt : body) {
      const For* loop = as<For>(*stmt);
      const bool within = inside || (loop != nullptr && loop->loop == LoopKind::threads);
      if (const Block* inner = body_of(*stmt)) more |= find_own(*inner, within);
      if (stmt->kind == StmtKind::Fold) continue;
      std::vector<Value> found;
      if (const auto* s = as<Accumulate>(*stmt); s != nullptr && (inside || is_own(s->in))) found = s->state;
      if (const auto* s = as<Merge>(*stmt); s != nullptr && (inside || is_own(s->in))) found = s->state;
      if (const auto* s = as<Assign>(*stmt); s != nullptr && (inside || is_own({s->in}))) found = {s->variable};
      if (is_pure(stmt->kind) && is_own(operands(*stmt))) found = results(*stmt);
      for (const Value& v : found) more |= own_.insert(v.id).second;
    }
    return more;
  }

  void rewrite(const Block& body, Block& out) {
    for (const auto& stmt : body) {
      const For* loop = as<For>(*stmt);
      if (loop != nullptr && loop->loop == LoopKind::threads) {
        PLAIT_CHECK(loop->extent == extent_, "kernel {}: threads loops of {} and {} threads", kernel_.name,
                    sym::print(extent_), sym::print(loop->extent));
        check_buffers(loop->body);
        Copier copier(editor_);
        copier.symbols[loop->var.symbol_name()] = thread_;
        copier.copy(loop->body, out);
      } else {
        out.push_back(outside(*stmt));
      }
    }
  }

  // Local buffers belong to a thread: nobody else finds what it stores there.
  void check_buffers(const Block& body) const {
    for (const auto& stmt : body) {
      const auto* store = as<Store>(*stmt);
      PLAIT_CHECK(store == nullptr || !kernel_.buffers[store->buffer].loads(),
                  "kernel {}: a threads loop stores to {}, which others may read", kernel_.name,
                  kernel_.buffers[store->buffer].name);
      if (const Block* inner = body_of(*stmt)) check_buffers(*inner);
    }
  }

  std::unique_ptr<Stmt> outside(const Stmt& stmt) {
    std::unique_ptr<Stmt> out = clone_head(stmt);
    if (const Block* inner = body_of(stmt)) {
      rewrite(*inner, *body_of(*out));
      return out;
    }
    if (out->kind == StmtKind::Fold) {
      Fold& fold = static_cast<Fold&>(*out);
      if (is_own(fold.state)) fold.threads = extent_.value();
      return out;
    }
    const bool to_memory = stmt.kind == StmtKind::AtomicMin || is_store_to_all(stmt);
    PLAIT_CHECK(!to_memory || !is_own(operands(stmt)), "kernel {}: each thread stores another value: {}", kernel_.name,
                print(kernel_, stmt));
    return to_memory || goes_into_one(stmt) ? by_first(std::move(out)) : std::move(out);
  }

  bool is_store_to_all(const Stmt& stmt) const {
    const auto* store = as<Store>(stmt);
    return store != nullptr && !kernel_.buffers[store->buffer].is_local();
  }

  // What all threads have alike, into a state that each has its own of.
  bool goes_into_one(const Stmt& stmt) const {
    if (const auto* s = as<Accumulate>(stmt)) return is_own(s->state) && !is_own(s->in);
    if (const auto* s = as<Merge>(stmt)) return is_own(s->state) && !is_own(s->in);
    return false;
  }

  std::unique_ptr<Stmt> by_first(std::unique_ptr<Stmt> stmt) const {
    auto branch = std::make_unique<If>();
    branch->condition = sym::eq(thread_, 0);
    branch->body.push_back(std::move(stmt));
    return branch;
  }

  // A copy without what stands in its body.
  static std::unique_ptr<Stmt> clone_head(const Stmt& stmt) {
    if (const For* loop = as<For>(stmt)) {
      auto out = std::make_unique<For>();
      out->var = loop->var;
      out->extent = loop->extent;
      out->loop = loop->loop;
      out->unroll = loop->unroll;
      return out;
    }
    if (const If* branch = as<If>(stmt)) {
      auto out = std::make_unique<If>();
      out->condition = branch->condition;
      return out;
    }
    return clone(stmt);
  }

  Kernel& kernel_;
  Editor editor_;
  sym::Expr extent_, thread_;
  std::set<uint32_t> own_;
};

}  // namespace

void threads(Kernel& kernel) {
  for (Phase& phase : kernel.phases) {
    const For* like = first_threads(phase.body);
    if (like == nullptr) continue;
    Threads pass(kernel, *like);
    pass.run(body_of_blocks(phase.body));
  }
}

}  // namespace plait::kir
