#pragma once
// The one driver that runs passes over every IR: skip, time, verify, dump, count.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dump.h"

namespace plait {

// Thrown when the pass or stage that `--until` names is done; `text` is what it left. Not an error.
struct StoppedAt {
  std::string name, text;
};

struct PassRecord {
  std::string stage, name;
  double ms = 0;
  bool skipped = false, changed = false;
};

class PassDriver {
 public:
  struct Settings {
    std::vector<std::string> skip;  // passes to leave out
    std::string until;              // pass or stage after which to stop, or empty
    bool verify = true;
    DumpSink* dumps = nullptr;
  };
  explicit PassDriver(Settings settings) : settings_(std::move(settings)) {}

  // How the driver looks at one IR.
  struct View {
    std::function<std::string()> print;
    std::function<void()> verify;
  };
  // Runs `pass` on what the view shows. An InternalError gets the pass and stage into its place.
  void run(std::string_view stage, std::string_view name, const View& view, const std::function<void()>& pass);
  // Ends a stage: dumps its text under `name` and stops where `until` asks for it.
  void end_stage(std::string_view stage, std::string_view name, const std::function<std::string()>& print);
  // Times a piece of work that is no pass (compiling, binding).
  void timed(std::string_view stage, std::string_view name, const std::function<void()>& work);

  const std::vector<PassRecord>& records() const { return records_; }
  std::string where() const { return where_; }  // the pass that runs or ran last: `sharded/propagate`
  // Table of passes with times, for the dump `timings`.
  std::string timings() const;

 private:
  Settings settings_;
  std::vector<PassRecord> records_;
  std::string where_;
};

}  // namespace plait
