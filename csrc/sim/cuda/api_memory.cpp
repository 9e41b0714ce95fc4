// Allocation, pools, host memory, what a pointer is.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "sim/cuda/capture.h"
#include "sim/cuda/pools.h"

using namespace plait::sim;

namespace {

void allocate_async(const Call& call, CUdeviceptr* address, size_t bytes, const std::shared_ptr<PoolObject>& pool,
                    CUstream handle) {
  need(address, "dptr");
  if (bytes == 0) misuse(CUDA_ERROR_INVALID_VALUE, "0 bytes");
  const auto stream = call.stream(handle);
  refuse_captured(*stream, "allocations of graphs are not simulated");
  const auto& from = pool != nullptr ? pool : machine().devices[stream->owner->device].current_pool;
  *address = allocate_on(call, *stream, from, bytes).address;
}

void allocate_host(const Call& call, void** memory, size_t bytes, unsigned flags) {
  need(memory, "pp");
  const auto context = call.context();
  unsafe_call(call);
  constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (bytes == 0 || (flags & ~kKnown) != 0) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} bytes with flags {}", bytes, flags));
  }
  constexpr size_t kPage = 4096;
  void* const made = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (made == nullptr) fail(CUDA_ERROR_OUT_OF_MEMORY);
  enter_host(call, *context, made, bytes, flags, true);
  *memory = made;
}

void free_host(const Call& call, void* memory) {
  call.context();
  unsafe_call(call);
  Allocation& found = find_allocation(reinterpret_cast<uint64_t>(memory), "host memory");
  if (found.kind != Allocation::Kind::host) {
    misuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("0x{:x} was not allocated by cuMemHostAlloc", reinterpret_cast<uint64_t>(memory)));
  }
  leave_host(call, found);
}

// Kind and place of a pointer; null for memory that the driver does not know.
const Allocation* allocation_of(uint64_t address) {
  const Region* region = machine().scheduler.space.find_live(address);
  if (region == nullptr) return nullptr;
  const auto entry = machine().allocations.find(region->address);
  return entry == machine().allocations.end() ? nullptr : &entry->second;
}

template <class T>
void put(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

// False: the attribute does not exist.
bool pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address, const Region& region) {
  const Allocation* entry = allocation_of(address);
  const bool host = region.device == kHostMemory;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:  // memory of a pool belongs to none
      return put(data, entry == nullptr || entry->pool != nullptr ? uint64_t(0) : entry->context), true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data, unsigned(host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE)), true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(data, address), true;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host) fail(CUDA_ERROR_INVALID_VALUE);
      return put(data, address), true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(data, uint8_t(0)), true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(data, uint8_t(1)), true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, host ? (entry == nullptr ? 0 : entry->device) : region.device), true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(data, static_cast<unsigned long long>(region.number)), true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(data, region.address), true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(data, region.bytes), true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(data, uint8_t(0)), true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(data, int(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE)), true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(data, entry == nullptr || entry->pool == nullptr ? uint64_t(0) : entry->pool->handle), true;
    default:
      return false;
  }
}

