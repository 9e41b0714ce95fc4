#include "kir/verify_threads.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/error.h"
#include "kir/passes/edit.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

// Goes through statements in order; bodies of loops twice, so that the end of an iteration meets the begin of the next.
struct ById {
  bool operator()(sym::Expr a, sym::Expr b) const { return a.id() < b.id(); }
};

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
    std::set<sym::Expr, ById> stored, loaded;
  };
  using AllMet = std::map<uint32_t, Met>;

  // A body that may run or not: what was met before it may have been met since the last Sync.
  template <class Fn>
  void perhaps(Fn&& fn) {
    const AllMet before = met_;
    fn();
    for (const auto& [buffer, met] : before) {
      met_[buffer].stored.insert(met.stored.begin(), met.stored.end());
      met_[buffer].loaded.insert(met.loaded.begin(), met.loaded.end());
    }
  }

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
    if (of_thread) threads_.push_back(&s);
    if (of_thread || differs) varying_.insert(var);
    apart_ += differs;
    const auto body = [&] {
      block(s.body);
      if (s.loop == LoopKind::serial) block(s.body);
    };
    s.loop != LoopKind::serial || sym::proven(sym::gt(s.extent, 0)) ? body() : perhaps(body);
    apart_ -= differs;
    if (of_thread || differs) varying_.erase(var);
    if (of_thread) threads_.pop_back();
  }

  void statement(const Stmt& stmt) {
    if (const For* s = as<For>(stmt)) return loop(*s);
    if (const If* s = as<If>(stmt)) {
      const bool differs = varies(s->condition);
      apart_ += differs;
      perhaps([&] { block(s->body); });
      apart_ -= differs;
      return;
    }
    const Fold* fold = as<Fold>(stmt);
    const bool folds = fold != nullptr && fold->threads > 1;
    if (stmt.kind == StmtKind::Sync || stmt.kind == StmtKind::Shuffle || folds) {
      require(stmt, apart_ == 0, "not all threads of the block come here");
      require(stmt, are_whole(), "the threads are not those of one thread_x loop, in a thread_y loop or none");
      require(stmt, stmt.kind == StmtKind::Sync || count() % kWarp == 0, "{} threads are no whole warps", count());
    }
    if (folds)
      require(stmt, count() % (fold->threads * fold->stride) == 0, "a fold over {} threads by {} in a block of {}",
              fold->threads, fold->stride, count());
    if (const Sync* s = as<Sync>(stmt); s != nullptr && s->scope == SyncScope::block) met_.clear();
    if (const Store* s = as<Store>(stmt)) meet(stmt, s->buffer, s->index, s->in.lanes, true);
    if (const Load* s = as<Load>(stmt)) meet(stmt, s->buffer, s->index, s->out.lanes, false);
  }

  void meet(const Stmt& stmt, uint32_t buffer, sym::Expr index, int lanes, bool store) {
    if (kernel_.buffers[buffer].space != Space::shared) return;
    Met& met = met_[buffer];
    lanes_ = lanes;
    const auto others = [&](const std::set<sym::Expr, ById>& indices) {
      return std::any_of(indices.begin(), indices.end(), [&](sym::Expr i) { return i != index || !is_own(index); });
    };
    require(stmt, !others(met.stored) && (!store || !others(met.loaded)), "no sync between accesses to {}",
            kernel_.buffers[buffer].name);
    (store ? met.stored : met.loaded).insert(index);
  }

  bool are_whole() const {
    if (threads_.empty() || threads_.size() > 2) return false;
    const bool one = threads_.size() == 1;
    return one ? threads_[0]->loop != LoopKind::thread_z
               : threads_[0]->loop == LoopKind::thread_y && threads_[1]->loop == LoopKind::thread_x;
  }
  int64_t count() const {
    int64_t out = 1;
    for (const For* loop : threads_) out *= loop->extent.constant().value_or(0);
    return out;
  }

  // Whether no two threads have the same index in any of their lanes: it steps with each loop over threads, by more
  // than all lanes and steps within make of it.
  bool is_own(sym::Expr index) const {
    if (threads_.empty() || threads_.size() > 2) return false;
    const sym::Expr lane = kernel_.pool->symbol(kLane, {.lo = 0});
    const auto step = [&](sym::Expr var) {
      const auto slope = slope_in(index, var);
      return slope ? std::abs(slope->step) : 0;
    };
    // Lanes side by side within a thread's elements, or all threads within a lane's.
    const int64_t lanes = depends_on(index, lane) ? step(lane) : 0;
    const For& inner = *threads_.back();
    const int64_t x = step(inner.var), y = threads_.size() > 1 ? step(threads_.front()->var) : 0;
    const int64_t within = x * inner.extent.constant().value_or(0);
    const int64_t all = threads_.size() == 1 ? within : y * threads_.front()->extent.constant().value_or(0);
    if (depends_on(index, lane) && lanes != 1 && lanes < all) return false;
    return x >= (lanes == 1 ? lanes_ : 1) && (threads_.size() == 1 || y >= within);
  }

  const Kernel& kernel_;
  std::set<std::string> varying_;
  std::vector<const For*> threads_;  // loops over them, outermost first
  AllMet met_;
  int lanes_ = 1;  // of the access at hand
  int apart_ = 0;  // conditions and loops around that differ between threads
};

}  // namespace

void verify_threads(const Kernel& kernel, const Phase& phase) {
  if (kernel.target == TargetKind::cuda) ThreadVerifier(kernel).block(phase.body);
}

}  // namespace plait::kir
