#pragma once
// A line about work that takes long, on a terminal.
#include <chrono>
#include <mutex>
#include <string>

namespace plait {

// Whether lines of progress are shown; off, until a program for people asks for them (the command, Python).
void show_progress(bool on);

// "compiling @f: 3 of 40 kernels", written anew after each step where standard error is a terminal, once the work has
// taken a second; it is wiped out at the end. Safe from several threads.
class ProgressLine {
 public:
  struct Where {
    int file = 2;
    std::chrono::milliseconds after{1000};
  };
  ProgressLine(std::string what, size_t total, std::string unit) : ProgressLine(what, total, unit, Where()) {}
  ProgressLine(std::string what, size_t total, std::string unit, Where where);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  void step();

 private:
  const std::string what_, unit_;
  const size_t total_;
  const Where where_;
  const bool shown_;  // a terminal is there, and lines are asked for
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  size_t done_ = 0;
  bool written_ = false;
};

}  // namespace plait
