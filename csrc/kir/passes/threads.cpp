#include "kir/passes/threads.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "kir/passes/edit.h"
#include "kir/passes/place_memory.h"

namespace plait::kir {
namespace {

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
  explicit Threads(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  // Whether the body has threads loops.
  bool find(Block& body) {
    for (auto& stmt : body) {
      For* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
      if (loop != nullptr && is_threads(loop->loop)) name_thread(*loop);
      if (Block* inner = body_of(*stmt)) find(*inner);
    }
    return std::any_of(dims_.begin(), dims_.end(), [](const Dim& d) { return bool(d.extent); });
  }

  void run(Block& body) {
    share_buffers(body);
    fill_warps(body);  // behind it: what all threads have alike is nobody's share
    for (Dim& dim : dims_)
      while (dim.extent && find_own(body, dim, false)) {}
    Block inner;
    rewrite(body, {}, inner);
    lift_conditions(inner);
    for (size_t d = 0; d < dims_.size(); ++d) {  // x innermost
      if (!dims_[d].extent) continue;
      auto loop = std::make_unique<For>();
      loop->var = dims_[d].thread;
      loop->extent = dims_[d].extent;
      loop->loop = d == 0 ? LoopKind::thread_x : dims_[d].kind;
      loop->body = std::move(inner);
      inner.clear();
      inner.push_back(std::move(loop));
    }
    body = std::move(inner);
  }

 private:
  struct Dim {
    sym::Expr extent, thread;  // null where there is no loop
    LoopKind kind = LoopKind::thread_y;
    std::set<uint32_t> own;  // values that differ between threads
  };
  using Open = std::array<bool, 2>;  // dims whose loops are around

  // Blocks of a cluster are as a second dim of threads.
  static size_t dim_of(const For& loop) { return loop.loop == LoopKind::threads ? 0 : 1; }

  // All loops of a dim have one variable.
  void name_thread(For& loop) {
    Dim& dim = dims_[dim_of(loop)];
    if (!dim.extent) {
      dim.extent = loop.extent;
      if (loop.loop == LoopKind::clusters) dim.kind = LoopKind::cluster;
      dim.thread = editor_.symbol(loop.var, sym::index_facts(loop.extent));
    }
    PLAIT_CHECK(loop.extent == dim.extent, "kernel {}: {} loops of {} and {} threads", kernel_.name, name(loop.loop),
                sym::print(dim.extent), sym::print(loop.extent));
    replace(loop.body, {{loop.var.symbol_name(), dim.thread}});
    loop.var = dim.thread;
  }

  static void replace(Block& body, const std::map<std::string, sym::Expr>& symbols) {
    for (auto& stmt : body) {
      edit_fields(*stmt, [&](const auto&, auto& member) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, sym::Expr>)
          if (member) member = sym::substitute(member, symbols);
      });
      if (Block* inner = body_of(*stmt)) replace(*inner, symbols);
    }
  }

  static bool folds(const Block& body) {
    return std::any_of(body.begin(), body.end(), [](const auto& stmt) {
      const Block* inner = body_of(*stmt);
      return stmt->kind == StmtKind::Fold || stmt->kind == StmtKind::Prefix || (inner != nullptr && folds(*inner));
    });
  }

  // Where a dim of one iteration has no loop, the threads may be fewer than a warp, which folds need: each iteration
  // has several then, which do the same.
  void fill_warps(const Block& body) {
    int64_t count = 1;
    for (const Dim& dim : dims_)
      if (dim.extent) count *= dim.extent.value();
    const auto none = std::find_if(dims_.begin(), dims_.end(), [](const Dim& d) { return !d.extent; });
    if (count % kWarp == 0 || none == dims_.end() || !folds(body)) return;
    none->extent = editor_.number(kWarp / count);
    none->thread = editor_.symbol(kernel_.pool->symbol("same"), sym::index_facts(none->extent));
  }

  // Stack buffers of a row: each thread has the elements that its iterations meet, and no others.
  void share_buffers(Block& body) {
    if (!dims_[0].extent) return;
    std::map<uint32_t, Share> shares;
    share(body, false, shares);
    for (const auto& [buffer, share] : shares) {
      sym::Expr& extent = kernel_.buffers[buffer].extent;
      extent = sym::ceildiv(extent * share.step, share.all);
    }
  }

  struct Share {  // so many elements side by side, of those of all threads
    int64_t step = 0, all = 0;
    bool operator==(const Share&) const = default;
  };

