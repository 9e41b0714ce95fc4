#pragma once
// What passes share: copies of statements under new names, conditions taken apart, fields that are changed in place.
#include <limits>
#include <map>
#include <set>
#include <string>

#include "kir/kernel.h"
#include "kir/statements.h"

namespace plait::kir {

// value = at_zero + step * var, proven.
struct Slope {
  sym::Expr at_zero;
  int64_t step = 0;
};
std::optional<Slope> slope_in(sym::Expr value, sym::Expr var);
bool depends_on(sym::Expr e, sym::Expr var);

// The conditions that hold together: operands of `and`, or the condition itself.
std::vector<sym::Expr> conjuncts(sym::Expr condition);
// f where the condition holds if and only if f < 0; nothing for what is no comparison.
std::optional<sym::Expr> negative_where(sym::Expr condition);

// What a pass makes anew in a kernel: values, symbols and stack buffers; names begin with those they are like.
class Editor {
 public:
  explicit Editor(Kernel& kernel);
  Value value(DType dtype, int lanes) { return {next_id_++, dtype, lanes}; }
  sym::Expr symbol(sym::Expr like, sym::SymbolInfo facts);
  uint32_t buffer(const std::string& like, DType dtype, sym::Expr extent);
  sym::Expr number(int64_t value) const { return kernel.pool->constant(value); }
  // A loop of the same kind and extent, with a variable of its own and no body.
  std::unique_ptr<For> loop_like(const For& like);

  Kernel& kernel;

 private:
  uint32_t next_id_;
  std::set<std::string> buffers_;     // names that are taken
  std::map<std::string, int> tries_;  // by name: the last number behind it
};

// The first of the loops, with each of the others behind what the body of the one before it has. There is one at least.
std::unique_ptr<For> nested(std::vector<std::unique_ptr<For>> loops);

// fn(field, member) for every field, to be changed in place.
template <class Fn>
void edit_fields(Stmt& stmt, Fn&& fn) {
  visit(stmt, [&](const auto& s) { for_each_field(const_cast<std::remove_cvref_t<decltype(s)>&>(s), fn); });
}
// value = fn(value) for each one that is read or assigned.
template <class Fn>
void edit_operands(Stmt& stmt, Fn&& fn) {
  edit_fields(stmt, [&](const auto& field, auto& member) {
    using T = std::remove_cvref_t<decltype(member)>;
    if (field.role != Role::operand) return;
    if constexpr (std::is_same_v<T, Value>) member = fn(member);
    if constexpr (std::is_same_v<T, std::vector<Value>>)
      for (Value& v : member) v = fn(v);
  });
}
// The same for each one that is defined.
template <class Fn>
void edit_results(Stmt& stmt, Fn&& fn) {
  edit_fields(stmt, [&](const auto& field, auto& member) {
    using T = std::remove_cvref_t<decltype(member)>;
    if (field.role != Role::result) return;
    if constexpr (std::is_same_v<T, Value>) member = fn(member);
    if constexpr (std::is_same_v<T, std::vector<Value>>)
      for (Value& v : member) v = fn(v);
  });
}
// The buffer that an Alloc, Load, Store, Atomic, LastBlock or Await speaks of, or that a CopyAsync, LoadMatrix
// or Mma writes; null for others.
uint32_t* buffer_of(Stmt& stmt);
// All that it speaks of.
std::vector<uint32_t*> buffers_of(Stmt& stmt);
const uint32_t* buffer_of(const Stmt& stmt);

// Whether statements of the kind only define their results from what they read.
bool is_pure(StmtKind kind);
// What statements change: a variable or the elements of a buffer, as one number.
using Cell = uint64_t;
inline Cell cell_of(const Value& variable) { return variable.id; }
inline Cell cell_of_buffer(uint32_t buffer) { return (Cell{1} << 32) | buffer; }
// What other threads write, and copies under way: changed by a Sync or a Wait, read by loads.
inline constexpr Cell kOfThreads = Cell{1} << 33;
// Cells that the statement itself changes; its body's are not among them. An Alloc changes its buffer.
std::vector<Cell> changes(const Stmt& stmt);

// Copies statements: what a copy defines has new ids, symbols that are bound new names; what `values` and `symbols`
// hold is replaced. Loops keep their variables where the extent stays. Conditions that are decided after the
// replacement do not stand any more.
class Copier {
 public:
  explicit Copier(Editor& editor) : editor_(editor) {}

  std::map<uint32_t, Value> values;
  std::map<std::string, sym::Expr> symbols;
  std::map<const sym::Node*, sym::Expr> conditions;  // what stands in the place of a conjunct; null: nothing
  bool new_buffers = false;                          // whether local buffers of the copy are its own
  int64_t most_new_bytes = std::numeric_limits<int64_t>::max();  // larger ones are not, where their extent is fixed

  void copy(const Block& from, Block& to);
  void copy(const Stmt& from, Block& to);
  sym::Expr operator()(sym::Expr e) const { return symbols.empty() || !e ? e : sym::substitute(e, symbols); }

 private:
  void copy_loop(const For& from, Block& to);
  void copy_branch(const If& from, Block& to);
  Value renamed(const Value& v) const;
  Value defined(const Value& v);
  bool is_new(const Buffer& buffer) const;

  Editor& editor_;
  std::map<uint32_t, uint32_t> buffers_;
};

// Removes statements without effect whose results nobody reads.
void remove_unused(Block& block);
// Removes local buffers that nothing of a phase loads, with what is stored to them.
void remove_unread_buffers(const Kernel& kernel, Block& block);

}  // namespace plait::kir
