#pragma once
// What kir/interpret.h is made of: statements one by one, and threads that go together (interpret_together.cpp).
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "kir/interpret.h"
#include "kir/lane.h"
#include "kir/lane_values.h"
#include "kir/statements.h"
#include "scalar/philox.h"
#include "scalar/reduction_formulas.h"

namespace plait::kir {

using Lanes = std::vector<Constant>;

// Formulas of reductions on the numbers of one lane.
struct NumberBuilder {
  using Value = Constant;
  Constant apply(Pointwise function, const std::vector<Constant>& in) {
    std::vector<DType> types;
    for (const Constant& c : in) types.push_back(c.dtype);
    return computed(function, in, result_type(function, types));
  }
  Constant literal(Constant constant, const Constant&) { return constant; }
  DType dtype_of(const Constant& value) { return value.dtype; }
};
class Interpreter {
 public:
  Interpreter(const Kernel& kernel, Observer& observer) : kernel_(kernel), observer_(observer) {}

  void run(const std::vector<int64_t>& integers, const std::vector<void*>& arguments) {
    PLAIT_CHECK(integers.size() == kernel_.integers.size(), "kernel {} takes {} integers", kernel_.name,
                kernel_.integers.size());
    for (size_t i = 0; i < integers.size(); ++i) env_[kernel_.integers[i].symbol_name()] = integers[i];
    extents_ = buffer_extents(kernel_, integers);
    own_.resize(kernel_.buffers.size());
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const bool given = kernel_.buffers[i].space == Space::argument;
      PLAIT_CHECK(!given || i < arguments.size(), "kernel {} takes more arguments", kernel_.name);
      memory_.push_back(given ? static_cast<unsigned char*>(arguments[i]) : fresh(uint32_t(i)));
    }
    for (const Phase& phase : kernel_.phases) {
      if (&phase != &kernel_.phases.front() && !phase.beside) ++wave_, first_task_ = next_task_ = 0;
      first_task_ = next_task_;
      block(phase.body);
    }
  }

 private:
  unsigned char* fresh(uint32_t buffer) {
    const size_t bytes = size_t(std::max<int64_t>(extents_[buffer], 0)) * size_of(kernel_.buffers[buffer].dtype);
    own_[buffer].assign(bytes, 0xff);
    return own_[buffer].data();
  }

  void block(const Block& body) {
    for (const auto& stmt : body) visit(*stmt, [&](const auto& s) { execute(s); });
  }

  int64_t scalar(sym::Expr e) const { return sym::evaluate(e, env_); }
  int64_t at(sym::Expr e, int lane) {
    env_[kLane] = lane;
    const int64_t out = sym::evaluate(e, env_);
    env_.erase(kLane);
    return out;
  }
  const Lanes& value(const Value& v) const { return values_.at(v.id); }
  void set(const Value& v, Lanes lanes) { values_[v.id] = std::move(lanes); }
  template <class Fn>
  void set_each(const Value& v, Fn&& fn) {
    Lanes lanes;
    for (int l = 0; l < v.lanes; ++l) lanes.push_back(fn(size_t(l)));
    set(v, std::move(lanes));
  }

  // ---- control

  void execute(const For& s) {
    if ((s.loop >= LoopKind::thread_x || s.loop == LoopKind::cluster) && cooperates(s.body)) return run_together(s);
    const int64_t extent = scalar(s.extent), outer = task_;
    const std::string var = s.var.symbol_name();
    for (int64_t i = 0; i < extent; ++i) {
      env_[var] = i;
      if (is_parallel(s.loop)) task_ = outer * extent + i;
      block(s.body);
    }
    env_.erase(var);
    task_ = outer;
  }
  void execute(const If& s) {
    if (scalar(s.condition) != 0) block(s.body);
  }
  void execute(const Bind& s) { env_[s.var.symbol_name()] = value(s.in)[0].to_int64(); }

  // ---- threads that cooperate: statement by statement, each by all threads before the next one

  // Elements of a copy under way: where each goes, and where it comes from; -1: it is 0.
  struct Copied {
    const CopyAsync* stmt;
    std::vector<std::pair<int64_t, int64_t>> elements;
  };
  using CopyGroup = std::vector<Copied>;
  struct Thread {
    std::vector<CopyGroup> groups = {};  // those that a Wait may wait for, in their order
    CopyGroup open = {};
    sym::Environment env;
    std::map<uint32_t, Lanes> values;
    std::map<uint32_t, std::vector<unsigned char>> stack;  // by buffer
    int64_t task = 0;
    size_t rank = 0;  // of its block in the cluster
  };
  using Together = std::vector<size_t>;  // those of threads_ that execute a block