  void share(Block& body, bool inside, std::map<uint32_t, Share>& shares) {
    for (auto& stmt : body) {
      const For* loop = as<For>(*stmt);
      const bool within = inside || (loop != nullptr && loop->loop == LoopKind::threads);
      if (Block* inner = body_of(*stmt)) share(*inner, within, shares);
      const Alloc* alloc = as<Alloc>(*stmt);
      if (alloc != nullptr && within) of_threads_.insert(alloc->buffer);
      auto* load = stmt->kind == StmtKind::Load ? static_cast<Load*>(stmt.get()) : nullptr;
      auto* store = stmt->kind == StmtKind::Store ? static_cast<Store*>(stmt.get()) : nullptr;
      if (load == nullptr && store == nullptr) continue;
      const uint32_t buffer = load != nullptr ? load->buffer : store->buffer;
      if (kernel_.buffers[buffer].space != Space::stack || of_threads_.contains(buffer)) continue;
      sym::Expr& index = load != nullptr ? load->index : store->index;
      const auto extent = [](const Dim& dim) { return dim.extent ? dim.extent.value() : 1; };
      const auto own = within ? own_place(index, dims_[0].thread, extent(dims_[0]), dims_[1].thread, extent(dims_[1]))
                              : std::nullopt;
      const Share now = own ? Share{own->step, own->all} : Share();
      PLAIT_CHECK(own && shares.emplace(buffer, now).first->second == now,
                  "kernel {}: threads share elements of {}: {}", kernel_.name, kernel_.buffers[buffer].name,
                  print(kernel_, *stmt));
      index = sym::floordiv(own->at_zero, own->all) * own->step + sym::mod(own->at_zero, own->step);
    }
  }

  static bool any(const std::set<uint32_t>& own, const std::vector<Value>& values) {
    return std::any_of(values.begin(), values.end(), [&](const Value& v) { return own.contains(v.id); });
  }

  // States that the loops of the dim change, and what follows from them without a fold. Whether there are more than
  // before.
  static bool find_own(const Block& body, Dim& dim, bool inside) {
    bool more = false;
    for (const auto& stmt : body) {
      const For* loop = as<For>(*stmt);
      const bool within = inside || (loop != nullptr && is_threads(loop->loop) && loop->var == dim.thread);
      if (const Block* inner = body_of(*stmt)) more |= find_own(*inner, dim, within);
      if (stmt->kind == StmtKind::Fold) continue;
      std::vector<Value> found;
      if (const auto* s = as<Accumulate>(*stmt); s != nullptr && (inside || any(dim.own, s->in))) found = s->state;
      if (const auto* s = as<Merge>(*stmt); s != nullptr && (inside || any(dim.own, s->in))) found = s->state;
      if (const auto* s = as<Assign>(*stmt); s != nullptr && (inside || any(dim.own, {s->in}))) found = {s->variable};
      if (is_pure(stmt->kind) && any(dim.own, operands(*stmt))) found = results(*stmt);
      for (const Value& v : found) more |= dim.own.insert(v.id).second;
    }
    return more;
  }

  bool varies(sym::Expr e) const {
    return std::any_of(dims_.begin(), dims_.end(), [&](const Dim& d) { return d.extent && depends_on(e, d.thread); });
  }

  void rewrite(Block& body, Open open, Block& out) {
    for (auto& stmt : body) {
      auto* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
      if (loop != nullptr && is_threads(loop->loop)) {
        Open inside = open;
        inside[dim_of(*loop)] = true;
        rewrite(loop->body, inside, out);
      } else if (Block* inner = body_of(*stmt)) {
        Block now;
        rewrite(*inner, open, now);
        const If* branch = as<If>(*stmt);
        if (branch != nullptr && varies(branch->condition) && cooperates(now)) {
          distribute(branch->condition, now, out);
        } else {
          *inner = std::move(now);
          out.push_back(std::move(stmt));
        }
      } else {
        out.push_back(outside(std::move(stmt), open));
      }
    }
  }

  // A branch that threads take apart, around folds of all of them: the folds and what only computes stand without the
  // condition, of threads that no one reads.
  void distribute(sym::Expr condition, Block& body, Block& out) {
    If* last = nullptr;  // the branch that the statements before stand in
    const auto guarded = [&](std::unique_ptr<Stmt> stmt) {
      if (last == nullptr) {
        auto branch = std::make_unique<If>();
        branch->condition = condition;
        last = branch.get();
        out.push_back(std::move(branch));
      }
      last->body.push_back(std::move(stmt));
    };
    for (auto& stmt : body) {
      Block* inner = body_of(*stmt);
      if (inner != nullptr && cooperates(*inner)) {
        Block now;
        distribute(condition, *inner, now);
        *inner = std::move(now);
        out.push_back(std::move(stmt));
        last = nullptr;
      } else if (inner != nullptr || stmt->kind == StmtKind::Store || stmt->kind == StmtKind::Atomic) {
        guarded(std::move(stmt));
      } else if (stmt->kind == StmtKind::Load) {
        auto variable = std::make_unique<Variable>();
        auto assign = std::make_unique<Assign>();
        Value& loaded = static_cast<Load&>(*stmt).out;
        variable->out = assign->variable = loaded;
        variable->initial = Constant::from_int64(loaded.dtype, 0);
        loaded = assign->in = editor_.value(loaded.dtype, loaded.lanes);
        out.push_back(std::move(variable));
        last = nullptr;
        guarded(std::move(stmt));
        guarded(std::move(assign));
      } else {
        out.push_back(std::move(stmt));
        last = nullptr;
      }
    }
  }

