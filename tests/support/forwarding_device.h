#pragma once
// A device that hands everything to another one: for tests that change a part of it.
#include "device/device.h"

namespace plait::testing {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& inner) : inner_(inner) {}
  std::string name() const override { return inner_.name(); }
  const Target& target() const override { return inner_.target(); }
  int count() const override { return inner_.count(); }
  bool host_memory() const override { return inner_.host_memory(); }
  Allocator& allocator(int ordinal) override { return inner_.allocator(ordinal); }
  std::shared_ptr<Memory> shared_memory(size_t bytes, int ordinal) override {
    return inner_.shared_memory(bytes, ordinal);
  }
  std::unique_ptr<Stream> make_stream(int ordinal) override { return inner_.make_stream(ordinal); }
  std::unique_ptr<Stream> adopt_stream(void* native, int ordinal) override {
    return inner_.adopt_stream(native, ordinal);
  }
  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) override {
    return inner_.compile(kernel, facts);
  }
  std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) override {
    return inner_.library(contraction, why_not);
  }

 protected:
  Device& inner_;
};

}  // namespace plait::testing
