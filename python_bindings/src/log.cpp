// The log as Python's logging has it (python_bindings/plait/_log.py). What makes an entry may hold locks of plait's, for which others
// wait with Python's lock held: so entries are put by, and told when a call ends, or by the interpreter's main thread
// when it comes to it.
#include "base/log.h"
#include "base/progress.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>

#include "bindings.h"

namespace plait::python {
namespace {

struct Noted {
  LogEntry entry;
  double seconds;  // since the epoch
};

// Never destroyed: threads may make entries until the process is gone.
struct Notes {
  std::mutex mutex;
  std::deque<Noted> entries;
  std::atomic<bool> any = false;
  bool called = false;  // the main thread was asked to come
  nb::object tell, follow;  // of python_bindings/plait/_log.py; with Python's lock
};
Notes& notes() {
  static auto& all = *new Notes;
  return all;
}

constexpr size_t kMostNotes = 10000;  // of a process whose Python never comes to tell them

void tell_all() {
  Notes& all = notes();
  while (all.any.load(std::memory_order_relaxed) && all.tell.is_valid()) {
    Noted next;
    {
      const std::lock_guard lock(all.mutex);
      if (all.entries.empty()) {
        all.any = false;
        return;
      }
      next = std::move(all.entries.front());
      all.entries.pop_front();
    }
    wipe_progress();  // handlers may write to the terminal
    try {
      all.tell(int(next.entry.level), std::string(name(next.entry.component)), next.entry.text, next.seconds);
    } catch (nb::python_error& e) {  // a handler's own
      e.discard_as_unraisable("plait's log");
    }
  }
}

int called(void*) {
  {
    const std::lock_guard lock(notes().mutex);
    notes().called = false;
  }
  tell_all();
  return 0;
}

void note(const LogEntry& entry) {
  Notes& all = notes();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::lock_guard lock(all.mutex);
  if (all.entries.size() < kMostNotes) all.entries.push_back({entry, std::chrono::duration<double>(now).count()});
  all.any = true;
  if (!all.called && Py_IsInitialized()) all.called = Py_AddPendingCall(called, nullptr) == 0;
}

// `tell(level, component, text, seconds)` gets the entries, `follow()` is called before something is compiled; None:
// entries go to standard error.
void set_log(nb::object tell, nb::object follow) {
  tell_all();
  Notes& all = notes();
  if (tell.is_none()) {
    {
      const nb::gil_scoped_release released;
      set_log_sink({});
    }
    tell_all();
    all.tell.reset();
    all.follow.reset();
    return;
  }
  all.tell = std::move(tell);
  all.follow = std::move(follow);
  const nb::gil_scoped_release released;
  set_log_sink(note);
}

// Levels as numbers, by component.
std::map<std::string, int> numbers(const LogLevels& levels) {
  std::map<std::string, int> out;
  for (size_t i = 0; i < kLogComponents; ++i) out[std::string(name(LogComponent(i)))] = int(levels[i]);
  return out;
}

}  // namespace

LogFlush::~LogFlush() {
  if (notes().any.load(std::memory_order_relaxed)) tell_all();
}

void follow_loggers() {
  if (notes().follow.is_valid()) notes().follow();
}

void bind_log(nb::module_& m) {
  show_progress(true);  // of programs that compile for long, on a terminal
  m.def("_set_log", set_log, nb::arg("tell").none(), nb::arg("follow").none(), "For plait/_log.py.");
  m.def("_log_words", [](const std::string& words) { return numbers(parse_log_levels(words)); }, nb::arg("words"),
        "The levels that words of PLAIT_LOG mean, by component. Raises UserError.");
  m.def("_set_log_levels", [](const std::map<std::string, int>& levels) {
          LogLevels out = log_levels();
          for (size_t i = 0; i < kLogComponents; ++i)
            if (const auto it = levels.find(std::string(name(LogComponent(i)))); it != levels.end())
              out[i] = LogLevel(std::clamp(it->second, 0, int(LogLevel::off)));
          set_log_levels(out);
        },
        nb::arg("levels"), "From which level on entries are made, by component.");
  m.def("_log_levels", [] { return numbers(log_levels()); }, "What was set last.");
}

}  // namespace plait::python
