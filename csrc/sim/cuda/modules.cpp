#include "sim/cuda/modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "sim/cuda/streams.h"

namespace plait::sim {
namespace {

// Machine code, alone or in the two wrappings of the toolkit.
bool is_binary(const char* image) {
  return std::strncmp(image,
                      "\x7f"
                      "ELF",
                      4) == 0 ||
         std::strncmp(image, "\x50\xed\x55\xba", 4) == 0 || std::strncmp(image, "\xb1\x43\x62\x46", 4) == 0;
}

// ".version 9.0" -> 90; 0 where there is none.
int ptx_version(std::string_view text) {
  const size_t at = text.find(".version");
  if (at == text.npos) return 0;
  int major = 0, minor = 0;
  if (std::sscanf(std::string(text.substr(at, 40)).c_str(), ".version %d.%d", &major, &minor) != 2) return 0;
  return major * 10 + minor;
}

constexpr int kNewestPtx = 90;  // of CUDA 13.0

}  // namespace

std::shared_ptr<const PtxModule> read_image(const void* image, const ContextObject& context, std::string* log) {
  need(image, "the image");
  const auto* text = static_cast<const char*>(image);
  if (is_binary(text)) {
    *log = "machine code cannot be simulated; give PTX";
    fail(CUDA_ERROR_NO_BINARY_FOR_GPU);
  }
  const int version = ptx_version(text);
  if (version > kNewestPtx) {
    *log = fmt::format("PTX of version {}.{}; the newest known is {}.{}", version / 10, version % 10, kNewestPtx / 10,
                       kNewestPtx % 10);
    fail(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  }
  if (const auto edit = machine().code_edit; edit != nullptr) text = edit(text);
  std::shared_ptr<const PtxModule> code;
  try {
    code = PtxModule::load(text);
  } catch (const Fault& fault) {
    *log = fault.text;
    misuse(static_cast<CUresult>(fault.code), fault.text);
  }
  const char* architecture = machine().devices[context.device].architecture->name;
  if (!code->runs_on(architecture)) {
    *log = fmt::format("PTX for {} does not run on {}", code->target(), architecture);
    fail(CUDA_ERROR_NO_BINARY_FOR_GPU);
  }
  return code;
}

std::shared_ptr<ModuleObject> load_module(std::shared_ptr<const PtxModule> code,
                                          const std::shared_ptr<ContextObject>& context, const char* by) {
  AddressSpace& space = machine().scheduler.space;
  auto module = machine().registry.make<ModuleObject>(by, context->handle);
  module->owner = context;
  module->code = std::move(code);
  const Actor host = machine().scheduler.host_operation(by);
  for (const GlobalVariable& each : module->code->globals()) {
    const uint64_t address = space.allocate(context->device, each.bytes, kBeforeAll, "variable " + each.name);
    if (address == 0) {
      machine().registry.destroy(*module, by);
      fail(CUDA_ERROR_OUT_OF_MEMORY);
    }
    module->globals.push_back(address);
    space.check_write(host, address, each.bytes);
    auto* to = static_cast<uint8_t*>(space.host_address(address, each.bytes));
    std::memset(to, 0, each.bytes);
    std::copy(each.initial.begin(), each.initial.end(), to);
  }
  return module;
}

void unload_module(const Call& call, ModuleObject& module, const Clock& known) {
  Scheduler& scheduler = machine().scheduler;
  for (const OpRef& op : module.uses) {
    if (scheduler.host_knows_of(*op)) continue;
    machine().findings.add(fmt::format("{}: {} while {} may still run", call.name(), module.name,
                                       scheduler.space.trace().describe(op->actor.id)));
    scheduler.wait_until([&] { return op->done(); }, call.name());
  }
  for (const auto& [index, function] : module.functions) machine().registry.destroy(*function, call.name());
  machine().registry.destroy(module, call.name());
  const std::vector<uint64_t> globals = std::move(module.globals);
  Actor host = scheduler.host_operation(call.name());
  host.before.join(known);
  for (uint64_t address : globals) {
    try {
      scheduler.space.release(address, host);
    } catch (const Fault& fault) {
      machine().findings.add(fmt::format("{}: {}", call.name(), fault.text));
    }
  }
}

std::shared_ptr<FunctionObject> function_of(const Call& call, ModuleObject& module, int kernel) {
  auto& function = module.functions[kernel];
  if (function == nullptr) {
    function = machine().registry.make<FunctionObject>(call.name(), module.owner->handle);
    function->module = std::static_pointer_cast<ModuleObject>(
        machine().registry.get<ModuleObject>(reinterpret_cast<void*>(module.handle)));
    function->code = module.code;
    function->owner = module.owner;
    function->kernel = kernel;
    function->name = fmt::format("function `{}`", function->info().name);
  }
  return function;
}

std::shared_ptr<ModuleObject> module_of(const Call& call, LibraryObject& library,
                                        const std::shared_ptr<ContextObject>& context) {
  auto& module = library.modules[context->handle];
  if (module == nullptr || module->owner != context) {
    const char* architecture = machine().devices[context->device].architecture->name;
    if (!library.code->runs_on(architecture)) fail(CUDA_ERROR_NO_BINARY_FOR_GPU);
    module = load_module(library.code, context, call.name());
    module->of_library = true;
  }
  return module;
}

std::shared_ptr<FunctionObject> resolve_function(const Call& call, CUfunction handle,
                                                 const std::shared_ptr<ContextObject>& context) {
  Registry& registry = machine().registry;
  if (const auto kernel = registry.find_live<KernelObject>(handle)) {
    const auto library = kernel->library.lock();
    if (library == nullptr) misuse(CUDA_ERROR_INVALID_HANDLE, kernel->name + ": its library is unloaded");
    return function_of(call, *module_of(call, *library, context), kernel->kernel);
  }
  return registry.get<FunctionObject>(handle);
}

bool function_attribute(const FunctionObject& function, CUfunction_attribute attribute, int* value) {
  const KernelInfo& info = function.info();
  const Architecture& arch = *machine().devices[function.owner->device].architecture;
  const auto set = function.set_attributes.find(attribute);
  if (set != function.set_attributes.end()) return *value = set->second, true;
  const auto product = [](const std::array<uint32_t, 3>& of) {
    return static_cast<int>(of[0] * std::max(of[1], 1u) * std::max(of[2], 1u));
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = info.required_threads[0] > 0 ? product(info.required_threads)
               : info.max_threads[0] > 0    ? product(info.max_threads)
                                            : 1024;
      return true;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return *value = static_cast<int>(info.shared_bytes), true;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return *value = static_cast<int>(info.local_bytes), true;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return *value = arch.major * 10 + arch.minor, true;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = std::max(0, arch.shared_per_block - static_cast<int>(info.shared_bytes));
      return true;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return *value = -1, true;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = static_cast<int>(info.cluster[size_t(attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)]);
      return true;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return *value = 0, true;
    default:
      return false;
  }
}

}  // namespace plait::sim
