#pragma once
// Calls that a driver answers with a code: what a user of its API may rely on.
#include "unit/sim/cuda/driver_fixture.h"

namespace plait::sim {

class ContractTest : public DriverTest {
 protected:
  // The call is the caller's mistake: it answers with a code, and the stand-in says what is wrong.
  void refused(CUresult got, CUresult expected, const std::vector<std::string>& parts = {}) {
    EXPECT_EQ(got, expected);
    if (!simulated()) return;
    const std::string all = findings();
    EXPECT_NE(all, "");
    for (const std::string& part : parts) EXPECT_NE(all.find(part), all.npos) << part << "\n  is not in\n" << all;
  }
  // A failure that correct programs meet too.
  void failed(CUresult got, CUresult expected) {
    EXPECT_EQ(got, expected);
    EXPECT_EQ(findings(), "");
  }
};

}  // namespace plait::sim
