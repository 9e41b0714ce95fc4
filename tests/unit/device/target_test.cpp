#include "device/target.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace plait {
namespace {

TEST(Target, NamesOfGpus) {
  const Target a100 = target_named("sm_80"), hopper = target_named("sm_90a"), later = target_named("sm_101");
  EXPECT_TRUE(a100.cuda());
  EXPECT_EQ(a100.compute_capability(), 80);
  EXPECT_EQ(hopper.compute_capability(), 90);
  EXPECT_EQ(hopper.architecture, "sm_90a");
  EXPECT_GT(hopper.shared_bytes, a100.shared_bytes);
  EXPECT_EQ(later.shared_bytes, target_named("sm_100").shared_bytes) << "those of the nearest earlier one";
  for (const char* bad :
       {"", "sm_", "sm_9", "sm_70", "sm_75", "sm_080", "sm_90b", "sm_90aa", "90a", "sm_-80", "x86-64-v3"})
    EXPECT_THROW(target_named(bad), UserError) << bad;
}

TEST(Target, TheHostHasLanesAndCores) {
  const Target host = host_target();
  EXPECT_EQ(host.kind, TargetKind::cpu);
  EXPECT_TRUE(host.vector_lanes == 4 || host.vector_lanes == 8 || host.vector_lanes == 16) << host.vector_lanes;
  EXPECT_GE(host.cores, 1);
  EXPECT_EQ(host.compute_capability(), 0);
  EXPECT_NE(print(host).find(host.architecture), std::string::npos) << print(host);
}

}  // namespace
}  // namespace plait
