#include "kir/verify_threads.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

// Goes through statements in order; bodies of loops twice, so that the end of an iteration meets the begin of the next.
class ThreadVerifier {
 public:
  explicit ThreadVerifier(const Kernel& kernel) : kernel_(kernel) {}

  void block(const Block& body) {
    std::vector<std::string> bound;
    for (const auto& stmt : body) {
      if (const Bind* bind = as<Bind>(*stmt)) bound.push_back(bind->var.symbol_name());
      if (!bound.empty()) varying_.insert(bound.back());
      statement(*stmt);
    }
    for (const std::string& name : bound) varying_.erase(name);
  }

 private:
  // Indices at which a shared buffer was met since the last Sync.
  struct Met {
    std::set<const sym::Node*> stored, loaded;
  };

  template <class... Args>
  void require(const Stmt& stmt, bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition)
      throw InternalError(fmt::format("kernel IR: {}", fmt::format(format, std::forward<Args>(args)...)),
                          fmt::format("kernel @{}: {}", kernel_.name, print(kernel_, stmt)), "");
  }

  bool varies(sym::Expr e) const {
    const auto symbols = sym::symbols(e);
    return std::any_of(symbols.begin(), symbols.end(), [&](const auto& s) { return varying_.contains(s); });
  }

  void loop(const For& s) {
    const std::string& var = s.var.symbol_name();
    const bool of_thread = s.loop >= LoopKind::thread_x, differs = !of_thread && varies(s.extent);
    if (of_thread) threads_[s.loop] = s.extent.constant().value_or(0);
    if (of_thread || differs) varying_.insert(var);
    apart_ += differs;
    block(s.body);
    if (s.loop == LoopKind::serial) block(s.body);
    apart_ -= differs;
    if (of_thread || differs) varying_.erase(var);
    if (of_thread) threads_.erase(s.loop);
  }

  void statement(const Stmt& stmt) {
    if (const For* s = as<For>(stmt)) return loop(*s);
    if (const If* s = as<If>(stmt)) {
      const bool differs = varies(s->condition);
      apart_ += differs;
      block(s->body);
      apart_ -= differs;
      return;
    }
    const Fold* fold = as<Fold>(stmt);
    const bool folds = fold != nullptr && fold->threads > 1;
    if (stmt.kind == StmtKind::Sync || stmt.kind == StmtKind::Shuffle || folds)
      require(stmt, apart_ == 0, "not all threads of the block come here");
    if (folds) {
      const auto own = threads_.find(LoopKind::thread_x);
      require(stmt, threads_.size() == 1 && own != threads_.end() && own->second == fold->threads,
              "a fold over {} threads in a block of others", fold->threads);
    }
    if (const Sync* s = as<Sync>(stmt); s != nullptr && s->scope == SyncScope::block) met_.clear();
    if (const Alloc* s = as<Alloc>(stmt)) met_.erase(s->buffer);
    if (const Store* s = as<Store>(stmt)) meet(stmt, s->buffer, s->index, true);
    if (const Load* s = as<Load>(stmt)) meet(stmt, s->buffer, s->index, false);
  }

  void meet(const Stmt& stmt, uint32_t buffer, sym::Expr index, bool store) {
    if (kernel_.buffers[buffer].space != Space::shared) return;
    Met& met = met_[buffer];
    const auto others = [&](const std::set<const sym::Node*>& indices) {
      return std::any_of(indices.begin(), indices.end(), [&](const sym::Node* i) { return i != index.node(); });
    };
    require(stmt, !others(met.stored) && (!store || !others(met.loaded)), "no sync between accesses to {}",
            kernel_.buffers[buffer].name);
    (store ? met.stored : met.loaded).insert(index.node());
  }

  const Kernel& kernel_;
  std::set<std::string> varying_;
  std::map<LoopKind, int64_t> threads_;
  std::map<uint32_t, Met> met_;
  int apart_ = 0;  // conditions and loops around that differ between threads
};

}  // namespace

void verify_threads(const Kernel& kernel, const Phase& phase) {
  if (kernel.target == TargetKind::cuda) ThreadVerifier(kernel).block(phase.body);
}

}  // namespace plait::kir
