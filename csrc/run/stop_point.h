#pragma once
// Where a run that its caller cancels ends: before one step, the same for all ranks that this process holds, so that
// none waits for a collective that another one leaves out.
#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>

namespace plait {

class StopPoint {
 public:
  // Of a new run. `asked` outlives it; null: it is not cancelled.
  void begin(const std::function<bool()>* asked) {
    asked_ = asked;
    begun_ = 0;
    end_ = kNone;
  }
  bool watched() const { return asked_ != nullptr; }
  // Asks the caller, on the thread that called run(), until it says yes: then no step begins that no rank has begun.
  void ask() {
    if (asked_ == nullptr || end_ != kNone || !(*asked_)()) return;
    const std::lock_guard lock(mutex_);
    end_ = begun_;
  }
  // Whether a rank goes on with the step.
  bool may_begin(size_t step) {
    if (asked_ == nullptr) return true;
    const std::lock_guard lock(mutex_);
    if (step >= end_) return false;
    begun_ = std::max(begun_, step + 1);
    return true;
  }
  // The step that the run ended before, or the number of steps where it was too late; or nothing. No rank is running.
  std::optional<size_t> stopped_at() const { return end_ == kNone ? std::nullopt : std::optional(end_); }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  const std::function<bool()>* asked_ = nullptr;
  std::mutex mutex_;
  size_t begun_ = 0, end_ = kNone;  // steps that some rank has begun, by the list; the first one that none begins, set
                                    // by the thread that asks
};

}  // namespace plait
