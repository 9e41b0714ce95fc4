#pragma once
// Where the time of a run went, for people: `plait run --trace`, Program.trace().
#include <span>
#include <string>
#include <vector>

#include "plait.h"

namespace plait {

// The last timed run (Compiled::set_step_timing) on all ranks, in the order in which steps began. Where the job has
// several processes it is collective, and every process gets all; times are then in the clock of rank 0: exact between
// processes of one machine, between machines to some ten microseconds. UserError: nothing was timed.
std::vector<StepTrace> gather_trace(const Compiled& compiled);

// The trace as JSON of Chrome's trace events, which Perfetto opens: a process for each rank with a thread for each
// stream and a counter of the bytes in its arena, and one for the passes of the compilation, in front of the run. Its
// field `plait` is the document of view_document().
std::string trace_json(const Compiled& compiled, std::span<const StepTrace> trace);

}  // namespace plait
