#include "backend/cpu/llvm_compiler.h"

#include <cstring>

#include "backend/cpu/c_library.h"
#include "backend/disk_cache.h"
#include "base/error.h"
#include "base/library_search.h"
#include "base/plugin_loader.h"

namespace plait {
namespace {

constexpr const char* kLlvmPlugin = "libplait_llvm.so";

const PlaitLlvmInterface* interface_of(const std::string& folder) {
  return load_interface<PlaitLlvmInterface>(kLlvmPlugin, "plait_llvm_interface", kPlaitLlvmVersion, folder,
                                            "llvm-19-dev");
}

[[noreturn]] void refuse(const std::string& error, const std::string& function) {
  throw InternalError(fmt::format("LLVM refuses the text of a kernel: {}", error), "kernel @" + function, "");
}

}  // namespace

LlvmCompiler::LlvmCompiler(const std::string& plugin_folder, DiskCache* disk)
    : interface_(interface_of(plugin_folder)), disk_(disk) {
  char error[1024] = "";
  const std::span<const PlaitLlvmSymbol> library = c_library();
  compiler_ = interface_->create(library.data(), library.size(), error, sizeof error);
  if (compiler_ == nullptr) {
    throw MissingError(fmt::format("LLVM cannot compile for this host: {}", error), kLlvmPlugin, "install libllvm19");
  }
  identity_ = fmt::format("{}, {}", interface_->identity(compiler_), library_identity(interface_->library()));
}

LlvmCompiler::~LlvmCompiler() { interface_->destroy(compiler_); }

std::string LlvmCompiler::source_of(const std::string& text, const Names& names) const {
  std::string out = fmt::format("object, 1: {}\nfunctions:", identity_);
  for (const char* name : names) out += fmt::format(" {}", name);
  return out + "\n" + text;
}

LlvmCompiler::Compiled LlvmCompiler::load(const Object& object, const Names& names, std::string& error) const {
  char said[4096] = "";
  Compiled out{nullptr, std::vector<PlaitLlvmEntry>(names.size()), object.instructions};
  out.code = interface_->load(compiler_, object.bytes.data(), object.bytes.size(), names.data(), names.size(),
                              out.entries.data(), said, sizeof said);
  error = said;
  return out;
}

// What lies on disk: the number of instructions, eight bytes, and the object.
std::optional<LlvmCompiler::Compiled> LlvmCompiler::find(const std::string& source, const Names& names) const {
  const std::optional<std::string> kept = disk_->find(source);
  Object object;
  if (!kept || kept->size() < sizeof object.instructions) return std::nullopt;
  std::memcpy(&object.instructions, kept->data(), sizeof object.instructions);
  object.bytes = kept->substr(sizeof object.instructions);
  std::string error;
  Compiled out = load(object, names, error);
  out.from_disk = true;
  return out.code == nullptr ? std::nullopt : std::optional(std::move(out));
}

LlvmCompiler::Object LlvmCompiler::make_object(const std::string& text, const Names& names) const {
  char error[4096] = "";
  Object out;
  const PlaitLlvmTake take = [](void* context, const void* bytes, size_t size) {
    static_cast<std::string*>(context)->assign(static_cast<const char*>(bytes), size);
  };
  if (interface_->compile(compiler_, text.c_str(), text.size(), names.data(), names.size(), take, &out.bytes,
                          &out.instructions, error, sizeof error) == 0)
    refuse(error, names[0]);
  return out;
}

LlvmCompiler::Compiled LlvmCompiler::compile(const std::string& text, const std::vector<std::string>& functions) const {
  Names names;
  for (const std::string& function : functions) names.push_back(function.c_str());
  const std::string source = disk_ == nullptr ? "" : source_of(text, names);
  if (disk_ != nullptr)
    if (std::optional<Compiled> kept = find(source, names)) return *std::move(kept);
  const Object object = make_object(text, names);
  std::string error;
  Compiled out = load(object, names, error);
  if (out.code == nullptr) refuse(error, functions[0]);
  if (disk_ != nullptr) {
    std::string kept(reinterpret_cast<const char*>(&object.instructions), sizeof object.instructions);
    disk_->store(source, kept += object.bytes);
  }
  return out;
}

}  // namespace plait
