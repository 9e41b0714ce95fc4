#include "base/progress.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/environment.h"

namespace plait {
namespace {

constexpr std::string_view kWiped = "\r\x1b[K";

struct Wanted {
  std::mutex mutex;
  bool on = false;
  ProgressWhere where;
  std::vector<const void*> lines;  // that may be written, in the order of their beginning
  const void* written = nullptr;   // the one that stands on the terminal
};

Wanted& wanted() {
  static auto& all = *new Wanted;  // never destroyed: threads may compile until the process is gone
  return all;
}

ProgressWhere wanted_where() {
  const std::lock_guard lock(wanted().mutex);
  return wanted().where;
}

bool is_shown(int file) {
  {
    const std::lock_guard lock(wanted().mutex);
    if (!wanted().on) return false;
  }
  return isatty(file) != 0 && environment("TERM").value_or("dumb") != "dumb";
}

void put(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put <= 0) return;
    text.remove_prefix(size_t(put));
  }
}

// The terminal on which a line stands; -1: none. Signals read it.
std::atomic<int> terminal{-1};

// With the lock of wanted().
void wipe() {
  if (const int file = terminal.exchange(-1); file >= 0) put(file, kWiped);
  wanted().written = nullptr;
}

// ---- Signals that end the process leave no line behind.

constexpr int kEnding[] = {SIGINT, SIGTERM};

void wipe_and_end(int signal) {
  if (const int file = terminal.load(); file >= 0) (void)!::write(file, kWiped.data(), kWiped.size());
  raise(signal);  // as it is by default, after SA_RESETHAND
}

// Where a signal does `from`, it does `to` from now on.
void turn_handlers(void (*from)(int), void (*to)(int)) {
  for (const int signal : kEnding) {
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != from) continue;
    struct sigaction next = {};
    next.sa_handler = to;
    next.sa_flags = int(SA_RESETHAND | SA_NODEFER);
    sigaction(signal, &next, nullptr);
  }
}

// ---- Lines, the last of which is written.

void begin_line(const void* line) {
  const std::lock_guard lock(wanted().mutex);
  if (wanted().lines.empty()) turn_handlers(SIG_DFL, wipe_and_end);
  wanted().lines.push_back(line);
}

void write_line(const void* line, int file, std::string_view text) {
  const std::lock_guard lock(wanted().mutex);
  if (wanted().lines.back() != line) return;
  wanted().written = line;
  terminal = file;
  put(file, fmt::format("\r{}\x1b[K", text));
}

void end_line(const void* line) {
  const std::lock_guard lock(wanted().mutex);
  std::erase(wanted().lines, line);
  if (wanted().written == line) wipe();
  if (wanted().lines.empty()) turn_handlers(wipe_and_end, SIG_DFL);
}

}  // namespace

void wipe_progress() {
  const std::lock_guard lock(wanted().mutex);
  wipe();
}

void show_progress(bool on, const ProgressWhere& where) {
  const std::lock_guard lock(wanted().mutex);
  wanted().on = on;
  wanted().where = where;
}

ProgressLine::ProgressLine(std::string what, size_t total, std::string unit)
    : ProgressLine(std::move(what), total, std::move(unit), wanted_where()) {}

ProgressLine::ProgressLine(std::string what, size_t total, std::string unit, const ProgressWhere& where)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total), where_(where), shown_(is_shown(where.file)) {
  if (!shown_) return;
  begin_line(this);
  thread_ = std::thread([this] { beat(); });
}

void ProgressLine::beat() {
  std::unique_lock lock(mutex_);
  for (auto until = begin_ + std::max(where_.after, where_.every); !ended_; until += where_.every)
    if (!changed_.wait_until(lock, until, [this] { return ended_; })) write();
}

void ProgressLine::write() {
  if (total_ > 0 && done_ >= total_) return;
  const auto taken = std::chrono::steady_clock::now() - begin_;
  if (taken < where_.after) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(taken).count();
  std::string text = what_;
  if (total_ > 1) text += fmt::format(": {} of {} {}", done_, total_, unit_);
  if (seconds > 0) text += fmt::format(", {} s", seconds);
  write_line(this, where_.file, text);
}

void ProgressLine::step() {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  ++done_;
  write();
}

ProgressLine::~ProgressLine() {
  if (!shown_) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
  end_line(this);
}

StatusLine::StatusLine() : where_(wanted_where()), shown_(is_shown(where_.file)) {
  if (shown_) begin_line(this);
}

void StatusLine::show(std::string_view text) {
  if (shown_) write_line(this, where_.file, text);
}

StatusLine::~StatusLine() {
  if (shown_) end_line(this);
}

}  // namespace plait