  // A condition that stands around all that a loop has and does not speak of its variable goes around the loop: the
  // emitter could not put it there while a threads loop stood between them.
  static void lift_conditions(Block& body) {
    for (auto& stmt : body) {
      if (Block* inner = body_of(*stmt)) lift_conditions(*inner);
      const For* loop = as<For>(*stmt);
      if (loop == nullptr || cooperates(loop->body)) continue;
      Block* outer = body_of(*stmt);
      std::vector<std::unique_ptr<Stmt>> lifted;
      while (outer->size() == 1 && outer->front()->kind == StmtKind::If) {
        Block* within = body_of(*outer->front());
        if (depends_on(as<If>(*outer->front())->condition, loop->var)) {
          outer = within;
          continue;
        }
        Block rest = std::move(*within);
        within->clear();
        lifted.push_back(std::move(outer->front()));
        *outer = std::move(rest);
      }
      while (!lifted.empty()) {
        body_of(*lifted.back())->push_back(std::move(stmt));
        stmt = std::move(lifted.back());
        lifted.pop_back();
      }
    }
  }

  std::unique_ptr<Stmt> outside(std::unique_ptr<Stmt> stmt, Open open) {
    if (stmt->kind == StmtKind::Fold) {
      fold(static_cast<Fold&>(*stmt), open);
      return stmt;
    }
    const bool to_memory = stmt->kind == StmtKind::Atomic || is_store_to_all(*stmt);
    sym::Expr first;  // the threads that do it
    for (size_t d = 0; d < dims_.size(); ++d) {
      const Dim& dim = dims_[d];
      if (!dim.extent || open[d]) continue;
      PLAIT_CHECK(!to_memory || !any(dim.own, operands(*stmt)), "kernel {}: each thread stores another value: {}",
                  kernel_.name, print(kernel_, *stmt));
      if (!to_memory && !goes_into_one(*stmt, dim)) continue;
      const sym::Expr is_first = sym::eq(dim.thread, 0);
      first = first ? sym::logical_and(first, is_first) : is_first;
    }
    if (!first) return stmt;
    auto branch = std::make_unique<If>();
    branch->condition = first;
    branch->body.push_back(std::move(stmt));
    return branch;
  }

  // Over the dims whose threads have states of their own, and whose loops are not around.
  void fold(Fold& stmt, Open open) const {
    int64_t stride = 1;  // of the dim's threads
    for (size_t d = 0; d < dims_.size(); ++d) {
      const Dim& dim = dims_[d];
      if (!dim.extent) continue;
      const int64_t extent = dim.extent.value();
      if (!open[d] && any(dim.own, stmt.state) && extent > 1) {
        if (stmt.threads == 1) stmt.stride = stride;
        stmt.threads *= extent;
      }
      stride *= extent;
    }
  }

  bool is_store_to_all(const Stmt& stmt) const {
    const auto* store = as<Store>(stmt);
    return store != nullptr && !kernel_.buffers[store->buffer].is_local();
  }

  // What all threads have alike, into a state that each has its own of.
  static bool goes_into_one(const Stmt& stmt, const Dim& dim) {
    if (const auto* s = as<Accumulate>(stmt)) return any(dim.own, s->state) && !any(dim.own, s->in);
    if (const auto* s = as<Merge>(stmt)) return any(dim.own, s->state) && !any(dim.own, s->in);
    return false;
  }

  Kernel& kernel_;
  Editor editor_;
  std::array<Dim, 2> dims_;        // x, y
  std::set<uint32_t> of_threads_;  // buffers that stand in a threads loop
};

}  // namespace

void threads(Kernel& kernel) {
  for (Phase& phase : kernel.phases) {
    Threads pass(kernel);
    Block& body = body_of_blocks(phase.body);
    if (pass.find(body)) pass.run(body);
  }
}

}  // namespace plait::kir
