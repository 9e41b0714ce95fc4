// The device as a guest in somebody else's process: contexts, streams and threads stay as they were.
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/backend/cuda/cuda_fixture.h"

extern char** environ;

namespace plait {
namespace {

using namespace test;

// Calls of an owner of the process, by C names: int is CUresult, void* a handle.
struct Owner {
  explicit Owner(const DriverByName& driver)
      : current(driver.get<int(void**)>("cuCtxGetCurrent")),
        set_current(driver.get<int(void*)>("cuCtxSetCurrent")),
        retain(driver.get<int(void**, int)>("cuDevicePrimaryCtxRetain")),
        release(driver.get<int(int)>("cuDevicePrimaryCtxRelease_v2")),
        state(driver.get<int(int, unsigned*, int*)>("cuDevicePrimaryCtxGetState")),
        make_stream(driver.get<int(void**, unsigned)>("cuStreamCreate")),
        destroy_stream(driver.get<int(void*)>("cuStreamDestroy_v2")) {}
  int (*current)(void**);
  int (*set_current)(void*);
  int (*retain)(void**, int);
  int (*release)(int);
  int (*state)(int, unsigned*, int*);
  int (*make_stream)(void**, unsigned);
  int (*destroy_stream)(void*);
};

size_t threads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

std::vector<std::string> variables() {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) out.push_back(*each);
  return out;
}

class CudaGuest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    if (real_) GTEST_SKIP() << "stand-in only";
    owner_ = std::make_unique<Owner>(*driver_);
  }
  void* current() {
    void* context = nullptr;
    EXPECT_EQ(owner_->current(&context), 0);
    return context;
  }
  std::unique_ptr<Owner> owner_;
};

// Every kind of public call once, on the ordinal.
void use_everything(Device& device, int ordinal, const std::function<void(const char*)>& after) {
  const auto stream = device.make_stream(ordinal);
  after("make_stream");
  const auto adopted = device.adopt_stream(stream->native(), ordinal);
  after("adopt_stream");
  const auto kernel = device.compile(scale_kernel(), nullptr);
  after("compile");
  const auto in = device.allocator(ordinal).allocate(400), out = device.allocator(ordinal).allocate_on(400, &*stream);
  after("allocate");
  stream->fill(in->data(), 0, 400);
  after("fill");
  stream->copy(out->data(), in->data(), 400);
  stream->copy_rows(out->data(), 200, in->data(), 200, 100, 2);
  after("copy");
  launch_scale(*kernel, *stream, *in, *out, 1, 1);
  after("launch");
  const auto event = stream->make_event();
  stream->record(*event);
  stream->wait(*event);
  after("events");
  event->done();
  stream->done();
  stream->synchronize();
  after("synchronize");
  stream->begin_capture();
  launch_scale(*kernel, *stream, *in, *out, 1, 1);
  const auto graph = stream->end_capture();
  graph->launch(*stream);
  stream->synchronize();
  after("graphs");
  EXPECT_THROW(device.allocator(ordinal).allocate(size_t(1) << 60), CudaMemoryError);
  after("an error");
}

TEST_F(CudaGuest, CurrentContextStays) {
  void* contexts[3] = {};
  for (int i = 0; i < 2; ++i) ASSERT_EQ(owner_->retain(&contexts[i + 1], options_.ordinals[size_t(i)]), 0);
  for (void* context : contexts) {  // none, that of the ordinal used, that of another
    ASSERT_EQ(owner_->set_current(context), 0);
    use_everything(*device_, 0, [&](const char* call) { EXPECT_EQ(current(), context) << call; });
    EXPECT_EQ(current(), context) << "released";
  }
  ASSERT_EQ(owner_->set_current(nullptr), 0);
  device_.reset();
  for (int ordinal : options_.ordinals) owner_->release(ordinal);
}

TEST_F(CudaGuest, PrimaryContextsAreUsedAndGivenBack) {
  const auto active = [&](int i) {
    unsigned flags;
    int out = -1;
    EXPECT_EQ(owner_->state(options_.ordinals[size_t(i)], &flags, &out), 0);
    return out;
  };
  EXPECT_EQ(active(0), 0) << "making the device opens nothing";
  auto stream = device_->make_stream(0);
  EXPECT_EQ(active(0), 1);
  EXPECT_EQ(active(1), 0);
  void* inside = nullptr;
  with_cuda_context(*device_, 0, [&] { inside = current(); });
  void* primary = nullptr;
  ASSERT_EQ(owner_->retain(&primary, options_.ordinals[0]), 0);
  EXPECT_EQ(inside, primary);
  owner_->release(options_.ordinals[0]);
  device_.reset();
  EXPECT_EQ(active(0), 1) << "the stream still needs it";
  stream.reset();
  EXPECT_EQ(active(0), 0);
}

TEST_F(CudaGuest, OnACallersStreamNothingElseIsTouched) {
  void *context = nullptr, *native = nullptr;
  ASSERT_EQ(owner_->retain(&context, options_.ordinals[0]), 0);
  ASSERT_EQ(owner_->set_current(context), 0);
  ASSERT_EQ(owner_->make_stream(&native, 1), 0);
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  ASSERT_EQ(owner_->set_current(nullptr), 0);
  const auto stream = device_->adopt_stream(native, 0);
  const auto in = upload(*stream, counted(100)), out = upload(*stream, counted(100));
  launch_scale(*kernel, *stream, *in, *out, 1, 0);
  stream->synchronize();

  const auto before = counts();
  const size_t threads_before = threads();
  const auto variables_before = variables();
  {
    const auto guest = device_->adopt_stream(native, 0);
    launch_scale(*kernel, *guest, *in, *out, 2, 0);
    guest->copy(in->data(), out->data(), out->bytes());
    while (!guest->done()) continue;
  }
  const auto after = counts();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.modules, before.modules);
  EXPECT_EQ(after.launches, before.launches + 1);
  EXPECT_EQ(threads(), threads_before);
  EXPECT_EQ(variables(), variables_before);
  EXPECT_EQ(download(*stream, *in)[50], 100);
  ASSERT_EQ(owner_->set_current(context), 0);
  EXPECT_EQ(owner_->destroy_stream(native), 0);
  ASSERT_EQ(owner_->set_current(nullptr), 0);
  device_.reset();
  owner_->release(options_.ordinals[0]);
}

}  // namespace
}  // namespace plait
