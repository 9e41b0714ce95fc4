#pragma once
// Statements of the innermost iteration, and the stack of blocks that they are put in. A statement stands in the
// outermost block that its operands and its index allow, so that what does not change in a loop is done once.
#include <functional>
#include <set>

#include "lower/kinds.h"
#include "lower/state.h"

namespace plait::lowering {

using Replacements = std::map<std::string, sym::Expr>;

// One kind of innermost iteration: whole vectors, a tail, copies of an unrolled loop.
struct Leaf {
  Replacements replace;                     // of loop variables that have a value here: in a tail
  sym::Expr active;                         // lanes that are there; null: all
  std::vector<Replacements> copies = {{}};  // one per unrolled iteration
  std::vector<Term> sum_terms;              // predicates that speak of sum loops
};

// value = base + step*var with a constant step >= 1.
struct Affine {
  sym::Expr base;
  int64_t step = 0;
};
std::optional<Affine> affine_in(sym::Expr value, sym::Expr var);
bool depends_on(sym::Expr e, sym::Expr var);
// The type in which numbers of a type are ordered.
DType ordered_type(DType dtype);
// A constant of the type that values of its type have in kernels.
Constant widened(Constant constant);

class Statements {
 public:
  explicit Statements(State& state);

  // All statements of one innermost iteration, in the present block.
  void write(const Leaf& leaf);
  // What a scan carries, in front of its loop.
  void start_scan();
  // The rows of a sort.
  void sort(const Leaf& leaf);
  // One update of a scatter: the element of the index at `place` along its dim.
  void update(const Leaf& leaf, sym::Expr place);

  // for var in 0 .. extent: body()
  template <class Fn>
  void loop(const Loop& l, sym::Expr extent, Fn&& body) {
    auto stmt = std::make_unique<kir::For>();
    stmt->var = l.var;
    stmt->extent = extent;
    stmt->loop = l.kind;
    enter(stmt->body, {l.name()});
    if (l.role == LoopRole::bound) base_ = levels_.size() - 1;
    body();
    leave();
    levels_.back().block->push_back(std::move(stmt));
  }
  // if condition: body(). Nothing where the condition is proven false; `binds` are variables with a value inside.
  template <class Fn>
  void guard(sym::Expr condition, Fn&& body, std::vector<std::string> binds = {}) {
    const sym::Truth truth = sym::prove(condition);
    if (truth == sym::Truth::no) return;
    if (truth == sym::Truth::yes && binds.empty()) return body();
    auto stmt = std::make_unique<kir::If>();
    stmt->condition = condition;
    enter(stmt->body, std::move(binds));
    body();
    leave();
    levels_.back().block->push_back(std::move(stmt));
  }
  // Loop whose extent is cut down by the terms that are affine in its variable; the other terms become guards.
  template <class Fn>
  void bounded_loop(const Loop& l, const std::vector<Term>& terms, const Replacements& replace, Fn&& body) {
    sym::Expr extent = l.extent, condition = state_.pool->constant(1);
    for (const Term& t : terms) {
      const sym::Expr value = sym::substitute(t.value, replace);
      const auto a = l.kind == kir::LoopKind::serial ? affine_in(value, l.var) : std::nullopt;
      if (a)
        extent = sym::min(extent, sym::ceildiv(t.bound - a->base, a->step));
      else
        condition = sym::logical_and(condition, sym::lt(value, t.bound));
    }
    loop(l, extent, [&] { guard(condition, body); });
  }
  using OfLeaf = std::function<void(const Leaf&)>;
  // The loop with the one term that cuts its vectors: body(leaf) for whole vectors, then body of a tail. False, and
  // nothing written, where the term is no such one.
  bool whole_vectors_first(const Loop& l, const Term& t, const Leaf& leaf, const OfLeaf& body);
  // body(leaf) where the terms hold: whole, or with as many lanes as they leave.
  void in_range(const std::vector<Term>& terms, const Leaf& leaf, const OfLeaf& body);

