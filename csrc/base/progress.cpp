#include "base/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/environment.h"

namespace plait {
namespace {

struct Wanted {
  std::mutex mutex;
  bool on = false;
  ProgressWhere where;
  std::vector<const ProgressLine*> lines;  // that are shown, in the order of their beginning
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

constexpr std::string_view kWiped = "\r\x1b[K";

}  // namespace

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
  {
    const std::lock_guard lock(wanted().mutex);
    wanted().lines.push_back(this);
  }
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
  const std::lock_guard lock(wanted().mutex);
  if (wanted().lines.back() != this) return;
  written_ = true;
  put(where_.file, fmt::format("\r{}\x1b[K", text));
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
  const std::lock_guard lock(wanted().mutex);
  std::erase(wanted().lines, this);
  if (written_) put(where_.file, kWiped);
}

StatusLine::StatusLine() : where_(wanted_where()), shown_(is_shown(where_.file)) {}

void StatusLine::show(std::string_view text) {
  if (!shown_) return;
  written_ = true;
  put(where_.file, fmt::format("\r{}\x1b[K", text));
}

StatusLine::~StatusLine() {
  if (written_) put(where_.file, kWiped);
}

}  // namespace plait
