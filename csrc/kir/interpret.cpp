#include "kir/interpret.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kir/lane.h"
#include "kir/lane_values.h"
#include "kir/statements.h"
#include "scalar/philox.h"
#include "scalar/reduction_formulas.h"

namespace plait::kir {
namespace {

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
    if (s.loop >= LoopKind::thread_x && cooperates(s.body)) return run_together(s);
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
  };
  using Together = std::vector<size_t>;  // those of threads_ that execute a block

  void run_together(const For& s) {
    const For* inner = s.body.size() == 1 ? as<For>(*s.body[0]) : nullptr;  // x in y
    if (inner != nullptr && inner->loop < LoopKind::thread_x) inner = nullptr;
    const int64_t extent = scalar(s.extent), within = inner != nullptr ? scalar(inner->extent) : 1, outer = task_;
    Together all;
    threads_.clear();
    for (int64_t i = 0; i < extent * within; ++i) {
      threads_.emplace_back();
      threads_.back().env = env_;
      threads_.back().values = values_;
      threads_.back().task = outer * extent * within + i;
      threads_.back().env[s.var.symbol_name()] = i / within;
      if (inner != nullptr) threads_.back().env[inner->var.symbol_name()] = i % within;
      all.push_back(size_t(i));
    }
    together(inner != nullptr ? inner->body : s.body, all);
    threads_.clear();
    task_ = outer;
  }

  // Calls fn as the thread.
  template <class Fn>
  void as_thread(size_t thread, Fn&& fn) {
    Thread& own = threads_[thread];
    thread_ = &own;
    std::swap(env_, own.env);
    std::swap(values_, own.values);
    task_ = own.task;
    for (auto& [buffer, bytes] : own.stack) memory_[buffer] = bytes.data();
    fn();
    thread_ = nullptr;
    std::swap(env_, own.env);
    std::swap(values_, own.values);
  }

  void together(const Block& body, const Together& all) {
    for (const auto& stmt : body) together(*stmt, all);
  }

  void together(const Stmt& stmt, const Together& all) {
    if (const For* loop = as<For>(stmt)) return together(*loop, all);
    if (const If* branch = as<If>(stmt)) {
      Together some;
      for (size_t t : all)
        as_thread(t, [&] {
          if (scalar(branch->condition) != 0) some.push_back(t);
        });
      return together(branch->body, some);
    }
    if (const Shuffle* shuffle = as<Shuffle>(stmt)) return together(*shuffle, all);
    if (const Fold* fold = as<Fold>(stmt); fold != nullptr && fold->threads > 1) return together(*fold, all);
    if (const Prefix* prefix = as<Prefix>(stmt)) return together(*prefix, all);
    if (const LastBlock* last = as<LastBlock>(stmt)) return together(*last, all);
    if (const LoadMatrix* load = as<LoadMatrix>(stmt)) return together(*load, all);
    if (const Mma* mma = as<Mma>(stmt)) return together(*mma, all);
    if (stmt.kind == StmtKind::Sync) {
      ++syncs_;
      return;
    }
    const Alloc* alloc = as<Alloc>(stmt);
    if (alloc != nullptr && kernel_.buffers[alloc->buffer].space == Space::shared) return execute(*alloc);
    for (size_t t : all)
      as_thread(t, [&] {
        visit(stmt, [&](const auto& s) { execute(s); });
        if (alloc != nullptr) {
          threads_[t].stack[alloc->buffer] = own_[alloc->buffer];
          memory_[alloc->buffer] = threads_[t].stack[alloc->buffer].data();
        }
      });
  }

  void together(const For& s, const Together& all) {
    const std::string var = s.var.symbol_name();
    std::map<size_t, int64_t> extents;
    int64_t most = 0;
    for (size_t t : all) as_thread(t, [&] { most = std::max(most, extents[t] = scalar(s.extent)); });
    for (int64_t i = 0; i < most; ++i) {
      Together some;
      for (size_t t : all)
        if (i < extents[t]) {
          threads_[t].env[var] = i;
          some.push_back(t);
        }
      together(s.body, some);
    }
    for (size_t t : all) threads_[t].env.erase(var);
  }

  // Its body is behind what the threads of all its blocks did.
  void together(const LastBlock& s, const Together& all) {
    if (all.empty()) return;  // of another branch of the launch
    ++syncs_;
    int64_t blocks = 0, index = 0;
    as_thread(all[0], [&] {
      blocks = scalar(s.blocks);
      index = scalar(s.index);
      observer_.atomic(touch(s, s.buffer, index));
    });
    Arrived& arrived = arrived_[{s.buffer, index}];
    for (size_t t : all) arrived.tasks.insert(first_task_ + threads_[t].task);
    if (++arrived.blocks > blocks) observer_.wrong(s, fmt::format("more than {} blocks come", blocks));
    if (arrived.blocks != blocks) return;
    const auto* outer = std::exchange(behind_, &arrived.tasks);
    together(s.body, all);
    behind_ = outer;
  }

