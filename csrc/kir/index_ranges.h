#pragma once
// Where the values of index expressions lie, for code that computes them in 32 bits.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// Elements of an argument of a kernel with narrow indices: fewer than these.
inline constexpr int64_t kMostNarrow = int64_t{1} << 29;

class IndexRanges {
 public:
  explicit IndexRanges(const Kernel& kernel);

  // Contains every value that the expression takes where the kernel computes it, from the facts of symbols and, where
  // indices are narrow, from what arguments have at most: of `n0 * n1` elements, no product of dims among these is
  // more.
  sym::Bounds of(sym::Expr e) const;
  bool within(sym::Expr e, int64_t lo, int64_t hi) const {
    const sym::Bounds range = of(e);
    return lo <= range.lo && range.hi <= hi;
  }

 private:
  // A product of integers of the kernel, by their powers, and its most.
  using Powers = std::map<uint64_t, int>;
  struct Product {
    Powers powers;
    int64_t most;
  };

  void find_blocks(const Block& body);
  void learn(sym::Expr extent);
  sym::Bounds find(sym::Expr e) const;
  sym::Bounds symbol(sym::Expr e) const;
  sym::Bounds product(sym::Expr e) const;
  sym::Bounds quotient(sym::Expr e) const;
  bool is_dim(sym::Expr e) const;  // an integer of the kernel that is at least 1
  // Dims whose product is at least the value: of one of them, of an index of a loop over them.
  std::optional<Powers> dims_above(sym::Expr e) const;
  // How many parts of `size` elements some dims have: floordiv(n0 + k, size), k below size.
  struct Parts {
    Powers powers;
    int64_t size;
  };
  std::optional<Parts> parts(sym::Expr e) const;
  // The most of a product of integers, each of which is at least 1.
  int64_t most(const Powers& powers) const;

  const Kernel& kernel_;
  std::map<uint64_t, sym::Expr> integers_;
  std::set<uint64_t> launched_;  // indices of blocks and threads
  std::vector<Product> products_;
  mutable std::map<uint64_t, sym::Bounds> known_;
};

}  // namespace plait::kir
