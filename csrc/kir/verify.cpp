// Invariants of a kernel.
//
// Head. The name is an identifier of C. Buffers have unique identifiers as names and an extent. Integers are symbols,
// each once, none of them `lane`. Extents of buffers speak of integers only.
// Symbols. An index, extent, condition or `active` speaks only of the kernel's integers, the variables of enclosing
// loops, what Bind has bound and, in an index, `lane`. What the pool states as facts of a loop variable holds for
// 0 .. extent-1, what it states about `lane` for every lane of every statement that uses it.
// Loops. A variable is a symbol that is not in scope already. cpu_thread belongs to target cpu, block_* and thread_* to
// target cuda; each at most once a phase. A parallel loop stands only within parallel loops (cpu_thread within
// nothing), and its extent speaks of integers only. Every store stands inside all parallel loops of its phase. The
// extent of a lanes loop is a power of two up to 64, that of a threads loop one up to kMostThreads, for
// target cuda; that of a loop that is to be unrolled is a constant up to 64. Threads: kir/verify_threads.h. Values.
// Each is defined once in the kernel, before its uses, in a block that encloses them; uses repeat id, dtype and lanes
// of the definition. Lanes are a power of two up to 64. Dtypes are wide: none is a storage type (compute_type).
// Variables. Only a Variable is assigned, within the parallel loop that declares it, with its own dtype and lanes.
// Constants have the dtype of what they define.
// Memory. Arguments stand first, then workspaces, counters, local buffers; only arguments are marked as written or
// updated. Loads read arguments that are not `written`, or `updated`; stores write those that are written. What is
// updated is written too. An atomic belongs to one u64, to an updated argument that nothing loads or stores. A load
// yields compute_type(element_type); a store takes that, or a wider float. `aligned`, `contiguous`,
// `reversed` and `splat` are proven; a store is never one of the last two. A stack buffer is proven to have at most
// kMostStackBytes; shared ones belong to target cuda. A local buffer is met only behind its Alloc, in the rest of that
// block, and has one Alloc at a time. A load from a local buffer or workspace stands behind a store to it (behind the
// Alloc), unless that has no elements. Compute. Operands have the lanes of the result and one dtype (the condition of
// `where`: bool); result dtype and operand dtype follow scalar/pointwise.h. `cast` is Convert's business. Convert takes
// the result's lanes or one. Round goes to a storage type: a narrow float from f32 or f64, another from its
// compute_type. Random yields f32 from a u64 seed of one lane. What moves lanes: kir/verify_lanes.h. CopyAsync belongs
// to target cuda, from an argument that nothing writes to a local buffer of its dtype, in as many lanes as a value may
// have; a Wait leaves at most kMostGroups groups. LoadMatrix takes 2 or 4 matrices of elements of 2 bytes from shared
// memory to the stack, at a multiple of 8; Mma has sums in f32 and fragments of bf16 or f16 on the stack. A counter is
// u32, for target cuda and of one LastBlock or Await, which stands inside of all parallel loops, an Await in nothing
// else. Coordinate yields i64. Bind takes one i64; its symbol is new and has no facts. Reductions. What Start defines
// is a state of its combine (is_state), all values with the same lanes; only Accumulate and Merge change it, within the
// parallel loop that declares it, whole and by the same combine. They take its dtypes and lanes. Fold yields a state of
// one lane or, over threads, one of as many; threads and their stride are powers of two. Not checked: that accesses lie
// inside of their buffers, that elements are stored once, that tasks of a phase do not meet. Tests look at these:
// kir/accesses.h, AccessChecker (kir/interpret.h), simulated GPUs.
#include <atomic>
#include <map>
#include <set>

#include "base/error.h"
#include "kir/kernel.h"
#include "kir/lane.h"
#include "kir/statements.h"
#include "kir/verify_buffers.h"
#include "kir/verify_lanes.h"
#include "kir/verify_threads.h"

namespace plait::kir {
namespace {

bool is_lane(sym::Expr symbol) { return symbol.symbol_name() == kLane; }

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    head();
    require(!kernel_.phases.empty(), "the kernel has no phase");
    require(!kernel_.phases.front().beside, "the first phase is beside none");
    for (const Phase& p : kernel_.phases) {
      require(!p.beside || kernel_.target == TargetKind::cpu, "phases are beside each other on CPUs only");
      seen_.clear();
      atomic_.clear();
      parallel_count_ = 0;
      count_parallel(p.body);
      block(p.body);
      verify_threads(kernel_, p);
    }
  }

