#pragma once
// Symbolic integers: extents, chunk sizes, kernel indices and predicates.
//
// Meaning. An expression is a mathematical integer; conditions are the integers 0 and 1. Division is floor division and
// is meant for positive divisors only. A value that does not fit into int64 is refused with a UserError, never wrapped:
// at construction when constants fold, at evaluation otherwise.
// Nodes are hash-consed and canonical on construction: within one pool, equal structure is the same pointer. Order and
// text depend on structure and names only, never on addresses or on the order in which nodes were made. A simplified
// expression equals the written one wherever the written one has a value and the stated facts hold.
// A pool and its expressions are used from one thread at a time. An Expr is valid as long as its pool lives.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait::sym {

class Pool;
struct Node;  // private to csrc/sym

// `select` is (condition, then, else). `chunk` and `chunk_start` are (n, parts, rank, granule constant).
// `add` holds its terms, the constant last; `mul` holds its coefficient first (where it is not 1), then sorted factors.
// min, max and logical_and hold two or more operands. `a != b` is logical_not(eq), `a or b` is not(and(not a, not b)).
enum class Kind : uint8_t {
  constant,
  symbol,
  add,
  mul,
  floordiv,
  mod,
  min,
  max,
  chunk,
  chunk_start,
  lt,
  le,
  eq,
  logical_and,
  logical_not,
  select
};

// The name of a kind as the text form spells it: "floordiv", "lt".
std::string_view kind_name(Kind kind);

// A handle on a node of a pool; cheap to copy; null when default-constructed (only bool, == and assignment are legal).
class Expr {
 public:
  Expr() = default;
  Kind kind() const;
  bool is_constant() const;
  std::optional<int64_t> constant() const;  // the value of a constant node, nothing for all others
  int64_t value() const;                    // of a constant node; anything else is an internal error
  bool is_symbol() const;
  const std::string& symbol_name() const;  // of a symbol node; anything else is an internal error
  std::span<const Expr> operands() const;
  Pool& pool() const;
  uint64_t id() const;  // ordinal of creation in the pool: deterministic for one run of constructions, not structural
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }
  const Node* node() const { return node_; }
  explicit Expr(const Node* node) : node_(node) {}  // for csrc/sym

 private:
  const Node* node_ = nullptr;
};

// What is known about a symbol. Facts are assumed, not checked, except by `check_facts`.
struct SymbolInfo {
  std::optional<int64_t> lo, hi;  // inclusive
  int64_t multiple_of = 1;        // positive
  Expr below = {};                // exclusive symbolic upper bound; may be null
};

// Of an index of that many places, from 0 on.
SymbolInfo index_facts(Expr extent);

