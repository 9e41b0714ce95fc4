// Memory of devices: order, reuse, lack of it.
#include <gtest/gtest.h>

#include <thread>

#include "unit/backend/cuda/cuda_fixture.h"

namespace plait {
namespace {

using namespace test;

class CudaMemory : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (driver_ && !IsSkipped()) resize(size_t(64) << 20);  // small, for what fills it
  }
  void TearDown() override {
    CudaTest::TearDown();
    if (driver_ && !IsSkipped()) resize(size_t(16) << 30);
  }
  void resize(size_t bytes) { driver_->get<int(int, size_t)>("plait_sim_set_memory")(options_.ordinals[0], bytes); }
  size_t total() { return cuda_facts(options_).devices[size_t(real_ ? 0 : options_.ordinals[0])].memory_bytes; }
};

TEST_F(CudaMemory, AlignedAndLocated) {
  const auto stream = device_->make_stream(1);
  for (size_t bytes : {size_t(0), size_t(1), size_t(63), size_t(4096), size_t(1) << 20}) {
    for (Stream* order : {static_cast<Stream*>(nullptr), stream.get()}) {
      const auto memory = device_->allocator(1).allocate_on(bytes, order);
      EXPECT_NE(memory->data(), nullptr);
      EXPECT_EQ(memory->bytes(), bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % kBufferAlignment, 0u);
      EXPECT_EQ(memory->location(), (Location{false, 1}));
    }
  }
  EXPECT_THROW(device_->allocator(0).allocate_on(8, stream.get()), InternalError) << "a stream of another ordinal";
}

TEST_F(CudaMemory, FreedMemoryIsUsedAgain) {
  const auto stream = device_->make_stream(0);
  const size_t bytes = total() / 3 * 2;  // a second one would not fit beside it
  void* first = nullptr;
  for (int i = 0; i < 10; ++i) {
    const auto memory = device_->allocator(0).allocate_on(bytes, stream.get());
    if (first == nullptr) first = memory->data();
    if (real_) {
      EXPECT_EQ(memory->data(), first) << "in the order of one stream the same place serves";
    }
  }
}

TEST_F(CudaMemory, FreeComesAfterTheWork) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto stream = device_->make_stream(0);
  std::shared_ptr<Memory> last = upload(*stream, std::vector<float>(1 << 12, 1));
  for (int i = 0; i < 20; ++i) {  // each freed while the work that reads it may still wait
    auto next = device_->allocator(0).allocate_on(last->bytes(), stream.get());
    launch_scale(*kernel, *stream, *last, *next, 1, 1);
    last = std::move(next);
  }
  EXPECT_EQ(download(*stream, *last)[4095], 21);
  last = nullptr;
  auto plain = device_->allocator(0).allocate(1 << 12);
  stream->fill(plain->data(), 1, 1 << 12);
  plain = nullptr;
  stream->synchronize();
}

// The handle means another stream in the thread that drops the memory.
TEST_F(CudaMemory, OfAThreadsStreamIsDroppedByAnotherThread) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto stream = device_->adopt_stream(reinterpret_cast<void*>(uintptr_t{2}), 0);  // CU_STREAM_PER_THREAD
  const std::shared_ptr<Memory> in = upload(*stream, counted(1 << 12));
  for (int i = 0; i < 20; ++i) {
    auto out = device_->allocator(0).allocate_on(in->bytes(), stream.get());
    for (int k = 0; k < 4; ++k) launch_scale(*kernel, *stream, *in, *out, 2, 0);
    std::thread([&] { out = nullptr; }).join();
  }
  stream->synchronize();
}

TEST_F(CudaMemory, OutlivesItsStream) {
  auto stream = device_->make_stream(0);
  auto memory = device_->allocator(0).allocate_on(4096, stream.get());
  stream->fill(memory->data(), 0, 4096);
  const auto before = counts();
  stream = nullptr;
  if (!real_) {
    EXPECT_EQ(counts().streams, before.streams) << "kept for the memory's sake";
  }
  memory = nullptr;
  if (!real_) {
    EXPECT_EQ(counts().streams, before.streams - 1);
  }
}

TEST_F(CudaMemory, NothingIsLeft) {
  const auto before = counts();
  {
    CudaOptions options = options_;
    const auto device = make_cuda_device(options);
    for (int ordinal = 0; ordinal < 2; ++ordinal) {
      const auto stream = device->make_stream(ordinal);
      const auto event = stream->make_event();
      const auto memory = device->allocator(ordinal).allocate(100);
      const auto ordered = device->allocator(ordinal).allocate_on(100, stream.get());
      device->compile(scale_kernel(), nullptr);
    }
  }
  const auto after = counts();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.allocated_bytes, before.allocated_bytes);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.modules, before.modules);
}

TEST_F(CudaMemory, LackLeavesTheProcessUsable) {
  const auto stream = device_->make_stream(0);
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto in = upload(*stream, counted(100)), out = upload(*stream, counted(100));
  for (Stream* order : {static_cast<Stream*>(nullptr), stream.get()}) {
    for (size_t bytes : {total() * 2, size_t(1) << 60}) {
      try {
        device_->allocator(0).allocate_on(bytes, order);
        FAIL() << bytes;
      } catch (const CudaMemoryError& error) {
        EXPECT_NE(error.message().find("no memory for " + std::to_string(bytes) + " bytes"), std::string::npos)
            << error.what();
        EXPECT_NE(error.where().find("device"), std::string::npos);
      }
    }
    EXPECT_NE(device_->allocator(0).allocate_on(1000, order), nullptr);
    launch_scale(*kernel, *stream, *in, *out, 2, 0);
    EXPECT_EQ(download(*stream, *out)[50], 100);
  }
}

TEST_F(CudaMemory, CachedMemoryIsGivenBackForOtherSizes) {
  if (real_) GTEST_SKIP() << "stand-in only: fills the device";
  const auto stream = device_->make_stream(0);
  const size_t most = total() / 8 * 5;
  for (int i = 0; i < 3; ++i) {  // none fits beside what the one before left in the pool
    const auto memory = device_->allocator(0).allocate_on(most + size_t(i) * 4096, stream.get());
    EXPECT_NE(memory, nullptr);
  }
  EXPECT_NE(device_->allocator(0).allocate(most), nullptr);
}

}  // namespace
}  // namespace plait
