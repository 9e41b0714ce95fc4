#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"

namespace plait {

// The reason for which communication ended, set once. Safe from every thread.
class AbortFlag {
 public:
  // False where there is a reason already.
  bool set(std::string_view why) {
    const std::lock_guard lock(mutex_);
    if (is_set_) return false;
    why_ = why;
    is_set_ = true;
    return true;
  }
  bool is_set() const { return is_set_; }
  // Throws CommError with the reason.
  void check() const {
    if (is_set_) throw_error();
  }

 private:
  [[noreturn]] void throw_error() const {
    const std::lock_guard lock(mutex_);
    throw CommError("communication has ended: " + why_, "", "");
  }
  mutable std::mutex mutex_;
  std::string why_;
  std::atomic<bool> is_set_ = false;
};

}  // namespace plait
