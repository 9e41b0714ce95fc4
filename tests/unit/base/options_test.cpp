#include "base/options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace plait {
namespace {

TEST(Options, ReadsEveryType) {
  Options o;
  set_option(o, "strict_rounding", "true");
  set_option(o, "cpu_lanes", "8");
  set_option(o, "contractions", "nest");
  EXPECT_TRUE(o.strict_rounding);
  EXPECT_EQ(o.cpu_lanes, 8);
  EXPECT_EQ(cache_key(o), "strict_rounding=true cpu_lanes=8 contractions=nest");
}

TEST(Options, OnlySomeEnterTheCacheKey) {
  Options o;
  set_option(o, "cpu_threads", "2");
  EXPECT_EQ(cache_key(o), "");
  EXPECT_EQ(changed_options(o), std::vector<std::string>{"cpu_threads=2"});
}

TEST(Options, RefusesWithSuggestion) {
  Options o;
  try {
    set_option(o, "strict_roundin", "true");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.remedy(), "did you mean `strict_rounding`?");
  }
  EXPECT_THROW(set_option(o, "strict_rounding", "yes"), UserError);
  EXPECT_THROW(set_option(o, "cpu_lanes", "3"), UserError);
  EXPECT_THROW(set_option(o, "cpu_lanes", "-1"), UserError);
  EXPECT_THROW(set_option(o, "cpu", "skylake"), UserError);
  EXPECT_THROW(set_option(o, "contractions", "cublas"), UserError);
  EXPECT_EQ(o, Options());  // a refused value changes nothing
}

}  // namespace
}  // namespace plait
