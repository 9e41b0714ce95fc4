#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/llvm_plugin/plugin.h"

namespace plait {

class DiskCache;

// The LLVM plug-in, created in it once and destroyed with the last of its users.
class LlvmCompiler {
 public:
  // Objects are kept in `disk` (may be null), which must outlive this. MissingError if the plug-in cannot be loaded.
  LlvmCompiler(const std::string& plugin_folder, DiskCache* disk);
  ~LlvmCompiler();
  LlvmCompiler(const LlvmCompiler&) = delete;

  struct Compiled {
    PlaitLlvmCode* code;
    std::vector<PlaitLlvmEntry> entries;  // of the functions asked for
    int64_t instructions = 0;             // of LLVM's, optimized
    bool from_disk = false;
  };
  // Machine code of functions of the text, at least one. InternalError with LLVM's message if the text is not accepted.
  Compiled compile(const std::string& text, const std::vector<std::string>& functions) const;
  void release(PlaitLlvmCode* code) const { interface_->release(code); }

 private:
  struct Object {
    std::string bytes;
    int64_t instructions = 0;
  };
  using Names = std::vector<const char*>;

  std::string source_of(const std::string& text, const Names& names) const;  // for the cache on disk
  std::optional<Compiled> find(const std::string& source, const Names& names) const;
  Object make_object(const std::string& text, const Names& names) const;
  Compiled load(const Object& object, const Names& names, std::string& error) const;  // without code on failure

  const PlaitLlvmInterface* interface_;
  PlaitLlvmCompiler* compiler_;
  DiskCache* disk_;
  std::string identity_;
};

}  // namespace plait
