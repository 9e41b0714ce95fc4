#include "base/log.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/forks.h"
#include "base/progress.h"
#include "base/suggest.h"

namespace plait {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, kLogComponents> kComponentNames = {"compile", "cache", "run", "comm", "library"};

template <size_t N>
size_t index_in(const std::array<std::string_view, N>& names, std::string_view word) {
  const auto at = std::find(names.begin(), names.end(), word);
  if (at == names.end())
    throw UserError(fmt::format("the log knows no `{}`", word), "PLAIT_LOG",
                    suggestion(word, {names.begin(), names.end()}));
  return size_t(at - names.begin());
}

struct Sink {
  explicit Sink(LogSink s) : sink(std::move(s)) {}
  const uint64_t forks = fork_count();
  std::shared_mutex mutex;  // shared while entries are written
  LogSink sink;
};

// That of this process, never destroyed: threads may make entries until it is gone. A forked one leaves its parent's
// lock as it is, which may be held there.
Sink& the_sink() {
  static std::atomic<Sink*> sink{new Sink({})};
  Sink* known = sink;
  if (known->forks == fork_count()) return *known;
  auto fresh = std::make_unique<Sink>(known->sink);
  Sink* expected = known;
  if (!sink.compare_exchange_strong(expected, fresh.get())) return *expected;  // another thread's
  leave_behind(known);
  return *fresh.release();
}

thread_local bool writing = false;

void print(const LogEntry& entry) {
  wipe_progress();
  if (entry.level == LogLevel::warn)
    fmt::print(stderr, "warning: {}\n", entry.text);
  else
    fmt::print(stderr, "plait {} {}: {}\n", name(entry.level), name(entry.component), entry.text);
}

std::atomic<bool> levels_set = false;

}  // namespace

namespace log_detail {

std::array<std::atomic<LogLevel>, kLogComponents> levels{LogLevel::warn, LogLevel::warn, LogLevel::warn, LogLevel::warn,
                                                         LogLevel::warn};

void write(LogEntry entry) noexcept {
  if (writing) return;
  writing = true;
  try {
    Sink& sink = the_sink();
    const std::shared_lock lock(sink.mutex);
    if (sink.sink)
      sink.sink(entry);
    else
      print(entry);
  } catch (...) {  // the sink's own: what plait was doing goes on
  }
  writing = false;
}

}  // namespace log_detail

std::string_view name(LogLevel level) { return kLevelNames[size_t(level)]; }
std::string_view name(LogComponent component) { return kComponentNames[size_t(component)]; }

LogLevels parse_log_levels(std::string_view words) {
  LogLevel all = LogLevel::warn;
  std::array<std::optional<LogLevel>, kLogComponents> named;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      all = LogLevel(index_in(kLevelNames, word));
    else
      named[index_in(kComponentNames, word.substr(0, equals))] =
          LogLevel(index_in(kLevelNames, word.substr(equals + 1)));
  }
  LogLevels out;
  for (size_t i = 0; i < kLogComponents; ++i) out[i] = named[i].value_or(all);
  return out;
}

void read_log_environment() {
  if (levels_set.load(std::memory_order_relaxed) || levels_set.exchange(true)) return;
  const auto words = environment("PLAIT_LOG");
  if (!words) return;
  try {
    set_log_levels(parse_log_levels(*words));
  } catch (const UserError& e) {
    log(LogComponent::run, LogLevel::warn, "{}: {}; {}", e.where(), e.message(), e.remedy());
  }
}

void set_log_levels(const LogLevels& levels) {
  levels_set = true;
  for (size_t i = 0; i < kLogComponents; ++i) log_detail::levels[i].store(levels[i], std::memory_order_relaxed);
}

LogLevels log_levels() {
  LogLevels out;
  for (size_t i = 0; i < kLogComponents; ++i) out[i] = log_detail::levels[i].load(std::memory_order_relaxed);
  return out;
}

void set_log_sink(LogSink sink) {
  if (writing) throw UserError("a sink of the log sets the sink", "log", "set it elsewhere");
  const std::lock_guard lock(the_sink().mutex);
  the_sink().sink = std::move(sink);
}

}  // namespace plait
