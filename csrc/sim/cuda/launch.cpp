#include "sim/cuda/launch.h"

#include <fmt/core.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "sim/cuda/graphs.h"
#include "sim/cuda/streams.h"

namespace plait::sim {

namespace {

// Clusters: as the kernel says, of a size that the device takes. ApiError.
void check_cluster(const KernelLaunch& launch) {
  const FunctionObject& function = *launch.function;
  std::array<uint32_t, 3> cluster;
  try {
    cluster = cluster_of(launch.what, function.info());
  } catch (const Fault& fault) {
    misuse(CUDA_ERROR_INVALID_CLUSTER_SIZE, fault.text);
  }
  const uint32_t blocks = cluster[0] * cluster[1] * cluster[2];
  if (blocks == 1) return;
  const Architecture& arch = *machine().devices[function.owner->device].architecture;
  if (arch.major < 9)
    misuse(CUDA_ERROR_NOT_SUPPORTED, fmt::format("kernel `{}`: clusters on {}", function.info().name, arch.name));
  constexpr uint32_t kPortable = 8;
  int more = 0;
  function_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &more);
  if (blocks > kPortable && more == 0)
    misuse(CUDA_ERROR_INVALID_CLUSTER_SIZE, fmt::format("kernel `{}`: a cluster of {} blocks; more than {} need "
                                                        "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED",
                                                        function.info().name, blocks, kPortable));
}

// A cooperative launch: all of its blocks must fit on the device at once. ApiError.
void check_side_by_side(const KernelLaunch& launch) {
  if (!launch.what.cooperative) return;
  const FunctionObject& function = *launch.function;
  const auto& [x, y, z] = launch.what.block;
  const int of_each = active_blocks(function, static_cast<int>(x * y * z), launch.what.shared_bytes);
  const int multiprocessors = machine().devices[function.owner->device].architecture->multiprocessors;
  const uint64_t blocks = uint64_t(launch.what.grid[0]) * launch.what.grid[1] * launch.what.grid[2];
  if (blocks > static_cast<uint64_t>(of_each) * static_cast<uint64_t>(multiprocessors))
    misuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           fmt::format("kernel `{}`: {} blocks side by side; {} multiprocessors hold {} each", function.info().name,
                       blocks, multiprocessors, of_each));
}

}  // namespace

std::shared_ptr<KernelLaunch> bind_kernel(Task& task, const KernelLaunch& launch) {
  check_cluster(launch);
  check_side_by_side(launch);
  auto own = std::make_shared<KernelLaunch>(launch);
  task.name = own->function->info().name;
  task.on_device = true;
  task.context = own->function->owner;
  task.run = [own](const Actor& actor) {
    Scheduler& scheduler = machine().scheduler;
    Launch what = own->what;
    what.seed = scheduler.seed() == 0 ? 0 : scheduler.random()() | 1;
    what.metered = machine().metered;
    ++machine().launches;
    const LaunchCounts counts = sim::launch(*own->function->code, what, actor, scheduler.space);
    const KernelInfo& info = own->function->info();
    if (what.metered) machine().meters[info.name].add(what, info, counts);
  };
  return own;
}

namespace {

// Copies memory of the caller that may not be there; false: some of it is not.
bool read_caller(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  const iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (got == static_cast<ssize_t>(bytes)) return true;
  if (got >= 0 || errno == EFAULT) return false;
  std::memcpy(to, from, bytes);  // the system does not offer the call
  return true;
}

std::vector<uint8_t> collect_parameters(const KernelInfo& info, void** parameters) {
  std::vector<uint8_t> bytes(info.parameter_bytes);
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const KernelParameter& each = info.parameters[i];
    void* from = nullptr;
    const bool there = read_caller(&from, parameters + i, sizeof from);
    if (!there || from == nullptr || !read_caller(bytes.data() + each.offset, from, each.bytes)) {
      misuse(CUDA_ERROR_INVALID_VALUE,
             fmt::format("kernel `{}` takes {} parameters; number {} ({} bytes) is {}", info.name,
                         info.parameters.size(), i + 1, each.bytes, there ? "no readable memory" : "not in the array"));
    }
  }
  return bytes;
}

std::vector<uint8_t> collect_extra(const KernelInfo& info, void** extra) {
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = *static_cast<const size_t*>(extra[1]);
    } else {
      misuse(CUDA_ERROR_INVALID_VALUE, "`extra` holds neither a buffer, nor its size, nor the end");
    }
  }
  if (bytes < info.parameter_bytes || (buffer == nullptr && bytes > 0)) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("kernel `{}` takes {} bytes of parameters; the buffer has {}",
                                                 info.name, info.parameter_bytes, bytes));
  }
  const auto* from = static_cast<const uint8_t*>(buffer);
  return std::vector<uint8_t>(from, from + info.parameter_bytes);
}

