// Every planted bug is caught, most of them by the random graphs alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "support/examples.h"
#include "support/planted_bugs.h"
#include "support/random_graph.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::example;
using testing::run_case;

// Whether a wrong result, an unexpected count or an error shows the bug.
bool caught(const std::string& text, CaseOptions how, int64_t collectives = -1) {
  try {
    auto result = run_case(text, how);
    return (!result.ok && !result.undecided) || (collectives >= 0 && result.collectives != collectives);
  } catch (const UserError&) {
    return false;  // a refusal is no catch
  } catch (const Error&) {
    return true;
  }
}

// Whether the random graph of the seed, with the bug planted ("": none), fails.
bool caught_by_graph(const std::string& bug, int seed) {
  auto random = testing::make_random_case(static_cast<uint64_t>(seed));
  CaseOptions how;
  how.ranks = random.ranks;
  how.exact = random.exact;
  how.seed = static_cast<uint64_t>(seed);
  how.bug = bug;
  how.compare_one_rank = false;
  return caught(random.text, how);
}

// The number of random graphs until the bug shows, or 0.
int graphs_until_caught(const std::string& bug, int most) {
  for (int seed = 1; seed <= most; ++seed)
    if (caught_by_graph(bug, seed)) return seed;
  return 0;
}

bool caught_by_examples(const std::string& bug) {
  CaseOptions how;
  how.bug = bug;
  how.ranks = 3;
  if (caught(example("sp_toy"), how, 2)) return true;
  how.ranks = 4;
  return caught(example("tp_mlp"), how, 1) || caught(example("mlp_2d"), how, 1);
}

TEST(PlantedBugs, AllAreCaughtSixByRandomGraphs) {
  if (testing::kSanitized) GTEST_SKIP() << "tests the tests: without sanitizers they are the same";
  int by_graphs = 0, all = 0, last_seed = 0;
  EXPECT_FALSE(caught_by_examples("")) << "without a bug";
  for (auto name : testing::planted_bugs()) {
    std::string bug(name);
    ++all;
    int graphs = graphs_until_caught(bug, 40);
    bool examples = caught_by_examples(bug);
    last_seed = std::max(last_seed, graphs);
    by_graphs += graphs > 0;
    std::printf("%-20s random graphs: %s  examples: %s\n", bug.c_str(),
                graphs ? ("caught by " + std::to_string(graphs)).c_str() : "no", examples ? "caught" : "no");
    EXPECT_TRUE(graphs > 0 || examples) << bug;
  }
  EXPECT_EQ(all, 13);
  EXPECT_GE(by_graphs, 6);
  // What was found is the bug: the same graphs pass without one.
  for (int seed = 1; seed <= last_seed; ++seed) EXPECT_FALSE(caught_by_graph("", seed)) << "seed " << seed;
}

}  // namespace
}  // namespace plait
