#include "backend/kernel_cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"

namespace plait {

KernelCache::Key KernelCache::key_of(const KernelText& kernel) {
  const std::string head = kernel.name + ' ' + kernel.signature();
  const uint64_t seed = XXH3_64bits(head.data(), head.size());
  const XXH128_hash_t hash = XXH3_128bits_withSeed(kernel.text.data(), kernel.text.size(), seed);
  return {hash.low64, hash.high64};
}

const KernelCache::Entry* KernelCache::lookup(const Key& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  slots_.splice(slots_.begin(), slots_, found->second);
  return &found->second->entry;
}

std::optional<KernelCache::Entry> KernelCache::find(const KernelText& kernel) {
  const Key key = key_of(kernel);
  const std::lock_guard lock(mutex_);
  const Entry* entry = lookup(key);
  return entry == nullptr ? std::nullopt : std::optional<Entry>(*entry);
}

KernelCache::Entry KernelCache::find_or_make(const KernelText& kernel, const std::function<Entry()>& make) {
  const Key key = key_of(kernel);
  if (std::optional<Entry> known = find(kernel)) return *known;
  Entry made = make();
  Slot evicted;  // its code is removed after the lock is released
  const std::lock_guard lock(mutex_);
  if (const Entry* entry = lookup(key)) return *entry;
  slots_.push_front({key, made});
  by_key_[key] = slots_.begin();
  if (slots_.size() > capacity_) {
    evicted = std::move(slots_.back());
    by_key_.erase(evicted.key);
    slots_.pop_back();
    log(LogComponent::cache, LogLevel::debug, "a kernel dropped from memory, which keeps {}", capacity_);
  }
  return made;
}

size_t KernelCache::size() const {
  const std::lock_guard lock(mutex_);
  return slots_.size();
}

}  // namespace plait
