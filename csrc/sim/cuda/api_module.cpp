// Modules, libraries, functions, occupancy.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "sim/cuda/capture.h"
#include "sim/cuda/launch.h"

using namespace plait::sim;

namespace {

int find_kernel(const PtxModule& code, const char* name) {
  need(name, "the name");
  const int index = code.find(name);
  if (index < 0) fail(CUDA_ERROR_NOT_FOUND);
  return index;
}

void find_global(const ModuleObject& module, const char* name, CUdeviceptr* address, size_t* bytes) {
  need(name, "the name");
  const auto& globals = module.code->globals();
  const auto found = std::find_if(globals.begin(), globals.end(), [&](const auto& each) { return each.name == name; });
  if (found == globals.end()) fail(CUDA_ERROR_NOT_FOUND);
  if (address != nullptr) *address = module.globals[found - globals.begin()];
  if (bytes != nullptr) *bytes = found->bytes;
}

// The caller's buffer for messages of the PTX compiler, if there is one.
void write_log(const std::string& log, unsigned count, CUjit_option* options, void** values) {
  char* buffer = nullptr;
  size_t room = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
    if (options[i] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
    room = reinterpret_cast<size_t>(values[i]);
    values[i] = reinterpret_cast<void*>(std::min(room, log.size()));
  }
  if (buffer != nullptr && room > 0) std::snprintf(buffer, room, "%s", log.c_str());
}

void load(const Call& call, CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  need(module, "module");
  const auto context = call.context();
  unsafe_call(call);
  std::string log;
  try {
    *module = handle_of<CUmodule>(*load_module(read_image(image, *context, &log), context, call.name()));
    write_log("", count, options, values);
  } catch (const ApiError&) {
    write_log(log, count, options, values);
    throw;
  }
}

void set_attribute(FunctionObject& function, CUfunction_attribute attribute, int value) {
  const Architecture& arch = *machine().devices[function.owner->device].architecture;
  const int most = arch.shared_per_block_optin - static_cast<int>(function.info().shared_bytes);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > most) {
        misuse(CUDA_ERROR_INVALID_VALUE,
               fmt::format("{}: {} bytes of dynamic shared memory; at most {}", function.name, value, most));
      }
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("a carveout of {} percent", value));
      break;
    default:
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} cannot be set", int(attribute)));
  }
  function.set_attributes[attribute] = value;
}

