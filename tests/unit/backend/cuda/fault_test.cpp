// Work that goes wrong while it runs: who says so, and what is left of the device.
#include <gtest/gtest.h>

#include "unit/backend/cuda/cuda_fixture.h"

namespace plait {
namespace {

using namespace test;

// On devices of their own: a fault ends their contexts.
class CudaFault : public CudaTest {
 protected:
  void SetUp() override {
    if (!find("sm_80", 1)) GTEST_SKIP() << reason_;
    if (real_) GTEST_SKIP() << "stand-in only: leaves the device unusable";
    device_ = make_cuda_device(options_);
  }
  KernelText reader() {
    return {"reads_far",
            "extern \"C\" __global__ void reads_far(const float* in, float* out, long long at) {\n"
            "  out[0] = in[at];\n}\n",
            2, 1};
  }
  void launch(const Executable& kernel, Stream& stream, const Memory& in, const Memory& out, int64_t at) {
    void* buffers[] = {in.data(), out.data()};
    const int64_t integers[] = {at};
    LaunchArguments arguments{buffers, integers};
    arguments.stream = &stream;
    kernel.launch(arguments);
  }
};

TEST_F(CudaFault, OutOfBoundsIsThrownByALaterCall) {
  {
    const auto kernel = device_->compile(reader(), nullptr);
    const auto stream = device_->make_stream(0);
    const auto in = upload(*stream, counted(8)), out = upload(*stream, counted(8));
    launch(*kernel, *stream, *in, *out, 3);
    EXPECT_EQ(download(*stream, *out)[0], 3);
    try {
      launch(*kernel, *stream, *in, *out, 1 << 20);
      stream->synchronize();
      FAIL();
    } catch (const CudaError& error) {
      EXPECT_NE(error.message().find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << error.what();
      EXPECT_NE(error.message().find("reads_far"), std::string::npos) << error.what();
    }
    const std::string found = findings();
    EXPECT_NE(found.find("reads_far"), std::string::npos) << found;
    EXPECT_NE(found.find("CUDA line 2"), std::string::npos) << "the line of the text: " << found;
    EXPECT_THROW(stream->synchronize(), CudaError) << "the context is lost";
    EXPECT_THROW(launch(*kernel, *stream, *in, *out, 0), CudaError);
  }
  device_.reset();  // gives the context back; a new one is sound
  findings();
  device_ = make_cuda_device(options_);
  const auto kernel = device_->compile(reader(), nullptr);
  const auto stream = device_->make_stream(0);
  const auto in = upload(*stream, counted(8)), out = upload(*stream, counted(8));
  launch(*kernel, *stream, *in, *out, 5);
  EXPECT_EQ(download(*stream, *out)[0], 5);
}

TEST_F(CudaFault, MissingWaitIsReported) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto one = device_->make_stream(0), two = device_->make_stream(0);
  const auto a = upload(*one, counted(64)), b = upload(*one, counted(64)), c = upload(*one, counted(64));
  try {
    launch_scale(*kernel, *one, *a, *b, 1, 1);
    launch_scale(*kernel, *two, *b, *c, 1, 1);  // nothing orders it after the write of b
    one->synchronize();
    two->synchronize();
  } catch (const CudaError&) {}
  EXPECT_NE(findings().find("scale"), std::string::npos);
}

TEST_F(CudaFault, MemoryThatWasFreed) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto stream = device_->make_stream(0);
  const auto out = upload(*stream, counted(64));
  auto in = upload(*stream, counted(64));
  void* buffers[] = {in->data(), out->data()};
  in = nullptr;
  const int64_t integers[] = {64, 1, 1};
  LaunchArguments arguments{buffers, integers};
  arguments.block[0] = 64;
  arguments.stream = stream.get();
  EXPECT_THROW(
      {
        kernel->launch(arguments);
        stream->synchronize();
      },
      CudaError);
  EXPECT_NE(findings().find("scale"), std::string::npos);
}

}  // namespace
}  // namespace plait
