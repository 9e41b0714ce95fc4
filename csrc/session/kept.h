#pragma once
// Values by key, of which the least recently used go first. Whoever uses a value shares it: what is dropped here lives
// until its last user is done.
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

namespace plait {

template <class Key, class Value>
class Kept {
 public:
  struct Slot {
    Key key;
    std::shared_ptr<Value> value;
    int64_t bytes;
  };

  // Null where there is none; otherwise it is now the one used last.
  std::shared_ptr<Value> find(const Key& key) {
    const auto it = by_key_.find(key);
    if (it == by_key_.end()) return nullptr;
    slots_.splice(slots_.begin(), slots_, it->second);
    return slots_.front().value;
  }
  // Requires that there is none; returns how many went. Keeps at most `count` values and `most_bytes` together, and the
  // one used last in any case; 0: no bound.
  int64_t add(const Key& key, std::shared_ptr<Value> value, int64_t bytes, int64_t count, int64_t most_bytes) {
    slots_.push_front({key, std::move(value), bytes});
    by_key_[key] = slots_.begin();
    bytes_ += bytes;
    const auto many = [&](int64_t number, int64_t limit) { return limit > 0 && number > limit; };
    int64_t gone = 0;
    while (slots_.size() > 1 && (many(static_cast<int64_t>(slots_.size()), count) || many(bytes_, most_bytes))) {
      bytes_ -= slots_.back().bytes;
      by_key_.erase(slots_.back().key);
      slots_.pop_back();
      ++gone;
    }
    return gone;
  }
  void clear() {
    slots_.clear();
    by_key_.clear();
    bytes_ = 0;
  }
  size_t size() const { return slots_.size(); }
  int64_t bytes() const { return bytes_; }
  const std::list<Slot>& slots() const { return slots_; }  // the one used last first

 private:
  std::list<Slot> slots_;
  std::map<Key, typename std::list<Slot>::iterator> by_key_;
  int64_t bytes_ = 0;
};

}  // namespace plait
