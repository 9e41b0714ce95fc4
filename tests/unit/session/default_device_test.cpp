// The device of a program whose caller names none.
#include <gtest/gtest.h>

#include "backend/cuda/cuda_device.h"
#include "base/error.h"
#include "plait.h"
#include "reference/contraction_executable.h"
#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> negation() { return parse_fusion("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }"); }

TEST(DefaultDevice, IsTheFirstThatIsHere) {
  const std::string expected = cuda_available({}, nullptr)             ? "cuda"
                               : testing::why_no_device("cpu").empty() ? "cpu"
                                                                       : "reference";
  EXPECT_EQ(default_device(), expected);
  const std::string host = testing::why_no_device("cpu").empty() ? "cpu" : "reference";
  EXPECT_EQ(default_device(1, "mpi"), host);              // MPI moves host memory
  EXPECT_EQ(default_device(1 << 20, "local"), host);      // no machine has as many GPUs
  EXPECT_EQ(default_device(1 << 20, "given"), expected);  // one rank a process
}

TEST(DefaultDevice, IsThatOfAProgramWithoutOne) {
  Compiled p = compile(*negation());
  EXPECT_EQ(p.device().name(), default_device());
  EXPECT_EQ(p.run({{"x", Tensor::from_doubles(DType::f32, {2}, {1, -2})}}).at("y").to_doubles(),
            (std::vector<double>{-1, 2}));
  EXPECT_EQ(&p.device(), &find_device(default_device(), {}));
}

TEST(DefaultDevice, GivesWayToWhatIsNamedAndToADeviceOfTheCaller) {
  CompileOptions how;
  how.device = "reference";
  EXPECT_EQ(compile(*negation(), how).device().name(), "reference");
  const auto own = reference::make_reference_device();
  how.device.clear();
  how.device_override = own.get();
  EXPECT_EQ(&compile(*negation(), how).device(), own.get());
  how = {};
  how.device = "gpu";
  EXPECT_THROW(compile(*negation(), how), UserError);
}

}  // namespace
}  // namespace plait
