#include "base/error.h"

#include <gtest/gtest.h>

namespace plait {

TEST(Error, TextHoldsWhatWhereAndRemedy) {
  UserError e("extents differ", "linear: %x dim 1", "make them equal");
  EXPECT_STREQ(e.what(), "extents differ\n  at: linear: %x dim 1\n  help: make them equal");
}

TEST(Error, FailedCheckNamesFileAndCondition) {
  try {
    PLAIT_CHECK(1 == 2, "{} is not {}", 1, 2);
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_EQ(e.message(), "1 is not 2 (1 == 2)");
  }
}

}  // namespace plait
