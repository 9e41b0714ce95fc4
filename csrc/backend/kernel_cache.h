#pragma once
#include <array>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/device.h"

namespace plait {

// Executables by their text and signature, at most `capacity`; the least recently used goes first. Safe to use from
// several threads at once: two that compile the same text at the same time both compile, and both get the first result.
class KernelCache {
 public:
  struct Entry {
    std::shared_ptr<Executable> executable;
    KernelFacts facts;
  };

  explicit KernelCache(size_t capacity) : capacity_(capacity) {}

  // The entry of the kernel's text, if there is one.
  std::optional<Entry> find(const KernelText& kernel);
  // The entry of the kernel's text, made by `make` if there is none. What `make` throws passes through.
  Entry find_or_make(const KernelText& kernel, const std::function<Entry()>& make);
  size_t size() const;

 private:
  using Key = std::array<uint64_t, 2>;  // XXH3-128 of entry name, signature and text
  struct Slot {
    Key key;
    Entry entry;
  };

  static Key key_of(const KernelText& kernel);
  const Entry* lookup(const Key& key);  // with the lock held

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Slot> slots_;  // most recently used first
  std::map<Key, std::list<Slot>::iterator> by_key_;
};

}  // namespace plait
