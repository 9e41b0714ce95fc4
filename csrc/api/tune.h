#pragma once
// Schedules by measurement: each generated kernel is tried with the numbers around those that its scheduler chose.
#include "plait.h"

namespace plait {

struct TuneProgress {
  int64_t generation = 1, program = 0,
          programs = 0;  // which program of the generation runs or is compiled, of how many
  bool compiles = false;
  double seconds = 0;  // since the beginning
};

// `generation 2: measuring 3 of 16, 5 of 60 s`, of a search that may take that many seconds.
std::string text_of(const TuneProgress& progress, double seconds);

struct TuneOptions {
  double seconds = 60;           // no further generation begins, and no further program is compiled, after these
  int64_t rounds = 9;            // runs of every program of a generation, in turn
  double least_gain = 0.03;      // of a kernel's time, below which its schedule stays
  bool keep = true;              // on disk, for later compilations (compile/measured_schedules.h)
  std::function<bool()> stop{};  // asked before each compilation and run; what was found until then counts
  std::function<void(const TuneProgress&)> progress{};
};

// What launches of one computation got.
struct TunedSchedule {
  std::string label;                   // of its first launch
  int64_t launches = 0;                // how many launches of a run compute it
  std::string before, after;           // schedules; equal where the chosen one stays
  double before_ms = 0, after_ms = 0;  // of all its launches in a run, the least of rounds in turn; one where it stays
  int64_t tried = 0, refused = 0;
  // Each one that was measured, with the least of its rounds and that of the best one of that generation.
  struct Candidate {
    std::string schedule;
    double ms = 0, best_ms = 0;
  };
  std::vector<Candidate> candidates;
};

struct TuneResult {
  std::vector<TunedSchedule> schedules;  // in the order of the program
  std::optional<Compiled> program;       // with the best schedules
  double before_ms = 0, after_ms = 0;    // of whole runs, the least of rounds in turn; one where all schedules stay
  int64_t programs = 0;                  // that were compiled and measured
  bool finished = false;                 // nothing around the best schedules is left to try
};

// Measures on these inputs. Schedules that a text states, and those of libraries, stay. Results of sums may have other
// bits with other schedules; they keep their bounds.
// UserError: what compile() and run() throw; the device generates no kernels, or is simulated, so that times are those
// of the simulator; several processes share the ranks.
TuneResult tune(const Fusion& fusion, const CompileOptions& options, const Tensors& inputs,
                const TuneOptions& how = {});

// Schedules that differ from a complete one in one number, doubled or halved, once with all other numbers as they are
// and once with these left to the scheduler; numbers that would make sums less exact are not raised.
std::vector<Schedule> neighbours(const Schedule& schedule, const Target& target);

}  // namespace plait