  void run_together(const For& s);

  // Calls fn as the thread.
  template <class Fn>
  void as_thread(size_t thread, Fn&& fn) {
    Thread& own = threads_[thread];
    thread_ = &own;
    std::swap(env_, own.env);
    std::swap(values_, own.values);
    task_ = own.task;
    for (auto& [buffer, bytes] : own.stack) memory_[buffer] = bytes.data();
    if (ranks_ > 1)
      for (auto& [buffer, bytes] : shared_) memory_[buffer] = bytes[own.rank].data();
    fn();
    thread_ = nullptr;
    std::swap(env_, own.env);
    std::swap(values_, own.values);
  }

  using State = std::vector<Constant>;
  void together(const Block& body, const Together& all);
  void together(const Stmt& stmt, const Together& all);
  void together(const For& s, const Together& all);
  // Its body is behind what the threads of all its blocks did.
  void together(const LastBlock& s, const Together& all);
  // What stands behind it in the body is behind what the threads of those blocks did.
  void together(const Await& s, const Together& all);
  void together(const Shuffle& s, const Together& all);
  void together(const LoadOfBlock& s, const Together& all);
  void together(const Fold& s, const Together& all);
  void together(const Prefix& s, const Together& all);
  // Threads of a warp follow one another in `all`.
  void together(const LoadMatrix& s, const Together& all);
  void together(const Mma& s, const Together& all);
  // Those of whole blocks of a cluster: each by itself, then these.
  State of_blocks(const Fold& s, const std::vector<State>& group);
  // The states of threads as one (way_of).
  State as_one(const Fold& s, std::vector<State> group);

  // ---- values

  void execute(const LastBlock&) { PLAIT_CHECK(false, "a last block outside of a loop over threads"); }
  void execute(const Await&) { PLAIT_CHECK(false, "a block that waits outside of a loop over threads"); }
  void execute(const LoadMatrix&) { PLAIT_CHECK(false, "a load of matrices outside of a loop over threads"); }
  void execute(const Mma&) { PLAIT_CHECK(false, "an mma outside of a loop over threads"); }
  void execute(const Sync&) { ++syncs_; }  // between threads loops, whose iterations run one after another
  void execute(const LoadOfBlock&) { PLAIT_CHECK(false, "a load of another block outside of a cluster"); }
  void execute(const Shuffle&) { PLAIT_CHECK(false, "a shuffle outside of a loop over threads"); }
  void execute(const Prefix&) { PLAIT_CHECK(false, "a prefix outside of a loop over threads"); }
  void execute(const Variable& s) { set(s.out, Lanes(size_t(s.out.lanes), s.initial)); }
  void execute(const Assign& s) { set(s.variable, value(s.in)); }
  void execute(const Literal& s) { set(s.out, Lanes(size_t(s.out.lanes), s.constant)); }
  void execute(const Coordinate& s) {
    set_each(s.out, [&](size_t l) { return Constant::from_int64(DType::i64, at(s.index, int(l))); });
  }
  void execute(const Compute& s) {
    set_each(s.out, [&](size_t l) {
      std::vector<Constant> in;
      for (const Value& v : s.in) in.push_back(value(v)[l]);
      return computed(s.function, in, s.out.dtype);
    });
  }
  void execute(const Convert& s) {
    set_each(s.out, [&](size_t l) { return converted(value(s.in)[s.in.lanes == 1 ? 0 : l], s.out.dtype); });
  }
  void execute(const Round& s) {
    set_each(s.out, [&](size_t l) { return converted(converted(value(s.in)[l], s.to), s.out.dtype); });
  }
  void execute(const Half& s) {
    set_each(s.out, [&](size_t l) { return value(s.in)[l + (s.upper ? size_t(s.out.lanes) : 0)]; });
  }
  void execute(const Transpose& s) {
    for (size_t i = 0; i < s.out.size(); ++i) set_each(s.out[i], [&](size_t l) { return value(s.in[l])[i]; });
  }
  void execute(const Running& s) { set(s.out, running(s.function, value(s.in), value(s.before)[0])); }
  void execute(const Random& s) {
    const auto seed = uint64_t(value(s.seed)[0].to_int64()), offset = uint64_t(scalar(s.offset));
    set_each(s.out, [&](size_t l) {
      return Constant::from_double(DType::f32, uniform_f32(seed, uint64_t(at(s.index, int(l))), offset));
    });
  }

  // ---- memory

