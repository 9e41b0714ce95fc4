// What a user of the driver API may rely on. Runs against the stand-in, and against a real driver where
// PLAIT_TEST_LIBCUDA names one.
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>

#include "unit/sim/cuda/contract.h"

namespace plait::sim {
namespace {

TEST_F(ContractTest, Initialisation) {
  refused(cu.cuInit(1), CUDA_ERROR_INVALID_VALUE);
  int version = 0;
  EXPECT_OK(cu.cuDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
  refused(cu.cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContractTest, TextsOfResults) {
  const char* text = nullptr;
  EXPECT_OK(cu.cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_OK(cu.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  EXPECT_OK(cu.cuGetErrorName(CUDA_SUCCESS, &text));
  EXPECT_STREQ(text, "CUDA_SUCCESS");
  EXPECT_EQ(cu.cuGetErrorName(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(cu.cuGetErrorString(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContractTest, AddressesOfCalls) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  EXPECT_OK(cu.cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  ASSERT_NE(found, nullptr);
  CUdeviceptr memory = 0;
  EXPECT_OK(reinterpret_cast<decltype(&::cuMemAlloc)>(found)(&memory, 16));
  EXPECT_OK(cu.cuMemFree(memory));
  EXPECT_OK(cu.cuGetProcAddress("cuCtxSynchronize", &found, 13000, 0, &status));
  EXPECT_OK(reinterpret_cast<decltype(&::cuCtxSynchronize_v2)>(found)(context));
  failed(cu.cuGetProcAddress("cuNoSuchCall", &found, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  failed(cu.cuGetProcAddress("cuMemAllocAsync", &found, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST_F(ContractTest, Devices) {
  int count = 0, value = 0;
  EXPECT_OK(cu.cuDeviceGetCount(&count));
  ASSERT_GE(count, 1);
  CUdevice device = -1;
  EXPECT_OK(cu.cuDeviceGet(&device, 0));
  failed(cu.cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  failed(cu.cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  char name[100] = "";
  EXPECT_OK(cu.cuDeviceGetName(name, sizeof name, 0));
  EXPECT_GT(std::strlen(name), 0u);
  EXPECT_OK(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  EXPECT_EQ(value, 32);
  EXPECT_OK(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT_GE(value, 8);
  EXPECT_OK(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0));
  EXPECT_EQ(value, 1);
  EXPECT_OK(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_GT(value, 1);
  refused(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  size_t bytes = 0, free = 0, total = 0;
  EXPECT_OK(cu.cuDeviceTotalMem(&bytes, 0));
  EXPECT_OK(cu.cuMemGetInfo(&free, &total));
  EXPECT_LE(free, total);
  EXPECT_GT(bytes, size_t(1) << 30);
  char bus[32] = "";
  EXPECT_OK(cu.cuDeviceGetPCIBusId(bus, sizeof bus, 0));
  EXPECT_OK(cu.cuDeviceGetByPCIBusId(&device, bus));
  EXPECT_EQ(device, 0);
  CUuuid first, second;
  EXPECT_OK(cu.cuDeviceGetUuid(&first, 0));
  if (count > 1) {
    EXPECT_OK(cu.cuDeviceGetUuid(&second, 1));
    EXPECT_NE(std::memcmp(&first, &second, sizeof first), 0);
  }
}

TEST_F(ContractTest, CurrentContext) {
  CUcontext now = nullptr, again = nullptr;
  EXPECT_OK(cu.cuCtxGetCurrent(&now));
  EXPECT_EQ(now, context);
  EXPECT_OK(cu.cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_OK(cu.cuDevicePrimaryCtxRelease(0));
  unsigned flags = 9;
  int active = 0;
  EXPECT_OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  CUdevice device = -1;
  EXPECT_OK(cu.cuCtxGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_OK(cu.cuCtxPushCurrent(context));
  EXPECT_OK(cu.cuCtxPopCurrent(&now));
  EXPECT_EQ(now, context);
  EXPECT_OK(cu.cuCtxSetCurrent(nullptr));
  EXPECT_OK(cu.cuCtxGetCurrent(&now));
  EXPECT_EQ(now, nullptr);
  CUdeviceptr memory = 0;
  refused(cu.cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT, {"no context is current"});
  refused(cu.cuCtxPopCurrent(&now), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_OK(cu.cuCtxSetCurrent(context));
}

TEST_F(ContractTest, ContextIsCurrentPerThread) {
  std::thread([&] {
    CUcontext now = context;
    EXPECT_OK(cu.cuCtxGetCurrent(&now));
    EXPECT_EQ(now, nullptr);
    EXPECT_OK(cu.cuCtxSetCurrent(context));
    CUdeviceptr memory = 0;
    EXPECT_OK(cu.cuMemAlloc(&memory, 16));
    EXPECT_OK(cu.cuMemFree(memory));
  }).join();
}

TEST_F(ContractTest, OwnContext) {
  CUcontext made = nullptr, now = nullptr;
  ASSERT_OK(cu.cuCtxCreate(&made, nullptr, 0, 0));
  EXPECT_OK(cu.cuCtxGetCurrent(&now));
  EXPECT_EQ(now, made);
  EXPECT_NE(made, context);
  EXPECT_OK(cu.cuCtxDestroy(made));
  EXPECT_OK(cu.cuCtxGetCurrent(&now));
  EXPECT_EQ(now, context);
}

TEST_F(ContractTest, CopiesRoundTrip) {
  std::vector<int> values(1000), back(1000);
  for (int i = 0; i < 1000; ++i) values[i] = i * 7;
  const CUdeviceptr a = allocate(4000), b = allocate(4000);
  EXPECT_OK(cu.cuMemcpyHtoD(a, values.data(), 4000));
  EXPECT_OK(cu.cuMemcpyDtoD(b, a, 4000));
  EXPECT_OK(cu.cuMemcpyDtoH(back.data(), b, 4000));
  EXPECT_EQ(back, values);
  // Without saying which side is which, from the middle, and nothing at all.
  std::vector<int> part(10);
  EXPECT_OK(cu.cuMemcpy(reinterpret_cast<CUdeviceptr>(part.data()), b + 400, 40));
  EXPECT_EQ(part[0], 700);
  EXPECT_OK(cu.cuMemcpyHtoD(a, values.data(), 0));
  const CUstream on = stream();
  EXPECT_OK(cu.cuMemcpyAsync(a, reinterpret_cast<CUdeviceptr>(part.data()), 40, on));
  EXPECT_OK(cu.cuMemcpyDtoHAsync(back.data(), a, 40, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(back[0], 700);
}

TEST_F(ContractTest, PageableSourceIsReadByTheCall) {
  std::vector<int> values(1000, 5);
  const CUdeviceptr a = allocate(4000);
  const CUstream on = stream();
  EXPECT_OK(cu.cuMemcpyHtoDAsync(a, values.data(), 4000, on));
  std::fill(values.begin(), values.end(), 6);
  EXPECT_OK(cu.cuMemcpyDtoHAsync(values.data(), a, 4000, on));
  EXPECT_EQ(values[999], 5);
  EXPECT_OK(cu.cuStreamSynchronize(on));
}

TEST_F(ContractTest, CopiesOfRows) {
  std::vector<int> from(40), to(60, -1);
  for (int i = 0; i < 40; ++i) from[i] = i;
  const CUdeviceptr a = allocate(160);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = 32;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = a;
  copy.dstPitch = 16;
  copy.WidthInBytes = 16;
  copy.Height = 5;
  EXPECT_OK(cu.cuMemcpy2D(&copy));
  const CUstream on = stream(CU_STREAM_DEFAULT);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to.data();
  copy.dstPitch = 48;
  copy.dstXInBytes = 4;
  EXPECT_OK(cu.cuMemcpy2DAsync(&copy, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(to[0], -1);
  EXPECT_EQ(to[1], 0);
  EXPECT_EQ(to[4], 3);
  EXPECT_EQ(to[5], -1);
  EXPECT_EQ(to[13], 8);
  EXPECT_EQ(to[52], 35);
  copy.srcPitch = 12;
  refused(cu.cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE, {"pitch of 12 bytes for rows of 16 bytes"});
}

TEST_F(ContractTest, Fills) {
  const CUdeviceptr a = allocate(64);
  std::vector<unsigned char> bytes(64);
  EXPECT_OK(cu.cuMemsetD8(a, 1, 64));
  EXPECT_OK(cu.cuMemsetD16(a + 2, 0x0302, 3));
  EXPECT_OK(cu.cuMemsetD32(a + 16, 0x07060504, 2));
  EXPECT_OK(cu.cuMemsetD2D8(a + 32, 8, 9, 3, 4));
  EXPECT_OK(cu.cuMemcpyDtoH(bytes.data(), a, 64));
  const unsigned char expected[64] = {1, 1, 2, 3, 2, 3, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 4, 5, 6, 7, 4, 5,
                                      6, 7, 1, 1, 1, 1, 1, 1, 1, 1, 9, 9, 9, 1, 1, 1, 1, 1, 9, 9, 9, 1,
                                      1, 1, 1, 1, 9, 9, 9, 1, 1, 1, 1, 1, 9, 9, 9, 1, 1, 1, 1, 1};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, 64), 0);
  EXPECT_OK(cu.cuMemsetD8Async(a, 0, 0, nullptr));
  refused(cu.cuMemsetD32(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE, {"misaligned"});
  refused(cu.cuMemsetD16(a + 1, 0, 1), CUDA_ERROR_INVALID_VALUE, {"misaligned"});
}

TEST_F(ContractTest, OutOfMemoryLeavesAllElseUsable) {
  size_t free = 0, total = 0;
  EXPECT_OK(cu.cuMemGetInfo(&free, &total));
  CUdeviceptr memory = 0;
  failed(cu.cuMemAlloc(&memory, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  failed(cu.cuMemAlloc(&memory, ~size_t(0)), CUDA_ERROR_OUT_OF_MEMORY);
  const CUstream on = stream();
  failed(cu.cuMemAllocAsync(&memory, total + (size_t(1) << 30), on), CUDA_ERROR_OUT_OF_MEMORY);
  const CUdeviceptr a = allocate(400);
  EXPECT_OK(fill(on, a, 5, 100));
  EXPECT_EQ(read(a, 100), std::vector<float>(100, 5));
  refused(cu.cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cu.cuStreamSynchronize(on));
}

TEST_F(ContractTest, PooledAllocations) {
  const CUstream on = stream();
  CUmemoryPool pool = nullptr, made = nullptr;
  EXPECT_OK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
  EXPECT_NE(pool, nullptr);
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  EXPECT_OK(cu.cuMemPoolCreate(&made, &properties));
  cuuint64_t keep = ~cuuint64_t(0), value = 1;
  EXPECT_OK(cu.cuMemPoolSetAttribute(made, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  CUdeviceptr first = 0, second = 0;
  EXPECT_OK(cu.cuMemAllocFromPoolAsync(&first, 1 << 20, made, on));
  EXPECT_OK(cu.cuMemPoolGetAttribute(made, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT_EQ(value, cuuint64_t(1) << 20);
  EXPECT_OK(cu.cuMemFreeAsync(first, on));
  EXPECT_OK(cu.cuMemPoolGetAttribute(made, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  const cuuint64_t reserved = value;
  EXPECT_GE(reserved, cuuint64_t(1) << 20);
  EXPECT_OK(cu.cuMemAllocFromPoolAsync(&second, 1 << 20, made, on));  // the same stream: used again at once
  EXPECT_OK(cu.cuMemPoolGetAttribute(made, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT_EQ(value, reserved);
  EXPECT_OK(fill(on, second, 2, 1 << 18));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_OK(cu.cuMemFreeAsync(second, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_OK(cu.cuMemPoolTrimTo(made, 0));
  EXPECT_OK(cu.cuMemPoolGetAttribute(made, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT_EQ(value, 0u);
  EXPECT_OK(cu.cuMemPoolDestroy(made));
}

TEST_F(ContractTest, PointersSayWhatTheyAre) {
  const CUdeviceptr a = allocate(100);
  unsigned type = 0;
  int device = -1;
  EXPECT_OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 50));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_OK(cu.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
  EXPECT_EQ(device, 0);
  CUcontext owner = nullptr;
  EXPECT_OK(cu.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, a));
  EXPECT_EQ(owner, context);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  EXPECT_OK(cu.cuMemGetAddressRange(&base, &bytes, a + 99));
  EXPECT_EQ(base, a);
  EXPECT_EQ(bytes, 100u);
  int here = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&here);
  failed(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown), CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* data[] = {&type, &device};
  EXPECT_OK(cu.cuPointerGetAttributes(2, attributes, data, unknown));
  EXPECT_EQ(type, 0u);
  EXPECT_OK(cu.cuPointerGetAttributes(2, attributes, data, a));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  void* pinned = nullptr;
  EXPECT_OK(cu.cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_PORTABLE));
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  EXPECT_OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_OK(cu.cuMemHostGetDevicePointer(&base, pinned, 0));
  EXPECT_EQ(base, address);
  EXPECT_OK(cu.cuMemFreeHost(pinned));
  std::vector<char> own(8192);
  EXPECT_OK(cu.cuMemHostRegister(own.data(), own.size(), 0));
  refused(cu.cuMemHostRegister(own.data(), own.size(), 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_OK(cu.cuMemHostUnregister(own.data()));
  refused(cu.cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(ContractTest, StreamsSayWhatTheyAre) {
  int least = -1, greatest = 1, priority = 9;
  EXPECT_OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, 0);
  CUstream on = nullptr;
  EXPECT_OK(cu.cuStreamCreateWithPriority(&on, CU_STREAM_NON_BLOCKING, greatest - 100));
  streams.push_back(on);
  EXPECT_OK(cu.cuStreamGetPriority(on, &priority));
  EXPECT_EQ(priority, greatest);
  unsigned flags = 9;
  EXPECT_OK(cu.cuStreamGetFlags(on, &flags));
  EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
  CUcontext owner = nullptr;
  EXPECT_OK(cu.cuStreamGetCtx(on, &owner));
  EXPECT_EQ(owner, context);
  EXPECT_OK(cu.cuStreamGetCtx(nullptr, &owner));
  EXPECT_EQ(owner, context);
  refused(cu.cuStreamCreate(&on, 77), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cu.cuStreamQuery(CU_STREAM_PER_THREAD));
  EXPECT_OK(cu.cuStreamSynchronize(CU_STREAM_LEGACY));
}

TEST_F(ContractTest, QueriesDoNotWait) {
  const CUstream on = stream();
  const CUevent done = event();
  EXPECT_OK(cu.cuEventQuery(done));  // never recorded
  EXPECT_OK(cu.cuEventSynchronize(done));
  std::atomic<bool> go = false;
  const CUhostFn wait = [](void* data) {
    while (!*static_cast<std::atomic<bool>*>(data)) std::this_thread::yield();
  };
  EXPECT_OK(cu.cuLaunchHostFunc(on, wait, &go));
  EXPECT_OK(cu.cuEventRecord(done, on));
  failed(cu.cuStreamQuery(on), CUDA_ERROR_NOT_READY);
  failed(cu.cuEventQuery(done), CUDA_ERROR_NOT_READY);
  go = true;
  EXPECT_OK(cu.cuEventSynchronize(done));
  EXPECT_OK(cu.cuEventQuery(done));
  EXPECT_OK(cu.cuStreamSynchronize(on));
}

TEST_F(ContractTest, HostFunctionsRunInOrder) {
  const CUstream on = stream();
  const CUdeviceptr a = allocate(400);
  std::vector<float> seen(100);
  void* pinned = nullptr;
  EXPECT_OK(cu.cuMemAllocHost(&pinned, 400));
  struct Step {
    void* from;
    std::vector<float>* to;
  } step{pinned, &seen};
  EXPECT_OK(fill(on, a, 8, 100));
  EXPECT_OK(cu.cuMemcpyDtoHAsync(pinned, a, 400, on));
  EXPECT_OK(cu.cuLaunchHostFunc(
      on, [](void* data) { std::memcpy(static_cast<Step*>(data)->to->data(), static_cast<Step*>(data)->from, 400); },
      &step));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(seen, std::vector<float>(100, 8));
  EXPECT_OK(cu.cuMemFreeHost(pinned));
}

TEST_F(ContractTest, ElapsedTime) {
  const CUevent start = event(CU_EVENT_DEFAULT), end = event(CU_EVENT_DEFAULT), untimed = event();
  const CUstream on = stream();
  float milliseconds = -1;
  refused(cu.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE, {"never recorded"});
  EXPECT_OK(cu.cuEventRecord(start, on));
  EXPECT_OK(cu.cuEventRecord(end, on));
  EXPECT_OK(cu.cuEventRecord(untimed, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_OK(cu.cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  refused(cu.cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE, {"without timing"});
}

TEST_F(ContractTest, Modules) {
  CUfunction function = nullptr;
  failed(cu.cuModuleGetFunction(&function, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  unsigned count = 0;
  EXPECT_OK(cu.cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 4u);
  CUdeviceptr variable = 0;
  size_t bytes = 0;
  EXPECT_OK(cu.cuModuleGetGlobal(&variable, &bytes, module, "counter"));
  EXPECT_EQ(bytes, 4u);
  int value = 0;
  EXPECT_OK(cu.cuMemcpyDtoH(&value, variable, 4));
  EXPECT_EQ(value, 7);
  CUdeviceptr out = allocate(4);
  void* parameters[] = {&out};
  EXPECT_OK(cu.cuLaunchKernel(kernel("count"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  failed(cu.cuModuleGetGlobal(&variable, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("fill")));
  EXPECT_EQ(value, 1024);
  size_t offset = 0;
  EXPECT_OK(cu.cuFuncGetParamInfo(kernel("fill"), 2, &offset, &bytes));
  EXPECT_EQ(offset, 12u);
  EXPECT_EQ(bytes, 4u);
  failed(cu.cuFuncGetParamInfo(kernel("fill"), 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  const char* name = nullptr;
  EXPECT_OK(cu.cuFuncGetName(&name, kernel("add")));
  EXPECT_STREQ(name, "add");
  EXPECT_OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("fill"), 256, 0));
  EXPECT_EQ(value, 8);
  int grid = 0, block = 0;
  EXPECT_OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("fill"), nullptr, 0, 0));
  EXPECT_GE(block, 512);
  EXPECT_OK(cu.cuCtxSynchronize());
}

TEST_F(ContractTest, ModulesThatCannotBe) {
  CUmodule made = nullptr;
  char log[2000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(
      cu.cuModuleLoadDataEx(&made, ".version 9.0\n.target sm_80\n.address_size 64\nnonsense\n", 2, options, values),
      CUDA_ERROR_INVALID_PTX);
  EXPECT_GT(std::strlen(log), 0u);
  findings();
  const std::string text = kKernels;
  const auto with = [&](const char* from, const char* to) {
    std::string changed = text;
    return changed.replace(changed.find(from), std::strlen(from), to);
  };
  failed(cu.cuModuleLoadData(&made, with(".version 9.0", ".version 99.0").c_str()), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
}

TEST_F(ContractTest, Libraries) {
  CUlibrary library = nullptr;
  ASSERT_OK(cu.cuLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel found = nullptr;
  EXPECT_OK(cu.cuLibraryGetKernel(&found, library, "fill"));
  failed(cu.cuLibraryGetKernel(&found, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  CUfunction function = nullptr;
  EXPECT_OK(cu.cuKernelGetFunction(&function, found));
  CUdeviceptr a = allocate(400);
  float value = 3;
  int n = 100;
  void* parameters[] = {&a, &value, &n};
  EXPECT_OK(cu.cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(read(a, 100), std::vector<float>(100, 3));
  value = 4;  // a kernel may stand where a function is asked for
  EXPECT_OK(cu.cuLaunchKernel(reinterpret_cast<CUfunction>(found), 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(read(a, 100), std::vector<float>(100, 4));
  EXPECT_OK(cu.cuLibraryUnload(library));
}

TEST_F(ContractTest, Peers) {
  int count = 0, can = 0;
  EXPECT_OK(cu.cuDeviceGetCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  EXPECT_OK(cu.cuDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_OK(cu.cuDeviceCanAccessPeer(&can, 0, 1));
  if (can == 0) GTEST_SKIP() << "the devices cannot reach each other";
  CUcontext other = nullptr;
  ASSERT_OK(cu.cuDevicePrimaryCtxRetain(&other, 1));
  EXPECT_OK(cu.cuCtxEnablePeerAccess(other, 0));
  failed(cu.cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  refused(cu.cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_OK(cu.cuCtxPushCurrent(other));
  CUdeviceptr theirs = 0;
  EXPECT_OK(cu.cuMemAlloc(&theirs, 400));
  CUcontext popped = nullptr;
  EXPECT_OK(cu.cuCtxPopCurrent(&popped));
  EXPECT_OK(fill(nullptr, theirs, 7, 100));
  EXPECT_EQ(read(theirs, 100), std::vector<float>(100, 7));
  const CUdeviceptr ours = allocate(400);
  EXPECT_OK(cu.cuMemcpyPeer(ours, context, theirs, other, 400));
  EXPECT_EQ(read(ours, 100), std::vector<float>(100, 7));
  EXPECT_OK(cu.cuCtxDisablePeerAccess(other));
  refused(cu.cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_OK(cu.cuCtxPushCurrent(other));
  EXPECT_OK(cu.cuMemFree(theirs));
  EXPECT_OK(cu.cuCtxPopCurrent(&popped));
  EXPECT_OK(cu.cuDevicePrimaryCtxRelease(1));
}

}  // namespace
}  // namespace plait::sim