void check_extents(const FunctionObject& function, const unsigned grid[3], const unsigned block[3], size_t shared) {
  constexpr unsigned kGrid[] = {2147483647u, 65535u, 65535u}, kBlock[] = {1024u, 1024u, 64u};
  const KernelInfo& info = function.info();
  const auto text = [](const unsigned* of) { return fmt::format("({}, {}, {})", of[0], of[1], of[2]); };
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || grid[i] > kGrid[i]) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("kernel `{}`: no grid of {} blocks", info.name, text(grid)));
    }
    if (block[i] == 0 || block[i] > kBlock[i]) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("kernel `{}`: no block of {} threads", info.name, text(block)));
    }
  }
  int most = 0, dynamic = 0;
  function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
  function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic);
  const uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  if (threads > static_cast<uint64_t>(most)) {
    misuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("kernel `{}`: {} threads; a block of it has at most {}", info.name, threads, most));
  }
  if (shared > static_cast<size_t>(dynamic)) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("kernel `{}`: {} bytes of dynamic shared memory; it may have {} "
                                                 "(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
                                                 info.name, shared, dynamic));
  }
}

}  // namespace

KernelLaunch make_launch(std::shared_ptr<FunctionObject> function, const unsigned grid[3], const unsigned block[3],
                         unsigned shared_bytes, void** parameters, void** extra) {
  const KernelInfo& info = function->info();
  check_extents(*function, grid, block, shared_bytes);
  KernelLaunch made;
  made.what.kernel = function->kernel;
  std::copy(grid, grid + 3, made.what.grid.begin());
  std::copy(block, block + 3, made.what.block.begin());
  made.what.shared_bytes = shared_bytes;
  if (parameters != nullptr && extra != nullptr) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("kernel `{}`: parameters are given twice", info.name));
  }
  if (parameters == nullptr && extra == nullptr && !info.parameters.empty()) {
    misuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("kernel `{}` takes {} parameters; none are given", info.name, info.parameters.size()));
  }
  made.what.parameters = extra != nullptr        ? collect_extra(info, extra)
                         : parameters != nullptr ? collect_parameters(info, parameters)
                                                 : std::vector<uint8_t>();
  const auto module = function->module.lock();
  if (module == nullptr) misuse(CUDA_ERROR_INVALID_HANDLE, fmt::format("the module of `{}` is unloaded", info.name));
  made.what.globals = module->globals;
  made.function = std::move(function);
  return made;
}

void launch_kernel(const Call& call, const std::shared_ptr<StreamObject>& stream, const KernelLaunch& launch) {
  if (stream->owner != launch.function->owner) {
    misuse(CUDA_ERROR_INVALID_HANDLE,
           fmt::format("kernel `{}` belongs to {} (device {}), {} to {} (device {})", launch.function->info().name,
                       launch.function->owner->name, launch.function->owner->device, stream->name, stream->owner->name,
                       stream->owner->device));
  }
  Task task;
  auto own = bind_kernel(task, launch);
  std::shared_ptr<NodeObject> node;
  const OpRef op = submit(call, *stream, CU_GRAPH_NODE_TYPE_KERNEL, std::move(task), &node);
  if (node != nullptr) {
    node->kernel = std::move(own);
    return;
  }
  if (const auto module = launch.function->module.lock()) {
    auto& uses = module->uses;
    const auto same = [&](const OpRef& each) {
      return each->actor.stream == op->actor.stream || machine().scheduler.host_knows_of(*each);
    };
    uses.erase(std::remove_if(uses.begin(), uses.end(), same), uses.end());
    uses.push_back(op);
  }
}

int active_blocks(const FunctionObject& function, int threads, size_t dynamic_shared) {
  const Architecture& arch = *machine().devices[function.owner->device].architecture;
  int most = 0, dynamic = 0;
  function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
  function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic);
  if (threads <= 0 || threads > most || dynamic_shared > static_cast<size_t>(dynamic)) return 0;
  constexpr int kReserved = 1024;  // bytes of shared memory that the system takes per block
  const int warps = (threads + 31) / 32;
  const int by_threads = arch.threads_per_multiprocessor / (warps * 32);
  const size_t shared = function.info().shared_bytes + dynamic_shared + kReserved;
  const int by_shared = static_cast<int>(arch.shared_per_multiprocessor / shared);
  return std::min({by_threads, by_shared, arch.blocks_per_multiprocessor});
}

}  // namespace plait::sim
