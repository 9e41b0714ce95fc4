#include "backend/cpu/llvm_compiler.h"

#include "backend/cpu/c_library.h"
#include "base/error.h"
#include "base/plugin_loader.h"

namespace plait {
namespace {

constexpr const char* kLlvmPlugin = "libplait_llvm.so";

const PlaitLlvmInterface* interface_of(const std::string& folder) {
  return load_interface<PlaitLlvmInterface>(kLlvmPlugin, "plait_llvm_interface", kPlaitLlvmVersion, folder,
                                            "llvm-19-dev");
}

}  // namespace

LlvmCompiler::LlvmCompiler(const std::string& plugin_folder) : interface_(interface_of(plugin_folder)) {
  char error[1024] = "";
  const std::span<const PlaitLlvmSymbol> library = c_library();
  compiler_ = interface_->create(library.data(), library.size(), error, sizeof error);
  if (compiler_ == nullptr) {
    throw MissingError(fmt::format("LLVM cannot compile for this host: {}", error), kLlvmPlugin, "install libllvm19");
  }
}

LlvmCompiler::~LlvmCompiler() { interface_->destroy(compiler_); }

LlvmCompiler::Compiled LlvmCompiler::compile(const std::string& text, const std::vector<std::string>& functions) const {
  char error[4096] = "";
  std::vector<const char*> names;
  for (const std::string& function : functions) names.push_back(function.c_str());
  Compiled out{nullptr, std::vector<PlaitLlvmEntry>(names.size())};
  out.code = interface_->compile(compiler_, text.c_str(), text.size(), names.data(), names.size(), out.entries.data(),
                                 &out.instructions, error, sizeof error);
  if (out.code == nullptr)
    throw InternalError(fmt::format("LLVM refuses the text of a kernel: {}", error), "kernel @" + functions[0], "");
  return out;
}

}  // namespace plait