  void together(const Shuffle& s, const Together& all) {
    std::vector<Lanes> taken;
    for (size_t t : all) taken.push_back(threads_.at(t ^ size_t(s.by)).values.at(s.in.id));
    for (size_t i = 0; i < all.size(); ++i) threads_[all[i]].values[s.out.id] = taken[i];
  }

  using State = std::vector<Constant>;

  void together(const Fold& s, const Together& all) {
    std::vector<std::vector<State>> parts;  // of each thread, by lane
    for (size_t t : all) as_thread(t, [&] { parts.push_back(folded(s)); });
    const size_t count = size_t(s.threads), stride = size_t(s.stride), lanes = size_t(s.out[0].lanes);
    for (size_t t : all) {
      const size_t first = t / (count * stride) * (count * stride) + t % stride;
      if (t != first) continue;
      std::vector<Lanes> whole(s.out.size());
      for (size_t l = 0; l < lanes; ++l) {
        std::vector<State> group;
        for (size_t i = 0; i < count; ++i) group.push_back(parts[first + i * stride][l]);
        const State one = as_one(s, std::move(group));
        for (size_t i = 0; i < one.size(); ++i) whole[i].push_back(one[i]);
      }
      for (size_t i = 0; i < count; ++i)
        for (size_t v = 0; v < s.out.size(); ++v) threads_[first + i * stride].values[s.out[v].id] = whole[v];
    }
  }

  void together(const Prefix& s, const Together& all) {
    const size_t count = size_t(s.threads), in_warp = std::min(count, size_t(kWarp));
    std::vector<DType> types;
    for (const Value& v : s.state) types.push_back(v.dtype);
    const State nothing = identity(s.combine, types, s.element);
    const auto set_all = [&](size_t thread, const std::vector<Value>& values, const State& state) {
      for (size_t i = 0; i < values.size(); ++i) threads_[thread].values[values[i].id] = {state[i]};
    };
    for (size_t t : all) {
      if (t % count != 0) continue;
      std::vector<State> whole, before(count, nothing);
      for (size_t i = 0; i < count; ++i) as_thread(t + i, [&] { whole.push_back(lane_of(s.state, 0)); });
      for (size_t by = 1; by < in_warp; by *= 2) {
        const std::vector<State> old = whole;
        for (size_t i = 0; i < count; ++i) {
          if ((i & by) != 0) before[i] = formulas_.merge(s.combine, old[i ^ by], before[i]);
          whole[i] = formulas_.merge(s.combine, old[i & ~by], old[i | by]);
        }
      }
      State one = count > in_warp ? nothing : whole[0];
      for (size_t w = 0; w < count && count > in_warp; w += in_warp) {
        for (size_t i = w; i < w + in_warp; ++i) before[i] = formulas_.merge(s.combine, one, before[i]);
        one = formulas_.merge(s.combine, one, whole[w]);
      }
      for (size_t i = 0; i < count; ++i) {
        set_all(t + i, s.before, before[i]);
        set_all(t + i, s.all, one);
      }
    }
  }

  // Threads of a warp follow one another in `all`.
  void together(const LoadMatrix& s, const Together& all) {
    const DType dtype = kernel_.buffers[s.from].dtype;
    for (size_t warp = 0; warp + size_t(kWarp) <= all.size(); warp += size_t(kWarp)) {
      std::vector<Lanes> rows;  // by matrix and row
      for (size_t l = 0; l < size_t(8) * size_t(s.count); ++l)
        as_thread(all[warp + l], [&] {
          const int64_t first = scalar(s.index);
          if (first % 8 != 0) observer_.wrong(s, fmt::format("element {} is not aligned", first));
          rows.emplace_back();
          for (int64_t i = first; i < first + 8; ++i) {
            observer_.load(touch(s, s.from, i));
            const void* from = element(s.from, i);
            rows.back().push_back(from != nullptr ? Constant::load(dtype, from) : Constant::from_int64(dtype, 0));
          }
        });
      for (size_t l = 0; l < size_t(kWarp); ++l)
        as_thread(all[warp + l], [&] {
          for (size_t i = 0; i < size_t(s.count); ++i)
            for (size_t j = 0; j < 2; ++j) {
              const size_t g = l / 4, t = 2 * (l % 4) + j;
              const int64_t at = scalar(s.to_index) + int64_t(2 * i + j);
              observer_.store(touch(s, s.to, at));
              if (void* to = element(s.to, at)) (s.transposed ? rows[8 * i + t][g] : rows[8 * i + g][t]).store(to);
            }
        });
    }
  }

