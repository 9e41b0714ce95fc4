#pragma once
// Ops as users name them: kinds of ops.def, with every function of pointwise.def and reduction of reductions.def as a
// word of its own. What the compiler alone makes (collectives, copies of pieces) is none.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait::testing {

struct OpWord {
  OpKind kind;
  int which = 0;  // a Pointwise for PointwiseOp, a Reduction for Reduce
  auto operator<=>(const OpWord&) const = default;
};

std::string text(const OpWord& word);
const std::vector<OpWord>& op_words();
// Whether small integers stay small integers under it, as exact graphs need; layers and random numbers do not.
bool keeps_integers(const OpWord& word);
// Those that stand in a graph.
std::set<OpWord> words_of(const Fusion& fusion);

// How many graphs say each op.
class WordCounts {
 public:
  void add(const Fusion& fusion);
  // Prints the counts; a test fails for each op that fewer than `least` graphs say.
  void expect_each(int least) const;

 private:
  std::map<OpWord, int> graphs_;
};

}  // namespace plait::testing