 private:
  struct Level {
    kir::Block* block = nullptr;
    std::vector<std::string> binds;
  };
  struct Key {
    const TensorView* tensor;
    int lanes;
    bool rounded;
    std::vector<uint64_t> coordinates;  // ids of expressions
    auto operator<=>(const Key&) const = default;
  };
  struct Known {
    kir::Value value;
    size_t level;
  };

  void enter(kir::Block& block, std::vector<std::string> binds);
  void leave();
  size_t innermost() const { return levels_.size() - 1; }
  size_t level_of(sym::Expr e) const;  // outermost level where all its variables have values
  size_t level_of(const kir::Value& v) const { return value_levels_.at(v.id); }
  kir::Value fresh(DType dtype, int lanes) { return {next_id_++, dtype, lanes}; }
  template <class S>
  kir::Value put(std::unique_ptr<S> stmt, size_t level) {
    const kir::Value out = stmt->out;
    value_levels_[out.id] = level;
    levels_[level].block->push_back(std::move(stmt));
    return out;
  }

  sym::Expr placed(sym::Expr e, const Replacements& copy) const;
  bool lossless(const Edge& edge) const;
  std::vector<sym::Expr> own_coordinates(const TensorView& tensor, const Replacements& copy) const;
  std::vector<sym::Expr> read_coordinates(const Edge& edge, const Replacements& copy) const;
  Key key_of(const TensorView& tensor, const std::vector<sym::Expr>& at, int lanes, bool rounded) const;
  bool inside_sum(const TensorView& tensor) const;

  kir::Value value_of(const TensorView& tensor, const Replacements& copy, int lanes);
  kir::Value compute(const Op& op, const Replacements& copy, int lanes);
  kir::Value operand(const Op& op, size_t i, const Replacements& copy, int lanes, bool round = false);
  kir::Value load(const Edge& edge, const std::vector<sym::Expr>& at, int lanes);
  kir::Value rounded(const PointwiseOp& op, const Replacements& copy, int lanes);
  kir::Value pointwise(const PointwiseOp& op, const Replacements& copy, int lanes);
  kir::Value cast(const PointwiseOp& op, const Replacements& copy, int lanes);
  template <class Random>
  sym::Expr random_index(const Random& op, const Replacements& copy);
  sym::Expr random_offset(const Op& op);
  kir::Value uniform(const Uniform& op, const Replacements& copy, int lanes);
  kir::Value normal(const Normal& op, const Replacements& copy, int lanes);
  kir::Value random(const Op& op, sym::Expr index, const Replacements& copy, int lanes);
  kir::Value iota(const Iota& op, const Replacements& copy, int lanes);
  kir::Value size(const Size& op, int lanes);
  kir::Value literal(Constant constant, int lanes);
  kir::Value convert(kir::Value in, DType to);
  kir::Value saturate(kir::Value in, DType to);
  kir::Value round(kir::Value in, DType to);
  kir::Value number(kir::Value integer, DType to);

  // Ops with a kernel of their own. What these put stands in the present block.
  kir::Value variable(Constant initial, int lanes);
  void assign(kir::Value variable, kir::Value in);
  kir::Value apply(Pointwise function, std::vector<kir::Value> in);
  kir::Value coordinate(sym::Expr index, int lanes);
  sym::Expr bind(kir::Value in);
  sym::Expr index_from(const Op& op, const TensorView& index, const std::vector<sym::Expr>& at);
  kir::Value load_offset(const TensorView& tensor, sym::Expr offset, int lanes);
  kir::Value load_at(const TensorView& tensor, const std::vector<sym::Expr>& at, int lanes);
  void where_true(const Op& op, sym::Expr condition, const std::function<void()>& body);