// Owns the nodes. Not copyable; callers hold it by shared_ptr.
class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Expr constant(int64_t value);  // a number
  // The symbol of that name; the same name returns the same symbol, and new info is intersected with what is known.
  // State facts before building on a symbol: expressions built earlier stay correct but are not simplified again.
  // A name is letters, digits and `_`, in parts joined by dots, the first not starting with a digit; a name that is
  // malformed or a word of the text form, multiple_of < 1, or lo > hi is a UserError.
  Expr symbol(std::string_view name, SymbolInfo info = {});
  Expr find_symbol(std::string_view name) const;  // null where there is none
  const SymbolInfo& info(Expr symbol) const;      // its facts
  size_t size() const;                            // number of nodes

  struct Impl;  // private to csrc/sym
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Constructors. Operands are of one pool (internal error otherwise). Constants that overflow int64: UserError.
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator+(Expr a, int64_t b);
Expr operator-(Expr a, int64_t b);
Expr operator*(Expr a, int64_t b);
Expr operator+(int64_t a, Expr b);
Expr operator-(int64_t a, Expr b);
Expr operator*(int64_t a, Expr b);
// Division by something not proven positive is built unsimplified; evaluation with a divisor < 1 is a UserError.
Expr floordiv(Expr a, Expr b);  // rounds towards minus infinity
Expr mod(Expr a, Expr b);       // a - b*floordiv(a, b), in [0, b)
Expr ceildiv(Expr a, Expr b);   // floordiv(a + b - 1, b)
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr floordiv(Expr a, int64_t b);
Expr mod(Expr a, int64_t b);
Expr ceildiv(Expr a, int64_t b);
Expr min(Expr a, int64_t b);
Expr max(Expr a, int64_t b);
// Conditions. The logical operators read any integer as "is not 0".
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
Expr gt(Expr a, Expr b);
Expr ge(Expr a, Expr b);
Expr eq(Expr a, Expr b);
Expr ne(Expr a, Expr b);
Expr lt(Expr a, int64_t b);
Expr le(Expr a, int64_t b);
Expr gt(Expr a, int64_t b);
Expr ge(Expr a, int64_t b);
Expr eq(Expr a, int64_t b);
Expr ne(Expr a, int64_t b);
Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
Expr logical_not(Expr a);
Expr select(Expr condition, Expr then_value, Expr else_value);
// Pieces of n by ceil division in granules: c = granule*ceildiv(ceildiv(n, granule), parts), start = min(n, rank*c),
// chunk = min(c, n - start); the last pieces are short or empty. Domain: n >= 0, parts >= 1, 0 <= rank < parts,
// granule >= 1; evaluation outside of it is a UserError.
Expr chunk(Expr n, Expr parts, Expr rank, int64_t granule = 1);
Expr chunk_start(Expr n, Expr parts, Expr rank, int64_t granule = 1);

// Inclusive bounds; INT64_MIN and INT64_MAX mean unknown.
struct Bounds {
  int64_t lo, hi;
};
Bounds bounds(Expr expr);
// The largest proven d that divides every value of the expression; 0 for the constant 0. At most 2^20: a larger one is
// cut down by its small prime factors.
int64_t divisor(Expr expr);

// What the facts say about a condition (any nonzero integer is true). Sound, not complete; bounded work.
enum class Truth { no, yes, unknown };
Truth prove(Expr condition);
bool proven(Expr condition);  // prove(condition) == Truth::yes

// Values of symbols by name.
using Environment = std::map<std::string, int64_t, std::less<>>;
// The value under the environment. Only the taken branch of a select is evaluated. UserError: a symbol without a value
// (named), a result past int64, a divisor < 1, a chunk outside of its domain.
int64_t evaluate(Expr expr, const Environment& environment);
// UserError naming the symbol if a value in the environment contradicts the facts of the pool (only symbols that the
// environment holds are looked at; `below` only where it can be evaluated).
void check_facts(const Pool& pool, const Environment& environment);

// Replaces symbols by name, all at once, and simplifies. The result is in the given pool (in the expression's own pool
// by the first form); parts and replacements from other pools are imported.
Expr substitute(Expr expr, const std::map<std::string, Expr>& replacements);
Expr substitute(Pool& pool, Expr expr, const std::map<std::string, Expr>& replacements);
// The expression rebuilt in another pool. Facts of its symbols go along and are intersected with the pool's own.
Expr import(Pool& pool, Expr expr);

// Canonical text; recurses over the nesting (a few thousand levels are fine), writes shared parts out: "4*s + 3",
// "floordiv(n, 8)", "chunk(3072, t, rank.tp, 64)", "i < n and j != 0".
std::string print(Expr expr);

// What parsing an expression is told.
struct ParseOptions {
  bool create_symbols = true;  // false: a name that the pool does not hold is an error
  std::string where = {};      // put before the position in errors: a file name, a tensor
};
// Reads what `print` writes, and more: any order and spacing, parentheses, unary minus, ceildiv(a, b), >, >=, or, not.
// Bad text is a UserError with the position (column, from 1) and what was expected.
Expr parse(Pool& pool, std::string_view text, const ParseOptions& options = {});
// Reads the longest expression at the start of the text, moves the text behind it.
Expr parse_prefix(Pool& pool, std::string_view& text, const ParseOptions& options = {});

// Names of the symbols in the expression, added to the set.
void symbols(Expr expr, std::set<std::string>& names);
std::set<std::string> symbols(Expr expr);

}  // namespace plait::sym
