// Random graphs with random annotations on random meshes: ranks against the reference and against one rank.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/error.h"
#include "support/random_graph.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::make_random_case;
using testing::run_case;

struct Shares {
  int cases = 0, collective = 0, uneven = 0, empty = 0, exact = 0, skipped = 0;
};

// One seed. Graphs whose exact inputs cannot be drawn, or whose layout the sizes do not bear, are drawn again.
bool run_seed(uint64_t seed, Shares& shares) {
  auto random = make_random_case(seed);
  CaseOptions how;
  how.ranks = random.ranks;
  how.exact = random.exact;
  how.seed = seed;
  how.interleaving = seed % 3 == 0 ? 0 : seed;
  how.options.poison = true;
  how.options.strict_rounding = seed % 4 == 1;
  how.options.products = seed % 3 == 1 ? "nest" : "auto";
  const int64_t lanes[] = {0, 1, 4, 8};
  how.options.cpu_lanes = lanes[seed / 5 % 4];
  try {
    CaseResult result = run_case(random.text, how);
    ++shares.cases;
    shares.collective += result.collectives > 0;
    shares.uneven += result.uneven;
    shares.empty += result.empty;
    shares.exact += random.exact;
    EXPECT_TRUE(result.ok) << "seed " << seed << " ranks " << random.ranks << "\n"
                           << result.message << "\n"
                           << random.text;
    return result.ok;
  } catch (const UserError& e) {
    EXPECT_TRUE(testing::is_known_refusal(e)) << "seed " << seed << " ranks " << random.ranks << "\n"
                                              << e.what() << "\n"
                                              << random.text;
    ++shares.skipped;
    return testing::is_known_refusal(e);
  } catch (const Error& e) {
    ADD_FAILURE() << "seed " << seed << " ranks " << random.ranks << "\n" << e.what() << "\n" << random.text;
    return false;
  }
}

void run_seeds(uint64_t first, int count) {
  Shares shares;
  int failures = 0;
  for (uint64_t seed = first; shares.cases < count && failures < 5; ++seed) failures += !run_seed(seed, shares);
  std::printf("%d graphs: %d with a collective, %d uneven, %d with empty pieces, %d exact; %d drawn again\n",
              shares.cases, shares.collective, shares.uneven, shares.empty, shares.exact, shares.skipped);
  EXPECT_GE(shares.collective * 2, shares.cases);
  EXPECT_GE(shares.uneven * 3, shares.cases);
  EXPECT_GE(shares.empty * 10, shares.cases);
  EXPECT_LE(shares.skipped * 5, shares.cases);
}

TEST(RandomGraphs, SixtyCheckedInSeeds) { run_seeds(1, 60); }

TEST(RandomGraphs, LongRunCheckedInSeeds) { run_seeds(1000, 500); }

TEST(RandomGraphs, LongRunFreshSeeds) {
  uint64_t first = std::random_device()() + (uint64_t{1} << 32);
  std::printf("fresh seeds from %llu\n", static_cast<unsigned long long>(first));
  run_seeds(first, 100);
}

}  // namespace
}  // namespace plait
