#include "base/pass.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace plait {
namespace {

PassDriver::View view(std::string& ir, int* verified = nullptr) {
  return {[&ir] { return ir; },
          [verified] {
            if (verified) ++*verified;
          }};
}

TEST(Pass, RunsVerifiesAndCountsChanges) {
  DumpSink dumps;
  dumps.request("timings");
  PassDriver driver({{}, "", true, &dumps});
  std::string ir = "a";
  int verified = 0;
  driver.run("graph", "grow", view(ir, &verified), [&] { ir += "b"; });
  driver.run("graph", "rest", view(ir, &verified), [] {});
  EXPECT_EQ(ir, "ab");
  EXPECT_EQ(verified, 2);
  EXPECT_TRUE(driver.records()[0].changed);
  EXPECT_FALSE(driver.records()[1].changed);
}

TEST(Pass, SkipsAndStops) {
  PassDriver driver({{"grow"}, "rest", true, nullptr});
  std::string ir = "a";
  driver.run("graph", "grow", view(ir), [&] { ir += "b"; });
  EXPECT_EQ(ir, "a");
  EXPECT_TRUE(driver.records()[0].skipped);
  try {
    driver.run("graph", "rest", view(ir), [&] { ir += "c"; });
    FAIL();
  } catch (const StoppedAt& stop) {
    EXPECT_EQ(stop.text, "ac");
  }
}

TEST(Pass, InternalErrorNamesThePass) {
  PassDriver driver({{}, "", true, nullptr});
  try {
    driver.timed("graph", "broken", [] { PLAIT_CHECK(false, "broken"); });
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_NE(e.where().find("in graph/broken"), std::string::npos);
  }
}

TEST(Dump, ListensAndMatches) {
  DumpSink dumps;
  EXPECT_FALSE(dumps.wants("kir"));
  dumps.request("kir:k*");
  EXPECT_TRUE(dumps.wants("kir"));
  EXPECT_THROW(dumps.request("kirr"), UserError);
  EXPECT_TRUE(glob_match("k*_s?", "kernel_s1"));
  EXPECT_FALSE(glob_match("k*_s?", "kernel_s12"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_FALSE(glob_match("", "x"));
}

}  // namespace
}  // namespace plait