 private:
  enum class Kind : uint8_t { value, variable, state };
  struct Definition {
    Value value;
    Kind kind = Kind::value;
    size_t parallel_depth = 0;
    std::vector<Value> state = {};  // all of the state that it belongs to
    Combine combine = Combine::sum;
    bool live = true;
  };

  template <class... Args>
  void require(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (condition) return;
    const std::string where = stmt_ == nullptr ? "" : fmt::format(": {}", print(kernel_, *stmt_));
    throw InternalError(fmt::format("kernel IR: {}", fmt::format(format, std::forward<Args>(args)...)),
                        fmt::format("kernel @{}{}", kernel_.name, where), "");
  }

  void head() {
    require(is_identifier(kernel_.name), "the kernel's name is not an identifier of C");
    require(kernel_.pool != nullptr, "the kernel has no pool");
    for (sym::Expr integer : kernel_.integers) {
      require(integer && integer.is_symbol(), "an integer argument is not a symbol");
      require(&integer.pool() == kernel_.pool.get(), "an integer argument is of another pool");
      require(!is_lane(integer), "an integer argument is called lane");
      require(symbols_.insert(integer.symbol_name()).second, "integer argument {} twice", integer.symbol_name());
    }
    integers_ = symbols_;
    for (const Buffer& buffer : kernel_.buffers) check_symbols(buffer.extent, integers_, "extent of a buffer");
    verify_buffers(kernel_);
  }

  void count_parallel(const Block& body) {
    for (const auto& stmt : body) {
      if (stmt == nullptr) continue;  // refused by block()
      if (const For* loop = as<For>(*stmt)) {
        parallel_count_ += is_parallel(loop->loop);
        count_parallel(loop->body);
      } else if (const Block* inner = body_of(*stmt)) {
        count_parallel(*inner);
      }
    }
  }

  void block(const Block& body) {
    const size_t first = order_.size(), first_bound = bound_.size(), first_allocated = allocated_.size();
    for (const auto& stmt : body) {
      require(stmt != nullptr, "a null statement");
      const Stmt* outer = stmt_;
      stmt_ = stmt.get();
      visit(*stmt, [&](const auto& s) { check(s); });
      stmt_ = outer;
    }
    for (size_t i = first; i < order_.size(); ++i) values_.at(order_[i]).live = false;
    order_.resize(first);
    for (size_t i = first_bound; i < bound_.size(); ++i) symbols_.erase(bound_[i]);
    bound_.resize(first_bound);
    for (size_t i = first_allocated; i < allocated_.size(); ++i) live_.erase(allocated_[i]);
    allocated_.resize(first_allocated);
  }

  void check_symbols(sym::Expr expr, const std::set<std::string>& allowed, const char* what) const {
    require(bool(expr), "{} is null", what);
    require(&expr.pool() == kernel_.pool.get(), "{} is of another pool", what);
    for (const std::string& symbol : sym::symbols(expr)) {
      require(allowed.contains(symbol), "{} speaks of {}, which is not in scope", what, symbol);
    }
  }

  // An index over symbols in scope and lane, whose facts must hold for all lanes.
  void check_index(sym::Expr index, int lanes) {
    symbols_.insert(kLane);
    check_symbols(index, symbols_, "index");
    symbols_.erase(kLane);
    if (!depends_on_lane(index)) return;
    const sym::SymbolInfo& facts = kernel_.pool->info(kernel_.pool->find_symbol(kLane));
    const bool sound = facts.lo.value_or(0) <= 0 && facts.hi.value_or(lanes - 1) >= lanes - 1 &&
                       facts.multiple_of == 1 &&
                       (!facts.below || sym::proven(sym::le(kernel_.pool->constant(lanes), facts.below)));
    require(sound || lanes == 1, "the facts of lane do not hold for {} lanes", lanes);
  }

  void define(const Value& value, Kind kind = Kind::value) {
    require(value.lanes >= 1 && value.lanes <= 64 && (value.lanes & (value.lanes - 1)) == 0, "{} lanes", value.lanes);
    require(compute_type(value.dtype) == value.dtype, "a value of storage dtype {}", name(value.dtype));
    const bool fresh = values_.emplace(value.id, Definition{value, kind, parallel_depth_}).second;
    require(fresh, "%{} is defined twice", value.id);
    order_.push_back(value.id);
  }