  void together(const Mma& s, const Together& all) {
    const auto number = [&](uint32_t buffer, int64_t at) {
      observer_.load(touch(s, buffer, at));
      const void* from = element(buffer, at);
      return from != nullptr ? Constant::load(kernel_.buffers[buffer].dtype, from).to_double() : 0;
    };
    for (size_t warp = 0; warp + size_t(kWarp) <= all.size(); warp += size_t(kWarp)) {
      double a[kMmaRows][kMmaTerms], b[kMmaTerms][kMmaColumns];
      for (int64_t l = 0; l < kWarp; ++l)
        as_thread(all[warp + size_t(l)], [&] {
          for (int64_t h = 0; h < 2; ++h)
            for (int64_t j = 0; j < 2; ++j) {
              const int64_t term = 2 * (l % 4) + j + 8 * h;
              for (int64_t i = 0; i < 2; ++i)
                a[l / 4 + 8 * i][term] = number(s.a, scalar(s.a_index) + 4 * h + 2 * i + j);
              b[term][l / 4] = number(s.b, scalar(s.b_index) + 2 * h + j);
            }
        });
      for (int64_t l = 0; l < kWarp; ++l)
        as_thread(all[warp + size_t(l)], [&] {
          for (int64_t i = 0; i < 2; ++i)
            for (int64_t j = 0; j < 2; ++j) {
              const int64_t at = scalar(s.sums_index) + 2 * i + j;
              double sum = number(s.sums, at);
              for (int64_t k = 0; k < kMmaTerms; ++k) sum += a[l / 4 + 8 * i][k] * b[k][2 * (l % 4) + j];
              observer_.store(touch(s, s.sums, at));
              if (void* to = element(s.sums, at)) Constant::from_double(DType::f32, sum).store(to);
            }
        });
    }
  }

  // The states of threads as one (way_of).
  State as_one(const Fold& s, std::vector<State> group) {
    if (way_of(s) == FoldWay::in_order) {
      for (size_t i = 1; i < group.size(); ++i) group[0] = formulas_.merge(s.combine, group[0], group[i]);
      return group[0];
    }
    const auto halve = [&](size_t from) {  // within so many that stand together
      for (size_t by = from / 2; by > 0; by /= 2) {
        const std::vector<State> before = group;
        for (size_t i = 0; i < group.size(); ++i)
          group[i] = formulas_.merge(s.combine, before[i & ~by], before[i | by]);
      }
    };
    const size_t in_warp = std::min(group.size(), size_t(kWarp / std::min(s.stride, kWarp)));
    halve(in_warp);
    const size_t warps = group.size() / in_warp;
    for (size_t w = 0; w < warps; ++w) group[w] = group[w * in_warp];
    group.resize(warps);
    halve(warps);
    return group[0];
  }

  // ---- values

  void execute(const LastBlock&) { PLAIT_CHECK(false, "a last block outside of a loop over threads"); }
  void execute(const LoadMatrix&) { PLAIT_CHECK(false, "a load of matrices outside of a loop over threads"); }
  void execute(const Mma&) { PLAIT_CHECK(false, "an mma outside of a loop over threads"); }
  void execute(const Sync&) { ++syncs_; }  // between threads loops, whose iterations run one after another
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
    const int64_t task = first_task_ + task_;
    next_task_ = std::max(next_task_, task + 1);
    const bool shared = kernel_.buffers[buffer].space == Space::shared;  // others see it behind a sync
    return {stmt, buffer, index, extents_[buffer], shared ? syncs_ : wave_, task, behind_};
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
  std::vector<Thread> threads_;  // of a block whose threads cooperate
  Thread* thread_ = nullptr;     // the one that executes a statement
  size_t syncs_ = 0;
  size_t wave_ = 0;  // of phases that run at once
  struct Arrived {
    int64_t blocks = 0;
    std::set<int64_t> tasks;
  };
  std::map<std::pair<uint32_t, int64_t>, Arrived> arrived_;  // by counter
  const std::set<int64_t>* behind_ = nullptr;                // tasks that a LastBlock around comes behind
  int64_t task_ = 0;
  int64_t first_task_ = 0;         // of the phase, among those of its wave
  mutable int64_t next_task_ = 0;  // one more than the greatest of the wave so far
  NumberBuilder builder_;
  ReductionFormulas<NumberBuilder> formulas_{builder_};
};

}  // namespace

std::vector<int64_t> buffer_extents(const Kernel& kernel, const std::vector<int64_t>& integers) {
  sym::Environment env;
  for (size_t i = 0; i < integers.size(); ++i) env[kernel.integers[i].symbol_name()] = integers[i];
  std::vector<int64_t> out;
  for (const Buffer& buffer : kernel.buffers) out.push_back(sym::evaluate(buffer.extent, env));
  return out;
}

void interpret(const Kernel& kernel, const std::vector<int64_t>& integers, const std::vector<void*>& arguments,
               Observer& observer) {
  Interpreter(kernel, observer).run(integers, arguments);
}

}  // namespace plait::kir
