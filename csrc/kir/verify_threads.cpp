#include "kir/verify_threads.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "kir/passes/edit.h"
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
  // base + the steps, each taken fewer than so many times.
  struct Step {
    int64_t by = 0, extent = 0;
    bool operator==(const Step&) const = default;
  };
  struct Place {
    sym::Expr base;
    std::vector<Step> steps;  // the smaller ones first
    bool is_own = false;      // whether no two threads meet one element, in any iterations
    bool operator==(const Place& o) const { return base == o.base && steps == o.steps; }
  };
  // Where a shared buffer was met since the last Sync.
  struct Met {
    std::vector<Place> stored, loaded;
  };
  using AllMet = std::map<uint32_t, Met>;
  // Copies under way: places by buffer.
  using Copies = std::map<uint32_t, std::vector<Place>>;

  static void add(const std::vector<Place>& from, std::vector<Place>& to) {
    for (const Place& p : from)
      if (std::find(to.begin(), to.end(), p) == to.end()) to.push_back(p);
  }

  static void add(const Copies& from, Copies& to) {
    for (const auto& [buffer, places] : from) add(places, to[buffer]);
  }

  // A body that may run or not: what was met before it may have been met since the last Sync.
  template <class Fn>
  void perhaps(Fn&& fn) {
    const AllMet before = met_;
    const Copies open = open_;
    const std::vector<Copies> groups = groups_;
    const std::set<uint32_t> unseen = unseen_, of_others = of_others_;
    fn();
    unseen_.insert(unseen.begin(), unseen.end());
    of_others_.insert(of_others.begin(), of_others.end());
    add(open, open_);
    while (groups_.size() < groups.size()) groups_.insert(groups_.begin(), Copies());
    for (size_t i = 1; i <= groups.size(); ++i) add(groups[groups.size() - i], groups_[groups_.size() - i]);
    for (const auto& [buffer, met] : before) {
      add(met.stored, met_[buffer].stored);
      add(met.loaded, met_[buffer].loaded);
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
    if (s.loop == LoopKind::cluster) return cluster(s);
    if (s.loop >= LoopKind::block_x && s.loop <= LoopKind::block_z) blocks_.push_back(&s);
    const bool of_thread = s.loop >= LoopKind::thread_x, differs = !of_thread && varies(s.extent);
    if (of_thread) threads_.push_back(&s);
    if (of_thread || differs) varying_.insert(var);
    apart_ += differs;
    if (s.loop == LoopKind::serial) serial_.push_back(&s);
    const auto body = [&] {
      block(s.body);
      if (s.loop == LoopKind::serial) block(s.body);
    };
    s.loop != LoopKind::serial || sym::proven(sym::gt(s.extent, 0)) ? body() : perhaps(body);
    apart_ -= differs;
    if (of_thread || differs) varying_.erase(var);
    if (of_thread) threads_.pop_back();
    if (s.loop == LoopKind::serial) serial_.pop_back();
  }

  // Its rank is one for all threads of a block; what blocks load of each other they have loaded before one of them
  // ends.
  void cluster(const For& s) {
    const auto blocks = s.extent.constant();
    require(s, cluster_ == 1 && threads_.empty(), "a cluster within another one, or within threads");
    require(s, blocks && *blocks >= 1 && *blocks <= kMostCluster, "a cluster of {} blocks: 1 to {}",
            sym::print(s.extent), kMostCluster);
    cluster_ = *blocks;
    block(s.body);
    require(s, of_others_.empty(), "a block ends while others may load what it stored");
    cluster_ = 1;
  }

  void load_of_block(const LoadOfBlock& s) {
    require(s, cluster_ > 1, "no cluster is around");
    const Met& met = met_[s.buffer];
    require(s, met.stored.empty() && !unseen_.contains(s.buffer), "no sync of the cluster between a store and this");
    of_others_.insert(s.buffer);
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
    const Prefix* prefix = as<Prefix>(stmt);
    const Await* await = as<Await>(stmt);
    if (cooperates(stmt)) {
      require(stmt, apart_ == 0, "not all threads of the block come here");
      require(stmt, are_whole(), "the threads are not those of one thread_x loop, in a thread_y loop or none");
      const bool any_number = stmt.kind == StmtKind::Sync || stmt.kind == StmtKind::LastBlock || await != nullptr;
      require(stmt, any_number || count() % kWarp == 0, "{} threads are no whole warps", count());
    }
    if (const LastBlock* s = as<LastBlock>(stmt)) {
      require(stmt, !varies(s->index), "threads of a block come to different counters");
      require(stmt, serial_.empty(), "a block comes to a counter more than once");
      met_.clear();
      return perhaps([&] { block(s->body); });
    }
    if (await != nullptr) return waiting(*await);
    if (fold != nullptr && fold->threads > 1) {
      const bool blocks = fold->stride == 1 && fold->threads > count() && fold->threads == count() * cluster_;
      require(stmt, blocks || count() % (fold->threads * fold->stride) == 0,
              "a fold over {} threads by {} in a block of {}", fold->threads, fold->stride, count());
    }
    if (prefix != nullptr)
      require(stmt, count() % prefix->threads == 0, "a prefix over {} threads in a block of {}", prefix->threads,
              count());
    if (const LoadOfBlock* s = as<LoadOfBlock>(stmt)) load_of_block(*s);
    if (const Sync* s = as<Sync>(stmt); s != nullptr && s->scope != SyncScope::warp) {
      met_.clear();
      require(stmt, s->scope == SyncScope::block || cluster_ > 1, "no cluster is around");
      if (s->scope == SyncScope::cluster) {
        unseen_.clear();
        of_others_.clear();
      }
    }
    if (const CopyAsync* s = as<CopyAsync>(stmt)) {
      meet(stmt, s->to, s->to_index, s->lanes, true);
      add({place_of(s->to_index, s->lanes)}, open_[s->to]);
    }
    if (stmt.kind == StmtKind::Commit) groups_.push_back(std::exchange(open_, {}));
    if (const Wait* s = as<Wait>(stmt)) wait(static_cast<size_t>(s->left));
    if (const LoadMatrix* s = as<LoadMatrix>(stmt))  // a row of 8 elements from each thread
      meet(stmt, s->from, s->index + kernel_.pool->symbol(kLane, {.lo = 0}), 8, false);
    if (const Store* s = as<Store>(stmt)) meet(stmt, s->buffer, s->index, s->in.lanes, true);
    if (const Load* s = as<Load>(stmt)) meet(stmt, s->buffer, s->index, s->out.lanes, false);
  }

  // Its words are one for each block of one dim, and two more.
  void waiting(const Await& s) {
    require(s, !varies(s.from), "threads of a block wait for different blocks");
    const sym::Expr words = kernel_.buffers[s.buffer].extent;
    require(s, cluster_ == 1 && blocks_.size() == 1 && blocks_[0]->loop == LoopKind::block_x,
            "the blocks are not those of block_x alone");
    require(s, sym::proven(sym::ge(words, blocks_[0]->extent + 2)), "{} words for {} blocks", sym::print(words),
            sym::print(blocks_[0]->extent));
    require(s, !std::exchange(awaits_, true), "a block waits for blocks twice");
    met_.clear();
  }

  // What is there is as if it were stored now: others see it behind a Sync.
  void wait(size_t left) {
    while (groups_.size() > left) {
      for (const auto& [buffer, places] : groups_.front()) add(places, met_[buffer].stored);
      groups_.erase(groups_.begin());
    }
  }

  // Iterations of a loop that copies, each its own elements, are of one group.
  bool is_under_way(const Stmt& stmt, uint32_t buffer, const Place& place) const {
    const auto meets = [&](const Copies& copies) {
      const auto found = copies.find(buffer);
      if (found == copies.end()) return false;
      return std::ranges::any_of(found->second, [&](const Place& p) {
        const bool again = &copies == &open_ && stmt.kind == StmtKind::CopyAsync && p.is_own && p == place;
        return !again && !lie_apart(p, place);
      });
    };
    return meets(open_) || std::ranges::any_of(groups_, meets);
  }

  void meet(const Stmt& stmt, uint32_t buffer, sym::Expr index, int lanes, bool store) {
    if (kernel_.buffers[buffer].space != Space::shared) return;
    const Place place = place_of(index, lanes);
    require(stmt, !is_under_way(stmt, buffer, place), "a copy to {} is under way", kernel_.buffers[buffer].name);
    Met& met = met_[buffer];
    const auto others = [&](const std::vector<Place>& places) {
      return std::any_of(places.begin(), places.end(), [&](const Place& p) {
        return !lie_apart(p, place) && !(p.is_own && lies_within(place, p)) && !(place.is_own && lies_within(p, place));
      });
    };
    require(stmt, !others(met.stored) && (!store || !others(met.loaded)), "no sync between accesses to {}",
            kernel_.buffers[buffer].name);
    require(stmt, !store || !of_others_.contains(buffer), "other blocks may still load {}",
            kernel_.buffers[buffer].name);
    if (store && cluster_ > 1) unseen_.insert(buffer);
    std::vector<Place>& list = store ? met.stored : met.loaded;
    if (std::find(list.begin(), list.end(), place) == list.end()) list.push_back(place);
  }

  // value = at_zero + high * floordiv(var, size) + low * mod(var, size): a row that has room behind it.
  struct Digits {
    sym::Expr at_zero;
    int64_t size = 0, high = 0, low = 0;
  };
  static std::optional<Digits> digits_in(sym::Expr value, sym::Expr var) {
    const std::string& name = var.symbol_name();
    const auto at = [&](int64_t n) { return sym::substitute(value, {{name, var.pool().constant(n)}}); };
    const sym::Expr zero = at(0);
    const auto low = (at(1) - zero).constant();
    for (int64_t size = 2; low && size <= kMostThreads / 2; size *= 2) {
      const auto high = (at(size) - zero).constant();
      if (high && value == zero + sym::floordiv(var, size) * *high + sym::mod(var, size) * *low)
        return Digits{zero, size, *high, *low};
    }
    return std::nullopt;
  }

  // The elements that an index reaches over all threads, iterations of serial loops around and lanes.
  Place place_of(sym::Expr index, int lanes) const {
    Place out{index, {}, !threads_.empty()};
    const auto step = [&](sym::Expr var, int64_t extent, bool of_thread) {
      const auto slope = slope_in(out.base, var);
      if (const auto digits = slope ? std::nullopt : digits_in(out.base, var)) {
        out.base = digits->at_zero;
        out.is_own = out.is_own && digits->high != 0 && digits->low != 0;
        out.steps.push_back({digits->high, sym::ceildiv(kernel_.pool->constant(extent), digits->size).value()});
        out.steps.push_back({digits->low, std::min(extent, digits->size)});
        return;
      }
      if (slope) out.base = slope->at_zero;
      const int64_t by = slope ? slope->step : 0;
      out.is_own = out.is_own && slope.has_value() && (by != 0 || !of_thread);
      if (by != 0) out.steps.push_back({by, std::min<int64_t>(extent, INT32_MAX)});
    };
    for (const For* loop : threads_) step(loop->var, loop->extent.constant().value_or(INT32_MAX), true);
    for (const For* loop : serial_)
      if (depends_on(out.base, loop->var)) step(loop->var, sym::bounds(loop->extent).hi, false);
    const sym::Expr lane = kernel_.pool->symbol(kLane, {.lo = 0});
    if (depends_on(out.base, lane)) step(lane, lanes, false);
    sort_steps(out.steps);
    out.is_own = out.is_own && are_apart(out.steps);
    return out;
  }

  static void sort_steps(std::vector<Step>& steps) {
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return std::pair(std::abs(a.by), a.extent) < std::pair(std::abs(b.by), b.extent);
    });
  }
  // Whether each of these, smaller ones first, leads further than all smaller ones do: no element is met twice.
  static bool are_apart(const std::vector<Step>& steps) {
    int64_t reach = 0;
    for (const Step& s : steps) {
      if (std::abs(s.by) <= reach || std::abs(s.by) >= INT32_MAX) return false;
      reach = std::min<int64_t>(INT64_MAX / 4, reach + std::min<int64_t>(std::abs(s.by), INT32_MAX) * (s.extent - 1));
    }
    return true;
  }

  // Whether each thread meets at `part` some of what it meets at `whole`: in one iteration of a loop of that, or all.
  static bool lies_within(const Place& part, const Place& whole) {
    if (part.steps == whole.steps) return part.base == whole.base;
    const auto distance = (part.base - whole.base).constant();
    if (!distance || part.steps.size() + 1 != whole.steps.size()) return false;
    size_t more = 0;  // the step that the part does not take
    while (more < part.steps.size() && part.steps[more] == whole.steps[more]) ++more;
    const auto [by, extent] = whole.steps[more];
    return std::equal(part.steps.begin() + static_cast<std::ptrdiff_t>(more), part.steps.end(),
                      whole.steps.begin() + static_cast<std::ptrdiff_t>(more) + 1) &&
           *distance % by == 0 && *distance / by >= 0 && *distance / by < extent;
  }

  // Whether no thread meets at one place what any thread meets at the other: all elements of one lie behind the
  // other's.
  static bool lie_apart(const Place& a, const Place& b) {
    const auto distance = (b.base - a.base).constant();
    if (!distance) return false;
    const auto span = [](const Place& p) {  // least and greatest element, from its base
      std::pair<int64_t, int64_t> out{0, 0};
      for (const Step& s : p.steps) {
        const int64_t by = std::clamp<int64_t>(s.by, -INT32_MAX, INT32_MAX) * (s.extent - 1);
        (by < 0 ? out.first : out.second) += by;
      }
      return out;
    };
    const auto [low_a, high_a] = span(a);
    const auto [low_b, high_b] = span(b);
    if (high_a < *distance + low_b || *distance + high_b < low_a) return true;
    if (a.steps != b.steps || !a.is_own || !b.is_own || *distance == 0) return false;
    std::vector<Step> both = a.steps;  // as if a loop of two iterations made the one of the other
    both.push_back({*distance, 2});
    sort_steps(both);
    return are_apart(both);
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

  const Kernel& kernel_;
  std::set<std::string> varying_;
  std::vector<const For*> threads_;  // loops over them, outermost first
  std::vector<const For*> blocks_;   // loops over blocks
  bool awaits_ = false;              // whether there is an Await
  std::vector<const For*> serial_;   // serial ones
  AllMet met_;
  Copies open_;                   // since the last Commit
  std::vector<Copies> groups_;    // in their order
  int64_t cluster_ = 1;           // blocks of the cluster around
  std::set<uint32_t> unseen_;     // shared buffers that others of the cluster may not see as they are
  std::set<uint32_t> of_others_;  // and those that they may still load
  int apart_ = 0;                 // conditions and loops around that differ between threads
};

// Whether pass `threads` is still to say who executes what.
bool has_threads_loops(const Block& body) {
  return std::any_of(body.begin(), body.end(), [](const auto& stmt) {
    const For* loop = as<For>(*stmt);
    const Block* inner = body_of(*stmt);
    return (loop != nullptr && is_threads(loop->loop)) || (inner != nullptr && has_threads_loops(*inner));
  });
}

}  // namespace

void verify_threads(const Kernel& kernel, const Phase& phase) {
  if (kernel.target == TargetKind::cuda && !has_threads_loops(phase.body)) ThreadVerifier(kernel).block(phase.body);
}

}  // namespace plait::kir
