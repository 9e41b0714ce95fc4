#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/object_code.h"

struct PlaitLlvmInterface;
struct PlaitLlvmCompiler;

namespace plait {

class DiskCache;

// Runs iterations begin .. end - 1 of a kernel; see codegen/llvm/writer.h.
using KernelEntry = void (*)(void* const* buffers, const int64_t* integers, int64_t begin, int64_t end);

// LLVM, whose plug-in is loaded when the first text is compiled that is not on disk. Safe to use from several threads
// at once.
class LlvmCompiler {
 public:
  // Objects are kept in `disk` (may be null), which must outlive this.
  // `processor`: of CpuOptions.
  LlvmCompiler(std::string plugin_folder, DiskCache* disk, std::string processor = "native");
  ~LlvmCompiler();
  LlvmCompiler(const LlvmCompiler&) = delete;

  struct Compiled {
    std::shared_ptr<const ObjectCode> code;
    std::vector<KernelEntry> entries;  // of the functions asked for
    int64_t instructions = 0;          // of LLVM's, optimized
    bool from_disk = false;
  };
  // Machine code of functions of the text, at least one. MissingError if the plug-in is needed and cannot be loaded,
  // InternalError with LLVM's message if the text is not accepted.
  Compiled compile(const std::string& text, const std::vector<std::string>& functions) const;
  struct Object {
    std::string bytes;
    int64_t instructions = 0;  // of LLVM's, optimized
  };
  // The object file that LLVM makes of them, or that is on disk; errors as above.
  Object object(const std::string& text, const std::vector<std::string>& functions) const;
  // The code of an object file that object() made, here or elsewhere. UserError naming the kernel: it is damaged, or
  // lacks a function.
  Compiled link(const std::string& object, const std::string& kernel, const std::vector<std::string>& functions) const;
  bool loaded() const;  // the plug-in
  // Version and build of LLVM, as an earlier process noted it, or the plug-in is loaded. Requires a cache on disk.
  std::string identity() const;

 private:
  struct Plugin {
    const PlaitLlvmInterface* interface;
    PlaitLlvmCompiler* compiler;
  };
  using Names = std::vector<std::string>;

  Plugin plugin() const;
  void load() const;                                                         // under the mutex
  std::string source_of(const std::string& text, const Names& names) const;  // for the cache on disk
  std::optional<Object> kept_object(const std::string& source) const;
  Object compiled_object(const std::string& text, const Names& names) const;
  std::optional<Compiled> find(const std::string& source, const Names& names) const;
  Compiled link(const Object& object, const Names& names, std::string& error) const;  // without code on failure

  const std::string folder_, processor_;
  DiskCache* const disk_;
  const std::shared_ptr<CodePool> pool_;
  mutable std::mutex mutex_;  // guards what follows
  mutable Plugin plugin_{nullptr, nullptr};
  mutable std::string identity_;  // of the plug-in, or as an earlier process noted it
};

}  // namespace plait
