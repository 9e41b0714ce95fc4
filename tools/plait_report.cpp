// What `--json` writes, and the versions of the libraries in use.
#include <dlfcn.h>
#include <link.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "plait_command.h"

namespace plait::tool {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: the largest number stands for it.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::numeric_limits<double>::max();
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json kernel_json(const KernelReport& kernel) {
  return {{"name", kernel.name},
          {"schedule", kernel.schedule},
          {"arch", kernel.arch.empty() ? Json(nullptr) : Json(kernel.arch)},
          {"registers", or_null(kernel.facts.registers)},
          {"spill_bytes", or_null(kernel.facts.spill_bytes)},
          {"shared_bytes", or_null(kernel.facts.shared_bytes)},
          {"compile_ms", kernel.facts.compile_ms}};
}

Json outputs_json(const Report& report, const Tensors& outputs, const ProgramCheck* checked) {
  Json out = Json::object();
  for (const auto& [name, tensor] : outputs) {
    auto local = report.local_shapes.find(name);
    Json& entry = out[name];
    entry["shape"] = tensor.shape;
    entry["local_shapes"] = local == report.local_shapes.end() ? Json::array() : Json(local->second);
    entry["dtype"] = plait::name(tensor.dtype);
    if (checked == nullptr) continue;
    for (const OutputCheck& output : checked->outputs) {
      if (output.name != name) continue;
      entry["max_error"] = number(output.reference.max_error);
      entry["max_abs_error"] = number(output.reference.max_abs_error);
      if (!output.one_rank) continue;
      entry["one_rank"] = {{"max_error", number(output.one_rank->max_error)},
                           {"max_abs_error", number(output.one_rank->max_abs_error)}};
    }
  }
  return out;
}

Json versions_json() {
  Json out = {{"plait", version()}};
  if (auto library = loaded_library("libLLVM")) out["llvm"] = library->version;
  if (auto library = loaded_library("libdnnl")) out["onednn"] = library->version;
  if (loaded_library("libnvrtc.so")) out["nvrtc"] = nvrtc_version();
  return out;
}

void write(const std::string& path, const Json& json) { write_whole_file(path, json.dump(2) + "\n", "--json"); }

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

void write_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Tensors& outputs,
                const ProgramCheck* checked) {
  const Report& report = compiled.report();
  Json kernels = Json::array();
  for (const KernelReport& kernel : report.kernels) kernels.push_back(kernel_json(kernel));
  const auto outcome = checked ? checked->all.outcome() : reference::Outcome::ok;
  const Json ok = outcome == reference::Outcome::undecided ? Json(nullptr) : Json(outcome == reference::Outcome::ok);
  Json json = {{"ok", ok},
               {"max_error", checked ? number(checked->all.max_error) : Json(nullptr)},
               {"max_abs_error", checked ? number(checked->all.max_abs_error) : Json(nullptr)},
               {"kernels", report.kernels.size()},
               {"library_calls", report.library_calls},
               {"collectives", report.collectives},
               {"kernel_list", std::move(kernels)},
               {"wire_bytes", report.wire_bytes},
               {"wire_bytes_min", report.wire_bytes_min},
               {"times", {{"compile_ms", report.compile_ms}, {"run_ms", report.run_ms}}},
               {"outputs", outputs_json(report, outputs, checked)},
               {"ranks", compiled.mesh().ranks()},
               {"device", loaded.options.device},
               {"versions", versions_json()}};
  write(args.json, json);
}

void write_json_error(const Arguments& args, const Error& error) {
  if (args.json.empty()) return;
  const Json json = {{"ok", false},
                     {"error", {{"what", error.message()}, {"where", error.where()}, {"remedy", error.remedy()}}}};
  try {
    write_whole_file(args.json, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", "--json");
  } catch (const UserError&) {  // the error that it is about is told
  }
}

}  // namespace plait::tool
