#include "kir/passes/expand_reductions.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kir/passes/edit.h"
#include "scalar/reduction_formulas.h"

namespace plait::kir {
namespace {

class ExpandReductions {
 public:
  explicit ExpandReductions(Kernel& kernel) : editor_(kernel), pool_(*kernel.pool) {}

  void block(Block& in) {
    Block out;
    for (size_t i = 0; i < in.size(); ++i) {
      auto& stmt = in[i];
      if (Block* body = body_of(*stmt)) enter(*stmt, *body);
      edit_operands(*stmt, [&](const Value& v) { return now(v); });
      out_ = &out;
      if (const auto* start = as<Start>(*stmt))
        expand(*start);
      else if (const auto* accumulate = as<Accumulate>(*stmt))
        expand(*accumulate);
      else if (const auto* merge = as<Merge>(*stmt))
        expand(*merge);
      else if (stmt->kind == StmtKind::Fold)
        i += expand_folds(in, i) - 1;
      else if (const auto* prefix = as<Prefix>(*stmt))
        expand(*prefix);
      else
        out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

  // For the formulas.
  using Value = kir::Value;
  Value apply(Pointwise function, std::vector<Value> in) {
    std::vector<DType> types;
    for (const Value& v : in) types.push_back(v.dtype);
    auto& s = put<Compute>();
    s.out = editor_.value(result_type(function, types), in.front().lanes);
    s.function = function;
    s.in = std::move(in);
    return s.out;
  }
  Value literal(Constant constant, const Value& like) {
    auto& s = put<Literal>();
    s.out = editor_.value(constant.dtype, like.lanes);
    s.constant = constant;
    return s.out;
  }
  static DType dtype_of(const Value& v) { return v.dtype; }

 private:
  using Formulas = ReductionFormulas<ExpandReductions>;

  template <class S>
  S& put() {
    auto stmt = std::make_unique<S>();
    S& reference = *stmt;
    out_->push_back(std::move(stmt));
    return reference;
  }
  // Results of folds are those of their last computation.
  Value now(const Value& v) const {
    const auto found = folded_.find(v.id);
    return found == folded_.end() ? v : found->second;
  }

  void assign(const std::vector<Value>& variables, const std::vector<Value>& values) {
    for (size_t i = 0; i < variables.size(); ++i) {
      auto& s = put<Assign>();
      s.variable = variables[i];
      s.in = values[i];
    }
  }

  void expand(const Start& s) {
    std::vector<DType> types;
    for (const Value& v : s.state) types.push_back(v.dtype);
    const std::vector<Constant> none = identity(s.combine, types, s.element);
    for (size_t i = 0; i < types.size(); ++i) {
      auto& variable = put<Variable>();
      variable.out = s.state[i];
      variable.initial = none[i];
    }
  }

  Value coordinate(sym::Expr index, int lanes) {
    auto& s = put<Coordinate>();
    s.out = editor_.value(DType::i64, lanes);
    s.index = index;
    return s.out;
  }

  void expand(const Accumulate& s) {
    std::vector<Value> after = Formulas(*this).accumulate(s.combine, s.state, s.in);
    if (s.active) {
      const int lanes = s.state[0].lanes;
      const Value lane = coordinate(pool_.symbol(kLane, {.lo = 0}), lanes), end = coordinate(s.active, lanes);
      const Value there = apply(Pointwise::lt, {lane, end});
      for (size_t i = 0; i < after.size(); ++i) after[i] = apply(Pointwise::where, {there, after[i], s.state[i]});
    }
    assign(s.state, after);
  }

  void expand(const Merge& s) { assign(s.state, Formulas(*this).merge(s.combine, s.state, s.in)); }

  // ---- folds

  // Folds over the same threads move up to the one at `at` where nothing between changes what they fold, so that they
  // exchange their states at once. How many there are then, with that one.
  size_t gather_folds(Block& in, size_t at) const {
    const auto fits = [&](const Fold& s) {
      return s.threads > 1 && s.threads <= block_threads() && way_of(s) != FoldWay::in_order;
    };
    const Fold& first = *as<Fold>(*in[at]);
    size_t count = 1;
    std::set<Cell> other;  // values and variables that something between makes or changes
    for (size_t i = at + 1; fits(first) && i < in.size(); ++i) {
      const Fold* fold = as<Fold>(*in[i]);
      const bool alike = fold != nullptr && fits(*fold) && fold->threads == first.threads &&
                         fold->stride == first.stride &&
                         std::ranges::none_of(fold->state, [&](const Value& v) { return other.contains(cell_of(v)); });
      if (!alike && cooperates(*in[i])) break;
      if (!alike) {
        note_changes(*in[i], other);
        continue;
      }
      const auto place = in.begin() + static_cast<std::ptrdiff_t>(at + count++);
      std::rotate(place, in.begin() + static_cast<std::ptrdiff_t>(i), in.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return count;
  }
  static void note_changes(const Stmt& stmt, std::set<Cell>& out) {
    for (const Value& v : results(stmt)) out.insert(cell_of(v));
    for (const Cell cell : changes(stmt)) out.insert(cell);
    if (const Block* body = body_of(stmt))
      for (const auto& inner : *body) note_changes(*inner, out);
  }

  // Those that go together. How many.
  size_t expand_folds(Block& in, size_t at) {
    const size_t count = gather_folds(in, at);
    std::vector<const Fold*> folds;
    std::vector<std::vector<Value>> parts;
    for (size_t i = at; i < at + count; ++i) {
      edit_operands(*in[i], [&](const Value& v) { return now(v); });
      folds.push_back(as<Fold>(*in[i]));
      parts.push_back(lanes_as_one(*folds.back()));
    }
    if (count > 1)
      parts = halved_over_threads(folds, std::move(parts));
    else if (folds[0]->threads > 1)
      parts[0] = over_threads(*folds[0], parts[0]);
    for (size_t i = 0; i < count; ++i) finish(*folds[i], parts[i]);
    return count;
  }

  std::vector<Value> lanes_as_one(const Fold& s) {
    std::vector<Value> part = s.state;
    const auto half = [&](const Value& v, bool upper) {
      auto& h = put<Half>();
      h.out = editor_.value(v.dtype, v.lanes / 2);
      h.in = v;
      h.upper = upper;
      return h.out;
    };
    while (part[0].lanes > s.out[0].lanes) {
      std::vector<Value> lower, upper;
      for (const Value& v : part) {
        lower.push_back(half(v, false));
        upper.push_back(half(v, true));
      }
      part = Formulas(*this).merge(s.combine, lower, upper);
    }
    return part;
  }

  void finish(const Fold& s, const std::vector<Value>& part) {
    for (size_t i = 0; i < part.size(); ++i) {
      if (s.state[0].lanes > 1 || s.threads > 1) {
        folded_[s.out[i].id] = part[i];
        continue;
      }
      auto& copy = put<Convert>();
      copy.out = s.out[i];
      copy.in = part[i];
    }
  }

  void enter(const Stmt& stmt, Block& body) {
    const For* loop = as<For>(stmt);
    const bool of_thread = loop != nullptr && loop->loop >= LoopKind::thread_x;
    const bool of_cluster = loop != nullptr && loop->loop == LoopKind::cluster;
    const bool repeats = loop != nullptr && loop->loop == LoopKind::serial;
    if (of_thread) loops_of_threads_.push_back(loop);
    loops_ += repeats;
    if (of_cluster) cluster_ = loop->extent.value();
    block(body);
    if (of_cluster) cluster_ = 1;
    loops_ -= repeats;
    if (of_thread) loops_of_threads_.pop_back();
  }

  // ---- over threads

  // The number of the thread in the block, and how many there are.
  sym::Expr thread() const {
    sym::Expr out = editor_.number(0);
    for (const For* loop : loops_of_threads_) out = out * loop->extent + loop->var;  // x is the innermost
    return out;
  }
  int64_t block_threads() const {
    int64_t out = 1;
    for (const For* loop : loops_of_threads_) out *= loop->extent.value();
    return out;
  }

  // Whether a state of `combine` is the same, bit for bit, whichever of two is the first. Of two zeros of f64 the first
  // one is the greatest and the least.
  static bool commutes(Combine combine, DType type) {
    switch (combine) {
      case Combine::greatest:
      case Combine::least:
        return type != DType::f64;
      case Combine::sum:
      case Combine::product:
      case Combine::any:
      case Combine::all:
        return true;
      case Combine::first_greatest:
      case Combine::first_least:
      case Combine::variance:
      case Combine::log_sum_exp:
        return false;
    }
    __builtin_unreachable();
  }

  // Those of the thread whose number differs in the bit `by`.
  std::vector<Value> of_other(const std::vector<Value>& own, int64_t by) {
    std::vector<Value> other;
    for (const Value& v : own) {
      auto& s = put<Shuffle>();
      s.out = editor_.value(v.dtype, 1);
      s.in = v;
      s.by = by;
      other.push_back(s.out);
    }
    return other;
  }
  // Whether the thread's number has the bit not.
  Value lacks_bit(int64_t by) {
    const Value bit = coordinate(sym::mod(sym::floordiv(thread(), by), 2), 1);
    return apply(Pointwise::eq, {bit, literal(Constant::from_int64(DType::i64, 0), bit)});
  }
  // The states of threads whose numbers differ in the bit `by`, as one that both get.
  std::vector<Value> with_other(Combine combine, const std::vector<Value>& own, const std::vector<Value>& other,
                                int64_t by) {
    if (commutes(combine, own[0].dtype)) return Formulas(*this).merge(combine, own, other);
    const Value first = lacks_bit(by);
    std::vector<Value> lower, upper;
    for (size_t i = 0; i < own.size(); ++i) {
      lower.push_back(apply(Pointwise::where, {first, own[i], other[i]}));
      upper.push_back(apply(Pointwise::where, {first, other[i], own[i]}));
    }
    return Formulas(*this).merge(combine, lower, upper);
  }

  void sync() { put<Sync>().scope = SyncScope::block; }

  // Shared memory for one value of so many threads or warps, each with its lanes.
  uint32_t exchange(const Value& like, int64_t count) {
    const uint32_t buffer = editor_.buffer("exchange", like.dtype, editor_.number(count * like.lanes));
    editor_.kernel.buffers.back().space = Space::shared;
    put<Alloc>().buffer = buffer;
    return buffer;
  }
  // Lanes lie apart, each as many elements as there are threads, so that neighbours meet different banks.
  sym::Expr place_of(uint32_t buffer, sym::Expr number, const Value& v) const {
    if (v.lanes == 1) return number;
    const int64_t count = editor_.kernel.buffers[buffer].extent.value() / v.lanes;
    return pool_.symbol(kLane, {.lo = 0}) * count + number;
  }
  std::unique_ptr<Store> store_to(uint32_t buffer, sym::Expr number, const Value& v) const {
    auto out = std::make_unique<Store>();
    out->buffer = buffer;
    out->index = place_of(buffer, number, v);
    out->in = v;
    out->access = Access::lanewise;
    return out;
  }
  Value load_from(uint32_t buffer, sym::Expr number, const Value& like) {
    auto& load = put<Load>();
    load.out = editor_.value(like.dtype, like.lanes);
    load.buffer = buffer;
    load.index = place_of(buffer, number, like);
    load.access = Access::lanewise;
    return load.out;
  }

  // The first thread of each warp leaves the warp's state in shared memory, a buffer for each value.
  std::vector<uint32_t> leave_of_warps(const std::vector<Value>& own) {
    std::vector<uint32_t> buffers;
    auto branch = std::make_unique<If>();
    branch->condition = sym::eq(sym::mod(thread(), kWarp), 0);
    for (const Value& v : own) {
      buffers.push_back(exchange(v, block_threads() / kWarp));
      branch->body.push_back(store_to(buffers.back(), sym::floordiv(thread(), kWarp), v));
    }
    out_->push_back(std::move(branch));
    sync();
    return buffers;
  }

  // Each thread takes the state of one of the warps that its own goes with.
  std::vector<Value> of_warps(const std::vector<Value>& own, int64_t warps) {
    const int64_t all = block_threads() / kWarp;
    const std::vector<uint32_t> buffers = leave_of_warps(own);
    sym::Expr at = sym::mod(thread(), warps);
    if (warps < all) at = at + sym::floordiv(thread(), warps * kWarp) * warps;
    std::vector<Value> out;
    for (size_t i = 0; i < own.size(); ++i) out.push_back(load_from(buffers[i], at, own[i]));
    if (loops_ > 0) sync();  // before the next iteration writes
    return out;
  }

  // Every thread leaves its state in shared memory and takes in those of its group, from the first on.
  std::vector<Value> one_by_one(const Fold& s, const std::vector<Value>& own) {
    std::vector<uint32_t> buffers;
    for (const Value& v : own) buffers.push_back(exchange(v, block_threads()));
    for (size_t i = 0; i < own.size(); ++i) out_->push_back(store_to(buffers[i], thread(), own[i]));
    sync();
    sym::Expr first = sym::mod(thread(), s.stride);
    if (s.threads * s.stride < block_threads())
      first = first + sym::floordiv(thread(), s.threads * s.stride) * (s.threads * s.stride);
    std::vector<Value> whole, begin;
    for (size_t i = 0; i < own.size(); ++i) {
      auto& variable = put<Variable>();
      variable.out = editor_.value(own[i].dtype, own[i].lanes);
      variable.initial = Constant::from_int64(own[i].dtype, 0);
      whole.push_back(variable.out);
    }
    for (size_t i = 0; i < own.size(); ++i) begin.push_back(load_from(buffers[i], first, own[i]));
    assign(whole, begin);
    auto loop = std::make_unique<For>();
    loop->extent = editor_.number(s.threads - 1);
    loop->var = editor_.symbol(thread_symbol(), sym::index_facts(loop->extent));
    Block* const outer = std::exchange(out_, &loop->body);
    std::vector<Value> next;
    for (size_t i = 0; i < own.size(); ++i)
      next.push_back(load_from(buffers[i], first + (loop->var + 1) * s.stride, own[i]));
    assign(whole, Formulas(*this).merge(s.combine, whole, next));
    out_ = outer;
    out_->push_back(std::move(loop));
    if (loops_ > 0) sync();  // before the next iteration writes
    return whole;
  }
  sym::Expr thread_symbol() const { return loops_of_threads_.back()->var; }

  // Each block leaves its state for the others; the threads of a warp take one each in turn, and halve.
  std::vector<Value> over_cluster(const Fold& s, std::vector<Value> part) {
    const auto sync_all = [&] { put<Sync>().scope = SyncScope::cluster; };
    std::vector<uint32_t> buffers;
    auto first = std::make_unique<If>();
    first->condition = sym::eq(thread(), 0);
    for (const Value& v : part) {
      buffers.push_back(exchange(v, 1));
      first->body.push_back(store_to(buffers.back(), editor_.number(0), v));
    }
    out_->push_back(std::move(first));
    sync_all();
    std::vector<Value> own;
    for (size_t i = 0; i < part.size(); ++i) {
      auto& load = put<LoadOfBlock>();
      load.out = editor_.value(part[i].dtype, 1);
      load.buffer = buffers[i];
      load.index = editor_.number(0);
      load.block = sym::mod(thread(), cluster_);
      own.push_back(load.out);
    }
    sync_all();  // before a block ends, or writes again
    for (int64_t by = cluster_ / 2; by > 0; by /= 2) own = with_other(s.combine, own, of_other(own, by), by);
    return own;
  }

  std::vector<Value> over_threads(const Fold& s, std::vector<Value> part) {
    PLAIT_CHECK(!loops_of_threads_.empty(), "a state of threads is folded outside of their loop");
    if (s.stride == 1 && s.threads > block_threads()) {
      PLAIT_CHECK(s.threads == block_threads() * cluster_ && part[0].lanes == 1,
                  "a fold over {} threads of a cluster of {} blocks", s.threads, cluster_);
      Fold within;
      within.combine = s.combine;
      within.out = s.out;
      within.threads = block_threads();
      return over_cluster(s, over_threads(within, std::move(part)));
    }
    if (way_of(s) == FoldWay::in_order) return one_by_one(s, part);
    return halved_over_threads({&s}, {std::move(part)})[0];
  }

  // Of folds over the same threads: within warps, by one exchange, and of what that gave.
  std::vector<std::vector<Value>> halved_over_threads(const std::vector<const Fold*>& folds,
                                                      std::vector<std::vector<Value>> parts) {
    const Fold& s = *folds[0];
    const int64_t in_warp = std::min(s.threads, kWarp / s.stride), warps = s.threads / in_warp;
    const auto halve = [&](int64_t by) {
      for (size_t i = 0; i < folds.size(); ++i)
        parts[i] = with_other(folds[i]->combine, parts[i], of_other(parts[i], by), by);
    };
    for (int64_t by = in_warp / 2; by > 0; by /= 2) halve(by * s.stride);
    if (warps > 1) {
      std::vector<Value> all;
      for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
      all = of_warps(all, warps);
      auto next = all.begin();
      for (auto& part : parts)
        for (Value& v : part) v = *next++;
    }
    for (int64_t by = warps / 2; by > 0; by /= 2) halve(by);
    return parts;
  }

  // Bit by bit: threads with the bit have all those without it in front of them.
  void expand(const Prefix& s) {
    PLAIT_CHECK(!loops_of_threads_.empty(), "a prefix of threads outside of their loop");
    const int64_t in_warp = std::min(s.threads, kWarp);
    std::vector<Value> all = s.state, before = fresh_state(s);
    for (int64_t by = 1; by < in_warp; by *= 2) {
      const std::vector<Value> other = of_other(all, by), longer = Formulas(*this).merge(s.combine, other, before);
      const Value lacks = lacks_bit(by);
      for (size_t i = 0; i < before.size(); ++i) before[i] = apply(Pointwise::where, {lacks, before[i], longer[i]});
      all = with_other(s.combine, all, other, by);
    }
    if (s.threads > in_warp) prefix_of_warps(s, before, all);
    for (size_t i = 0; i < all.size(); ++i) {
      folded_[s.before[i].id] = before[i];
      folded_[s.all[i].id] = all[i];
    }
  }

  // The state of nothing.
  std::vector<Value> fresh_state(const Prefix& s) {
    Start start;
    start.combine = s.combine;
    start.element = s.element;
    for (const Value& v : s.state) start.state.push_back(editor_.value(v.dtype, v.lanes));
    expand(start);
    return start.state;
  }

  // Every thread takes in the warps of its group one after another, those in front of its own apart.
  void prefix_of_warps(const Prefix& s, std::vector<Value>& before, std::vector<Value>& all) {
    const int64_t warps = s.threads / kWarp;
    const std::vector<uint32_t> buffers = leave_of_warps(all);
    const std::vector<Value> front = fresh_state(s), whole = fresh_state(s);
    const sym::Expr warp = sym::floordiv(thread(), kWarp), own = sym::mod(warp, warps);
    auto loop = std::make_unique<For>();
    loop->extent = editor_.number(warps);
    loop->var = editor_.symbol(thread_symbol(), sym::index_facts(loop->extent));
    Block* const outer = std::exchange(out_, &loop->body);
    std::vector<Value> next;
    for (size_t i = 0; i < all.size(); ++i) next.push_back(load_from(buffers[i], warp - own + loop->var, all[i]));
    assign(whole, Formulas(*this).merge(s.combine, whole, next));
    auto in_front = std::make_unique<If>();
    in_front->condition = sym::lt(loop->var, own);
    out_ = &in_front->body;
    assign(front, Formulas(*this).merge(s.combine, front, next));
    loop->body.push_back(std::move(in_front));
    out_ = outer;
    out_->push_back(std::move(loop));
    if (loops_ > 0) sync();  // before the next iteration writes
    before = Formulas(*this).merge(s.combine, front, before);
    all = whole;
  }

  Editor editor_;
  sym::Pool& pool_;
  std::vector<const For*> loops_of_threads_;  // around, outermost first
  int loops_ = 0;                             // serial ones around
  int64_t cluster_ = 1;                       // blocks of the cluster around
  Block* out_ = nullptr;
  std::map<uint32_t, Value> folded_;
};

}  // namespace

void expand_reductions(Kernel& kernel) {
  ExpandReductions pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
