#pragma once
// GPUs for tests: the stand-in's, beside the executable; the real ones where PLAIT_TEST_CUDA is set.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/nvrtc.h"
#include "base/environment.h"
#include "base/error.h"
#include "device/tensor.h"
#include "sim/cuda/simulator.h"

namespace plait::test {

// Functions of a driver's library by their C names, for callers that are not plait.
class DriverByName {
 public:
  explicit DriverByName(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool loaded() const { return handle_ != nullptr; }
  template <class Function>
  Function* get(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

// Devices of an architecture; every test ends without findings of the stand-in.
class CudaTest : public testing::Test {
 protected:
  static std::string beside(const char* library) {
    std::error_code error;
    return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / library).string();
  }

  // False, with the reason in reason_, where there is nothing to test on.
  bool find(const std::string& architecture, int devices) {
    std::string why_not;
    real_ = environment("PLAIT_TEST_CUDA").has_value();
    if (!nvrtc_available(&why_not)) {
      reason_ = "NVRTC: " + why_not;
      return false;
    }
    if (real_) return cuda_available(options_, &reason_);
    options_.driver = beside("libplait_sim_cuda.so");
    if (!std::filesystem::exists(options_.driver)) {
      reason_ = "libplait_sim_cuda.so: not built";
      return false;
    }
    driver_ = std::make_unique<DriverByName>(options_.driver);
    if (!driver_->loaded()) {
      reason_ = dlerror();
      ADD_FAILURE() << reason_;
      driver_ = nullptr;
      return false;
    }
    const int first = driver_->get<int(const char*, int)>("plait_sim_add_devices")(architecture.c_str(), devices);
    if (first < 0) {
      reason_ = "libplait_sim_cuda.so: does not know " + architecture;
      return false;
    }
    for (int i = 0; i < devices; ++i) options_.ordinals.push_back(first + i);
    options_.code = CudaCode::ptx;
    options_.name = "sim:" + architecture + ":" + std::to_string(devices);
    std::string cublaslt = beside("libplait_sim_cublaslt.so");
    options_.cublaslt = std::move(cublaslt);
    findings();
    return true;
  }

  void SetUp() override {
    if (!find("sm_90a", 2)) GTEST_SKIP() << reason_;
    device_ = make_cuda_device(options_);
    if (real_ && device_->count() < 2) GTEST_SKIP() << "two GPUs: there is one";
  }

  void TearDown() override {
    device_.reset();
    if (driver_) {
      EXPECT_EQ(findings(), "");
    }
  }

  std::string findings() { return driver_ ? driver_->get<const char*()>("plait_sim_take_findings")() : ""; }
  // Of the stand-in; zeros on real GPUs.
  plait_sim_counts counts() {
    plait_sim_counts out = {};
    if (driver_) driver_->get<void(plait_sim_counts*)>("plait_sim_get_counts")(&out);
    return out;
  }

  std::shared_ptr<Memory> upload(Stream& stream, const std::vector<float>& values) {
    auto memory = device_->allocator(stream.ordinal()).allocate(values.size() * sizeof(float));
    stream.copy(memory->data(), values.data(), values.size() * sizeof(float));
    stream.synchronize();
    return memory;
  }
  std::vector<float> download(Stream& stream, const Memory& memory) {
    std::vector<float> values(memory.bytes() / sizeof(float));
    stream.copy(values.data(), memory.data(), memory.bytes());
    stream.synchronize();
    return values;
  }

  bool real_ = false;
  std::string reason_;
  CudaOptions options_;
  std::unique_ptr<DriverByName> driver_;  // of the stand-in
  std::unique_ptr<Device> device_;
};

// out[i] = in[i] * factor + number for i < n: buffers {in, out}, integers {n, factor, number}.
inline KernelText scale_kernel(const std::string& name = "scale") {
  return {name,
          "extern \"C\" __global__ void " + name +
              "(const float* in, float* out, long long n, long long factor, long long number) {\n"
              "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
              "  if (i < n) out[i] = in[i] * factor + number;\n}\n",
          2, 3};
}

inline void launch_scale(const Executable& kernel, Stream& stream, const Memory& in, const Memory& out, int64_t factor,
                         int64_t number) {
  const int64_t n = int64_t(in.bytes() / sizeof(float));
  void* buffers[] = {in.data(), out.data()};
  const int64_t integers[] = {n, factor, number};
  LaunchArguments arguments;
  arguments.buffers = buffers;
  arguments.integers = integers;
  arguments.grid[0] = (n + 127) / 128;
  arguments.block[0] = 128;
  arguments.stream = &stream;
  kernel.launch(arguments);
}

inline std::vector<float> counted(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = float(i % 1000);
  return values;
}

}  // namespace plait::test
