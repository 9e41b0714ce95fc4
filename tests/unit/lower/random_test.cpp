// Random fusions, segmented, scheduled, lowered, and interpreted against direct evaluation.
#include <gtest/gtest.h>

#include "base/error.h"
#include "lower/lower.h"
#include "segment/segment.h"
#include "support/random_pointwise.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using test::RandomCase;

SegmentOptions options_of(std::mt19937& random) {
  SegmentOptions out;
  out.target = test::small_target(1 << (random() % 4));
  return out;
}

// Segments, lowers, interprets; the failure's text, or empty.
std::string run(RandomCase& c, const SegmentOptions& options, const test::LoweredRun& how) {
  try {
    segment(*c.fusion, options);
    verify(*c.fusion);
    test::run_segments(*c.fusion, c.env, c.inputs, how);
  } catch (const std::exception& error) {
    return fmt::format("{}\n{}", error.what(), print(*c.fusion));
  }
  return "";
}

void heuristic_schedules(uint32_t first, uint32_t count) {
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const bool narrow = seed % 3 == 0;
    RandomCase c = test::random_case(seed, narrow);
    SegmentOptions options = options_of(random);
    test::LoweredRun how;
    how.strict = narrow;
    how.cuda = seed % 4 == 1;
    options.target = test::small_target(options.target.vector_lanes, how.cuda);
    ASSERT_EQ(run(c, options, how), "") << "seed " << seed;
  }
}

// Schedules of the users' kind: what is refused must say why, what is not refused must be right.
void random_schedules(uint32_t first, uint32_t count) {
  int refused = 0, done = 0;
  std::map<std::string, int> reasons;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed * 7 + 1);
    RandomCase c = test::random_case(seed);
    segment(*c.fusion, options_of(random));
    test::Values values = c.inputs;
    for (const Segment& s : c.fusion->segments) {
      try {
        test::random_schedule(s, random);
        lower(*c.fusion, s);
        ++done;
      } catch (const UserError& error) {
        ++refused;
        ++reasons[error.message().substr(error.message().find(':') + 1)];
        apply_schedule(*c.fusion, s);
      }
    }
    try {
      test::run_segments(*c.fusion, c.env, values);
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << "\n" << error.what() << "\n" << print(*c.fusion);
    }
  }
  for (const auto& [reason, times] : reasons) std::printf("%6d %s\n", times, reason.c_str());
  std::printf("%d schedules done, %d refused\n", done, refused);
  EXPECT_GT(done, refused);
}

TEST(RandomFusions, HeuristicSchedules) { heuristic_schedules(0, testing::drawn_here(250)); }
TEST(RandomFusions, RandomSchedules) { random_schedules(0, testing::drawn_here(250)); }
TEST(RandomFusions, LongRunHeuristicSchedules) { heuristic_schedules(10000, 20000); }
TEST(RandomFusions, LongRunRandomSchedules) { random_schedules(10000, 20000); }

}  // namespace
}  // namespace plait
