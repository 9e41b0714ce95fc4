// Making and splitting communicators, registering memory.
#include <fmt/core.h>
#include <unistd.h>
#include "cuda_abi/driver.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/environment.h"
#include "base/error.h"
#include "sim/cuda/engine.h"
#include "sim/nccl/group.h"

namespace plait::sim::nccl {
namespace {

constexpr char kMagic[8] = {'p', 'l', 'a', 'i', 't', 'i', 'd', '1'};

// What lies in an ncclUniqueId.
struct Id {
  char magic[8];
  uint64_t random, process, number;
};
static_assert(sizeof(Id) <= sizeof(ncclUniqueId));

std::string id_text(const Id& id) { return fmt::format("{:016x}{:08x}{:x}", id.random, id.process, id.number); }

// Eight digits that tell communicators apart in reports.
std::string short_id(const std::string& id) {
  uint32_t hash = 2166136261u;
  for (char each : id) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619u;
  return fmt::format("{:08x}", hash);
}

struct Options {
  bool blocking = true;
  std::string name;
};

// What is wrong with a configuration; empty: nothing.
std::string read_config(const ncclConfig_t* config, Options& options) {
  if (config == nullptr) return {};
  if (config->magic != NCCL_API_MAGIC || config->size > 4096) {
    return "the configuration was not set from NCCL_CONFIG_INITIALIZER";
  }
  if (config->size < sizeof(ncclConfig_t)) return "the configuration is of an older nccl.h, which is not simulated";
  if (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking != 0 && config->blocking != 1) {
    return fmt::format("blocking is {}", config->blocking);
  }
  if (config->minCTAs != NCCL_CONFIG_UNDEF_INT && config->maxCTAs != NCCL_CONFIG_UNDEF_INT &&
      config->minCTAs > config->maxCTAs) {
    return "minCTAs is more than maxCTAs";
  }
  if (config->blocking != NCCL_CONFIG_UNDEF_INT) options.blocking = config->blocking == 1;
  if (config->commName != nullptr) options.name = config->commName;
  return {};
}

struct Wanted {
  std::string id;
  int ranks = 0, rank = 0, device = 0;
  Options options;
};

ncclComm* start(const Wanted& wanted) {
  ncclComm* comm = make_handle();
  comm->rank = wanted.rank;
  comm->ranks = wanted.ranks;
  comm->device = wanted.device;
  comm->blocking = wanted.options.blocking;
  comm->id = "/plait_nccl_" + wanted.id;
  comm->label = "communicator " + (wanted.options.name.empty() ? short_id(wanted.id) : wanted.options.name);
  comm->job = make_join(*comm);
  return comm;
}

ncclResult_t init(const char* function, ncclComm_t* place, int ranks, const ncclUniqueId& unique, int rank,
                  const ncclConfig_t* config) {
  if (place == nullptr) return misuse(function, "the place for the communicator is null");
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return misuse(function, fmt::format("rank {} of {} ranks", rank, ranks));
  }
  if (ranks > kMaxRanks) return misuse(function, fmt::format("more than {} ranks are not simulated", kMaxRanks));
  Id id;
  std::memcpy(&id, &unique, sizeof id);
  if (std::memcmp(id.magic, kMagic, sizeof kMagic) != 0) {
    return misuse(function, "the id was not made by ncclGetUniqueId of this library");
  }
  Wanted wanted{id_text(id), ranks, rank, device_of(nullptr), {}};
  if (const std::string why = read_config(config, wanted.options); !why.empty()) return misuse(function, why);
  if (wanted.device < 0) return misuse(function, "no context is current", ncclUnhandledCudaError);
  *place = start(wanted);
  return submit({*place, function}, place);
}

Id new_id() {
  static std::atomic<uint64_t> number{0};
  static const uint64_t random = [] {
    uint64_t bits = 0;  // not std::random_device, which asks for a newer glibc
    PLAIT_CHECK(getentropy(&bits, sizeof(bits)) == 0, "the system has no random numbers");
    return bits;
  }();
  Id id{};
  std::memcpy(id.magic, kMagic, sizeof kMagic);
  id.random = random;
  id.process = static_cast<uint64_t>(getpid());
  id.number = number++;
  return id;
}

ncclResult_t init_all(const char* function, ncclComm_t* comms, int count, const int* devices) {
  if (comms == nullptr) return misuse(function, "the place for the communicators is null");
  int existing = 0;
  cuDeviceGetCount(&existing);
  if (count < 1 || count > kMaxRanks) return misuse(function, fmt::format("{} devices", count));
  std::set<int> used;
  for (int i = 0; i < count; ++i) {
    const int device = devices == nullptr ? i : devices[i];
    if (device < 0 || device >= existing) {
      return misuse(function, fmt::format("device {} of {}", device, existing), ncclUnhandledCudaError);
    }
    if (!used.insert(device).second && environment("NCCL_MULTI_RANK_GPU_ENABLE") != "1") {
      return misuse(function, fmt::format("device {} is named twice", device), ncclInvalidUsage);
    }
  }
  const std::string id = id_text(new_id());
  if (const ncclResult_t result = ncclGroupStart(); result != ncclSuccess) return result;
  for (int i = 0; i < count; ++i) {
    comms[i] = start({id, count, i, devices == nullptr ? i : devices[i], {}});
    submit({comms[i], function}, &comms[i]);
  }
  return ncclGroupEnd();
}

ncclResult_t split(const char* function, ncclComm_t parent, int color, int key, ncclComm_t* place,
                   const ncclConfig_t* config) {
  if (const ncclResult_t result = usable(function, parent); result != ncclSuccess) return result;
  if (place == nullptr) return misuse(function, "the place for the communicator is null");
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR) return misuse(function, fmt::format("color {}", color));
  Options options{parent->blocking, {}};
  if (const std::string why = read_config(config, options); !why.empty()) return misuse(function, why);
  const std::shared_ptr<Endpoint> endpoint = endpoint_of(*parent);
  if (endpoint == nullptr) return gone(*parent);
  *place = nullptr;
  if (color == NCCL_SPLIT_NOCOLOR) {
    split_without_color(*parent, *endpoint);
    return ncclSuccess;
  }
  ncclComm* child = make_handle();
  child->device = parent->device;
  child->blocking = options.blocking;
  child->label = options.name.empty() ? fmt::format("{}.{}.{}", parent->label, parent->splits, color)
                                      : "communicator " + options.name;
  child->job = make_split(*parent, endpoint, *child, color, key);
  *place = child;
  return submit({child, function}, place);
}

