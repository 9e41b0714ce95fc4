#pragma once
// The stand-in for NCCL, communicators and buffers of tests.
#include "cuda_abi/nccl.h"

#include <chrono>
#include <functional>
#include <thread>

#include "scalar/convert.h"
#include "unit/sim/cublaslt/driver.h"

extern "C" void plait_sim_nccl_set_timeout(double seconds);

namespace plait::test {

struct Nccl {
#define X(name, source) decltype(&::name) name;
#include "sim/nccl/calls.def"
#undef X
  decltype(&::plait_sim_nccl_set_timeout) set_timeout;
  explicit Nccl(const Library& library) {
#define X(name, source) name = library.get<decltype(name)>(#name);
#include "sim/nccl/calls.def"
#undef X
    set_timeout = library.get<decltype(set_timeout)>("plait_sim_nccl_set_timeout");
  }
};

// Machine and library of this process.
struct NcclWorld {
  Machine machine;
  Library library;
  Nccl nccl;
  NcclWorld(const std::string& build, int devices)
      : machine(build, devices), library(build + "/libplait_sim_nccl.so"), nccl(library) {}
};

inline size_t bytes_of(ncclDataType_t type) {
  constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[type];
}
inline void put(ncclDataType_t type, std::byte* at, double value) {
  auto copy = [&](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (type) {
    case ncclInt8:
      return copy(static_cast<int8_t>(value));
    case ncclUint8:
      return copy(static_cast<uint8_t>(value));
    case ncclInt32:
      return copy(static_cast<int32_t>(value));
    case ncclUint32:
      return copy(static_cast<uint32_t>(value));
    case ncclInt64:
      return copy(static_cast<int64_t>(value));
    case ncclUint64:
      return copy(static_cast<uint64_t>(value));
    case ncclFloat16:
      return store_double(DType::f16, at, value);
    case ncclBfloat16:
      return store_double(DType::bf16, at, value);
    case ncclFloat32:
      return copy(static_cast<float>(value));
    default:
      return copy(value);
  }
}
inline double get(ncclDataType_t type, const std::byte* at) {
  auto copy = [&](auto number) {
    std::memcpy(&number, at, sizeof number);
    return static_cast<double>(number);
  };
  switch (type) {
    case ncclInt8:
      return copy(int8_t{});
    case ncclUint8:
      return copy(uint8_t{});
    case ncclInt32:
      return copy(int32_t{});
    case ncclUint32:
      return copy(uint32_t{});
    case ncclInt64:
      return copy(int64_t{});
    case ncclUint64:
      return copy(uint64_t{});
    case ncclFloat16:
      return load_double(DType::f16, at);
    case ncclBfloat16:
      return load_double(DType::bf16, at);
    case ncclFloat32:
      return copy(float{});
    default:
      return copy(double{});
  }
}

inline std::vector<std::byte> encode(ncclDataType_t type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * bytes_of(type));
  for (size_t i = 0; i < values.size(); ++i) put(type, bytes.data() + i * bytes_of(type), values[i]);
  return bytes;
}
inline std::vector<double> decode(ncclDataType_t type, const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / bytes_of(type));
  for (size_t i = 0; i < values.size(); ++i) values[i] = get(type, bytes.data() + i * bytes_of(type));
  return values;
}

// Rank r of a team in this process, on device r (or another one): its communicator, a stream, buffers.
struct Rank {
  NcclWorld* world = nullptr;
  int rank = 0, device = 0;
  ncclComm_t comm = nullptr;
  CUstream stream = nullptr;
  std::vector<CUdeviceptr> buffers{};

  cudaStream_t native() const { return reinterpret_cast<cudaStream_t>(stream); }
  void* put(ncclDataType_t type, const std::vector<double>& values) {
    world->machine.use(device);
    buffers.push_back(world->machine.upload(encode(type, values)));
    return reinterpret_cast<void*>(buffers.back());
  }
  void* room(size_t bytes) {
    world->machine.use(device);
    buffers.push_back(world->machine.allocate(bytes));
    return reinterpret_cast<void*>(buffers.back());
  }
  std::vector<double> read(ncclDataType_t type, const void* at, size_t count) const {
    world->machine.use(device);
    return decode(type, world->machine.download<std::byte>(reinterpret_cast<CUdeviceptr>(at), count * bytes_of(type)));
  }
  CUresult synchronize() const {
    world->machine.use(device);
    return world->machine.driver.cuStreamSynchronize(stream);
  }
  ncclResult_t state() const {
    ncclResult_t error = ncclSuccess;
    EXPECT_EQ(world->nccl.ncclCommGetAsyncError(comm, &error), ncclSuccess);
    return error;
  }
};

// All ranks of a team in one process, driven by the test's thread.
class Team {
 public:
  Team(NcclWorld& world, int ranks) : world_(world), nccl(world.nccl) {
    std::vector<ncclComm_t> comms(static_cast<size_t>(ranks));
    EXPECT_EQ(nccl.ncclCommInitAll(comms.data(), ranks, nullptr), ncclSuccess);
    for (int r = 0; r < ranks; ++r) {
      world.machine.use(r);
      this->ranks.push_back({&world, r, r, comms[r], world.machine.stream()});
    }
    world.machine.use(0);
  }
  ~Team() {
    for (Rank& rank : ranks) {
      world_.machine.use(rank.device);
      if (rank.comm != nullptr) {
        EXPECT_EQ(nccl.ncclCommDestroy(rank.comm), ncclSuccess);
      }
      for (CUdeviceptr buffer : rank.buffers) world_.machine.driver.cuMemFree(buffer);
      if (rank.stream != nullptr) world_.machine.driver.cuStreamDestroy(rank.stream);
    }
    world_.machine.use(0);
  }
  int size() const { return static_cast<int>(ranks.size()); }
  // One call for every rank, in one group.
  void grouped(const std::function<ncclResult_t(Rank&)>& call) {
    ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
    for (Rank& rank : ranks) EXPECT_EQ(call(rank), ncclSuccess);
    ASSERT_EQ(nccl.ncclGroupEnd(), ncclSuccess);
  }
  void synchronize() {
    for (Rank& rank : ranks) EXPECT_EQ(rank.synchronize(), CUDA_SUCCESS);
  }

 private:
  NcclWorld& world_;

 public:
  const Nccl& nccl;
  std::vector<Rank> ranks;
};

}  // namespace plait::test
