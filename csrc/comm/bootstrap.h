#pragma once
// The processes of a job: who they are, and small data between them on the host, outside of any program.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// One process of a job; every process holds one rank. Calls are collective: every process makes the same ones in the
// same order. A process that is gone is a CommError within the time limit of the implementation.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  // The bytes of every process, by rank.
  virtual std::vector<std::string> all_gather(std::string_view mine) = 0;
  // The same among some processes only, in the order of `ranks`, which this process is one of. Collective over them.
  virtual std::vector<std::string> all_gather_among(std::span<const int64_t> ranks, std::string_view mine) = 0;
  void barrier() { all_gather({}); }
};

}  // namespace plait
