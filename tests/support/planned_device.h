#pragma once
// The CPU in the place of any target: programs are made and bound, nothing is compiled and nothing runs.
#include <gtest/gtest.h>

#include "session/devices.h"
#include "support/forwarding_device.h"

namespace plait::testing {

class PlannedDevice : public ForwardingDevice {
 public:
  explicit PlannedDevice(Target target) : ForwardingDevice(find_device("cpu", {})), target_(std::move(target)) {}
  const Target& target() const override { return target_; }
  std::shared_ptr<Executable> compile(const KernelText&, KernelFacts*) override { return none_; }

 private:
  struct None : Executable {
    void launch(const LaunchArguments&) const override { FAIL() << "nothing runs here"; }
  };
  const Target target_;
  std::shared_ptr<Executable> none_ = std::make_shared<None>();
};

}  // namespace plait::testing
