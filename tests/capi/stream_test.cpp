// A run on the caller's stream through the C ABI: tensors in a GPU's memory, memory from the caller, no waiting.
#include <cstring>
#include <map>

#include "capi/c_api.h"
#include "session/devices.h"
#include "support/run_case.h"

namespace plait::testing {
namespace {

constexpr const char* kDevice = "sim:sm_80";

// The caller's memory: the device's, by the stream that is asked for.
struct DeviceMemory {
  Device* device;
  Stream* stream;
  std::map<void*, std::shared_ptr<Memory>> held;
  int taken = 0;
  plait_allocator callbacks = {sizeof(plait_allocator), this, &allocate, &release};

  static void* allocate(void* user, size_t bytes, void* stream) {
    auto& self = *static_cast<DeviceMemory*>(user);
    EXPECT_EQ(stream, self.stream->native());
    auto memory = self.device->allocator().allocate_on(bytes, self.stream);
    void* data = memory->data();
    self.held[data] = std::move(memory);
    ++self.taken;
    return data;
  }
  static void release(void* user, void* data, size_t, void*) {
    EXPECT_EQ(static_cast<DeviceMemory*>(user)->held.erase(data), 1u);
  }
};

// Queues a run into `y`, which is in device memory; host memory, an input's and what is not aligned are refused.
void check_given_outputs(plait_program* program, const std::vector<plait_input>& inputs, plait_run_options options,
                         const Values<float>& y) {
  const auto run_into = [&](const DLTensor& tensor) {
    const plait_output given = {"y", &tensor};
    options.given = &given;
    options.given_count = 1;
    DLManagedTensorVersioned* out = nullptr;
    const std::string said = words(plait_program_run(program, inputs.data(), inputs.size(), &options, &out, 1));
    EXPECT_EQ(out, nullptr);
    return said;
  };
  DLTensor home = y.tensor, over = y.tensor, shifted = y.tensor;
  home.data = const_cast<float*>(y.data.data());
  home.device = {kDLCPU, 0};
  over.data = inputs[0].tensor->data;
  shifted.data = static_cast<char*>(shifted.data) + 4;
  EXPECT_NE(run_into(home).find("in host memory, the output in the GPU's"), std::string::npos);
  EXPECT_NE(run_into(over).find("shares memory with input %x"), std::string::npos);
  EXPECT_NE(run_into(shifted).find("aligned to 64 bytes"), std::string::npos);
  EXPECT_EQ(run_into(y.tensor), "");
}

TEST(CApiStream, QueuesItsWorkAndGivesDeviceTensors) {
  if (const auto why = why_no_device(kDevice); !why.empty()) GTEST_SKIP() << why;
  const auto fusion = parsed(
      "fusion @f (%x: f32[m, n], %w: f32[k, n]) -> (%y) { %h = linear(%x, %w) %g = gelu(%h) %y = softmax(%g, dim = -1) "
      "}");
  const auto program = compiled(fusion.get(), kDevice);
  std::vector<float> x(6 * 8), w(5 * 8);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 7 % 11) - 5) / 4;
  for (size_t i = 0; i < w.size(); ++i) w[i] = float(int(i * 5 % 13) - 6) / 8;
  Values<float> tx(x, {6, 8}, kF32), tw(w, {5, 8}, kF32), ty(std::vector<float>(6 * 5, 9), {6, 5}, kF32);
  const auto want = run(program.get(), {{"x", &tx.tensor}, {"w", &tw.tensor}});
  EXPECT_EQ(want->dl_tensor.device.device_type, kDLCPU);

  Device& device = find_device(kDevice, {});
  const auto stream = device.make_stream();
  DeviceMemory memory{&device, stream.get(), {}};
  const auto upload = [&](Values<float>& values) {
    auto on_device = device.allocator().allocate_on(values.data.size() * sizeof(float), stream.get());
    stream->copy(on_device->data(), values.data.data(), values.data.size() * sizeof(float));
    values.tensor.data = on_device->data();
    values.tensor.device = {kDLCUDA, on_device->location().ordinal};
    return on_device;
  };
  const auto x_memory = upload(tx), w_memory = upload(tw);
  plait_run_options options = {};
  options.struct_size = sizeof(options);
  options.stream = stream->native();
  options.allocator = &memory.callbacks;
  {
    const auto got = run(program.get(), {{"x", &tx.tensor}, {"w", &tw.tensor}}, &options);
    EXPECT_GT(memory.taken, 0);
    EXPECT_EQ(got->dl_tensor.device.device_type, kDLCUDA);
    std::vector<float> home(6 * 5);
    stream->copy(home.data(), static_cast<char*>(got->dl_tensor.data) + got->dl_tensor.byte_offset,
                 home.size() * sizeof(float));
    stream->synchronize();
    EXPECT_EQ(home, read<float>(*want));
  }
  const auto y_memory = upload(ty);
  check_given_outputs(program.get(), {{"x", &tx.tensor}, {"w", &tw.tensor}}, options, ty);
  std::vector<float> there(6 * 5);
  stream->copy(there.data(), y_memory->data(), there.size() * sizeof(float));
  stream->synchronize();
  EXPECT_EQ(there, read<float>(*want));
  stream->synchronize();
  EXPECT_EQ(memory.held.size(), 0u);  // all of it went back
}

TEST(CApiStream, AStreamIsRefusedOnTheHost) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }");
  const auto program = compiled(fusion.get(), "reference");
  Values<float> x({1}, {1}, kF32);
  const plait_input input = {"x", &x.tensor};
  plait_run_options options = {};
  options.struct_size = sizeof(options);
  options.stream = &options;
  DLManagedTensorVersioned* y = nullptr;
  const std::string said = words(plait_program_run(program.get(), &input, 1, &options, &y, 1));
  EXPECT_NE(said.find("1: "), std::string::npos) << said;
  EXPECT_EQ(y, nullptr);
}

}  // namespace
}  // namespace plait::testing
