#pragma once
// Private to csrc/sym: nodes, interning, polynomials over monomials, and the constructors that rules share.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sym/expr.h"
#include "sym/small_vector.h"

namespace plait::sym {

using Wide = __int128;

struct Symbol {
  const std::string* name = nullptr;
  SymbolInfo info;
};

// Two cache lines. `base` of a mul is the same product without its coefficient; of any other node it is the node
// itself.
struct alignas(64) Node {
  Kind kind = Kind::constant;
  bool boolean = false;  // always 0 or 1, by its form
  uint32_t height = 0;
  uint32_t tree_size = 1;  // nodes of the expression written as a tree, saturated
  uint32_t id = 0;
  uint64_t hash = 0;
  int64_t value = 0;  // of a constant; the coefficient of a mul
  Pool* pool = nullptr;
  std::span<const Expr> operands;
  const Node* base = nullptr;
  Expr self;
  mutable Bounds range{INT64_MIN, INT64_MAX};
  mutable int64_t divisor = 1;       // not capped
  mutable uint32_t facts_epoch = 0;  // facts of the pool for which these two hold
  mutable uint32_t negation_epoch = 0;
  mutable const Node* negation = nullptr;  // built with the facts of that epoch
  std::unique_ptr<Symbol> symbol;
};
static_assert(sizeof(Node) == 128);

// Nodes by their ids, at fixed addresses.
class Nodes {
 public:
  Node& add() {
    PLAIT_CHECK(size_ < UINT32_MAX, "more than {} nodes in a pool", UINT32_MAX);
    if (size_ % kBlock == 0) blocks_.push_back(std::make_unique<Node[]>(kBlock));
    Node& node = blocks_.back()[size_ % kBlock];
    node.id = static_cast<uint32_t>(size_++);
    return node;
  }
  const Node& operator[](uint32_t id) const { return blocks_[id / kBlock][id % kBlock]; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kBlock = 128;
  std::vector<std::unique_ptr<Node[]>> blocks_;
  size_t size_ = 0;
};

// Nodes by structure, in open addressing: parts of the hashes lie beside the ids, so that a search rarely reads a node
// that is not the one.
class NodeTable {
 public:
  // The node for which same(node), among those that share a part of their hash with it, or null.
  template <class Same>
  const Node* find(const Nodes& nodes, uint64_t hash, Same&& same) const {
    if (slots_.empty()) return nullptr;
    const uint32_t part = part_of(hash);
    for (size_t at = part & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (!slot.id_plus_one) return nullptr;
      if (slot.part != part) continue;
      if (const Node& node = nodes[slot.id_plus_one - 1]; same(node)) return &node;
    }
  }
  // One that is not there.
  void insert(const Node& node) {
    if (3 * ++size_ > 2 * slots_.size()) grow();
    place({part_of(node.hash), node.id + 1});
  }

 private:
  struct Slot {
    uint32_t part = 0;         // the lower half of the hash
    uint32_t id_plus_one = 0;  // 0: free
  };

  static uint32_t part_of(uint64_t hash) { return static_cast<uint32_t>(hash); }
  size_t mask() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    size_t at = slot.part & mask();
    while (slots_[at].id_plus_one) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::max<size_t>(256, 2 * slots_.size())));
    for (const Slot& slot : old)
      if (slot.id_plus_one) place(slot);
  }

  std::vector<Slot> slots_;  // a power of two, at most two thirds of them taken
  size_t size_ = 0;
};

struct Pool::Impl {
  Pool* pool = nullptr;
  Nodes nodes;
  std::vector<std::unique_ptr<Expr[]>> blocks;  // operand storage
  size_t block_used = 0, block_size = 0;
  NodeTable table;
  std::map<std::string, Node*, std::less<>> symbols;
  uint32_t epoch = 1;  // raised when facts of an existing symbol change

  // The node of that structure, not simplified.
  const Node* intern(Kind kind, int64_t value, std::span<const Expr> operands, const Node* base = nullptr);
  Expr raw(Kind kind, std::span<const Expr> operands) { return Expr(intern(kind, 0, operands)); }
  Expr raw(Kind kind, std::initializer_list<Expr> operands) {
    return raw(kind, std::span<const Expr>(operands.begin(), operands.size()));
  }
  std::span<const Expr> store(std::span<const Expr> operands);
};

// Visits what is not done below the root and the root itself, operands first, without recursion: nesting may be deep.
template <class Done, class Visit>
void visit_upwards(Expr root, Done done, Visit visit) {
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    const Expr e = stack.back();
    if (done(e)) {
      stack.pop_back();
      continue;
    }
    const size_t before = stack.size();
    for (Expr o : e.operands())
      if (!done(o)) stack.push_back(o);
    if (stack.size() != before) continue;
    stack.pop_back();
    visit(e);
  }
}

inline Pool::Impl& impl_of(Expr e) { return e.pool().impl(); }
Pool& common_pool(Expr a, Expr b);

