#pragma once
// Values of a program's expressions on any rank, for programs of many: each expression is evaluated once for the
// positions on the mesh axes that it mentions.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program/program.h"

namespace plait {

class RankValues {
 public:
  // `sizes` gives the size symbols; symbols of mesh axes and rank.AXIS come from the program, which must outlive the
  // object. UserError: sizes that contradict the facts of the pool.
  RankValues(const Program& program, const sym::Environment& sizes);

  // A null expression is 1. UserError: a symbol without a value, a value that overflows.
  int64_t value(sym::Expr expr, int64_t rank);
  std::vector<int64_t> values(const std::vector<sym::Expr>& exprs, int64_t rank);

  // The mesh axes that one of the expressions mentions, ascending.
  Team axes(const std::vector<sym::Expr>& exprs);
  // Ranks by the values that the expressions have on them, in the order of their first ranks; null expressions are left
  // out.
  std::vector<std::vector<int64_t>> classes(const std::vector<sym::Expr>& exprs);

  // How many times an expression was evaluated, for tests of what binding costs.
  size_t evaluated() const { return evaluated_; }

 private:
  struct Row {
    Team axes;
    std::vector<int64_t> values;  // by position in the team of these axes
    std::vector<bool> known;
  };
  Row& row(sym::Expr expr);
  int64_t coordinate(int64_t rank, int axis) const {
    return rank / strides_[static_cast<size_t>(axis)] % program_.devices.size(axis);
  }

  const Program& program_;
  sym::Environment environment_;
  std::vector<int64_t> strides_;            // of ranks, by axis
  std::vector<std::string> rank_symbols_;   // by axis
  std::unordered_map<uint64_t, Row> rows_;  // by expression
  size_t evaluated_ = 0;
};

}  // namespace plait
