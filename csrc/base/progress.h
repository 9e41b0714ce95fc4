#pragma once
// A line about work that takes long, on a terminal.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace plait {

// Where lines of progress go, and when: once the work has taken `after`, and from then on at each step and at least
// `every` so often. The first one that no step brings is written when both have passed.
struct ProgressWhere {
  int file = 2;
  std::chrono::milliseconds after{1000}, every{1000};
};

// Whether lines of progress are shown; off, until a program for people asks for them (the command, Python).
void show_progress(bool on, const ProgressWhere& where = {});

// Before anything else is written to standard output or error: takes away the line that stands there, which comes again
// when there is news of it. Signals that end the process, SIGINT and SIGTERM, do so where nobody handles them.
void wipe_progress();

// "compiling @f: 3 of 40 kernels, 2 s", written anew where standard error is a terminal, once the work has taken a
// second; it is wiped out at the end. Without parts that are counted (`total` 0 or 1) "checking @f, 2 s". Of several
// lines at once the one that was begun last is shown. Safe from several threads; where a line is shown it has a thread.
class ProgressLine {
 public:
  ProgressLine(std::string what, size_t total, std::string unit);
  ProgressLine(std::string what, size_t total, std::string unit, const ProgressWhere& where);
  explicit ProgressLine(std::string what) : ProgressLine(std::move(what), 0, "") {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  void step();

 private:
  void beat();   // of the thread: writes until the line ends
  void write();  // with the lock

  const std::string what_, unit_;
  const size_t total_;
  const ProgressWhere where_;
  const bool shown_;  // a terminal is there, and lines are asked for
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t done_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

// A line of a program that says its own words, as often as it likes; it is wiped out at the end. One of the lines of
// which the last is shown.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  void show(std::string_view text);

 private:
  const ProgressWhere where_;
  const bool shown_;
};

}  // namespace plait
