// plait tune: schedules by measurement, kept for later compilations.
#include <atomic>
#include <csignal>

#include "api/tune.h"
#include "base/file_writer.h"
#include "base/machine_load.h"
#include "base/progress.h"
#include "compile/measured_schedules.h"
#include "plait_command.h"
#include "plait_json.h"
#include "session/boundary.h"

namespace plait::tool {

namespace {

std::atomic<bool> interrupted = false;

// The first interrupt ends the search, what it found is kept; another one ends the process.
class Interrupts {
 public:
  Interrupts()
      : before_(std::signal(SIGINT, [](int) {
          if (interrupted.exchange(true)) std::_Exit(130);
        })) {}
  ~Interrupts() { std::signal(SIGINT, before_); }
  Interrupts(const Interrupts&) = delete;

 private:
  void (*before_)(int);
};

void print_result(const TuneResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"launch", "times", "ms", "before", "faster", "tried", "refused", "schedule"}};
  size_t better = 0;
  for (const TunedSchedule& s : result.schedules) {
    const bool changed = s.after != s.before;
    better += changed;
    rows.push_back({s.label, fmt::to_string(s.launches), fmt::format("{:.4f}", s.after_ms),
                    fmt::format("{:.4f}", s.before_ms), changed ? fmt::format("{:.2f}", s.before_ms / s.after_ms) : "-",
                    fmt::to_string(s.tried), fmt::to_string(s.refused), s.after});
  }
  if (rows.size() > 1) fmt::print("{}", table(rows));
  const std::string before = better > 0 ? fmt::format(", before {:.4f}", result.before_ms) : "";
  fmt::print("{} of {} schedules are better; a run takes {:.4f} ms{}; {} programs{}\n", better, result.schedules.size(),
             result.after_ms, before, result.programs, result.finished ? "" : ", and more could be tried");
  if (result.schedules.empty()) fmt::print("no schedule is open: those of a text, and of libraries, stay\n");
}

void print_candidates(const TuneResult& result) {
  std::vector<std::vector<std::string>> rows = {{"launch", "ms", "best then", "faster", "schedule"}};
  for (const TunedSchedule& s : result.schedules)
    for (const TunedSchedule::Candidate& c : s.candidates)
      rows.push_back({s.label, fmt::format("{:.4f}", c.ms), fmt::format("{:.4f}", c.best_ms),
                      fmt::format("{:.2f}", c.best_ms / c.ms), c.schedule});
  if (rows.size() > 1) fmt::print("\n{}", table(rows));
}

}  // namespace

int tune_command(const Arguments& args) {
  if (args.forget) {
    if (!args.file.empty()) throw UserError("--forget takes no file", "plait tune", "plait tune --forget");
    const int64_t count = forget_schedules_on_disk();
    fmt::print("schedules of {} {} forgotten\n", count, count == 1 ? "computation" : "computations");
    return 0;
  }
  if (const std::string busy = load_warning(); !busy.empty()) fmt::print(stderr, "warning: {}\n", busy);
  Loaded loaded = load(args);
  TuneOptions how;
  how.seconds = static_cast<double>(args.seconds);
  how.rounds = args.rounds;
  how.keep = !args.no_keep;
  how.stop = [] { return interrupted.load(); };
  if (args.seconds < 0) throw UserError(fmt::format("{} seconds", args.seconds), "--seconds", "give a number from 0");
  const Tensors inputs = make_inputs(args, loaded);
  TuneResult result;
  {
    const Interrupts guard;
    StatusLine line;
    how.progress = [&](const TuneProgress& p) { line.show(text_of(p, how.seconds)); };
    result = tune(*loaded.fusion, loaded.options, inputs, how);
  }
  print_result(result);
  if (args.candidates) print_candidates(result);
  if (!args.json.empty()) write_tune_json(args, loaded, result);
  if (!args.pinned.empty()) write_whole_file(args.pinned, print(result.program->localized()), "--out");
  if (!args.check) return 0;
  const Tensors outputs = result.program->run(with_own_copies(*loaded.fusion, inputs));
  const ProgramCheck checked =
      check_program(*loaded.fusion, loaded.options, *result.program, inputs, outputs, {.one_rank = false});
  print_checked(checked);
  return exit_code(args, loaded, checked.all);
}

}  // namespace plait::tool
