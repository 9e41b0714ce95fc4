#pragma once
// The stand-in for the driver, loaded as a program loads it, and devices and memory of tests.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include "cuda_abi/driver.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/cuda/simulator.h"

namespace plait::test {

class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  void* find(const char* name) const { return dlsym(handle_, name); }
  template <class Function>
  Function get(const char* name) const {
    void* found = find(name);
    if (found == nullptr) throw std::runtime_error(std::string("no function ") + name);
    return reinterpret_cast<Function>(found);
  }

 private:
  void* handle_;
};

// Names in cuda.h may be macros for versions of functions.
#define PLAIT_TEST_NAME_OF(name) PLAIT_TEST_NAME(name)
#define PLAIT_TEST_NAME(name) #name

struct Driver {
#define X(name) decltype(&::name) name;
#include "unit/sim/cublaslt/driver_calls.def"
#undef X
  explicit Driver(const Library& library) {
#define X(name) name = library.get<decltype(name)>(PLAIT_TEST_NAME_OF(name));
#include "unit/sim/cublaslt/driver_calls.def"
#undef X
  }
};

inline void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(std::string(what) + ": CUresult " + std::to_string(result));
}

// `devices` simulated devices with primary contexts; device 0 is current. One per process.
class Machine {
 public:
  Machine(const std::string& build, int devices)
      : library(build + "/libplait_sim_cuda.so"), driver(library), contexts(static_cast<size_t>(devices)) {
    if (driver.plait_sim_add_devices("sm_80", devices) != 0) throw std::runtime_error("other devices were there");
    check(driver.cuInit(0), "cuInit");
    for (int i = 0; i < devices; ++i) check(driver.cuDevicePrimaryCtxRetain(&contexts[i], i), "a context");
    use(0);
  }
  void use(int device) const { check(driver.cuCtxSetCurrent(contexts[device]), "cuCtxSetCurrent"); }
  // After a fault of its context the device starts anew: its memory and streams are gone.
  void reset(int device) {
    check(driver.cuDevicePrimaryCtxReset(device), "cuDevicePrimaryCtxReset");
    check(driver.cuDevicePrimaryCtxRetain(&contexts[device], device), "a context");
    use(0);
  }
  std::string findings() const { return driver.plait_sim_take_findings(); }

  // Memory of the current device that holds the bytes of the values.
  template <class T>
  CUdeviceptr upload(const std::vector<T>& values) const {
    CUdeviceptr address = allocate(values.size() * sizeof(T));
    write(address, values);
    return address;
  }
  template <class T>
  void write(CUdeviceptr address, const std::vector<T>& values) const {
    if (values.empty()) return;
    check(driver.cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)), "cuMemcpyHtoD");
    // A copy from pageable memory may return before the bytes are there.
    check(driver.cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  }
  CUdeviceptr allocate(size_t bytes) const {
    CUdeviceptr address = 0;
    check(driver.cuMemAlloc(&address, bytes == 0 ? 1 : bytes), "cuMemAlloc");
    return address;
  }
  template <class T>
  std::vector<T> download(CUdeviceptr address, size_t count) const {
    std::vector<T> values(count);
    check(driver.cuMemcpyDtoH(values.data(), address, count * sizeof(T)), "cuMemcpyDtoH");
    return values;
  }
  CUstream stream() const {
    CUstream stream = nullptr;
    check(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    return stream;
  }

  Library library;
  Driver driver;
  std::vector<CUcontext> contexts;
};

inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
}

}  // namespace plait::test
