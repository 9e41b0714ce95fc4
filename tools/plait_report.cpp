// Words for what was compiled, and the versions of the libraries in use.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "plait_command.h"

namespace plait::tool {

namespace {

// Version that a library states by a function of its own, or what follows `.so.` in its name.
std::string library_version(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library != nullptr) {
    if (auto* llvm = reinterpret_cast<void (*)(unsigned*, unsigned*, unsigned*)>(dlsym(library, "LLVMGetVersion"))) {
      unsigned major = 0, minor = 0, patch = 0;
      llvm(&major, &minor, &patch);
      return fmt::format("{}.{}.{}", major, minor, patch);
    }
    struct DnnlVersion {
      int major, minor, patch;
    };
    if (auto* dnnl = reinterpret_cast<const DnnlVersion* (*)()>(dlsym(library, "dnnl_version"))) {
      const DnnlVersion* v = dnnl();
      return fmt::format("{}.{}.{}", v->major, v->minor, v->patch);
    }
  }
  size_t at = path.rfind(".so.");
  return at == path.npos ? "" : path.substr(at + 4);
}

}  // namespace

std::optional<LoadedLibrary> loaded_library(std::string_view file) {
  struct Search {
    std::string_view file;
    std::string path;
  } search{file, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& found = *static_cast<Search*>(data);
        std::string_view path = info->dlpi_name;
        size_t slash = path.rfind('/');
        std::string_view base = slash == path.npos ? path : path.substr(slash + 1);
        if (base.substr(0, found.file.size()) != found.file) return 0;
        found.path = path;
        return 1;
      },
      &search);
  if (search.path.empty()) return std::nullopt;
  return LoadedLibrary{library_version(search.path), search.path};
}

std::string compile_text(const Report& report) {
  const auto kept = std::count_if(report.kernels.begin(), report.kernels.end(),
                                  [](const KernelReport& kernel) { return kernel.facts.from_disk; });
  std::string out = fmt::format("compile: {:.3f} ms", report.compile_ms);
  if (kept > 0) out += fmt::format(", {} of {} kernels from disk", kept, report.kernels.size());
  if (report.from_disk) out += ", as a whole";
  return out;
}

}  // namespace plait::tool
