#pragma once
// Guards: what a compilation asked about sizes that stay symbols. It decides by the answers alone, so that sizes with
// the same answers share what it made.
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sym/expr.h"
#include "sym/facts.h"

namespace plait::sym {

// How many values `rank.AXIS` has, by symbol: 0 up to, and without, that.
using RankPositions = std::map<std::string, int64_t>;

// A condition over size symbols, and `rank.AXIS`, that holds or not on all ranks together.
class Guard {
 public:
  // The condition is copied; `asked_by` is for people: "pointwise for @s3".
  Guard(Expr condition, std::string asked_by);
  const std::string& text() const { return text_; }  // `h <= 32768`
  const std::string& asked_by() const { return asked_by_; }
  // Whether it holds with these sizes on every rank: at all positions on the axes that it speaks of (none are given for
  // a graph without a mesh).
  bool holds(const Environment& sizes, const RankPositions& ranks) const;

 private:
  std::shared_ptr<Pool> pool_;
  Expr condition_;
  std::string text_, asked_by_;
  std::vector<std::string> ranks_;  // the `rank.AXIS` that it speaks of
};

// A question about sizes, and what it was answered.
struct Answer {
  Guard guard;
  bool yes;
};
// `h <= 32768`, or `not (h <= 32768)`.
std::string print(const Answer& answer);

// Answers questions about sizes by the sizes of a run, and notes each: other answers are another specialization.
class Guards {
 public:
  // Without sizes: what is not proven is answered with no, and nothing is noted.
  Guards() = default;
  Guards(Environment sizes, RankPositions ranks);
  // Whether the condition holds, on all ranks. What facts prove is not noted; the same question is noted once.
  bool decide(Expr condition, std::string_view asked_by);
  const std::vector<Answer>& answers() const { return answers_; }

 private:
  bool has_sizes_ = false;
  Environment sizes_;
  RankPositions ranks_;
  std::vector<Answer> answers_;
};

// The questions of compilations of one graph as a tree: which one comes next depends on the answers before it.
class GuardTree {
 public:
  // The text of all answers that these sizes give, after that of `base`, as far as questions are known.
  std::string key(const std::string& base, const Environment& sizes, const RankPositions& ranks) const;
  // Notes the questions of a compilation that began with `base`, and returns its key.
  std::string add(const std::string& base, const std::vector<Answer>& answers);

 private:
  std::map<std::string, Guard, std::less<>> next_;  // by the text of what was answered before
};

// The sizes that a cost sees, of each symbol that has facts: equal for all sizes of a specialization, since they follow
// from its facts and answers and from the defaults (`let`) of the text, never from a caller's sizes. They are the
// defaults where these satisfy all of that. Otherwise each is its default (512 without one) moved into its facts, and
// symbol by symbol in the order of names the first of 2^a, 2^a + 2^b with which more answers hold, until all hold or
// none helps: then a cost is that of the nearest sizes found, and no error.
Environment representative(const Facts& facts, const Environment& defaults, std::span<const Answer> answers,
                           const RankPositions& ranks);

}  // namespace plait::sym