// Total structural order within a pool: products, symbols by name, then kinds, lower trees first.
int compare(const Node* a, const Node* b);

std::string brief(Expr e);  // its text for an error message, nothing where that is long
[[noreturn]] void fail_overflow(const char* action);
bool is_word(std::string_view name);  // of the text form: not a symbol name
inline bool is_boolean(Expr e) { return e.node()->boolean; }
int64_t floor_divide(int64_t a, int64_t b);     // b > 0
int64_t floor_remainder(int64_t a, int64_t b);  // b > 0
int64_t gcd64(int64_t a, int64_t b);            // of magnitudes; gcd(0, x) = x

// Facts of one symbol (pool.cpp). Checks throw UserErrors that name it; `below` is not looked at.
void check_symbol(std::string_view name, const SymbolInfo& info);
void check_consistent(std::string_view name, const SymbolInfo& info);
bool refine(SymbolInfo& known, const SymbolInfo& added);  // S32; false where nothing is new
Bounds stated_range(const SymbolInfo& info);              // S30

// Bounds and divisor of a node from those of its operands (bounds.cpp).
void compute_facts(const Node* n);
const Bounds& range_of(const Node* n);
int64_t divisor_of(const Node* n);
Expr settle(Expr e);  // S22: the constant where bounds meet

// --- polynomials: sum of coefficient * monomial, sorted by monomial, coefficients not 0 (poly.cpp) ---
struct Term {
  int64_t coef;
  const Node* base;
};
using Exprs = SmallVector<Expr, 8>;
struct Poly {
  SmallVector<Term, 4> terms;
  int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant == 0; }
};
// coef * base; a null base is 1.
struct Mono {
  int64_t coef;
  const Node* base;
};

Poly to_poly(Expr e);
std::span<const Expr> factors(const Node* base);  // of a monomial without coefficient; none for null
const Node* product(Pool::Impl& pool, const Node* a, const Node* b);
const Node* without(Pool::Impl& pool, const Node* base, Expr factor);  // drops one occurrence; null where none is left
// A product that was kept with sums among its factors (S2) is divided as a whole only: parts of it are not canonical.
std::optional<Mono> divide(Pool::Impl& pool, Mono a, Mono b);          // exact division
Mono common(Pool::Impl& pool, Mono a, Mono b);                         // greatest common divisor, coefficient > 0
const Node* monomial(Pool::Impl& pool, std::span<const Expr> sorted);  // null where there are none
std::optional<Mono> as_mono(const Poly& p);                            // a constant or a single term
Expr term_expr(Pool::Impl& pool, Term t);
// False on overflow, with unusable output.
bool add_scaled(Poly& a, const Poly& b, int64_t scale);
bool multiply(Pool::Impl& pool, const Poly& a, const Poly& b, Poly& out);
bool add_term(Pool::Impl& pool, Poly& p, Mono m);
Bounds range_of(const Poly& p);
int64_t divisor_of(const Poly& p);
std::optional<Expr> try_times(Pool::Impl& pool, Expr a, Expr b);  // the product, nothing on overflow
// The same; overflow is a UserError.
Poly sum(const Poly& a, const Poly& b, int64_t scale = 1);
Poly times(Pool::Impl& pool, const Poly& a, const Poly& b);

// --- constructors (simplify.cpp, choices.cpp, divide.cpp, condition.cpp) ---
Expr from_poly(Pool::Impl& pool, Poly p);
bool recombine(Pool::Impl& pool, Poly& p);                    // S3, S4, S5, S40, S45; whether anything changed
bool absorb_term(Pool::Impl& pool, Poly& p);                  // S40 once; whether anything changed
bool join_choices(Pool::Impl& pool, Poly& p);                 // S45 once; whether anything changed
Expr divide_choice(Pool::Impl& pool, const Poly& y, Expr d);  // S42, y/d for d > 0; null where it does not apply
Expr sum_of(Pool& pool, std::span<const Expr> operands);
Expr product_of(Pool& pool, std::span<const Expr> operands);
Expr extremum_of(Kind kind, std::span<const Expr> operands);
Expr and_of(Pool& pool, std::span<const Expr> operands);
Expr floordiv_poly(Pool::Impl& pool, Poly y, Expr d);
Expr mod_poly(Pool::Impl& pool, Poly y, Expr d);
Expr rebuild(Pool& pool, Kind kind, std::span<const Expr> operands);  // not for constants and symbols

// --- prover (prove.cpp) ---
inline constexpr int kConstructionWork = 24;  // steps a constructor may spend on one proof
inline constexpr int kProofWork = 400;
bool prove_nonnegative(Pool::Impl& pool, const Poly& p, int work);
bool prove_positive(Expr e);                                        // construction effort
bool in_range(Pool::Impl& pool, const Poly& value, const Poly& d);  // 0 <= value < d, construction effort

}  // namespace plait::sym
