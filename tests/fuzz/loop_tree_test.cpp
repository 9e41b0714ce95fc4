// Random graphs with random schedules: the loop tree computes what direct evaluation does, writes each element once,
// stays in bounds and reads nothing that is not written; and each rule of placement, switched off, is missed.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/loop_tree_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using tree_oracle::Case;

struct Run {
  std::string wrong;  // empty: right
  std::string text;
};

Run run(uint64_t seed, uint32_t rules_off, bool test_unions, tree_oracle::Counts& counts) {
  Run out;
  try {
    const Case c = tree_oracle::make_case(seed);
    out.text = print(*c.fusion);
    const auto want = tree_oracle::evaluate(c);
    BuildGraphOptions build;
    build.test_unions = test_unions;
    AxisGroup group = build_axis_graph(c.fusion->pool(), c.fusion->ops(), build);
    if (test_unions) verify(group);
    TreeOptions options;
    options.inline_at = c.inline_at;
    options.rules_off = rules_off;
    LoopTree tree;
    if (const auto refusal = place_tree(group, *c.reference, c.fusion->outputs(), options, tree)) {
      out.wrong = fmt::format("%{} has no place: {} ({})", refusal->tensor->name, refusal->reason, name(refusal->rule));
    } else {
      out.text += tree.print();
      out.wrong = tree_oracle::interpret(c, tree, want, counts);
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
    const Run r = run(seed, 0, true, counts);
    if (r.wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << "case " << seed << ": " << r.wrong << "\n" << r.text;
  }
  EXPECT_LT(counts.stopped * 200, cases);  // too long to be run to the end
  for (int64_t n : counts.homes) EXPECT_GT(n, 0);
}

TEST(LoopTree, RandomGraphsOnRandomSchedules) { expect_no_failure(1, testing::drawn_here(5000)); }
TEST(LoopTree, RandomGraphsOnRandomSchedulesLongRun) { expect_no_failure(10000, 300000); }

// Failures among `cases` from `first` on.
int missed(uint32_t rules_off, bool test_unions, uint64_t first, int cases) {
  tree_oracle::Counts counts;
  int out = 0;
  for (int i = 0; i < cases; ++i)
    out += !run(first + static_cast<uint64_t>(i), rules_off, test_unions, counts).wrong.empty();
  return out;
}
int missed(Rule rule, uint64_t first, int cases) { return missed(1u << static_cast<int>(rule), true, first, cases); }

TEST(LoopTreeRules, EdgesAreTested) { EXPECT_GT(missed(0, false, 1, 200), 20); }
TEST(LoopTreeRules, V1) { EXPECT_GT(missed(Rule::v1_independent, 1, 500), 0); }
TEST(LoopTreeRules, V3) { EXPECT_GT(missed(Rule::v3_reduction, 1, 200), 10); }
TEST(LoopTreeRules, V4) { EXPECT_GT(missed(Rule::v4_readers, 1, 200), 5); }
TEST(LoopTreeRules, V5) { EXPECT_GT(missed(Rule::v5_covers, 1, 200), 5); }
TEST(LoopTreeRules, V6) { EXPECT_GT(missed(Rule::v6_once, 700, 100), 0); }
TEST(LoopTreeRules, LossyTerms) { EXPECT_GT(missed(Rule::lossy_terms, 1, 200), 20); }
TEST(LoopTreeRules, OnceTerms) { EXPECT_GT(missed(Rule::once_terms, 1, 200), 10); }

}  // namespace
}  // namespace plait
