#include "comm/communicator.h"

#include <atomic>
#include <numeric>

namespace plait {

namespace {
std::atomic<uint64_t> last_serial{0};
}  // namespace

Communicators::Communicators() : serial_(++last_serial) {}

std::string_view name(CommReduce reduce) {
  switch (reduce) {
    case CommReduce::sum:
      return "sum";
    case CommReduce::max:
      return "max";
    case CommReduce::min:
      return "min";
    case CommReduce::prod:
      return "prod";
  }
  __builtin_unreachable();
}

int64_t CommPieces::total() const { return std::accumulate(counts.begin(), counts.end(), int64_t(0)); }

}  // namespace plait
