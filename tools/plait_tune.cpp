// plait tune: schedules by measurement, kept for later compilations.
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "api/tune.h"
#include "base/file_writer.h"
#include "compile/measured_schedules.h"
#include "plait_command.h"
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

// One line of standard error, written again and again, where that is a terminal.
void show(const TuneProgress& p, double seconds) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rgeneration {}: {} {} of {}, {:.0f} of {:.0f} s\x1b[K", p.generation,
             p.compiles ? "compiling" : "measuring", p.program + 1, p.programs, p.seconds, seconds);
  std::fflush(stderr);
}

void end_line() {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
}

void print_result(const TuneResult& result) {
  std::vector<std::vector<std::string>> rows = {{"launch", "times", "ms", "before", "faster", "tried", "schedule"}};
  size_t better = 0;
  for (const TunedSchedule& s : result.schedules) {
    const bool changed = s.after != s.before;
    better += changed;
    rows.push_back({s.label, fmt::to_string(s.launches), fmt::format("{:.4f}", s.after_ms),
                    fmt::format("{:.4f}", s.before_ms), changed ? fmt::format("{:.2f}", s.before_ms / s.after_ms) : "-",
                    fmt::format("{} - {}", s.tried, s.refused), s.after});
  }
  if (rows.size() > 1) fmt::print("{}", table(rows));
  fmt::print("{} of {} schedules are better; a run takes {:.4f} ms, before {:.4f}; {} programs{}\n", better,
             result.schedules.size(), result.after_ms, result.before_ms, result.programs,
             result.finished ? "" : ", and more could be tried");
}

}  // namespace

int tune_command(const Arguments& args) {
  if (args.forget) {
    if (!args.file.empty()) throw UserError("--forget takes no file", "plait tune", "plait tune --forget");
    const int64_t count = forget_schedules_on_disk();
    fmt::print("schedules of {} {} forgotten\n", count, count == 1 ? "computation" : "computations");
    return 0;
  }
  Loaded loaded = load(args);
  TuneOptions how;
  how.seconds = static_cast<double>(args.seconds);
  how.rounds = args.rounds;
  how.keep = !args.no_keep;
  how.stop = [] { return interrupted.load(); };
  how.progress = [&](const TuneProgress& p) { show(p, how.seconds); };
  if (args.seconds < 0) throw UserError(fmt::format("{} seconds", args.seconds), "--seconds", "give a number from 0");
  const Tensors inputs = make_inputs(args, loaded);
  TuneResult result;
  {
    const Interrupts guard;
    result = tune(*loaded.fusion, loaded.options, inputs, how);
  }
  end_line();
  print_result(result);
  if (!args.pinned.empty()) write_whole_file(args.pinned, print(result.program->localized()), "--out");
  if (!args.check) return 0;
  const Tensors outputs = result.program->run(with_own_copies(*loaded.fusion, inputs));
  const ProgramCheck checked =
      check_program(*loaded.fusion, loaded.options, *result.program, inputs, outputs, {.one_rank = false});
  print_checked(checked);
  return exit_code(args, loaded, checked.all);
}

}  // namespace plait::tool