// A null for every attribute that can say "none": what cuPointerGetAttributes gives for unknown memory.
void no_attribute(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(data, uint64_t(0));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data, 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, -2);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(data, uint8_t(0));
    default:
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of pointers is not known", int(attribute)));
  }
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  SIM_CALL({
    const DeviceState& device = machine().devices[call.context()->device];
    if (free != nullptr) *free = device.limit - std::min(device.limit, device.committed);
    if (total != nullptr) *total = device.limit;
  });
}

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  SIM_CALL({
    need(address, "dptr");
    if (bytes == 0) misuse(CUDA_ERROR_INVALID_VALUE, "0 bytes");
    const auto context = call.context();
    unsafe_call(call);
    *address = allocate_now(call, *context, bytes).address;
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, size_t* pitch, size_t width, size_t rows, unsigned int element) {
  SIM_CALL({
    need(address, "dptr");
    need(pitch, "pPitch");
    if (width == 0 || rows == 0) misuse(CUDA_ERROR_INVALID_VALUE, "0 bytes");
    if (element != 4 && element != 8 && element != 16) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("elements of {} bytes; 4, 8 or 16 can be", element));
    }
    const auto context = call.context();
    unsafe_call(call);
    const size_t whole = (width + 511) / 512 * 512;
    if (whole < width || rows > ~size_t(0) / whole) fail(CUDA_ERROR_OUT_OF_MEMORY);
    *address = allocate_now(call, *context, whole * rows).address;
    *pitch = whole;
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  SIM_CALL({
    const auto context = call.context();
    unsafe_call(call);
    if (address == 0) return;
    Allocation& found = find_allocation(address, "device memory");
    if (found.kind != Allocation::Kind::device && found.kind != Allocation::Kind::pooled) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("0x{:x} is host memory", address));
    }
    free_now(call, found);
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  SIM_CALL({
    call.context();
    const Region* region = machine().scheduler.space.find_live(address);
    if (region == nullptr) fail(CUDA_ERROR_NOT_FOUND);
    if (base != nullptr) *base = region->address;
    if (bytes != nullptr) *bytes = region->bytes;
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  SIM_CALL({ allocate_async(call, address, bytes, nullptr, stream); });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  SIM_CALL({
    allocate_async(call, address, bytes, machine().registry.get<PoolObject>(pool, CUDA_ERROR_INVALID_VALUE), stream);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  SIM_CALL({
    const auto stream = call.stream(handle);
    if (address == 0) misuse(CUDA_ERROR_INVALID_VALUE, "the pointer is null");
    refuse_captured(*stream, "allocations of graphs are not simulated");
    Allocation& found = find_allocation(address, "device memory");
    if (found.kind != Allocation::Kind::device && found.kind != Allocation::Kind::pooled) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("0x{:x} is host memory", address));
    }
    free_on(call, *stream, found);
  });
}

// ---- Pools.

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  SIM_CALL({
    need(pool, "pool");
    need(properties, "poolProps");
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
      misuse(CUDA_ERROR_INVALID_VALUE, "pools are of pinned memory of a device");
    }
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) fail(CUDA_ERROR_NOT_SUPPORTED);
    call.device(properties->location.id);
    const auto made = make_pool(properties->location.id, call.name());
    made->max_bytes = properties->maxSize;
    *pool = handle_of<CUmemoryPool>(*made);
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  SIM_CALL({
    const auto pool = machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE);
    if (pool->is_default) misuse(CUDA_ERROR_INVALID_VALUE, pool->name + " is the default one of its device");
    if (pool->used > 0) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} still holds {} bytes of allocations", pool->name, pool->used));
    }
    DeviceState& device = machine().devices[pool->device];
    if (device.current_pool == pool) device.current_pool = device.default_pool;
    device.committed -= pool->reserved;
    pool->reserved = 0;
    machine().registry.destroy(*pool, call.name());
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  SIM_CALL({ trim(*machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE), keep); });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  SIM_CALL({
    need(value, "value");
    PoolObject& pool = *machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool.release_threshold = *static_cast<cuuint64_t*>(value);
        break;
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        pool.follow_events = *static_cast<int*>(value);
        break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        pool.opportunistic = *static_cast<int*>(value);
        break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool.internal_dependencies = *static_cast<int*>(value);
        break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        pool.reserved_high = pool.reserved;
        break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        pool.used_high = pool.used;
        break;
      default:
        misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} cannot be set", int(attribute)));
    }
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  SIM_CALL({
    need(value, "value");
    const PoolObject& pool = *machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        put(value, cuuint64_t(pool.release_threshold));
        break;
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        put(value, pool.follow_events);
        break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        put(value, pool.opportunistic);
        break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        put(value, pool.internal_dependencies);
        break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        put(value, cuuint64_t(pool.reserved));
        break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        put(value, cuuint64_t(pool.reserved_high));
        break;
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        put(value, cuuint64_t(pool.used));
        break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        put(value, cuuint64_t(pool.used_high));
        break;
      default:
        misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of pools is not known", int(attribute)));
    }
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
  SIM_CALL({
    PoolObject& pool = *machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE);
    if (count > 0) need(map, "map");
    for (size_t i = 0; i < count; ++i) {
      if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        misuse(CUDA_ERROR_INVALID_VALUE, "access is given to devices only");
      }
      call.device(map[i].location.id);
      const bool none = map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
      if (none && map[i].location.id == pool.device) {
        misuse(CUDA_ERROR_INVALID_VALUE, "a pool's own device keeps its access");
      }
      if (none) {
        pool.readers->erase(map[i].location.id);
      } else {
        pool.readers->insert(map[i].location.id);
      }
    }
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  SIM_CALL({
    need(flags, "flags");
    need(location, "location");
    const PoolObject& pool = *machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE);
    const bool access = location->id == pool.device || pool.readers->count(location->id) > 0;
    *flags = access ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}

// ---- Host memory.

CUresult cuMemAllocHost(void** memory, size_t bytes) {
  SIM_CALL({ allocate_host(call, memory, bytes, 0); });
}

CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned int flags) {
  SIM_CALL({ allocate_host(call, memory, bytes, flags); });
}

CUresult cuMemFreeHost(void* memory) {
  SIM_CALL({ free_host(call, memory); });
}

CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned int flags) {
  SIM_CALL({
    const auto context = call.context();
    unsafe_call(call);
    if (memory == nullptr || bytes == 0) misuse(CUDA_ERROR_INVALID_VALUE, "no memory");
    if ((flags & ~(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)) != 0) fail(CUDA_ERROR_NOT_SUPPORTED);
    try {
      enter_host(call, *context, memory, bytes, flags, false);
    } catch (const Fault& fault) {
      misuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, fault.text);
    }
  });
}

