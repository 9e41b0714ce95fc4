// Every bug of sharding that is planted is caught: by random sharded graphs, or by the sharded examples.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/pass.h"
#include "support/examples.h"
#include "support/planted_shard_bugs.h"
#include "support/random_graph.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::ShardBug;

enum class Found : uint8_t { nothing, no_place, caught };

// What becomes of a case with the bug; null: without one.
Found run_with(const ShardBug* bug, const std::string& text, CaseOptions how) {
  int places = 0;
  if (bug != nullptr)
    how.hook = [&](std::string_view, std::string_view pass, const PassSubject& subject) {
      if (Fusion* fusion = subject.as<Fusion>(); fusion && pass == bug->pass) places += bug->plant(*fusion);
    };
  how.compare_one_rank = false;
  try {
    const auto result = testing::run_case(text, how);
    if (!result.ok && !result.undecided) return Found::caught;
  } catch (const UserError&) {  // a refusal is no catch
  } catch (const Error&) {
    return Found::caught;
  }
  return places == 0 ? Found::no_place : Found::nothing;
}

Found run_graph(const ShardBug* bug, int seed) {
  const auto random = testing::make_random_case(static_cast<uint64_t>(seed));
  CaseOptions how;
  how.ranks = random.ranks, how.exact = random.exact, how.seed = static_cast<uint64_t>(seed);
  return run_with(bug, random.text, how);
}

Found run_example(const ShardBug* bug, const testing::ShardedExample& example) {
  CaseOptions how;
  how.ranks = example.ranks;
  return run_with(bug, example.text, how);
}

TEST(PlantedShardBugs, AllAreCaught) {
  if (testing::kSanitized) GTEST_SKIP() << "tests the tests: without sanitizers they are the same";
  constexpr int kMostGraphs = 60;
  const std::vector<testing::ShardedExample> examples = testing::sharded_examples();
  for (const testing::ShardedExample& example : examples)
    ASSERT_NE(run_example(nullptr, example), Found::caught) << example.text;
  int by_graphs = 0, last = 0;
  for (const ShardBug& bug : testing::planted_shard_bugs()) {
    int graph = 0, by_examples = 0;
    for (int seed = 1; seed <= kMostGraphs && graph == 0; ++seed)
      if (run_graph(&bug, seed) == Found::caught) graph = seed;
    for (const testing::ShardedExample& example : examples)
      if (graph == 0) by_examples += run_example(&bug, example) == Found::caught;
    by_graphs += graph > 0;
    last = std::max(last, graph);
    std::printf("%-20s caught by %s %d\n", std::string(bug.name).c_str(),
                graph > 0 ? "random graph" : "examples:", graph > 0 ? graph : by_examples);
    EXPECT_TRUE(graph > 0 || by_examples > 0) << bug.name;
  }
  EXPECT_GE(testing::planted_shard_bugs().size(), 12u);
  EXPECT_GE(by_graphs, 8);
  // What was found is the bug: the same graphs pass without one.
  for (int seed = 1; seed <= last; ++seed) EXPECT_NE(run_graph(nullptr, seed), Found::caught) << "seed " << seed;
}

}  // namespace
}  // namespace plait
