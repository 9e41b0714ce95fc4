#pragma once
// Statements of kernel IR. Values have wide dtypes only (bool i32 i64 u32 u64 f32 f64): narrow floats and integers of 8
// and 16 bits live in buffers; a load widens them exactly, a store rounds to nearest even or modulo 2^bits. On CPUs a
// u32 that is loaded from or stored to narrow floats has their bits. Every index is a symbolic integer over the
// kernel's integer arguments, the variables of the enclosing loops, bound symbols and, where a statement has lanes, the
// symbol `lane` (0 .. lanes-1).
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/node.h"
#include "base/overloaded.h"
#include "scalar/atomics.h"
#include "scalar/constant.h"
#include "scalar/dtype.h"
#include "scalar/pointwise.h"
#include "scalar/reductions.h"
#include "sym/expr.h"

namespace plait::kir {

enum class StmtKind : uint8_t {
#define PLAIT_STMT(Name, text, pass) Name,
#include "kir/stmts.def"
#undef PLAIT_STMT
};

// Text name of a statement kind, as printed.
std::string_view name(StmtKind kind);
// The pass that replaces all statements of the kind; empty where code writers know it.
std::string_view removed_by(StmtKind kind);

// Name of the symbol that stands for the lane within a vector.
inline constexpr const char* kLane = "lane";

// A value of `lanes` elements of one dtype. Defined once; a Variable may be assigned again.
struct Value {
  uint32_t id = 0;
  DType dtype = DType::f32;
  int lanes = 1;
  friend bool operator==(const Value&, const Value&) = default;
};

// How the lanes of an access meet memory. Decided by lowering, checked by the verifier.
enum class Access : uint8_t {
  aligned,     // index(lane) = index(0) + lane, index(0) proven a multiple of lanes
  contiguous,  // index(lane) = index(0) + lane
  reversed,    // index(lane) = index(0) - lane; loads of all lanes only
  splat,       // index does not depend on lane; loads only
  lanewise,    // any index(lane)
};

enum class LoopKind : uint8_t {
  serial,
  cpu_thread,  // outermost only, at most one a phase: its range is cut into pieces run by a thread pool
  lanes,       // iterations are to become the lanes of vectors; pass `vectorize` removes it
  threads,     // iterations are to become the threads of a block; pass `threads` removes it
  threads_y,   // the same of a block's second dim
  clusters,    // iterations are to become the blocks of a cluster; likewise
  block_x,
  block_y,
  block_z,  // the variable is the block index; extent = grid extent
  cluster,  // the variable is the block's rank in its cluster; extent = that of the cluster and, in y, of the grid
  thread_x,
  thread_y,
  thread_z,  // the variable is the thread index; extent = block extent
};

// Whether a loop's iterations are to become threads of a block, or of a cluster.
inline bool is_threads(LoopKind loop) {
  return loop == LoopKind::threads || loop == LoopKind::threads_y || loop == LoopKind::clusters;
}

// Whether its iterations run at once: none that a pass removes, and not serial.
inline bool is_parallel(LoopKind loop) { return loop == LoopKind::cpu_thread || loop >= LoopKind::block_x; }

// Whose threads a Sync brings together.
enum class SyncScope : uint8_t { warp, block, cluster };

inline constexpr int64_t kMostThreads = 1024;  // of a block
inline constexpr int64_t kMostCluster = 8;     // blocks of a cluster that any GPU with clusters has
inline constexpr int64_t kWarp = 32;           // threads of a warp
inline constexpr int64_t kMostOfCluster = kMostThreads * kMostCluster;  // threads

struct Stmt {
  const StmtKind kind;
  virtual ~Stmt() = default;
  Stmt(const Stmt&) = delete;

