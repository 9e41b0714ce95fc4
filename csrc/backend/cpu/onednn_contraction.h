#pragma once
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backend/cpu/thread_pool.h"
#include "device/device.h"

namespace plait {

// How many threads a contraction is worth: a team waits for each of its threads, also where other processes have the
// cores, so that work of some microseconds is faster without one, and for a while after a run that took much longer
// than its work, work of some milliseconds too.
class ContractionTeams {
 public:
  // `multiplications`: batch * m * n * k.
  int threads(double multiplications, int most) const;
  // A run of a team took `duration`.
  void note(double multiplications, std::chrono::nanoseconds duration);

 private:
  std::atomic<int64_t> alone_until_{0};  // of the steady clock, in nanoseconds
};

// Contractions by the oneDNN plug-in. The plug-in is loaded by the first contraction; where it cannot be loaded every
// contraction is refused with that reason. Used from one thread at a time; its executables from any.
class OneDnn {
 public:
  OneDnn(std::string plugin_folder, std::shared_ptr<ThreadPool> pool, std::shared_ptr<Allocator> scratch)
      : plugin_folder_(std::move(plugin_folder)), pool_(std::move(pool)), scratch_(std::move(scratch)) {}

  // f32 x f32 -> f32; bf16 x bf16 and f16 x f16 -> the same or f32, by f32 where the CPU has no instructions for them
  // (widened_contraction.h). Null with the reason in `why_not` (may be null). Operands
  // lie by any strides; an empty out does nothing, an empty sum writes zeros. A negative number is an internal error; a
  // shape for which oneDNN has only its slow reference is a UserError. Equal contractions are one executable.
  std::shared_ptr<Executable> contraction(const LibraryContraction& contraction, std::string* why_not);
  bool is_missing() const { return is_missing_; }  // it was asked for a contraction, and is not here

 private:
  bool is_missing_ = false;
  std::string plugin_folder_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Allocator> scratch_;
  std::shared_ptr<ContractionTeams> teams_ = std::make_shared<ContractionTeams>();
  std::map<LibraryContraction, std::shared_ptr<Executable>> products_;
};

}  // namespace plait