  const Definition& use(const Value& value) const {
    const auto found = values_.find(value.id);
    require(found != values_.end(), "%{} is used before its definition", value.id);
    require(found->second.live, "%{} is used outside of the block that defines it", value.id);
    require(found->second.value == value, "%{} is used with another dtype or other lanes than defined", value.id);
    return found->second;
  }

  void check(const For& s) {
    require(s.var && s.var.is_symbol() && &s.var.pool() == kernel_.pool.get(), "the loop variable is not a symbol");
    const std::string& var = s.var.symbol_name();
    require(!is_lane(s.var), "a loop variable is called lane");
    require(!symbols_.contains(var), "loop variable {} is in scope already", var);
    const bool parallel = is_parallel(s.loop);
    check_symbols(s.extent, parallel ? integers_ : symbols_, "extent");
    if (parallel) {
      const bool of_cpu = s.loop == LoopKind::cpu_thread;
      require(of_cpu == (kernel_.target == TargetKind::cpu), "a {} loop for the other target", name(s.loop));
      require(parallel_depth_ == depth_, "a {} loop stands inside of a serial loop or condition", name(s.loop));
      require(seen_.insert(s.loop).second, "two {} loops", name(s.loop));
    }
    check_copies(s);
    check_loop_facts(s);
    symbols_.insert(var);
    depth_ += 1;
    parallel_depth_ += parallel;
    block(s.body);
    parallel_depth_ -= parallel;
    depth_ -= 1;
    symbols_.erase(var);
  }

  void check_copies(const For& s) const {
    const int64_t lanes = s.extent.constant().value_or(-1);
    require(!s.unroll || (lanes >= 0 && lanes <= 64), "unrolling a loop of extent {}", sym::print(s.extent));
    require(!s.unroll || s.loop == LoopKind::serial, "unrolling a {} loop", name(s.loop));
    require(s.stages >= 1 && s.stages <= kMostGroups && (s.stages == 1 || s.loop == LoopKind::serial),
            "a {} loop of {} stages", name(s.loop), s.stages);
    if (is_threads(s.loop))
      require(kernel_.target == TargetKind::cuda && lanes >= 1 && lanes <= kMostThreads && (lanes & (lanes - 1)) == 0,
              "a {} loop of extent {}", name(s.loop), sym::print(s.extent));
    if (s.loop != LoopKind::lanes) return;
    require(lanes >= 1 && lanes <= 64 && (lanes & (lanes - 1)) == 0, "a lanes loop of extent {}", sym::print(s.extent));
  }

  void check_loop_facts(const For& s) const {
    const sym::SymbolInfo& facts = kernel_.pool->info(s.var);
    const bool sound = facts.lo.value_or(0) <= 0 && facts.multiple_of == 1 &&
                       (!facts.hi || sym::proven(sym::le(s.extent - 1, *facts.hi))) &&
                       (!facts.below || sym::proven(sym::le(s.extent, facts.below)));
    require(sound, "the facts of {} are not proven for 0..{}", s.var.symbol_name(), sym::print(s.extent));
  }

  void check(const If& s) {
    check_symbols(s.condition, symbols_, "condition");
    depth_ += 1;
    block(s.body);
    depth_ -= 1;
  }

  void check(const Alloc& s) {
    require(s.buffer < kernel_.buffers.size(), "there is no buffer {}", s.buffer);
    require(kernel_.buffers[s.buffer].is_local(), "{} is not a local buffer", kernel_.buffers[s.buffer].name);
    require(live_.insert(s.buffer).second, "{} has memory already", kernel_.buffers[s.buffer].name);
    filled_.erase(s.buffer);
    allocated_.push_back(s.buffer);
  }

  void check(const Variable& s) {
    require(s.initial.dtype == s.out.dtype, "a {} constant", name(s.initial.dtype));
    define(s.out, Kind::variable);
  }

  void check(const Assign& s) {
    const Definition& variable = use(s.variable);
    require(variable.kind != Kind::state, "%{} is a state, which is not assigned", s.variable.id);
    require(variable.kind == Kind::variable, "%{} is not a variable", s.variable.id);
    require(variable.parallel_depth == parallel_depth_, "%{} is declared outside of a parallel loop", s.variable.id);
    use(s.in);
    require(s.in.dtype == s.variable.dtype && s.in.lanes == s.variable.lanes, "dtype or lanes differ");
  }