 protected:
  explicit Stmt(StmtKind k) : kind(k) {}
};
using Block = std::vector<std::unique_ptr<Stmt>>;

template <StmtKind K>
struct StmtBase : Stmt {
  static constexpr StmtKind kKind = K;
  StmtBase() : Stmt(K) {}
};

// for var in 0 .. extent: body. An extent <= 0 runs nothing. Iterations are independent unless the body assigns a
// Variable declared outside (serial loops only; lanes and threads may accumulate into a state). `unroll` asks that the
// body stand once per iteration: pass `unroll` does so, writers need not. `stages` > 1 asks that what the body copies
// to shared memory be under way for so many iterations at once: pass `pipeline` does so.
struct For : StmtBase<StmtKind::For> {
  sym::Expr var, extent;
  LoopKind loop = LoopKind::serial;
  bool unroll = false;
  int64_t stages = 1;
  Block body;
  static constexpr auto fields() {
    return std::tuple{attribute("var", &For::var),       attribute("extent", &For::extent),
                      attribute("loop", &For::loop),     attribute("unroll", &For::unroll),
                      attribute("stages", &For::stages), plait::body("body", &For::body)};
  }
};

// Runs the body where the condition holds. The condition does not depend on lane.
struct If : StmtBase<StmtKind::If> {
  sym::Expr condition;
  Block body;
  static constexpr auto fields() {
    return std::tuple{attribute("condition", &If::condition), plait::body("body", &If::body)};
  }
};

// A local buffer (space stack or shared) has memory from here to the end of the block, with undefined contents. A
// buffer may have several Allocs, one at a time.
struct Alloc : StmtBase<StmtKind::Alloc> {
  uint32_t buffer = 0;
  static constexpr auto fields() { return std::tuple{attribute("buffer", &Alloc::buffer)}; }
};

// A mutable value with its initial value (splat over the lanes); reading `out` reads what was last assigned.
struct Variable : StmtBase<StmtKind::Variable> {
  Value out;
  Constant initial;
  static constexpr auto fields() {
    return std::tuple{result("out", &Variable::out), attribute("initial", &Variable::initial)};
  }
};

// variable = in. Same dtype and lanes.
struct Assign : StmtBase<StmtKind::Assign> {
  Value variable, in;
  static constexpr auto fields() {
    return std::tuple{operand("variable", &Assign::variable), operand("in", &Assign::in)};
  }
};

// out = a constant in every lane; the constant has out's dtype.
struct Literal : StmtBase<StmtKind::Literal> {
  Value out;
  Constant constant;
  static constexpr auto fields() {
    return std::tuple{result("out", &Literal::out), attribute("constant", &Literal::constant)};
  }
};

// out[lane] = index(lane), as i64.
struct Coordinate : StmtBase<StmtKind::Coordinate> {
  Value out;
  sym::Expr index;
  static constexpr auto fields() {
    return std::tuple{result("out", &Coordinate::out), attribute("index", &Coordinate::index)};
  }
};

// From here to the end of the block, the symbol `var` is the integer `in` as it is now. Nothing is known of it, so
// what it indexes is guarded.
struct Bind : StmtBase<StmtKind::Bind> {
  sym::Expr var;
  Value in;
  static constexpr auto fields() { return std::tuple{attribute("var", &Bind::var), operand("in", &Bind::in)}; }
};

// out[lane] = widen(buffer[index(lane)]) for lane < active, 0 in the other lanes, which touch no memory.
// `active` null: all lanes. The index counts elements.
struct Load : StmtBase<StmtKind::Load> {
  Value out;
  uint32_t buffer = 0;
  sym::Expr index;
  Access access = Access::contiguous;
  sym::Expr active;
  static constexpr auto fields() {
    return std::tuple{result("out", &Load::out), attribute("buffer", &Load::buffer), attribute("index", &Load::index),
                      attribute("access", &Load::access), attribute("active", &Load::active)};
  }
};

// buffer[index(lane)] = in[lane], rounded to the buffer's dtype (integers: modulo 2^bits), for lane < active (null: all
// lanes). Never splat or reversed.
struct Store : StmtBase<StmtKind::Store> {
  uint32_t buffer = 0;
  sym::Expr index;
  Value in;
  Access access = Access::contiguous;
  sym::Expr active;
  static constexpr auto fields() {
    return std::tuple{attribute("buffer", &Store::buffer), attribute("index", &Store::index), operand("in", &Store::in),
                      attribute("access", &Store::access), attribute("active", &Store::active)};
  }
};

// buffer[index] = op(buffer[index], in), at once for whoever else does the same; one lane, of integers of 32 or 64
// bits, whose sums are modulo 2^bits, and sums of f32 and f64. The order of several is that of no one: sums of floats
// depend on it, of a GPU those of f32 have no denormals.
struct Atomic : StmtBase<StmtKind::Atomic> {
  uint32_t buffer = 0;
  sym::Expr index;
  Value in;
  AtomicOp op = AtomicOp::min;
  static constexpr auto fields() {
    return std::tuple{attribute("buffer", &Atomic::buffer), attribute("index", &Atomic::index),
                      operand("in", &Atomic::in), attribute("op", &Atomic::op)};
  }
};

// to[to_index(lane)] = from[index(lane)] for lane < active (null: all lanes; of one lane a condition is a number), 0 in
// the other lanes, which touch no memory of `from`: at some time before this thread has waited for it. Until then no
// thread meets these elements of `to`, and later changes of `from` may be seen or not. `to` is shared memory, or is to
// become so, `from` an argument that is read, of the same dtype. Target cuda.
struct CopyAsync : StmtBase<StmtKind::CopyAsync> {
  uint32_t to = 0;
  sym::Expr to_index;
  Access to_access = Access::contiguous;  // never splat or reversed
  uint32_t from = 0;
  sym::Expr index;
  Access access = Access::contiguous;
  int lanes = 1;
  sym::Expr active;
  static constexpr auto fields() {
    return std::tuple{attribute("to", &CopyAsync::to),
                      attribute("to_index", &CopyAsync::to_index),
                      attribute("to_access", &CopyAsync::to_access),
                      attribute("from", &CopyAsync::from),
                      attribute("index", &CopyAsync::index),
                      attribute("access", &CopyAsync::access),
                      attribute("lanes", &CopyAsync::lanes),
                      attribute("active", &CopyAsync::active)};
  }
};

// The copies that this thread began since its last Commit are a group; there may be none.
struct Commit : StmtBase<StmtKind::Commit> {
  static constexpr auto fields() { return std::tuple{}; }
};

// This thread waits until all of its groups but the last `left` are there. Others see what it copied behind a Sync.
struct Wait : StmtBase<StmtKind::Wait> {
  int64_t left = 0;
  static constexpr auto fields() { return std::tuple{attribute("left", &Wait::left)}; }
};

inline constexpr int64_t kMostGroups = 8;  // that a Wait leaves

// Fragments: what of a small matrix each thread of a warp has, in a stack buffer. l: the thread's number in its warp,
// g = l / 4, t = l % 4.
//
// to[to_index + 2*i + j] = matrix i, [g, 2*t + j], or, transposed, [2*t + j, g], for i < count (2 or 4), j < 2.
// Matrices are 8 by 8, of elements of 2 bytes. Row r of matrix i is from[index ...] of thread 8*i + r: 8 elements side
// by side, the index a multiple of 8. Target cuda, from shared memory, where all threads of the warp execute it, as
// Sync.
struct LoadMatrix : StmtBase<StmtKind::LoadMatrix> {
  uint32_t to = 0;
  sym::Expr to_index;
  uint32_t from = 0;
  sym::Expr index;
  int count = 4;
  bool transposed = false;
  static constexpr auto fields() {
    return std::tuple{attribute("to", &LoadMatrix::to),       attribute("to_index", &LoadMatrix::to_index),
                      attribute("from", &LoadMatrix::from),   attribute("index", &LoadMatrix::index),
                      attribute("count", &LoadMatrix::count), attribute("transposed", &LoadMatrix::transposed)};
  }
};

// sum[m, n] += the sum over k of a[m, k] * b[k, n], of 16 rows, 8 columns and 16 terms. A thread has
// sums[sums_index + 2*i + j] = sum[g + 8*i, 2*t + j], in f32; a[a_index + 4*h + 2*i + j] = a[g + 8*i, 2*t + j + 8*h];
// b[b_index + 2*h + j] = b[2*t + j + 8*h, g]; h, i, j < 2. a and b: bf16, or f16. The order of a sum is the machine's.
// Target cuda, from sm_80 on, where all threads of the warp execute it, as Sync.
struct Mma : StmtBase<StmtKind::Mma> {
  uint32_t sums = 0;
  sym::Expr sums_index;
  uint32_t a = 0;
  sym::Expr a_index;
  uint32_t b = 0;
  sym::Expr b_index;
  static constexpr auto fields() {
    return std::tuple{attribute("sums", &Mma::sums), attribute("sums_index", &Mma::sums_index),
                      attribute("a", &Mma::a),       attribute("a_index", &Mma::a_index),
                      attribute("b", &Mma::b),       attribute("b_index", &Mma::b_index)};
  }
};
inline constexpr int64_t kMmaRows = 16, kMmaColumns = 8, kMmaTerms = 16;

// The threads of the scope wait until all of them are here; then each sees what any of them wrote before. Target cuda,
// where no condition or loop around it differs between the threads of a block.
struct Sync : StmtBase<StmtKind::Sync> {
  SyncScope scope = SyncScope::block;
  static constexpr auto fields() { return std::tuple{attribute("scope", &Sync::scope)}; }
};

// Of so many blocks the last one to come here runs the body, which sees what all of them wrote before they came. Each
// of them comes once. buffer[index]: their counter, whose buffer no other statement names; other blocks have other
// indices. Target cuda, where all threads of the block come, as Sync.
struct LastBlock : StmtBase<StmtKind::LastBlock> {
  uint32_t buffer = 0;
  sym::Expr index, blocks;
  Block body;
  static constexpr auto fields() {
    return std::tuple{attribute("buffer", &LastBlock::buffer), attribute("index", &LastBlock::index),
                      attribute("blocks", &LastBlock::blocks), plait::body("body", &LastBlock::body)};
  }
};

// Tells blocks of greater numbers that this one came here, and waits until those of the numbers from `from` up to this
// one's have; then it sees what they wrote before. Numbers are those of the only loop over blocks, on block_x: with
// this statement in a phase, blocks have them in the order in which they begin, so that who is waited for is at work.
// Every block comes, once. buffer: a counter of a word for each block and two more, that no other statement names.
// Target cuda, where all threads of the block come, as Sync.
struct Await : StmtBase<StmtKind::Await> {
  uint32_t buffer = 0;
  sym::Expr from;
  static constexpr auto fields() {
    return std::tuple{attribute("buffer", &Await::buffer), attribute("from", &Await::from)};
  }
};

// out = in of the thread of the same warp whose number differs in the bits of `by`, a power of two below kWarp. Target
// cuda, where all threads of the warp execute it, as Sync.
struct Shuffle : StmtBase<StmtKind::Shuffle> {
  Value out, in;
  int64_t by = 1;
  static constexpr auto fields() {
    return std::tuple{result("out", &Shuffle::out), operand("in", &Shuffle::in), attribute("by", &Shuffle::by)};
  }
};

// out = buffer[index] as the block of rank `block` of the same cluster has it, of shared memory; one lane of the
// buffer's dtype. Behind a Sync of the cluster that follows what that block stored, and before one that its end, or
// another store, follows. Target cuda, from sm_90 on.
struct LoadOfBlock : StmtBase<StmtKind::LoadOfBlock> {
  Value out;
  uint32_t buffer = 0;
  sym::Expr index, block;
  static constexpr auto fields() {
    return std::tuple{result("out", &LoadOfBlock::out), attribute("buffer", &LoadOfBlock::buffer),
                      attribute("index", &LoadOfBlock::index), attribute("block", &LoadOfBlock::block)};
  }
};

// out = function(in...), lane by lane; operands have out's lanes. `compute` dtype is that of the operands
// (for where: of the second operand); comparisons yield bool.
struct Compute : StmtBase<StmtKind::Compute> {
  Value out;
  Pointwise function = Pointwise::add;
  std::vector<Value> in;
  static constexpr auto fields() {
    return std::tuple{result("out", &Compute::out), attribute("function", &Compute::function),
                      operand("in", &Compute::in)};
  }
};

// out = in converted to out's dtype (rules of scalar/convert.h); same lanes, or in has one lane and is splat.
struct Convert : StmtBase<StmtKind::Convert> {
  Value out, in;
  static constexpr auto fields() { return std::tuple{result("out", &Convert::out), operand("in", &Convert::in)}; }
};

// out = in brought to the storage dtype `to` and widened again: a narrow float rounds f32 (or f64, once); i8 and i16
// wrap i32, u8 and u16 wrap u32.
struct Round : StmtBase<StmtKind::Round> {
  Value out, in;
  DType to = DType::bf16;
  static constexpr auto fields() {
    return std::tuple{result("out", &Round::out), operand("in", &Round::in), attribute("to", &Round::to)};
  }
};

// out[lane] = in[lane], or in[lane + out.lanes] where `upper`; in has twice out's lanes.
struct Half : StmtBase<StmtKind::Half> {
  Value out, in;
  bool upper = false;
  static constexpr auto fields() {
    return std::tuple{result("out", &Half::out), operand("in", &Half::in), attribute("upper", &Half::upper)};
  }
};

// out[i][lane] = in[lane][i]: a result for each lane of the operands, with a lane for each of them, which are no fewer
// than the results. Target cpu only.
struct Transpose : StmtBase<StmtKind::Transpose> {
  std::vector<Value> out, in;
  static constexpr auto fields() { return std::tuple{result("out", &Transpose::out), operand("in", &Transpose::in)}; }
};

// out[lane] = function(before, function(in[0], in[1] .. in[lane])), function: add, mul, max or min. Lanes go together
// by groups of kRunningGroup, of which each begins with what the one before it ends with: within a group, each lane
// takes that of 1, then 2, then 4 lanes before it where there is one. `before` has one lane. Target cpu only.
struct Running : StmtBase<StmtKind::Running> {
  Value out;
  Pointwise function = Pointwise::add;
  Value in, before;
  static constexpr auto fields() {
    return std::tuple{result("out", &Running::out), attribute("function", &Running::function),
                      operand("in", &Running::in), operand("before", &Running::before)};
  }
};
inline constexpr int kRunningGroup = 8;

// out[lane] = uniform_f32(seed, index(lane), offset) of scalar/philox.h; seed is one u64 lane, index the global
// row-major linear index, offset one integer for all lanes.
struct Random : StmtBase<StmtKind::Random> {
  Value out, seed;
  sym::Expr index;
  sym::Expr offset;
  static constexpr auto fields() {
    return std::tuple{result("out", &Random::out), operand("seed", &Random::seed), attribute("index", &Random::index),
                      attribute("offset", &Random::offset)};
  }
};

// The state of a reduction (scalar/reductions.h): variables set to the identity, which Accumulate and Merge alone
// assign. `element` is the dtype whose order begins the state of greatest, least and their firsts, where it is not the
// dtype of the state: of i8, greatest is -128. All values of a state have the same lanes; each lane is a state.
struct Start : StmtBase<StmtKind::Start> {
  std::vector<Value> state;
  Combine combine = Combine::sum;
  std::optional<DType> element;
  static constexpr auto fields() {
    return std::tuple{result("state", &Start::state), attribute("combine", &Start::combine),
                      attribute("element", &Start::element)};
  }
};

// One element into the state, lane by lane, for lane < active (null: all lanes): `in` is the element in the state's
// dtype; of first_greatest and first_least, the element and its i64 position.
struct Accumulate : StmtBase<StmtKind::Accumulate> {
  std::vector<Value> state;
  Combine combine = Combine::sum;
  std::vector<Value> in;
  sym::Expr active;
  static constexpr auto fields() {
    return std::tuple{operand("state", &Accumulate::state), attribute("combine", &Accumulate::combine),
                      operand("in", &Accumulate::in), attribute("active", &Accumulate::active)};
  }
};

// state = combine(state, in), lane by lane; `in` is a state of the same dtypes and lanes.
struct Merge : StmtBase<StmtKind::Merge> {
  std::vector<Value> state;
  Combine combine = Combine::sum;
  std::vector<Value> in;
  static constexpr auto fields() {
    return std::tuple{operand("state", &Merge::state), attribute("combine", &Merge::combine),
                      operand("in", &Merge::in)};
  }
};

// out = the lanes of the state as one: the upper half goes into the lower until one lane is left. Of one lane: a copy.
// With `threads` > 1 the states of so many threads, a power of two, whose numbers in the block are `stride` apart, then
// go into one that each of them gets, bit for bit: first the lanes, which stay apart where `out` has those of the
// state. Threads of one warp halve as lanes do; neighbours of several warps (stride 1) within warps, then these; others
// one after another. In a cluster, whose threads are numbered block by block, those of several blocks are whole blocks
// and halve within them, then block by block. All threads of the block execute it, as Sync.
struct Fold : StmtBase<StmtKind::Fold> {
  std::vector<Value> out;
  Combine combine = Combine::sum;
  std::vector<Value> state;
  int64_t threads = 1, stride = 1;
  static constexpr auto fields() {
    return std::tuple{result("out", &Fold::out), attribute("combine", &Fold::combine), operand("state", &Fold::state),
                      attribute("threads", &Fold::threads), attribute("stride", &Fold::stride)};
  }
};

// before = the states of the threads in front of this one as one, in their order; the identity in the first. all =
// those of all of them, alike in each. They are `threads` of a block, a power of two, that stand side by side, and are
// first combined within warps. `element` is that of Start. All of one lane. All threads of the block execute it, as
// Sync.
struct Prefix : StmtBase<StmtKind::Prefix> {
  std::vector<Value> before, all;
  Combine combine = Combine::sum;
  std::vector<Value> state;
  int64_t threads = 2;
  std::optional<DType> element;
  static constexpr auto fields() {
    return std::tuple{result("before", &Prefix::before),      result("all", &Prefix::all),
                      attribute("combine", &Prefix::combine), operand("state", &Prefix::state),
                      attribute("threads", &Prefix::threads), attribute("element", &Prefix::element)};
  }
};

// How the states of threads become one.
enum class FoldWay : uint8_t {
  halving,   // of one warp, or of none
  by_warps,  // halving within warps, then of these
  in_order,  // one after another, by the number of the thread
};
FoldWay way_of(const Fold& fold);

// Words of the text form: "aligned", "cpu_thread".
std::string_view name(Access access);
std::string_view name(LoopKind loop);
std::string_view name(SyncScope scope);

// Calls fn with the statement as its own type. With overloaded lambdas and no catch-all, a new kind breaks the build.
template <class Fn>
decltype(auto) visit(const Stmt& stmt, Fn&& fn) {
  switch (stmt.kind) {
#define PLAIT_STMT(Name, text, pass) \
  case StmtKind::Name:               \
    return fn(static_cast<const Name&>(stmt));
#include "kir/stmts.def"
#undef PLAIT_STMT
  }
  __builtin_unreachable();
}

// The statement as T, or null if it is of another kind.
template <class T>
const T* as(const Stmt& stmt) {
  return stmt.kind == T::kKind ? static_cast<const T*>(&stmt) : nullptr;
}

}  // namespace plait::kir