// Ranges given to ncclCommRegister.
struct Registered {
  std::mutex mutex;
  std::map<void*, const ncclComm*> live;  // by handle
  uintptr_t next = 0x100;
};

Registered& registered() {
  static Registered* all = new Registered;
  return *all;
}

}  // namespace
}  // namespace plait::sim::nccl

using namespace plait::sim::nccl;

ncclResult_t ncclGetUniqueId(ncclUniqueId* unique) {
  if (unique == nullptr) return misuse(__func__, "the place for the id is null");
  *unique = {};
  const Id id = new_id();
  std::memcpy(unique, &id, sizeof id);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return note(init(__func__, comm, ranks, id, rank, nullptr));
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  return note(init(__func__, comm, ranks, id, rank, config));
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  return note(init_all(__func__, comms, count, devices));
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  return note(split(__func__, comm, color, key, child, config));
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* memory, size_t bytes, void** handle) {
  if (const ncclResult_t result = usable(__func__, comm); result != ncclSuccess) return result;
  if (handle == nullptr) return misuse(__func__, "the place for the handle is null");
  if (plait::sim::host_address(reinterpret_cast<uint64_t>(memory), bytes) == nullptr || bytes == 0) {
    return misuse(__func__, "the range does not lie within one live allocation");
  }
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  *handle = reinterpret_cast<void*>(all.next += 0x10);
  all.live.emplace(*handle, comm);
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  if (const std::string why = why_dead(comm); !why.empty()) return misuse(__func__, why);
  Registered& all = registered();
  {
    const std::lock_guard lock(all.mutex);
    const auto at = all.live.find(handle);
    if (at != all.live.end() && at->second == comm) {
      all.live.erase(at);
      return ncclSuccess;
    }
  }
  return misuse(__func__, "the handle was not given by ncclCommRegister of this communicator");
}

ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  if (memory == nullptr || bytes == 0) return misuse(__func__, "the place for the address is null, or 0 bytes");
  CUdeviceptr address = 0;
  if (const CUresult result = cuMemAlloc(&address, bytes); result != CUDA_SUCCESS) {
    return set_last_error(fmt::format("ncclMemAlloc of {} bytes: CUresult {}", bytes, int(result)),
                          ncclUnhandledCudaError);
  }
  *memory = reinterpret_cast<void*>(address);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* memory) {
  if (memory == nullptr) return ncclSuccess;
  const CUresult result = cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  if (result == CUDA_SUCCESS) return ncclSuccess;
  return set_last_error(fmt::format("ncclMemFree: CUresult {}", int(result)), ncclUnhandledCudaError);
}