  Touch touch(const Stmt& stmt, uint32_t buffer, int64_t index) const {
    return touch(stmt, buffer, index, thread_ != nullptr ? thread_->rank : 0);
  }
  // Shared memory of the blocks of a cluster is as if it lay side by side.
  Touch touch(const Stmt& stmt, uint32_t buffer, int64_t index, size_t rank) const {
    const int64_t task = first_task_ + task_;
    next_task_ = std::max(next_task_, task + 1);
    const bool shared = kernel_.buffers[buffer].space == Space::shared;  // others see it behind a sync
    const int64_t own = extents_[buffer];
    if (!shared || ranks_ == 1 || index < 0 || index >= own)
      return {stmt, buffer, index, own, shared ? syncs_ : wave_, task, behind_};
    return {stmt, buffer, int64_t(rank) * own + index, int64_t(ranks_) * own, syncs_, task, behind_};
  }
  // The element, or null outside of the buffer.
  unsigned char* element(uint32_t buffer, int64_t index) {
    if (index < 0 || index >= extents_[buffer]) return nullptr;
    return memory_[buffer] + size_t(index) * size_of(kernel_.buffers[buffer].dtype);
  }

  // Indices of the lanes that are active, whose claims are tested.
  template <class S>
  std::vector<int64_t> indices(const S& s, int lanes) {
    return indices(s, s.index, s.access, lanes, s.active ? scalar(s.active) : lanes);
  }
  std::vector<int64_t> indices(const Stmt& s, sym::Expr index, Access access, int lanes, int64_t active) {
    std::vector<int64_t> out;
    for (int l = 0; l < std::min<int64_t>(active, lanes); ++l) out.push_back(at(index, l));
    const bool row = access == Access::aligned || access == Access::contiguous;
    for (size_t l = 1; l < out.size(); ++l) {
      if (row && out[l] != out[0] + int64_t(l)) observer_.wrong(s, "the lanes are not contiguous");
      if (access == Access::reversed && out[l] != out[0] - int64_t(l)) observer_.wrong(s, "the lanes do not fall");
      if (access == Access::splat && out[l] != out[0]) observer_.wrong(s, "the lanes differ");
    }
    if (access == Access::aligned && !out.empty() && out[0] % lanes != 0)
      observer_.wrong(s, fmt::format("element {} is not aligned", out[0]));
    return out;
  }

  void execute(const Alloc& s) {
    memory_[s.buffer] = fresh(s.buffer);
    observer_.alloc(touch(s, s.buffer, 0));
  }
  void execute(const Load& s) {
    const DType dtype = element_type(kernel_, s.buffer, s.out);
    Lanes out(size_t(s.out.lanes), Constant::from_int64(s.out.dtype, 0));
    const std::vector<int64_t> where = indices(s, s.out.lanes);
    for (size_t l = 0; l < where.size(); ++l) {
      observer_.load(touch(s, s.buffer, where[l]));
      if (const void* from = element(s.buffer, where[l])) out[l] = converted(Constant::load(dtype, from), s.out.dtype);
    }
    set(s.out, std::move(out));
  }
  void execute(const Store& s) {
    const DType dtype = element_type(kernel_, s.buffer, s.in);
    const std::vector<int64_t> where = indices(s, s.in.lanes);
    for (size_t l = 0; l < where.size(); ++l) {
      observer_.store(touch(s, s.buffer, where[l]));
      if (void* to = element(s.buffer, where[l])) converted(value(s.in)[l], dtype).store(to);
    }
  }
  // Of threads that go together it is done as late as may be; else at once.
  void execute(const CopyAsync& s) {
    const std::vector<int64_t> from = indices(s, s.lanes), to = indices(s, s.to_index, s.to_access, s.lanes, s.lanes);
    Copied copied{&s, {}};
    for (size_t l = 0; l < to.size(); ++l) copied.elements.emplace_back(to[l], l < from.size() ? from[l] : -1);
    thread_ != nullptr ? thread_->open.push_back(std::move(copied)) : land(copied);
  }
  void execute(const Commit&) {
    if (thread_ != nullptr) thread_->groups.push_back(std::exchange(thread_->open, {}));
  }
  void execute(const Wait& s) {
    if (thread_ == nullptr) return;
    std::vector<CopyGroup>& groups = thread_->groups;
    const size_t done = groups.size() - std::min(groups.size(), size_t(s.left));
    for (size_t i = 0; i < done; ++i)
      for (const Copied& copied : groups[i]) land(copied);
    groups.erase(groups.begin(), groups.begin() + std::ptrdiff_t(done));
  }
  void land(const Copied& copied) {
    const CopyAsync& s = *copied.stmt;
    const DType dtype = kernel_.buffers[s.to].dtype;
    for (const auto& [to, from] : copied.elements) {
      if (from >= 0) observer_.load(touch(s, s.from, from));
      observer_.store(touch(s, s.to, to));
      const void* source = from >= 0 ? element(s.from, from) : nullptr;
      const Constant value = source != nullptr ? Constant::load(dtype, source) : Constant::from_int64(dtype, 0);
      if (void* target = element(s.to, to)) value.store(target);
    }
  }
  void execute(const Atomic& s) {
    const int64_t index = scalar(s.index);
    observer_.atomic(touch(s, s.buffer, index));
    void* to = element(s.buffer, index);
    if (to == nullptr) return;
    const Constant known = Constant::load(s.in.dtype, to);
    const Pointwise function = s.op == AtomicOp::min   ? Pointwise::min
                               : s.op == AtomicOp::max ? Pointwise::max
                                                       : Pointwise::add;
    computed(function, {known, value(s.in)[0]}, s.in.dtype).store(to);
  }

