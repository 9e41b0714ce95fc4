#pragma once
// The log of the process: what plait did and why, for people who look for the reason of a slow start or a fallback.
// Warnings go to standard error as ever; all else is silent unless PLAIT_LOG, or whoever takes the entries, asks for
// it.
#include <fmt/core.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace plait {
// How much an entry matters; `off`: more than any.
enum class LogLevel : uint8_t { debug, info, warn, error, off };
// compile: specializations, kernels, fallbacks; cache: what is dropped, on disk and in memory; run: each run; comm:
// communicators; library: what was loaded.
enum class LogComponent : uint8_t { compile, cache, run, comm, library };
inline constexpr size_t kLogComponents = 5;

std::string_view name(LogLevel level);          // "debug"
std::string_view name(LogComponent component);  // "compile"
// What the log tells at once.
struct LogEntry {
  LogLevel level = LogLevel::info;
  LogComponent component = LogComponent::run;
  std::string text;  // one line
};

// Of the components, from which level on entries are made.
using LogLevels = std::array<LogLevel, kLogComponents>;

// "info", or "compile=debug,cache=info", or both: the words of PLAIT_LOG; what is not named stays at `warn`. UserError:
// another word.
LogLevels parse_log_levels(std::string_view words);
void set_log_levels(const LogLevels& levels);
// What PLAIT_LOG says, once in a process, and where nobody has set levels before; what is wrong in it is a warning.
// compile() calls it.
void read_log_environment();
LogLevels log_levels();

// Gets the entries, instead of standard error, from any thread, several at once. What it throws is dropped, and so are
// entries that it makes itself, by calling plait. It must not set the sink, nor wait for a thread that calls plait.
using LogSink = std::function<void(const LogEntry&)>;
// Empty: standard error. Returns when no call of the sink before it is going on.
void set_log_sink(LogSink sink);

namespace log_detail {
extern std::array<std::atomic<LogLevel>, kLogComponents> levels;  // from which on entries are made
void write(LogEntry entry) noexcept;                              // to the sink
}  // namespace log_detail

// Whether an entry of the level is wanted: a load.
inline bool logs(LogComponent component, LogLevel level) {
  return level >= log_detail::levels[size_t(component)].load(std::memory_order_relaxed);
}

// Makes an entry where it is wanted.
template <class... Args>
void log(LogComponent component, LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(component, level)) log_detail::write({level, component, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace plait
