#pragma once
// Classes of axes under exact equality: two axes of one class have the same extent and the same coordinate. Relations
// are hash-consed under two keys, so that equal facts meet and classes stay closed under congruence. Everything can be
// undone back to a mark, so that an edge can be accepted on trial.
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "axes/relation.h"
#include "sym/expr.h"

namespace plait {

class AxisGraph {
 public:
  // Extents of all axes are expressions of `pool`.
  explicit AxisGraph(sym::Pool& pool) : pool_(&pool) {}

  int axis(sym::Expr extent);  // a new axis, alone in its class; returns its id
  int find(int axis) const;    // the member that stands for the class
  sym::Expr extent(int axis) const { return axes_[static_cast<size_t>(find(axis))].extent; }
  // Extent 1: the coordinate is always 0. Units are known everywhere and never propagate.
  bool unit(int axis) const { return extent(axis) == one(); }
  bool same_extent(int a, int b) const;  // proven

  void unite(int a, int b);         // extents must be proven equal; closes under congruence
  int merge(int outer, int inner);  // the class of outer*|inner| + inner
  // Outer and inner class of a split by an inner extent (positive). A fold where divisibility is proven, else a cover.
  std::pair<int, int> split(int whole, sym::Expr factor);
  // From here on a split whose outer extent this is has one of 1: the caller knows that the whole fits one inner part.
  void assume_one(sym::Expr outer) { ones_.push_back(outer); }
  // States outer = whole + low of two axes, neither of them a unit.
  void shift(int whole, int outer, sym::Expr low);

  const Relation& relation(int id) const { return relations_[static_cast<size_t>(id)]; }
  size_t relation_count() const { return relations_.size(); }
  size_t axis_count() const { return axes_.size(); }
  std::span<const int> uses(int cls) const { return axes_[static_cast<size_t>(find(cls))].uses; }
  sym::Pool& pool() const { return *pool_; }

  // Names of symbols in extents and shifts; those of what a rollback took back may stay.
  const std::set<std::string>& symbols() const { return symbols_; }

  // Grows with every change; also counts those that a rollback took back.
  uint64_t version() const { return version_; }
  // Classes settled by walks so far: the cost of what was asked of the graph, for tests.
  void count_visit() const { ++visits_; }
  uint64_t visits() const { return visits_; }

  size_t mark() const { return log_.size(); }
  void rollback(size_t mark);

  // Throws InternalError: a live relation with a duplicate under either key, or extents that do not fit it.
  void verify() const;

 private:
  struct Node {
    sym::Expr extent;
    int parent = -1;
    int size = 1;
    std::vector<int> uses;  // relations that mention the class; dead ones are skipped by readers
  };
  using Key = std::array<uint64_t, 5>;
  enum class Change : uint8_t { axis, relation, parent, uses, death, entry };
  struct LogEntry {
    Change change;
    int a = 0, b = 0;
    Key key{};
  };

  sym::Expr one() const { return pool_->constant(1); }
  std::array<Key, 2> keys(const Relation& r) const;
  int lookup(const Key& key) const;  // a live relation, or -1
  void set_entry(const Key& key, int id);
  void log(LogEntry entry);
  void note_symbols(sym::Expr e);
  int add_relation(Relation r);
  void enter(int id);
  void want(int a, int b);
  void drain();
  void join(int a, int b);

  sym::Pool* pool_;
  std::vector<sym::Expr> ones_;  // outer extents that are assumed to be 1
  std::vector<Node> axes_;
  std::vector<Relation> relations_;
  std::map<Key, int> table_;
  std::vector<std::pair<int, int>> todo_;
  std::vector<LogEntry> log_;
  std::set<std::string> symbols_;
  std::set<uint64_t> noted_;  // expressions whose symbols are known
  uint64_t version_ = 0;
  mutable uint64_t visits_ = 0;
};

}  // namespace plait
