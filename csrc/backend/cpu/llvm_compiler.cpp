#include "backend/cpu/llvm_compiler.h"

#include <cstring>

#include "backend/cpu/c_library.h"
#include "backend/cpu/code_pool.h"
#include "backend/cpu/llvm_plugin/plugin.h"
#include "backend/cpu/noted_identity.h"
#include "backend/cpu/processor.h"
#include "backend/disk_cache.h"
#include "base/error.h"
#include "base/library_search.h"
#include "base/log.h"
#include "base/plugin_loader.h"

namespace plait {
namespace {

constexpr const char* kLlvmPlugin = "libplait_llvm.so";

[[noreturn]] void refuse(const std::string& error, const std::string& function) {
  throw InternalError(fmt::format("LLVM refuses the text of a kernel: {}", error), "kernel @" + function, "");
}

std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  return out;
}

}  // namespace

LlvmCompiler::LlvmCompiler(std::string plugin_folder, DiskCache* disk, std::string processor)
    : folder_(std::move(plugin_folder)),
      processor_(std::move(processor)),
      disk_(disk),
      pool_(std::make_shared<CodePool>()) {}

LlvmCompiler::~LlvmCompiler() {
  if (plugin_.compiler != nullptr) plugin_.interface->destroy(plugin_.compiler);
}

bool LlvmCompiler::loaded() const {
  const std::lock_guard lock(mutex_);
  return plugin_.compiler != nullptr;
}

void LlvmCompiler::load() const {
  if (plugin_.compiler != nullptr) return;
  plugin_.interface = load_interface<PlaitLlvmInterface>(kLlvmPlugin, "plait_llvm_interface", kPlaitLlvmVersion,
                                                         folder_, "llvm-19-dev");
  char error[1024] = "";
  PlaitLlvmCompiler* const compiler =
      processor_ == kNative
          ? plugin_.interface->create(nullptr, nullptr, error, sizeof error)
          : plugin_.interface->create(processor_.c_str(), level_features(processor_).c_str(), error, sizeof error);
  if (compiler == nullptr)
    throw MissingError(fmt::format("LLVM cannot compile for this host: {}", error), kLlvmPlugin, "install libllvm19");
  plugin_.compiler = compiler;
  const void* const library = plugin_.interface->library();
  const std::string identity = fmt::format("{}, {}", plugin_.interface->identity(compiler), library_identity(library));
  if (disk_ != nullptr && identity != identity_)
    note_identity(*disk_, kLlvmPlugin, folder_, processor_, library, identity);
  identity_ = identity;
  log(LogComponent::library, LogLevel::info, "kernels are compiled by {}", identity);
}

LlvmCompiler::Plugin LlvmCompiler::plugin() const {
  const std::lock_guard lock(mutex_);
  load();
  return plugin_;
}

std::string LlvmCompiler::identity() const {
  const std::lock_guard lock(mutex_);
  if (identity_.empty()) identity_ = noted_identity(*disk_, kLlvmPlugin, folder_, processor_);
  if (identity_.empty()) load();
  return identity_;
}

std::string LlvmCompiler::source_of(const std::string& text, const Names& names) const {
  return fmt::format("object, 2: {}\nfunctions: {}\n{}", identity(), fmt::join(names, " "), text);
}

LlvmCompiler::Compiled LlvmCompiler::link(const Object& object, const Names& names, std::string& error) const {
  Compiled out{ObjectCode::link(object.bytes, c_library(), pool_, error), {}, object.instructions};
  if (out.code == nullptr) return out;
  for (const std::string& name : names) {
    out.entries.push_back(reinterpret_cast<KernelEntry>(out.code->function(name)));
    if (out.entries.back() != nullptr) continue;
    error = "the object has no function " + name;
    return {};
  }
  return out;
}

LlvmCompiler::Compiled LlvmCompiler::link(const std::string& object, const std::string& kernel,
                                          const std::vector<std::string>& functions) const {
  std::string error;
  Compiled out = link(Object{object, 0}, functions, error);
  if (out.code == nullptr) throw UserError(fmt::format("machine code is damaged: {}", error), "kernel @" + kernel, "");
  return out;
}

// What lies on disk: the number of instructions, eight bytes, and the object.
std::optional<LlvmCompiler::Object> LlvmCompiler::kept_object(const std::string& source) const {
  const std::optional<std::string> kept = disk_->find(source);
  Object out;
  if (!kept || kept->size() < sizeof out.instructions) return std::nullopt;
  std::memcpy(&out.instructions, kept->data(), sizeof out.instructions);
  out.bytes = kept->substr(sizeof out.instructions);
  return out;
}

std::optional<LlvmCompiler::Compiled> LlvmCompiler::find(const std::string& source, const Names& names) const {
  const std::optional<Object> object = kept_object(source);
  if (!object) return std::nullopt;
  std::string error;
  Compiled out = link(*object, names, error);
  out.from_disk = true;
  return out.code == nullptr ? std::nullopt : std::optional(std::move(out));
}

LlvmCompiler::Object LlvmCompiler::object(const std::string& text, const Names& names) const {
  if (disk_ != nullptr)
    if (std::optional<Object> kept = kept_object(source_of(text, names))) return *std::move(kept);
  return compiled_object(text, names);
}

LlvmCompiler::Object LlvmCompiler::compiled_object(const std::string& text, const Names& names) const {
  char error[4096] = "";
  Object out;
  const PlaitLlvmTake take = [](void* context, const void* bytes, size_t size) {
    static_cast<std::string*>(context)->assign(static_cast<const char*>(bytes), size);
  };
  const Plugin llvm = plugin();
  const std::vector<const char*> functions = c_strings(names);
  if (llvm.interface->compile(llvm.compiler, text.c_str(), text.size(), functions.data(), functions.size(), take,
                              &out.bytes, &out.instructions, error, sizeof error) == 0)
    refuse(error, names[0]);
  return out;
}

LlvmCompiler::Compiled LlvmCompiler::compile(const std::string& text, const std::vector<std::string>& functions) const {
  if (disk_ != nullptr)
    if (std::optional<Compiled> kept = find(source_of(text, functions), functions)) return *std::move(kept);
  const Object made = compiled_object(text, functions);
  std::string error;
  Compiled out = link(made, functions, error);
  if (out.code == nullptr) refuse(error, functions[0]);
  if (disk_ != nullptr) {
    std::string kept(reinterpret_cast<const char*>(&made.instructions), sizeof made.instructions);
    disk_->store(source_of(text, functions), kept += made.bytes);  // the identity is LLVM's own by now
  }
  return out;
}

}  // namespace plait
