#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/llvm_plugin/plugin.h"

namespace plait {

// The LLVM plug-in, created in it once and destroyed with the last of its users.
class LlvmCompiler {
 public:
  // MissingError if the plug-in cannot be loaded.
  explicit LlvmCompiler(const std::string& plugin_folder);
  ~LlvmCompiler();
  LlvmCompiler(const LlvmCompiler&) = delete;

  struct Compiled {
    PlaitLlvmCode* code;
    std::vector<PlaitLlvmEntry> entries;  // of the functions asked for
    int64_t instructions = 0;             // of LLVM's, optimized
  };
  // Machine code of functions of the text, at least one. InternalError with LLVM's message if the text is not accepted.
  Compiled compile(const std::string& text, const std::vector<std::string>& functions) const;
  void release(PlaitLlvmCode* code) const { interface_->release(code); }

 private:
  const PlaitLlvmInterface* interface_;
  PlaitLlvmCompiler* compiler_;
};

}  // namespace plait
