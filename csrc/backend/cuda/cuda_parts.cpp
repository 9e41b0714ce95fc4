#include "backend/cuda/cuda_parts.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace plait {
namespace {

bool is_capturing(const DriverLibrary& driver, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

CudaParts::CudaParts(const DriverLibrary& driver, const std::vector<int>& ordinals)
    : driver_(driver), count_(int(ordinals.size())), ordinals_(new Ordinal[ordinals.size()]) {
  for (int i = 0; i < count_; ++i) {
    Ordinal& ordinal = ordinals_[size_t(i)];
    ordinal.driver_ordinal = ordinals[size_t(i)];
    driver_.check(driver_.cuDeviceGet(&ordinal.device, ordinal.driver_ordinal), "cuDeviceGet");
    ordinal.pools = attribute(i, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
  }
}

CudaParts::~CudaParts() {
  for (int i = 0; i < count_; ++i) close(ordinals_[size_t(i)]);
}

CudaParts::Ordinal& CudaParts::at(int ordinal) const {
  PLAIT_CHECK(ordinal >= 0 && ordinal < count_, "ordinal {} of {}", ordinal, count_);
  return ordinals_[size_t(ordinal)];
}

int CudaParts::attribute(int ordinal, CUdevice_attribute attribute) const {
  int value = 0;
  driver_.check(driver_.cuDeviceGetAttribute(&value, attribute, at(ordinal).device), "cuDeviceGetAttribute");
  return value;
}

CUcontext CudaParts::open(int ordinal) {
  const std::lock_guard lock(mutex_);
  Ordinal& own = at(ordinal);
  if (CUcontext known = own.context.load(std::memory_order_relaxed)) return known;
  CUcontext context = nullptr;
  driver_.check(driver_.cuDevicePrimaryCtxRetain(&context, own.device), "cuDevicePrimaryCtxRetain",
                fmt::format("device {}", own.driver_ordinal));
  own.context.store(context, std::memory_order_release);
  for (int i = 0; i < count_; ++i) {
    Ordinal& other = ordinals_[size_t(i)];
    if (other.device == own.device || other.context.load(std::memory_order_relaxed) == nullptr) continue;
    open_peers(own, other);
    open_peers(other, own);
  }
  return context;
}

// Lets `one` read and write memory of `other`, where the machine can.
void CudaParts::open_peers(Ordinal& one, Ordinal& other) {
  int can = 0;
  driver_.check(driver_.cuDeviceCanAccessPeer(&can, one.device, other.device), "cuDeviceCanAccessPeer");
  if (can == 0) return;
  const ContextScope scope(driver_, one.context.load(std::memory_order_relaxed));
  const CUresult code = driver_.cuCtxEnablePeerAccess(other.context.load(std::memory_order_relaxed), 0);
  if (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED || code == CUDA_ERROR_TOO_MANY_PEERS) return;
  driver_.check(code, "cuCtxEnablePeerAccess", fmt::format("device {}", one.driver_ordinal));
}

// ---- Memory.

CUmemoryPool CudaParts::pool(Ordinal& of) {
  if (of.pool != nullptr) return of.pool;
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, of.driver_ordinal};
  driver_.check(driver_.cuMemPoolCreate(&of.pool, &properties), "cuMemPoolCreate");
  cuuint64_t keep = UINT64_MAX;  // until memory runs out
  driver_.check(driver_.cuMemPoolSetAttribute(of.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
                "cuMemPoolSetAttribute");
  std::vector<CUmemAccessDesc> peers;
  for (int i = 0; i < count_; ++i) {
    const Ordinal& other = ordinals_[size_t(i)];
    int can = 0;
    if (other.device == of.device) continue;
    driver_.check(driver_.cuDeviceCanAccessPeer(&can, other.device, of.device), "cuDeviceCanAccessPeer");
    if (can == 0) continue;
    peers.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, other.driver_ordinal}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  if (!peers.empty())
    driver_.check(driver_.cuMemPoolSetAccess(of.pool, peers.data(), peers.size()), "cuMemPoolSetAccess");
  return of.pool;
}

CUstream CudaParts::inner_stream(Ordinal& of) {
  if (of.inner == nullptr) driver_.check(driver_.cuStreamCreate(&of.inner, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return of.inner;
}

CUresult CudaParts::try_allocate(Ordinal& of, size_t bytes, const CUstream* own_order, CUdeviceptr* address) {
  if (!of.pools) return driver_.cuMemAlloc(address, bytes);
  CUmemoryPool from;
  CUstream stream;
  {
    const std::lock_guard lock(mutex_);
    from = pool(of);
    stream = own_order != nullptr ? *own_order : inner_stream(of);
  }
  const CUresult code = driver_.cuMemAllocFromPoolAsync(address, bytes, from, stream);
  if (code != CUDA_SUCCESS || own_order != nullptr) return code;
  return driver_.cuStreamSynchronize(stream);
}

// Memory that was freed in the order of streams comes back when their work is done.
void CudaParts::give_back_cached(Ordinal& of, bool captured) {
  if (!captured) driver_.cuCtxSynchronize();
  const std::lock_guard lock(mutex_);
  if (of.pool != nullptr) driver_.cuMemPoolTrimTo(of.pool, 0);
}

CUdeviceptr CudaParts::allocate(int ordinal, size_t bytes, const CUstream* own_order) {
  const ContextScope scope(driver_, context(ordinal));
  Ordinal& own = at(ordinal);
  const RelaxedCapture relaxed(driver_);
  const bool captured = own_order != nullptr && is_capturing(driver_, *own_order);
  if (captured) own_order = nullptr;  // else the memory would belong to the graph
  CUdeviceptr address = 0;
  CUresult code = try_allocate(own, std::max<size_t>(bytes, 1), own_order, &address);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    give_back_cached(own, captured);
    code = try_allocate(own, std::max<size_t>(bytes, 1), own_order, &address);
  }
  const std::string where = fmt::format("device {}", own.driver_ordinal);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    driver_.cuMemGetInfo(&free, &total);
    throw CudaMemoryError(fmt::format("no memory for {} bytes: {} of {} are free", bytes, free, total), where,
                          "use smaller sizes or more ranks");
  }
  driver_.check(code, own.pools ? "cuMemAllocFromPoolAsync" : "cuMemAlloc", where);
  return address;
}

void CudaParts::free(int ordinal, CUdeviceptr address, const CUstream* own_order) noexcept {
  try {
    const ContextScope scope(driver_, context(ordinal));
    const RelaxedCapture relaxed(driver_);
    if (!at(ordinal).pools) {
      driver_.cuMemFree(address);
    } else if (own_order != nullptr) {
      driver_.cuMemFreeAsync(address, *own_order);
    } else {  // cuMemFree would not wait for memory of a pool
      driver_.cuCtxSynchronize();
      driver_.cuMemFreeAsync(address, at(ordinal).inner);
    }
  } catch (const Error&) {  // the driver is shutting down, and the memory with it
  }
}

void* CudaParts::workspace(int ordinal, CUstream stream, size_t bytes) {
  Ordinal& own = at(ordinal);
  {
    const std::lock_guard lock(mutex_);
    const CUdeviceptr known = own.streams[stream].workspace;
    if (known != 0) return reinterpret_cast<void*>(known);
  }
  const CUdeviceptr address = allocate(ordinal, bytes, nullptr);
  const std::lock_guard lock(mutex_);
  own.streams[stream].workspace = address;
  return reinterpret_cast<void*>(address);
}

// ---- Streams.

CUstream CudaParts::make_stream(int ordinal) {
  const ContextScope scope(driver_, context(ordinal));
  CUstream stream = nullptr;
  driver_.check(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  const std::lock_guard lock(mutex_);
  at(ordinal).streams[stream].holders = 1;
  return stream;
}

void CudaParts::hold_stream(int ordinal, CUstream stream) {
  const std::lock_guard lock(mutex_);
  auto& streams = at(ordinal).streams;
  const auto found = streams.find(stream);
  if (found != streams.end() && found->second.holders > 0) ++found->second.holders;
}

void CudaParts::release_stream(int ordinal, CUstream stream) noexcept {
  StreamUse use;
  {
    const std::lock_guard lock(mutex_);
    auto& streams = at(ordinal).streams;
    const auto found = streams.find(stream);
    if (found == streams.end() || found->second.holders == 0) return;
    --found->second.holders;
    if (found->second.holders > 0) return;
    use = found->second;
    streams.erase(found);
  }
  try {
    const ContextScope scope(driver_, context(ordinal));
    if (use.workspace != 0 && at(ordinal).pools) driver_.cuMemFreeAsync(use.workspace, stream);
    if (use.workspace != 0 && !at(ordinal).pools) driver_.cuMemFree(use.workspace);
    driver_.cuStreamSynchronize(stream);  // for the frees that come last
    driver_.cuStreamDestroy(stream);
  } catch (const Error&) {  // the driver is shutting down, and the stream with it
  }
}

void CudaParts::close(Ordinal& of) noexcept {
  const CUcontext context = of.context.load(std::memory_order_relaxed);
  if (context == nullptr) return;
  try {
    const ContextScope scope(driver_, context);
    const bool lost = driver_.cuCtxSynchronize() != CUDA_SUCCESS;  // with all that is in it
    for (const auto& [stream, use] : of.streams)
      if (use.workspace != 0 && !lost) driver_.cuMemFree(use.workspace);
    if (of.inner != nullptr && !lost) driver_.cuStreamDestroy(of.inner);
    if (of.pool != nullptr && !lost) driver_.cuMemPoolDestroy(of.pool);
  } catch (const Error&) {  // the driver is shutting down, and all of this with it
  }
  driver_.cuDevicePrimaryCtxRelease(of.device);
}

namespace {

// Of no other thread, ever.
uint64_t thread_number() {
  static std::atomic<uint64_t> threads = 0;
  thread_local const uint64_t number = ++threads;
  return number;
}

}  // namespace

std::shared_ptr<Memory> CudaAllocator::allocate_on(size_t bytes, Stream* stream) {
  PLAIT_CHECK(stream == nullptr || stream->ordinal() == ordinal_, "memory of ordinal {} on a stream of ordinal {}",
              ordinal_, stream == nullptr ? 0 : stream->ordinal());
  const bool ordered = stream != nullptr;
  const CUstream order = ordered ? static_cast<CUstream>(stream->native()) : nullptr;
  const CUdeviceptr address = parts_->allocate(ordinal_, bytes, ordered ? &order : nullptr);
  if (ordered) parts_->hold_stream(ordinal_, order);
  // CU_STREAM_PER_THREAD is another stream in every thread: elsewhere the memory is freed behind all work.
  const uint64_t thread = order == CU_STREAM_PER_THREAD ? thread_number() : 0;
  auto release = [parts = parts_, ordinal = ordinal_, address, ordered, order, thread] {
    const bool named = ordered && (thread == 0 || thread == thread_number());
    parts->free(ordinal, address, named ? &order : nullptr);
    if (ordered) parts->release_stream(ordinal, order);
  };
  return std::make_shared<Memory>(reinterpret_cast<void*>(address), bytes, std::move(release),
                                  Location{false, ordinal_});
}

}  // namespace plait
