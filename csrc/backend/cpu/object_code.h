#pragma once
// Machine code of one object file.
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace plait {

class CodePool;

// A C function that code may call.
struct CFunction {
  const char* name;
  void* address;
};

// What compilers make of kernels (ELF for x86-64, relocatable), linked: code and constants in pages of a pool, which
// can be read and run and not be written, until it is destroyed. Names need not be unique in the process.
class ObjectCode {
 public:
  // Every undefined symbol of `object` is a function of `library`. Null where the file is damaged, or holds what
  // kernels have not: data that is written, storage of threads, relocations that need all of it within 2 GiB of the
  // process's own code; `error` says which. Nothing outside of the bytes is read and nothing outside of the pages
  // written, whatever they are; what the code does when it runs is not known.
  static std::unique_ptr<ObjectCode> link(std::string_view object, std::span<const CFunction> library,
                                          std::shared_ptr<CodePool> pool, std::string& error);
  ~ObjectCode();
  ObjectCode(const ObjectCode&) = delete;

  // Address of a function that others may call; null: it has none of this name.
  void* function(const std::string& name) const;

 private:
  explicit ObjectCode(std::shared_ptr<CodePool> pool) : pool_(std::move(pool)) {}

  std::shared_ptr<CodePool> pool_;
  std::span<std::byte> pages_;
  std::map<std::string, void*> functions_;
};

}  // namespace plait