  void check(const Literal& s) {
    require(s.constant.dtype == s.out.dtype, "a {} constant", name(s.constant.dtype));
    define(s.out);
  }

  void check(const Coordinate& s) {
    require(s.out.dtype == DType::i64, "a coordinate of dtype {}", name(s.out.dtype));
    check_index(s.index, s.out.lanes);
    define(s.out);
  }

  void check(const Bind& s) {
    require(s.var && s.var.is_symbol() && &s.var.pool() == kernel_.pool.get(), "what is bound is not a symbol");
    const std::string& var = s.var.symbol_name();
    require(!is_lane(s.var), "a bound symbol is called lane");
    const sym::SymbolInfo& facts = kernel_.pool->info(s.var);
    require(!facts.lo && !facts.hi && facts.multiple_of == 1 && !facts.below, "{} has facts, which nothing proves",
            var);
    use(s.in);
    require(s.in.dtype == DType::i64 && s.in.lanes == 1, "an index is one i64");
    require(symbols_.insert(var).second, "{} is in scope already", var);
    bound_.push_back(var);
  }

  void check_access(sym::Expr index, Access access, sym::Expr active, int lanes) {
    check_index(index, lanes);
    if (active) check_symbols(active, symbols_, "active");
    if (access == Access::splat) require(!depends_on_lane(index), "the index of a splat access depends on lane");
    if (access == Access::reversed)
      require(!active && (lanes == 1 || lane_stride(index) == -1), "the lanes are not proven to run backwards");
    if (access != Access::aligned && access != Access::contiguous) return;
    require(lanes == 1 || lane_stride(index) == 1, "the lanes are not proven contiguous");
    if (access == Access::contiguous) return;
    require(sym::divisor(at_lane(index, 0)) % lanes == 0, "the index is not proven a multiple of {}", lanes);
  }
  // Of a vector that is one piece of a turned row.
  void check_piece(uint32_t buffer, Access access, int lanes) const {
    const Buffer& b = kernel_.buffers[buffer];
    require(b.turned == 0 || access == Access::lanewise || lanes == 1 ||
                (access == Access::aligned && lanes * int64_t(size_of(b.dtype)) <= kBankBytes),
            "{} lanes of turned rows of {}", lanes, b.name);
  }

  void check(const Load& s) {
    require(s.buffer < kernel_.buffers.size(), "there is no buffer {}", s.buffer);
    const Buffer& buffer = kernel_.buffers[s.buffer];
    require(buffer.loads(), "{} is read, but marked as written", buffer.name);
    touch(s.buffer, false);
    const bool has_none = sym::proven(sym::le(buffer.extent, 0));
    require(buffer.space == Space::argument || filled_.contains(s.buffer) || has_none, "nothing is stored to {} before",
            buffer.name);
    const DType as = element_type(kernel_, s.buffer, s.out);
    require(s.out.dtype == compute_type(as), "a {} buffer loads as {}", name(as), name(compute_type(as)));
    define(s.out);
    check_access(s.index, s.access, s.active, s.out.lanes);
    check_piece(s.buffer, s.access, s.out.lanes);
  }

  void check(const Store& s) {
    require(s.buffer < kernel_.buffers.size(), "there is no buffer {}", s.buffer);
    const Buffer& buffer = kernel_.buffers[s.buffer];
    require(buffer.stores(), "{} is written, but marked as read", buffer.name);
    require(s.access != Access::splat && s.access != Access::reversed, "a store is never {}", name(s.access));
    touch(s.buffer, false);
    require(parallel_depth_ == parallel_count_, "a store outside of a parallel loop of the kernel");
    use(s.in);
    const DType as = element_type(kernel_, s.buffer, s.in);
    const bool rounds = is_float(s.in.dtype) && is_float(as) && size_of(s.in.dtype) >= size_of(as);
    require(s.in.dtype == compute_type(as) || rounds, "a {} value into a {} buffer", name(s.in.dtype), name(as));
    check_access(s.index, s.access, s.active, s.in.lanes);
    check_piece(s.buffer, s.access, s.in.lanes);
    filled_.insert(s.buffer);
  }

