// Random graphs with random schedules: the loop tree computes what direct evaluation does, writes each element once,
// stays in bounds and reads nothing that is not written, or that another thread writes at the same time; and each rule
// of placement, switched off, is missed.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/loop_tree_place.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using tree_oracle::Case;

struct Run {
  std::string wrong;   // empty: right
  bool found = false;  // by the interpreter
  std::string text;
};

Run run(uint64_t seed, const tree_oracle::PlaceCaseOptions& options, tree_oracle::Counts& counts) {
  Run out;
  try {
    const Case c = tree_oracle::make_case(seed);
    out.text = print(*c.fusion);
    const auto want = tree_oracle::evaluate(c);
    LoopTree tree;
    if (const auto refusal = place_case(c, tree, options)) {
      out.wrong = fmt::format("%{} has no place: {} ({})", refusal->tensor->name, refusal->reason, name(refusal->rule));
    } else {
      out.text += tree.print();
      out.wrong = tree_oracle::interpret(c, tree, want, counts);
      out.found = !out.wrong.empty();
    }
  } catch (const std::exception& error) {
    out.wrong = error.what();
  }
  return out;
}

void expect_no_failure(uint64_t first, int64_t cases) {
  tree_oracle::Counts counts;
  int failures = 0;
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(cases) && failures < 5; ++seed) {
    const Run r = run(seed, {}, counts);
    if (r.wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << "case " << seed << ": " << r.wrong << "\n" << r.text;
  }
  EXPECT_LT(counts.stopped * 200, cases);  // too long to be run to the end
  for (int64_t n : counts.homes) EXPECT_GT(n, 0);
  for (ParallelType kind : {ParallelType::cpu_thread, ParallelType::block_x, ParallelType::block_y,
                            ParallelType::thread_x, ParallelType::thread_y})
    EXPECT_GT(counts.iterations[kind], cases / 4) << name(kind);
  EXPECT_GT(counts.met, cases);
  for (int64_t n : {counts.phases, counts.merged, counts.begun, counts.crossed}) EXPECT_GT(n, cases / 20);
}

TEST(LoopTree, RandomGraphsOnRandomSchedules) { expect_no_failure(1, testing::drawn_here(5000)); }
TEST(LoopTree, RandomGraphsOnRandomSchedulesLongRun) { expect_no_failure(10000, 300000); }

constexpr uint32_t bit(Rule rule) { return 1u << static_cast<int>(rule); }

struct Missed {
  int found = 0;   // cases of which the interpreter finds the tree wrong
  int others = 0;  // that have no tree
};
Missed missed(const tree_oracle::PlaceCaseOptions& options, uint64_t first, int cases) {
  tree_oracle::Counts counts;
  Missed out;
  for (int i = 0; i < cases; ++i) {
    const Run r = run(first + static_cast<uint64_t>(i), options, counts);
    out.found += r.found;
    out.others += !r.found && !r.wrong.empty();
  }
  return out;
}
int missed(Rule rule, uint64_t first, int cases) { return missed({bit(rule)}, first, cases).found; }

// Axes that cannot vary independently leave no place by V1, or a wrong one.
TEST(LoopTreeRules, EdgesAreTested) {
  const Missed m = missed({.test_unions = false}, 1, 200);
  EXPECT_GT(m.found, 0);
  EXPECT_GT(m.others, 20);
}
TEST(LoopTreeRules, V1) { EXPECT_GT(missed(Rule::v1_independent, 1, 500), 10); }

// Plans have plain loops for what else follows from none, so that V2 refuses none of these and alone decides nothing.
// Without such loops it refuses, and what lies at 0 for want of it is found.
TEST(LoopTreeRules, V2) {
  const Missed alone = missed({bit(Rule::v2_known)}, 1, 200);
  EXPECT_EQ(alone.found + alone.others, 0);
  const Missed refused = missed({bit(Rule::plain_loops)}, 1, 200);
  EXPECT_EQ(refused.found + refused.others, 0);
  EXPECT_GT(missed({bit(Rule::plain_loops) | bit(Rule::v2_known)}, 1, 200).found, 100);
}
TEST(LoopTreeRules, V3) { EXPECT_GT(missed(Rule::v3_reduction, 1, 200), 10); }
TEST(LoopTreeRules, V4) { EXPECT_GT(missed(Rule::v4_readers, 1, 200), 5); }
TEST(LoopTreeRules, V5) { EXPECT_GT(missed(Rule::v5_covers, 1, 200), 5); }
TEST(LoopTreeRules, V6) { EXPECT_GT(missed(Rule::v6_once, 700, 100), 0); }
TEST(LoopTreeRules, V7) { EXPECT_GT(missed(Rule::v7_buffer, 1, 200), 5); }
TEST(LoopTreeRules, LossyTerms) { EXPECT_GT(missed(Rule::lossy_terms, 1, 200), 20); }
TEST(LoopTreeRules, OnceTerms) { EXPECT_GT(missed(Rule::once_terms, 1, 200), 10); }

}  // namespace
}  // namespace plait
