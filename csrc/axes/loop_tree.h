#pragma once
// The loop tree: the answer of placement. Which loops there are, where each op of a group is computed, which buffers
// exist and where they come to life, and every coordinate and predicate as an expression of loop variables.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "axes/place.h"

namespace plait {

struct RangeTerm {
  sym::Expr value, bound;  // 0 <= value < bound
};

struct TreeItem {
  // init: initial values of a reduction's state; finish: its result from its state, written to its home; op: the
  // statement of an op (of a reduction: one element into the state); alloc: its buffer comes to life. Of trees of
  // several phases: save: the state of a part to its workspace; merge: the states of all parts, in order, into one; of
  // a total, the state in front of each part takes the place of the part's; part: the result of a part, for what reads
  // it in the same part.
  enum class Kind : uint8_t { loop, init, op, finish, alloc, save, merge, part } kind = Kind::loop;
  int loop = -1;           // of kind loop; of kind merge: the loop over parts, which has no items
  const Op* op = nullptr;  // of the others
};

// How serial iterations follow one another, where a scan asks for one.
enum class LoopOrder : uint8_t { any, forward, backward };

struct TreeLoop {
  int cls = -1;
  ParallelType parallel = ParallelType::serial;
  bool reduction = false;  // an op whose own loop this is sums over it
  int parent = -1;
  const Op* owner = nullptr;  // the first op whose own loop it is; others may share it as their own
  // Facts: 0 <= var < extent. Loops that repeat kept loops around an init or a finish have the variable of the loop
  // that they stand for; their scopes are apart.
  sym::Expr var, extent;
  std::vector<TreeItem> items;
  LoopOrder order = LoopOrder::any;
  sym::Expr together;  // of a merge of parts: so many threads of a GPU's block take turns; null: one
};

// register; local, by own loops; local, by logical axes; an output of the group. Of a reduction: what its finish
// writes.
enum class Home : uint8_t { value, buffer, logical, memory };

struct PlacedOperand {
  const TensorView* tensor = nullptr;
  std::vector<sym::Expr> at;      // coordinates on the operand's logical dims; null where it is a loaded index
  sym::Expr loaded;               // symbol that stands for that index in `buffer`; null where there is none
  std::vector<sym::Expr> buffer;  // where the operand's home is `buffer`: index per dim of its buffer
  // Outside of it nothing is read: the value is the op's fill (pad), or another operand's (cat).
  std::vector<RangeTerm> read;
};

struct PlacedOp {
  const Op* op = nullptr;
  int loop = -1;   // innermost loop of its path; -1: the root
  int shared = 0;  // the first `shared` loops of the path are others', the rest its own
  Home home = Home::value;
  int scope = -1;                       // loop in whose body the buffer is allocated; -1: the root
  std::vector<sym::Expr> dims, index;   // buffer: extents, and where this iteration writes (home logical: logical dims)
  std::vector<sym::Expr> own, reduced;  // coordinates of the first result's logical axes; of the reduced axes
  // Predicates. write: statements, initial values, stores. once: joins it for memory and logical homes. reduce: joins
  // it for accumulation only.
  std::vector<RangeTerm> write, once, reduce;
  std::vector<PlacedOperand> operands;  // per inputs(op), then tensors of the group behind reads
  // Reductions: its own loops from the outermost reduced one on that are kept. Empty: the state is one set of
  // registers; else it has an element for each of their iterations. A scan has a state as well: its loops along
  // the scanned dim, the innermost of its path, stand for the reduced ones; some may be others'. Its statement adds to
  // the state and stores, under `once`, and there is no finish.
  std::vector<int> state_loops;
};

// Memory of the launch: extents, and which element this iteration writes or reads.
struct Workspace {
  std::vector<sym::Expr> dims, index;
};

struct LoopTree {
  const TensorView* reference = nullptr;
  std::vector<TreeLoop> loops;
  std::vector<TreeItem> items;  // of the root
  std::map<const Op*, PlacedOp> ops;
  // Phases behind the first one, each with the items of its root (lower/tree/split_phases.h).
  std::vector<std::vector<TreeItem>> later;
  std::map<const Op*, Workspace> parts;          // reductions, and where the states of their parts lie
  std::map<const TensorView*, Workspace> cross;  // values that a later phase reads
  // Scans that begin anew in each part, the reduction whose states, merged up to a part, it begins with, and where.
  std::map<const Op*, const Op*> totals;
  std::map<const Op*, Workspace> begins;
  const Op* scan_of_total(const Op* op) const;  // that begins with what the op combines; null where there is none
  bool is_total(const Op* op) const { return scan_of_total(op) != nullptr; }
  std::map<const Op*, const Op*> online;  // sums of exponentials, and the maximum of the part that these are from
  std::map<const Op*, std::vector<const Op*>> online_between;  // what of kept dims comes of that, for exponents

  std::vector<int> path(int loop) const;  // from the root to the loop, with it
  // Where a result lives: its op's home, but a local result of an op in memory has a logical home.
  Home home(const TensorView& tensor) const;
  std::vector<const TensorView*> outputs;  // in memory
  std::string print() const;
};

struct TreeOptions {
  std::function<sym::Expr(sym::Expr)> extent;                       // extents into the graph's pool
  std::function<sym::Expr(const sym::SymbolInfo& facts)> variable;  // a fresh symbol of the graph's pool
  // At most so many loops of the path are shared with readers; of an output without readers: with the nest beside it.
  std::map<const TensorView*, int> inline_at;
  // Tensors beside the reference whose own transforms are their loops, instead of the reference's.
  std::set<const TensorView*> own_loops;
  std::map<const Op*, const Op*> totals;  // scans, and the op that is computed in front of each as if that read it
  // Where not null: why the first place and loops that were tried for a tensor (the first result of its op) are
  // invalid.
  std::map<const TensorView*, Refusal>* declined = nullptr;
  uint32_t rules_off = 0;  // bits by Rule; only for tests of the rules
  bool off(Rule rule) const { return (rules_off >> static_cast<int>(rule) & 1) != 0; }
};

// Places every op of the group. `outputs` live in memory; everything else is local. The group's ops are in topological
// order, `reference` is computed in the group, its transforms are the loops that the others project. May add axes and
// relations to the graph. A refusal: no place of the op is valid, with the rule that the last one broke.
std::optional<Refusal> place_tree(AxisGroup& group, const TensorView& reference, std::span<TensorView* const> outputs,
                                  const TreeOptions& options, LoopTree& out);

}  // namespace plait