  void check(const CopyAsync& s) {
    require(s.to < kernel_.buffers.size() && s.from < kernel_.buffers.size(), "there is no buffer {} or {}", s.to,
            s.from);
    const Buffer &to = kernel_.buffers[s.to], &from = kernel_.buffers[s.from];
    require(kernel_.target == TargetKind::cuda, "a copy of a GPU on a CPU");
    require(to.is_local(), "{} is not a local buffer", to.name);
    require(from.space == Space::argument && !from.stores(), "{} is no argument that is read alone", from.name);
    require(to.dtype == from.dtype, "a {} buffer is copied to one of {}", name(from.dtype), name(to.dtype));
    require(s.lanes >= 1 && s.lanes <= 64 && (s.lanes & (s.lanes - 1)) == 0, "a copy of {} lanes", s.lanes);
    require(s.to_access != Access::splat && s.to_access != Access::reversed, "a copy to {} lanes", name(s.to_access));
    touch(s.to, false);
    touch(s.from, false);
    require(parallel_depth_ == parallel_count_, "a copy outside of a parallel loop of the kernel");
    check_access(s.to_index, s.to_access, {}, s.lanes);
    check_piece(s.to, s.to_access, s.lanes);
    check_access(s.index, s.access, s.active, s.lanes);
    filled_.insert(s.to);
  }
  void check_fragments(const Stmt& s) const {
    const std::string problem = fragments_problem(kernel_, s);
    require(problem.empty(), "{}", problem);
  }
  void check(const LoadMatrix& s) {
    check_fragments(s);
    touch(s.from, false);
    touch(s.to, false);
    require(filled_.contains(s.from), "nothing is stored to {} before", kernel_.buffers[s.from].name);
    check_symbols(s.to_index, symbols_, "index");
    check_symbols(s.index, symbols_, "index");
    require(sym::divisor(s.index) % 8 == 0, "the index is not proven a multiple of 8");
    filled_.insert(s.to);
  }
  void check(const Mma& s) {
    check_fragments(s);
    for (uint32_t buffer : {s.sums, s.a, s.b}) {
      touch(buffer, false);
      require(filled_.contains(buffer), "nothing is stored to {} before", kernel_.buffers[buffer].name);
    }
    for (sym::Expr index : {s.sums_index, s.a_index, s.b_index}) check_symbols(index, symbols_, "index");
  }
  void check(const Commit&) { require(kernel_.target == TargetKind::cuda, "a commit on a CPU"); }
  void check(const Wait& s) {
    require(kernel_.target == TargetKind::cuda, "a wait on a CPU");
    require(s.left >= 0 && s.left <= kMostGroups, "a wait that leaves {} groups", s.left);
  }

  void check(const Atomic& s) {
    require(s.buffer < kernel_.buffers.size(), "there is no buffer {}", s.buffer);
    const Buffer& buffer = kernel_.buffers[s.buffer];
    require(buffer.updated || buffer.space == Space::workspace, "{} is updated, but not marked so", buffer.name);
    require(buffer.dtype == s.in.dtype && s.in.lanes == 1, "an atomic is of one {}", name(buffer.dtype));
    require(has_atomic(buffer.dtype, s.op), "there is no {} of {}", name(s.op), name(buffer.dtype));
    require(parallel_depth_ == parallel_count_, "an atomic outside of a parallel loop of the kernel");
    touch(s.buffer, true);
    use(s.in);
    check_symbols(s.index, symbols_, "index");
  }

  void check_counter(uint32_t buffer) {
    require(kernel_.target == TargetKind::cuda, "blocks of the other target");
    require(buffer < kernel_.buffers.size(), "there is no buffer {}", buffer);
    require(kernel_.buffers[buffer].space == Space::counter, "{} is no counter", kernel_.buffers[buffer].name);
    require(counters_.insert(buffer).second, "{} counts for two statements", kernel_.buffers[buffer].name);
    require(parallel_depth_ == parallel_count_, "outside of a parallel loop of the kernel");
  }

  void check(const Await& s) {
    check_counter(s.buffer);
    require(depth_ == parallel_depth_, "not every block of the launch comes here");
    check_symbols(s.from, symbols_, "first block");
  }

  void check(const LastBlock& s) {
    check_counter(s.buffer);
    check_symbols(s.index, symbols_, "index");
    check_symbols(s.blocks, integers_, "number of blocks");
    depth_ += 1;
    block(s.body);
    depth_ -= 1;
  }

  void check(const Sync&) { require(kernel_.target == TargetKind::cuda, "a sync on the other target"); }

