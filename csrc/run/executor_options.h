#pragma once
// How bound programs run (run/bound_program.h).
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device/tensor.h"

namespace plait {
// Called after a step of a rank; `BoundProgram::value` shows its results. A collective is seen once for each member.
// One call at a time, from any thread that drives a rank.
using StepObserver = std::function<void(int64_t rank, size_t step)>;

// Who goes on with the ranks of this process. stepped: the calling thread, in an interleaving of ranks and streams that
// a seed decides. threads: a thread for each rank, in the order of the list; one rank is driven by the calling thread.
enum class RankDrive : uint8_t { stepped, threads };

struct ExecutorOptions {
  RankDrive drive = RankDrive::stepped;
  std::vector<int64_t> ranks;  // held by this process, ascending; empty: all
  // One held rank on a GPU that can capture: its streams are captured as one graph, run again while the addresses of
  // inputs and outputs stay. Communicators that allocate during a call, or watch its end, do not bear it.
  bool graph = false;
  // Before a run all temporaries and outputs, and before each step what it writes, are filled with bytes 0xff (NaN,
  // -1), so that memory read before it is written shows.
  bool poison = false;
  bool timing = false;      // step_times, step_spans; on a GPU by marks in the streams, and the run is waited for
  StepObserver observer{};  // empty: none; on a GPU every step is waited for
  // Empty: none. Called before a rank issues a step, by the thread that drives it; nothing is waited for.
  std::function<void(int64_t rank, size_t step)> before{};
};

// What one run did.
struct RunCounts {
  // Of inputs that the run copied because they are strided or not aligned as the device reads them, and of outputs that
  // it put in the order of their allocation, or into a caller's tensor that it could not write where it lies. Uploads
  // and pieces that are cut out or put together are not in it.
  int64_t copied_bytes = 0;
  int64_t donated_bytes = 0;  // of outputs in the memory of inputs that the caller gave up
};

struct ExecutorRunOptions {
  uint64_t seed = 0;               // stepped: order of the ranks and streams; 0 is round robin
  Allocator* allocator = nullptr;  // of outputs; null: the device's. With `stream`: of everything
  void* stream = nullptr;          // GPU, one held rank: a caller's native stream; run() does not wait for it
  RunCounts* counts = nullptr;     // where not null: added to
  int threads = 0;                 // host: of one launch; 0: all with `stepped`, an equal share with `threads`
  // One held rank: names of inputs whose memory the caller gives up, apart from all other tensors of the run. Outputs
  // that nothing is given for are made there where they fit (run/donations.h). Null: none.
  const std::set<std::string, std::less<>>* donated = nullptr;
  // Asked by the thread that calls run(), before each step that it drives, and every few milliseconds while other
  // threads drive the ranks; true ends the run before a next step (CancelledError). Null: nobody.
  const std::function<bool()>* stop = nullptr;
};

// When a rank was at a step in a run, in nanoseconds of the steady clock: a collective of ranks that are stepped on all
// of its held members at once.
struct StepSpan {
  size_t step = 0;
  int64_t begin = 0, end = 0;
};

// Count and total duration of one step on one rank. With `stepped`, a collective's is booked on its first held member.
struct StepTime {
  int64_t count = 0, nanoseconds = 0;
};

}  // namespace plait
