#pragma once
// The one driver that runs passes over every IR: skip, limit, time, verify, dump, watch, count.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/dump.h"

namespace plait {

// Thrown when the pass or stage that `--until` names is done; `text` is what it left. Not an error.
struct StoppedAt {
  std::string name, text;
};

// What one pass did in one compilation: its milliseconds, and whether it changed anything.
struct PassRecord {
  std::string stage, name;
  double ms = 0;
  bool skipped = false, changed = false;
  bool optional = false;           // counts for `--bisect`
  bool text = false;               // the pass leaves a text: `changed` is known where somebody asked
  int64_t added = 0, removed = 0;  // lines of it
};

// How one compilation is limited and watched (`--passes`, `--bisect`, `--watch`), and what was seen of it. The caller
// keeps it while the compilation runs; a second compilation starts the records anew.
struct PassControl {
  std::optional<int64_t> bisect;                // only the first that many optional applications run
  bool trace = false;                           // records tell what each pass changed
  std::vector<std::string> watch;               // names of tensors, without %, with * and ?
  std::function<void(const std::string&)> say;  // gets a line for each change of a watched tensor

  std::vector<PassRecord> records;
  int64_t applications = 0;                    // optional ones that were reached, run or not
  std::string last_run, first_left;            // of them: `segments/merge %a into %b`
  std::set<std::string, std::less<>> tensors;  // every name that was seen, where something is watched
  std::set<std::string, std::less<>> matched;  // patterns of `watch` that met a tensor
};

// A value on its way through the passes, of whatever IR: asked for by its type.
class PassSubject {
 public:
  PassSubject() = default;  // work that leaves no IR
  template <class Ir>
  explicit PassSubject(Ir& ir) : ir_(&ir), type_(&kType<Ir>) {}
  // Null where it is of another type.
  template <class Ir>
  Ir* as() const {
    return type_ == &kType<Ir> ? static_cast<Ir*>(ir_) : nullptr;
  }

 private:
  template <class Ir>
  static inline char kType = 0;  // its address tells types apart
  void* ir_ = nullptr;
  const void* type_ = nullptr;
};

// Gets what a pass left before it is verified and printed, and may edit it: for tests that put faults there. What it
// throws is thrown as by the pass.
using PassHook = std::function<void(std::string_view stage, std::string_view pass, const PassSubject& subject)>;

// Runs the passes of one compilation, one after another, as the settings say.
class PassDriver {
 public:
  // What a driver does around each pass.
  struct Settings {
    std::vector<std::string> skip;  // passes to leave out
    std::string until;              // pass or stage after which to stop, or empty
    bool verify = true;
    DumpSink* dumps = nullptr;
    PassControl* control = nullptr;
    PassHook hook{};  // empty: none
  };
  explicit PassDriver(Settings settings);

  // How the driver looks at one IR.
  struct View {
    std::function<std::string()> print;
    std::function<void()> verify;
    std::function<PassSubject()> subject{};  // for the hook; asked when the pass is done
  };
  // Runs `pass` on what the view shows; an `optional` one may be left out. An InternalError, and any exception that is
  // no error of plait, comes out as an InternalError with the pass and stage in its place.
  void run(std::string_view stage, std::string_view name, const View& view, const std::function<void()>& pass,
           bool optional = false);
  // Shows a text that no pass made: the first one.
  void show(std::string_view stage, const std::function<std::string()>& print);
  // Whether an optional step within a pass, called `what`, is to be done: the bisection counts it.
  bool decide(std::string_view stage, std::string_view what);
  // Hands a value to the hook: part of what runs under timed().
  void offer(std::string_view stage, std::string_view name, const PassSubject& subject);
  // Ends a stage: dumps its text under `name` and stops where `until` asks for it.
  void end_stage(std::string_view stage, std::string_view name, const std::function<std::string()>& print);
  // Times a piece of work that is no pass (compiling, binding).
  void timed(std::string_view stage, std::string_view name, const std::function<void()>& work);

  const std::vector<PassRecord>& records() const { return records_; }
  std::string where() const { return where_; }  // the pass that runs or ran last: `sharded/propagate`
  // Table of passes with times, for the dump `timings`.
  std::string timings() const;

 private:
  bool looks() const;
  void look(PassRecord& record, const std::string& text);
  void watch(std::string_view where, const std::string& text);
  void keep(PassRecord record);

  Settings settings_;
  std::vector<PassRecord> records_;
  std::string where_, text_;                              // the text that was seen last
  std::map<std::string, std::string, std::less<>> seen_;  // lines of the watched tensors in it
};

// The lines that define tensors in a text of any IR, by the tensor's name: `%h: f32[4] = exp(%x)` under `h`.
std::map<std::string, std::string, std::less<>> defining_lines(std::string_view text);

}  // namespace plait