  // Moves lanes.
  void check_lanes(const Stmt& s) {
    for (const Value& v : operands(s)) use(v);
    const std::string problem = lanes_problem(s, kernel_.target);
    require(problem.empty(), "{}", problem);
    for (const Value& v : results(s)) define(v);
  }
  void check(const Shuffle& s) { check_lanes(s); }
  void check(const LoadOfBlock& s) {
    require(s.buffer < kernel_.buffers.size(), "there is no buffer {}", s.buffer);
    const Buffer& buffer = kernel_.buffers[s.buffer];
    require(kernel_.target == TargetKind::cuda && buffer.space == Space::shared, "{} is not in shared memory",
            buffer.name);
    require(s.out.lanes == 1 && s.out.dtype == buffer.dtype, "a load of another block is of one {}",
            name(buffer.dtype));
    touch(s.buffer, false);
    require(filled_.contains(s.buffer), "nothing is stored to {} before", buffer.name);
    for (sym::Expr e : {s.index, s.block}) check_symbols(e, symbols_, "index");
    define(s.out);
  }
  void check(const Half& s) { check_lanes(s); }
  void check(const Transpose& s) { check_lanes(s); }
  void check(const Running& s) { check_lanes(s); }

  // A buffer of atomics has no other accesses in their phase.
  void touch(uint32_t buffer, bool atomic) {
    require(!kernel_.buffers[buffer].is_local() || live_.contains(buffer), "{} has no memory here",
            kernel_.buffers[buffer].name);
    const bool agrees = atomic_.emplace(buffer, atomic).first->second == atomic;
    require(agrees, "{} has atomics and other accesses", kernel_.buffers[buffer].name);
  }

  void check(const Compute& s) {
    require(s.function != Pointwise::cast, "cast is spelled convert");
    require(int(s.in.size()) == info(s.function).arity, "{} operands", s.in.size());
    std::vector<DType> dtypes;
    for (size_t i = 0; i < s.in.size(); ++i) {
      use(s.in[i]);
      require(s.in[i].lanes == s.out.lanes, "the lanes of the operands and the result differ");
      const bool condition = s.function == Pointwise::where && i == 0;
      require(condition ? s.in[i].dtype == DType::boolean : s.in[i].dtype == s.in.back().dtype,
              "the dtypes of the operands differ");
      dtypes.push_back(s.in[i].dtype);
    }
    require(s.out.dtype == computed_type(s, dtypes), "the result's dtype is {}", name(s.out.dtype));
    require(dtypes.back() == computation_type(s.function, dtypes), "{} does not compute in {}", name(s.function),
            name(dtypes.back()));
    define(s.out);
  }

  DType computed_type(const Compute& s, const std::vector<DType>& dtypes) const {
    try {
      return result_type(s.function, dtypes);
    } catch (const UserError& error) {
      require(false, "{}", error.message());
      throw;
    }
  }

  void check(const Convert& s) {
    use(s.in);
    require(s.in.lanes == s.out.lanes || s.in.lanes == 1, "{} lanes become {}", s.in.lanes, s.out.lanes);
    define(s.out);
  }

  void check(const Round& s) {
    use(s.in);
    require(s.in.dtype == s.out.dtype && s.in.lanes == s.out.lanes, "dtype or lanes differ");
    const DType wide = compute_type(s.to);
    require(wide != s.to, "rounding to {}", name(s.to));
    require(s.in.dtype == wide || (is_narrow(s.to) && s.in.dtype == DType::f64), "rounding a {} to {}",
            name(s.in.dtype), name(s.to));
    define(s.out);
  }

  void check(const Random& s) {
    use(s.seed);
    require(s.seed.dtype == DType::u64 && s.seed.lanes == 1, "the seed is not one u64");
    require(s.out.dtype == DType::f32, "a random {}", name(s.out.dtype));
    check_index(s.index, s.out.lanes);
    check_index(s.offset, 1);
    define(s.out);
  }

  static std::vector<DType> dtypes(const std::vector<Value>& values) {
    std::vector<DType> out;
    for (const Value& v : values) out.push_back(v.dtype);
    return out;
  }

  // Values of a state of the combine, with the same lanes each.
  void check_state(Combine combine, const std::vector<Value>& state) const {
    require(is_state(combine, dtypes(state)), "the values are no state of {}", name(combine));
    for (const Value& v : state) require(v.lanes == state[0].lanes, "the lanes of a state differ");
  }

