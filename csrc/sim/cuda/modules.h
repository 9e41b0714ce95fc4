#pragma once
// Loaded code, and launches of it.
#include "sim/cuda/machine.h"
#include "sim/ptx/ptx.h"

namespace plait::sim {

struct ModuleObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::module;
  std::shared_ptr<ContextObject> owner;
  std::shared_ptr<const PtxModule> code;
  std::vector<uint64_t> globals;                                    // addresses, in the order of the code's
  std::map<int, std::shared_ptr<struct FunctionObject>> functions;  // asked for so far, by index of the kernel
  bool of_library = false;
  std::vector<OpRef> uses;  // the last launch on each lane that the host knows not done
};

struct FunctionObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::function;
  std::weak_ptr<ModuleObject> module;
  std::shared_ptr<const PtxModule> code;
  std::shared_ptr<ContextObject> owner;
  int kernel = 0;  // index in the code
  std::map<int, int> set_attributes;
  const KernelInfo& info() const { return code->kernels()[kernel]; }
};

struct LibraryObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::library;
  std::shared_ptr<const PtxModule> code;
  std::string image;
  std::map<uint64_t, std::shared_ptr<ModuleObject>> modules;    // by context: loaded there when first used
  std::map<int, std::shared_ptr<struct KernelObject>> kernels;  // by index
};

struct KernelObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::kernel;
  std::weak_ptr<LibraryObject> library;
  int kernel = 0;
};

// PTX text that a context's device can run. ApiError: what the driver answers to anything else; `log` says why.
std::shared_ptr<const PtxModule> read_image(const void* image, const ContextObject& context, std::string* log);
std::shared_ptr<ModuleObject> load_module(std::shared_ptr<const PtxModule> code,
                                          const std::shared_ptr<ContextObject>& context, const char* by);
// What launched work reads of it is done for those who know `known`.
void unload_module(const Call& call, ModuleObject& module, const Clock& known = {});
// The function of a name; null: there is none.
std::shared_ptr<FunctionObject> function_of(const Call& call, ModuleObject& module, int kernel);
std::shared_ptr<ModuleObject> module_of(const Call& call, LibraryObject& library,
                                        const std::shared_ptr<ContextObject>& context);
// What a handle of a function, or of a kernel of a library, means in the context.
std::shared_ptr<FunctionObject> resolve_function(const Call& call, CUfunction handle,
                                                 const std::shared_ptr<ContextObject>& context);
// cuFuncGetAttribute; false: not known.
bool function_attribute(const FunctionObject& function, CUfunction_attribute attribute, int* value);

}  // namespace plait::sim