  // Ops that combine elements in the loops of a sum: what they carry, one element, the results.
  using Part = std::vector<kir::Value>;  // the state of one Combine
  using Carried = std::vector<Part>;     // those of an op
  void reduction(const Op& op);
  void sum_loops(const Op& op, size_t i, const std::vector<Term>& terms, const std::vector<Carried>& carried);
  Part start(Combine combine, DType in, DType type);
  std::vector<Carried> start_copies(const Op& op, size_t i);
  void step_copies(const Op& op, const Leaf& leaf, const std::vector<Carried>& carried);
  void step(const Op& op, const Replacements& copy, const Carried& carried);
  void step_first(const Op& op, const Replacements& copy, bool least, const Part& part);
  void step_variance(const Part& part, kir::Value x);
  void carry(kir::Value variable, kir::Value in);
  void merge(Combine combine, const Part& into, const Part& part);
  void merge_sum(const Part& into, const Part& part);
  void merge_variance(const Part& into, const Part& part);
  Part fold(Combine combine, Part part);
  kir::Value terms(const Op& op, int64_t less, DType type);
  std::vector<kir::Value> finish(const Op& op, const Replacements& copy, const Carried& carried);
  sym::Expr position(const Op& op, const Replacements& copy) const;
  void scan(const Op& op);
  Part scan_step(const Op& op, kir::Value x, sym::Expr place);

  // A sort, in lower/sort.cpp: a heap in the results.
  struct Element;
  struct Heap;
  void sort(const Replacements& copy);
  kir::Value number(int64_t value) { return literal(Constant::from_int64(DType::i64, value), 1); }
  kir::Value stored(uint32_t buffer, sym::Expr index);
  void put_in(uint32_t buffer, sym::Expr index, kir::Value in);
  kir::Value precedes(const Heap& heap, const Element& a, const Element& b);
  kir::Value levels_of(const Heap& heap);
  void sift(const Heap& heap, kir::Value from, sym::Expr size, const Element& item);
  template <class Fn>
  void counted(sym::Expr extent, Fn&& body);
  bool compensates(const Op& op, size_t i) const;
  void add_exactly(const Part& sum, kir::Value x);

  kir::Value moved(const Reshape& op, const Replacements& copy, int lanes);
  kir::Value moved(const Slice& op, const Replacements& copy, int lanes);
  kir::Value moved(const Flip& op, const Replacements& copy, int lanes);
  kir::Value moved(const Roll& op, const Replacements& copy, int lanes);
  kir::Value moved(const Repeat& op, const Replacements& copy, int lanes);
  kir::Value moved(const Pad& op, const Replacements& copy, int lanes);
  kir::Value moved(const Cat& op, const Replacements& copy, int lanes);
  kir::Value looked_up(const Op& op, const TensorView& index, const std::vector<sym::Expr>& index_at, int64_t dim,
                       std::vector<sym::Expr> at, int lanes);
  kir::Value looked_up(const Gather& op, const Replacements& copy, int lanes);
  kir::Value looked_up(const IndexSelect& op, const Replacements& copy, int lanes);
  struct Reach {
    sym::Expr first, behind, extent;  // places first .. behind - 1 of the dim's extent
  };
  Reach reach_of(const Scatter& op, sym::Expr own) const;
  kir::Value combined(ScatterUpdate update, kir::Value before, kir::Value src);
  void update(const Replacements& copy, sym::Expr place);
  void report(const Op& op, sym::Expr j, const std::vector<sym::Expr>& at);
  void store(size_t buffer, const TensorView& tensor, const Replacements& copy);

  // Access of an index that may speak of the lane, and the index in the form that proves it.
  struct Place {
    sym::Expr index;
    kir::Access access;
  };
  Place place(sym::Expr index, int lanes) const;
  uint32_t buffer_of(const TensorView& tensor) const;

  State& state_;
  std::vector<Level> levels_;
  size_t base_ = 0;  // the innermost bound loop: nothing is put outside of it
  uint32_t next_id_ = 0;
  std::map<Key, Known> known_;
  std::map<uint32_t, size_t> value_levels_;
  Part carried_;                     // by a scan
  std::optional<kir::Value> there_;  // which lanes of a sum's last vector are there; none: all
  int symbols_ = 0;                  // bound, or of loops of an op's own
  const Leaf* leaf_ = nullptr;
};

}  // namespace plait::lowering
