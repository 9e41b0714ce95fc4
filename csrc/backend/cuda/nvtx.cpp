#include "backend/cuda/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <optional>
#include <string>

#include "base/environment.h"
#include "cuda_abi/nvtx.h"

namespace plait {
namespace {

// What a profiler put in the places of the functions; null: nothing.
struct NvtxSlots {
  NvtxFunctionPointer push = nullptr, pop = nullptr, unused = nullptr;
};
NvtxSlots nvtx_slots;

using NvtxTable = std::array<NvtxFunctionPointer*, NVTX_CBID_CORE_SIZE + 1>;  // null at the end

// The functions of a module. Plait calls two of the core alone; other places are there to be written.
int module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned int* size) {
  static NvtxTable core, others;
  if (module < NVTX_CB_MODULE_CORE || module >= NVTX_CB_MODULE_SIZE) return 0;
  NvtxTable& out = module == NVTX_CB_MODULE_CORE ? core : others;
  out.fill(&nvtx_slots.unused);
  if (module == NVTX_CB_MODULE_CORE) {
    out[NVTX_CBID_CORE_RangePushA] = &nvtx_slots.push;
    out[NVTX_CBID_CORE_RangePop] = &nvtx_slots.pop;
  }
  out[0] = out.back() = nullptr;  // of no function
  if (table != nullptr) *table = out.data();
  if (size != nullptr) *size = NVTX_CBID_CORE_SIZE;
  return 1;
}

const void* export_table(uint32_t id) {
  static constexpr NvtxExportTableCallbacks kCallbacks{sizeof(NvtxExportTableCallbacks), module_table};
  static constexpr NvtxExportTableVersionInfo kVersion{sizeof(NvtxExportTableVersionInfo), NVTX_VERSION, 0,
                                                       [](uint32_t) {}};
  if (id == NVTX_ETID_CALLBACKS) return &kCallbacks;
  return id == NVTX_ETID_VERSIONINFO ? &kVersion : nullptr;
}

// Lets the profiler's library, where one is named, fill the places; once.
const NvtxSlots& attached() {
  static const bool once = [] {
    const std::optional<std::string> path = environment("NVTX_INJECTION64_PATH");
    void* const tool = path ? dlopen(path->c_str(), RTLD_LAZY) : nullptr;
    if (tool == nullptr) return true;
    const auto attach = reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(dlsym(tool, "InitializeInjectionNvtx2"));
    if (attach == nullptr || attach(export_table) == 0) nvtx_slots = {};  // its places are of no use
    return true;
  }();
  (void)once;
  return nvtx_slots;
}

}  // namespace

void NvtxRange::push(const char* name) {
  if (const auto call = attached().push; call != nullptr) reinterpret_cast<nvtxRangePushA_impl_fntype>(call)(name);
}

void NvtxRange::pop() {
  if (const auto call = attached().pop; call != nullptr) reinterpret_cast<nvtxRangePop_impl_fntype>(call)();
}

}  // namespace plait
