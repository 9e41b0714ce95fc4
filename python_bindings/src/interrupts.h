#pragma once
// Ctrl-C in a long run.
#include <chrono>
#include <optional>

#include "base/cancelled_error.h"
#include "bindings.h"

namespace plait::python {

// While a run goes on without Python's lock: what handlers of signals raise ends it. Handlers run on the main thread
// alone; calls of other threads are never ended.
class Interrupts {
 public:
  // For RunOptions::stop.
  bool ask() {
    const auto now = std::chrono::steady_clock::now();
    if (raised_ || now < next_) return raised_.has_value();
    next_ = now + kEvery;
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) raised_.emplace();
    return raised_.has_value();
  }
  // Runs fn, which ask() may end; then raises what the handler raised, also where fn came to its end or failed by itself.
  // With Python's lock.
  template <class Fn>
  auto guard(Fn&& fn) {
    try {
      auto out = fn();
      raise();
      return out;
    } catch (const nb::python_error&) {
      throw;
    } catch (...) {
      raise();
      throw;
    }
  }

 private:
  void raise() {
    if (!raised_) return;
    nb::python_error raised = std::move(*raised_);
    raised_.reset();
    throw raised;
  }

  static constexpr std::chrono::milliseconds kEvery{10};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
  std::optional<nb::python_error> raised_;
};

}  // namespace plait::python
