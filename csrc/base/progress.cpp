#include "base/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "base/environment.h"

namespace plait {
namespace {

std::atomic<bool> wanted = false;

void put(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put <= 0) return;
    text.remove_prefix(size_t(put));
  }
}

}  // namespace

void show_progress(bool on) { wanted = on; }

ProgressLine::ProgressLine(std::string what, size_t total, std::string unit, Where where)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      where_(where),
      shown_(wanted && total > 1 && isatty(where.file) != 0 && environment("TERM").value_or("dumb") != "dumb") {}

void ProgressLine::step() {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  ++done_;
  if (done_ >= total_ || std::chrono::steady_clock::now() - begin_ < where_.after) return;
  written_ = true;
  put(where_.file, fmt::format("\r{}: {} of {} {}\x1b[K", what_, done_, total_, unit_));
}

ProgressLine::~ProgressLine() {
  if (written_) put(where_.file, "\r\x1b[K");
}

}  // namespace plait