std::shared_ptr<LibraryObject> library_of(const KernelObject& kernel) {
  auto library = kernel.library.lock();
  if (library == nullptr) misuse(CUDA_ERROR_INVALID_HANDLE, kernel.name + ": its library is unloaded");
  return library;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  SIM_CALL({ load(call, module, image, 0, nullptr, nullptr); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  SIM_CALL({ load(call, module, image, count, options, values); });
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  SIM_CALL({
    need(path, "fname");
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(CUDA_ERROR_FILE_NOT_FOUND);
    std::stringstream text;
    text << file.rdbuf();
    load(call, module, text.str().c_str(), 0, nullptr, nullptr);
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  SIM_CALL({
    const auto module = machine().registry.get<ModuleObject>(handle);
    call.check(*module->owner);
    unsafe_call(call);
    unload_module(call, *module);
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  SIM_CALL({
    need(mode, "mode");
    *mode = CU_MODULE_EAGER_LOADING;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  SIM_CALL({
    need(function, "hfunc");
    const auto module = machine().registry.get<ModuleObject>(handle);
    call.check(*module->owner);
    *function = handle_of<CUfunction>(*function_of(call, *module, find_kernel(*module->code, name)));
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  SIM_CALL({
    need(count, "count");
    *count = static_cast<unsigned>(machine().registry.get<ModuleObject>(handle)->code->kernels().size());
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule handle) {
  SIM_CALL({
    need(functions, "functions");
    const auto module = machine().registry.get<ModuleObject>(handle);
    const unsigned all = static_cast<unsigned>(module->code->kernels().size());
    for (unsigned i = 0; i < std::min(count, all); ++i) {
      functions[i] = handle_of<CUfunction>(*function_of(call, *module, static_cast<int>(i)));
    }
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule handle, const char* name) {
  SIM_CALL({ find_global(*machine().registry.get<ModuleObject>(handle), name, address, bytes); });
}

// ---- Libraries.

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values,
                           unsigned int count, CUlibraryOption*, void**, unsigned int library_options) {
  SIM_CALL({
    need(library, "library");
    if (library_options != 0) fail(CUDA_ERROR_NOT_SUPPORTED);
    unsafe_call(call);
    const auto context = call.context();
    std::string log;
    try {
      auto image = read_image(code, *context, &log);
      const auto made = machine().registry.make<LibraryObject>(call.name(), 0);
      made->code = std::move(image);
      *library = handle_of<CUlibrary>(*made);
    } catch (const ApiError&) {
      write_log(log, count, options, values);
      throw;
    }
  });
}

CUresult cuLibraryUnload(CUlibrary handle) {
  SIM_CALL({
    const auto library = machine().registry.get<LibraryObject>(handle);
    unsafe_call(call);
    for (const auto& [context, module] : library->modules) {
      if (machine().registry.find_live<ModuleObject>(reinterpret_cast<void*>(module->handle)) != nullptr) {
        unload_module(call, *module);
      }
    }
    for (const auto& [index, kernel] : library->kernels) machine().registry.destroy(*kernel, call.name());
    machine().registry.destroy(*library, call.name());
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  SIM_CALL({
    need(kernel, "pKernel");
    const auto library = machine().registry.get<LibraryObject>(handle);
    const int index = find_kernel(*library->code, name);
    auto& made = library->kernels[index];
    if (made == nullptr) {
      made = machine().registry.make<KernelObject>(call.name(), 0);
      made->library = library;
      made->kernel = index;
      made->name = fmt::format("kernel `{}`", name);
    }
    *kernel = handle_of<CUkernel>(*made);
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  SIM_CALL({
    need(count, "count");
    *count = static_cast<unsigned>(machine().registry.get<LibraryObject>(handle)->code->kernels().size());
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
  SIM_CALL({
    need(module, "pMod");
    const auto library = machine().registry.get<LibraryObject>(handle);
    *module = handle_of<CUmodule>(*module_of(call, *library, call.context()));
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  SIM_CALL({
    const auto library = machine().registry.get<LibraryObject>(handle);
    find_global(*module_of(call, *library, call.context()), name, address, bytes);
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  SIM_CALL({
    need(function, "pFunc");
    machine().registry.get<KernelObject>(kernel);
    const auto found = resolve_function(call, reinterpret_cast<CUfunction>(kernel), call.context());
    *function = handle_of<CUfunction>(*found);
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  SIM_CALL({
    need(library, "pLib");
    *library = handle_of<CUlibrary>(*library_of(*machine().registry.get<KernelObject>(kernel)));
  });
}

CUresult cuKernelGetName(const char** name, CUkernel handle) {
  SIM_CALL({
    need(name, "name");
    const auto kernel = machine().registry.get<KernelObject>(handle);
    *name = library_of(*kernel)->code->kernels()[kernel->kernel].name.c_str();
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  SIM_CALL({
    need(value, "pi");
    call.device(device);
    machine().registry.get<KernelObject>(kernel);
    const auto function = resolve_function(call, reinterpret_cast<CUfunction>(kernel), call.context());
    if (!function_attribute(*function, attribute, value)) fail(CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  SIM_CALL({
    call.device(device);
    machine().registry.get<KernelObject>(kernel);
    set_attribute(*resolve_function(call, reinterpret_cast<CUfunction>(kernel), call.context()), attribute, value);
  });
}

// ---- Functions.

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  SIM_CALL({
    need(value, "pi");
    if (!function_attribute(*resolve_function(call, handle, call.context()), attribute, value)) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of functions is not known", int(attribute)));
    }
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  SIM_CALL({ set_attribute(*resolve_function(call, handle, call.context()), attribute, value); });
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  SIM_CALL({ resolve_function(call, handle, call.context()); });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  SIM_CALL({
    need(module, "hmod");
    const auto owner = resolve_function(call, handle, call.context())->module.lock();
    if (owner == nullptr) misuse(CUDA_ERROR_INVALID_HANDLE, "the module of the function is unloaded");
    *module = handle_of<CUmodule>(*owner);
  });
}

CUresult cuFuncGetName(const char** name, CUfunction handle) {
  SIM_CALL({
    need(name, "name");
    *name = resolve_function(call, handle, call.context())->info().name.c_str();
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* bytes) {
  SIM_CALL({
    need(offset, "paramOffset");
    const KernelInfo& info = resolve_function(call, handle, call.context())->info();
    if (index >= info.parameters.size()) fail(CUDA_ERROR_INVALID_VALUE);
    *offset = info.parameters[index].offset;
    if (bytes != nullptr) *bytes = info.parameters[index].bytes;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  SIM_CALL({
    need(state, "state");
    resolve_function(call, handle, call.context());
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}

CUresult cuFuncLoad(CUfunction handle) {
  SIM_CALL({ resolve_function(call, handle, call.context()); });
}

// ---- Occupancy.

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int threads, size_t shared) {
  SIM_CALL({
    need(blocks, "numBlocks");
    *blocks = active_blocks(*resolve_function(call, handle, call.context()), threads, shared);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle, int threads,
                                                              size_t shared, unsigned int) {
  SIM_CALL({
    need(blocks, "numBlocks");
    *blocks = active_blocks(*resolve_function(call, handle, call.context()), threads, shared);
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
  SIM_CALL({
    need(grid, "minGridSize");
    need(block, "blockSize");
    const auto function = resolve_function(call, handle, call.context());
    int most = 0;
    int best = 0;
    function_attribute(*function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (limit > 0) most = std::min(most, limit);
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
      const int blocks = active_blocks(*function, threads, shared_of != nullptr ? shared_of(threads) : shared);
      if (blocks * threads <= best) continue;
      best = blocks * threads;
      *block = threads;
      *grid = blocks * machine().devices[function->owner->device].architecture->multiprocessors;
    }
    if (best == 0) fail(CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction handle,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned int) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, handle, shared_of, shared, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks, int threads) {
  SIM_CALL({
    need(bytes, "dynamicSmemSize");
    const auto function = resolve_function(call, handle, call.context());
    if (blocks <= 0 || active_blocks(*function, threads, 0) < blocks) fail(CUDA_ERROR_INVALID_VALUE);
    const Architecture& arch = *machine().devices[function->owner->device].architecture;
    const size_t used = function->info().shared_bytes + 1024;
    const size_t share = arch.shared_per_multiprocessor / blocks;
    *bytes =
        std::min<size_t>(share - std::min(share, used), arch.shared_per_block_optin - function->info().shared_bytes);
  });
}
}
