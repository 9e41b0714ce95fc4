#pragma once
// What the benchmarks share: programs, inputs, and launches without the run around them.
#include <chrono>
#include <string>
#include <vector>

#include "plait.h"

namespace plait::bench {

// docs/examples/NAME.plait with sizes and dtypes set.
std::unique_ptr<Fusion> example(const std::string& name,
                                const std::map<std::string, std::string, std::less<>>& set = {});
// Inputs drawn from a seed: normal numbers, never zeros.
Tensors inputs_of(const Fusion& fusion);
Metadata metadata_of(const Tensors& inputs);

// The one kernel or product of a program on one rank, with buffers of its own.
class Launch {
 public:
  // Compiles for the CPU. The fusion has one segment and no size symbols.
  Launch(const Fusion& fusion, const Options& options = {});
  void operator()() const { executable_->launch(arguments_); }
  const std::string& schedule() const { return schedule_; }

 private:
  std::shared_ptr<Executable> executable_;
  std::string schedule_;
  std::vector<Tensor> tensors_;
  std::vector<void*> buffers_;
  std::vector<int64_t> integers_, extents_;
  LaunchArguments arguments_;
};

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
template <class Fn>
double seconds_of(Fn&& fn) {
  const double begin = seconds();
  fn();
  return seconds() - begin;
}
double median(std::vector<double> values);

}  // namespace plait::bench