CUresult cuMemHostUnregister(void* memory) {
  SIM_CALL({
    call.context();
    unsafe_call(call);
    const auto entry = machine().allocations.find(reinterpret_cast<uint64_t>(memory));
    if (entry == machine().allocations.end() || entry->second.kind != Allocation::Kind::registered ||
        entry->second.freed_by != nullptr) {
      misuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
             fmt::format("0x{:x} is not registered", reinterpret_cast<uint64_t>(memory)));
    }
    leave_host(call, entry->second);
  });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned int flags) {
  SIM_CALL({
    need(address, "pdptr");
    call.context();
    const Region* region = machine().scheduler.space.find_live(reinterpret_cast<uint64_t>(memory));
    if (flags != 0 || region == nullptr || region->device != kHostMemory) {
      misuse(CUDA_ERROR_INVALID_VALUE,
             fmt::format("0x{:x} is not host memory of the driver", reinterpret_cast<uint64_t>(memory)));
    }
    *address = reinterpret_cast<CUdeviceptr>(memory);
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* memory) {
  SIM_CALL({
    need(flags, "pFlags");
    const Allocation* entry = allocation_of(reinterpret_cast<uint64_t>(memory));
    if (entry == nullptr || entry->kind != Allocation::Kind::host) {
      misuse(CUDA_ERROR_INVALID_VALUE,
             fmt::format("0x{:x} is not of cuMemHostAlloc", reinterpret_cast<uint64_t>(memory)));
    }
    *flags = entry->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  });
}

// ---- Pointers.

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  SIM_CALL({
    need(data, "data");
    const Region* region = machine().scheduler.space.find_live(address);
    if (region == nullptr) fail(CUDA_ERROR_INVALID_VALUE);  // correct programs ask whether memory is a device's
    if (!pointer_attribute(data, attribute, address, *region)) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of pointers is not known", int(attribute)));
    }
  });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr address) {
  SIM_CALL({
    need(attributes, "attributes");
    need(data, "data");
    const Region* region = machine().scheduler.space.find_live(address);
    for (unsigned i = 0; i < count; ++i) {
      const bool host = region != nullptr && region->device == kHostMemory;
      if (region == nullptr || (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER && !host)) {
        no_attribute(data[i], attributes[i]);
      } else if (!pointer_attribute(data[i], attributes[i], address, *region)) {
        misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of pointers is not known", int(attributes[i])));
      }
    }
  });
}
}
