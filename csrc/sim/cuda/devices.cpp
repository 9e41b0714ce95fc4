#include "sim/cuda/devices.h"

namespace plait::sim {
namespace {

// From the CUDA C++ programming guide, table of technical specifications per compute capability, and the whitepapers of
// A100 (40 GB, SXM4) and H100 (SXM5).
constexpr Architecture kArchitectures[] = {
    {"sm_80", "Simulated A100 (sm_80)", 8, 0, false, 108, 2048, 32, 167936, 49152, 166912, 41943040, 5120, 1410000,
     1215000},
    {"sm_90a", "Simulated H100 (sm_90a)", 9, 0, true, 132, 2048, 32, 233472, 49152, 232448, 52428800, 5120, 1980000,
     2619000},
};

// Limits that all devices share.
bool common_limit(CUdevice_attribute attribute, int* value) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return *value = 1024, true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return *value = 1024, true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return *value = 64, true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return *value = 2147483647, true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return *value = 65535, true;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return *value = 65536, true;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return *value = 32, true;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return *value = 2147483647, true;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return *value = 65536, true;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return *value = 512, true;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return *value = 1024, true;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return *value = 3, true;
    default:
      return false;
  }
}

// What all devices can do, or cannot as long as they are simulated.
bool common_ability(CUdevice_attribute attribute, int* value) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
      return *value = 1, true;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_TCC_DRIVER:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
    case CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
    case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD:
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
    case CU_DEVICE_ATTRIBUTE_NUMA_CONFIG:
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
      return *value = 0, true;
    default:
      return false;
  }
}

}  // namespace

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& each : kArchitectures) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

bool device_attribute(const Architecture& arch, int ordinal, CUdevice_attribute attribute, int* value) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return *value = arch.major, true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return *value = arch.minor, true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return *value = arch.multiprocessors, true;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return *value = arch.threads_per_multiprocessor, true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return *value = arch.blocks_per_multiprocessor, true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return *value = arch.shared_per_block, true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return *value = arch.shared_per_block_optin, true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return *value = arch.shared_per_multiprocessor, true;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return *value = arch.l2_bytes, true;
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:
      return *value = arch.l2_bytes / 4 * 3, true;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return *value = arch.bus_bits, true;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return *value = arch.clock_khz, true;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return *value = arch.memory_clock_khz, true;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
      return *value = arch.major >= 9 ? 1 : 0, true;
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
      return *value = 0, true;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return *value = ordinal + 1, true;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      return *value = 0, true;
    default:
      return common_limit(attribute, value) || common_ability(attribute, value);
  }
}

}  // namespace plait::sim
