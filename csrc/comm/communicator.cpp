#include "comm/communicator.h"

#include <numeric>

namespace plait {

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