  // A state that the statement changes.
  void change_state(Combine combine, const std::vector<Value>& state) const {
    for (const Value& v : state) {
      const Definition& definition = use(v);
      require(definition.kind == Kind::state, "%{} is not of a state", v.id);
      require(definition.state == state && definition.combine == combine, "the values are no whole state of {}",
              name(combine));
      require(definition.parallel_depth == parallel_depth_, "%{} is declared outside of a parallel loop", v.id);
    }
    check_state(combine, state);
  }

  void use_like(const std::vector<Value>& in, const std::vector<DType>& types, int lanes) const {
    for (const Value& v : in) use(v);
    require(dtypes(in) == types, "the dtypes are not those of the state");
    for (const Value& v : in) require(v.lanes == lanes, "the lanes are not those of the state");
  }

  void check(const Start& s) {
    check_state(s.combine, s.state);
    for (const Value& v : s.state) {
      define(v, Kind::state);
      values_.at(v.id).state = s.state;
      values_.at(v.id).combine = s.combine;
    }
  }

  void check(const Accumulate& s) {
    change_state(s.combine, s.state);
    const size_t count = has_position(s.combine) ? 2 : 1;
    std::vector<DType> types = dtypes(s.state);
    types.resize(count);
    use_like(s.in, types, s.state[0].lanes);
    if (s.active) check_symbols(s.active, symbols_, "active");
  }

  void check(const Merge& s) {
    change_state(s.combine, s.state);
    use_like(s.in, dtypes(s.state), s.state[0].lanes);
  }

  void check(const Fold& s) {
    for (const Value& v : s.state) use(v);
    check_state(s.combine, s.state);
    require(dtypes(s.out) == dtypes(s.state), "the dtypes are not those of the state");
    const auto is_power = [](int64_t n) { return n >= 1 && n <= kMostOfCluster && (n & (n - 1)) == 0; };
    require(is_power(s.threads) && is_power(s.stride) && s.threads * s.stride <= kMostOfCluster &&
                (s.threads == 1 ? s.stride == 1 : kernel_.target == TargetKind::cuda),
            "a fold over {} threads by {}", s.threads, s.stride);
    for (const Value& v : s.out) {
      require(v.lanes == 1 || (s.threads > 1 && v.lanes == s.state[0].lanes), "a state is folded to {} lanes", v.lanes);
      require(v.lanes == s.out[0].lanes, "the values of a state have different lanes");
      define(v);
    }
  }

  void check(const Prefix& s) {
    for (const Value& v : s.state) use(v);
    check_state(s.combine, s.state);
    const bool is_power = s.threads > 1 && s.threads <= kMostThreads && (s.threads & (s.threads - 1)) == 0;
    require(is_power && kernel_.target == TargetKind::cuda, "a prefix over {} threads", s.threads);
    for (const auto* list : {&s.before, &s.all}) {
      require(dtypes(*list) == dtypes(s.state), "the dtypes are not those of the state");
      for (const Value& v : *list) {
        require(v.lanes == 1 && s.state[0].lanes == 1, "a prefix of several lanes");
        define(v);
      }
    }
  }

  const Kernel& kernel_;
  const Stmt* stmt_ = nullptr;             // the statement being checked
  std::map<uint32_t, Definition> values_;  // all definitions so far
  std::vector<uint32_t> order_;            // live ones, outermost block first
  std::set<std::string> symbols_, integers_;
  std::vector<std::string> bound_;   // by Bind, live ones
  std::vector<uint32_t> allocated_;  // by Alloc, live ones
  std::set<uint32_t> live_;          // the same
  std::set<uint32_t> counters_;      // that a LastBlock names
  std::set<uint32_t> filled_;        // workspaces and local buffers that something is stored to
  std::set<LoopKind> seen_;
  std::map<uint32_t, bool> atomic_;  // by buffer: whether its accesses in the phase are atomics
  size_t depth_ = 0, parallel_depth_ = 0, parallel_count_ = 0;
};

std::atomic<VerifyHook> kernel_hook = nullptr;

}  // namespace

void set_verify_hook(VerifyHook hook) { kernel_hook = hook; }

void verify(const Kernel& kernel) {
  Verifier(kernel).run();
  if (const VerifyHook hook = kernel_hook) hook(kernel);
}

}  // namespace plait::kir