  // ---- reductions

  // The values of a state, or an element, in one lane.
  std::vector<Constant> lane_of(const std::vector<Value>& values, size_t lane) const {
    std::vector<Constant> out;
    for (const Value& v : values) out.push_back(value(v)[lane]);
    return out;
  }
  void set_lane(const std::vector<Value>& state, size_t lane, const std::vector<Constant>& numbers) {
    for (size_t i = 0; i < state.size(); ++i) values_.at(state[i].id)[lane] = numbers[i];
  }

  void execute(const Start& s) {
    std::vector<DType> types;
    for (const Value& v : s.state) types.push_back(v.dtype);
    const std::vector<Constant> numbers = identity(s.combine, types, s.element);
    for (size_t i = 0; i < s.state.size(); ++i) set(s.state[i], Lanes(size_t(s.state[i].lanes), numbers[i]));
  }
  void execute(const Accumulate& s) {
    const int64_t lanes = s.state[0].lanes, active = s.active ? scalar(s.active) : lanes;
    for (size_t l = 0; int64_t(l) < std::min(active, lanes); ++l)
      set_lane(s.state, l, formulas_.accumulate(s.combine, lane_of(s.state, l), lane_of(s.in, l)));
  }
  void execute(const Merge& s) {
    for (size_t l = 0; l < size_t(s.state[0].lanes); ++l)
      set_lane(s.state, l, formulas_.merge(s.combine, lane_of(s.state, l), lane_of(s.in, l)));
  }
  void execute(const Fold& s) {
    const State state = folded(s)[0];
    for (size_t i = 0; i < s.out.size(); ++i) set(s.out[i], {state[i]});
  }
  // The lanes of the state as those of the result, one or all.
  std::vector<State> folded(const Fold& s) {
    std::vector<State> lanes;
    for (size_t l = 0; l < size_t(s.state[0].lanes); ++l) lanes.push_back(lane_of(s.state, l));
    for (; lanes.size() > size_t(s.out[0].lanes); lanes.resize(lanes.size() / 2))
      for (size_t l = 0; l < lanes.size() / 2; ++l)
        lanes[l] = formulas_.merge(s.combine, lanes[l], lanes[l + lanes.size() / 2]);
    return lanes;
  }

  const Kernel& kernel_;
  Observer& observer_;
  sym::Environment env_;
  std::vector<int64_t> extents_;
  std::vector<unsigned char*> memory_;
  std::vector<std::vector<unsigned char>> own_;
  std::map<uint32_t, Lanes> values_;
  std::vector<Thread> threads_;                                         // of a block whose threads cooperate
  size_t ranks_ = 1;                                                    // blocks of the cluster that they are of
  std::map<uint32_t, std::vector<std::vector<unsigned char>>> shared_;  // buffers of a cluster, by rank
  Thread* thread_ = nullptr;                                            // the one that executes a statement
  size_t syncs_ = 0;
  size_t wave_ = 0;  // of phases that run at once
  struct Arrived {
    int64_t blocks = 0;
    std::set<int64_t> tasks;
  };
  std::map<std::pair<uint32_t, int64_t>, Arrived> arrived_;  // by counter, and by block that awaits there
  std::set<int64_t> awaited_;                                // tasks of blocks that this one has waited for
  const std::set<int64_t>* behind_ = nullptr;  // tasks that a LastBlock around comes behind, or those of an Await
  int64_t task_ = 0;
  int64_t block_ = 0;              // number among those of its launch
  int64_t first_task_ = 0;         // of the phase, among those of its wave
  mutable int64_t next_task_ = 0;  // one more than the greatest of the wave so far
  NumberBuilder builder_;
  ReductionFormulas<NumberBuilder> formulas_{builder_};
};

}  // namespace plait::kir
