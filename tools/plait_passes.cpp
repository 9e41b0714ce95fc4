// --passes, --bisect and --watch: what the passes did, and which of them makes a command fail.
#include <charconv>
#include <cstdio>

#include "base/error.h"
#include "base/suggest.h"
#include "comm/process_place.h"
#include "plait_command.h"
#include "plait_process.h"
#include "session/communication.h"

namespace plait::tool {

namespace {

constexpr double kSecondsPerTrial = 600;

int64_t read_limit(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UserError(fmt::format("`{}` is no number of steps", text), "--bisect", "give a number from 0, or auto");
  return value;
}

// One process of a job speaks for all.
bool silent() {
  const auto place = process_place();
  return place && place->rank != 0;
}

std::string effect(const PassRecord& record) {
  if (record.skipped) return "left out";
  if (!record.text) return "-";
  return record.changed ? fmt::format("changed: +{} -{} lines", record.added, record.removed) : "unchanged";
}

void print_records(const PassControl& control) {
  std::vector<std::vector<std::string>> rows = {{"stage", "pass", "optional", "effect", "ms"}};
  double total = 0;
  for (const PassRecord& r : control.records) {
    rows.push_back({r.stage, r.name, r.optional ? "yes" : "-", effect(r), fmt::format("{:.3f}", r.ms)});
    total += r.ms;
  }
  fmt::print("{}passes: {}, optional steps: {}, {:.3f} ms\n", table(rows), control.records.size(), control.applications,
             total);
}

void print_limit(const PassControl& control) {
  const int64_t limit = *control.bisect;
  if (limit >= control.applications) {
    fmt::print(stderr, "bisect: there are {} optional steps, and all ran (--bisect {})\n", control.applications, limit);
    return;
  }
  fmt::print(stderr, "bisect: {} optional steps ran{}; the next: {}\n", limit,
             limit > 0 ? ", the last: " + control.last_run : "", control.first_left);
}

// The words of this command with another limit.
std::vector<std::string> limited(const Arguments& args, int64_t limit) {
  std::vector<std::string> out;
  for (size_t i = 0; i < args.words.size(); ++i) {
    if (args.words[i] == "--bisect") {
      ++i;
      continue;
    }
    if (args.words[i].rfind("--bisect=", 0) != 0) out.push_back(args.words[i]);
  }
  out[0] = "plait";
  out.push_back("--bisect=" + std::to_string(limit));
  return out;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + shell_quote(word);
  return out;
}

// Behind the last `mark` in a text, to the end of the line.
std::string behind(const std::string& text, const std::string& mark) {
  const size_t at = text.rfind(mark);
  if (at == text.npos) return "";
  const size_t begin = at + mark.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

class Bisection {
 public:
  explicit Bisection(const Arguments& args) : args_(args) {}

  int run() {
    if (!fails(kAll)) {
      if (end_.exit == 0) {
        fmt::print("bisect: the command succeeds; there is nothing to find\n");
        return 0;
      }
      const ProcessEnd refused = end_;
      mistakes_fail_ = refused.exit == kUsersMistake;
      if (!mistakes_fail_ || fails(0)) {
        fmt::print(stderr, "{}", refused.err);
        return refused.exit;
      }
      return find(refused.exit);
    }
    const int code = end_.timed_out ? 2 : end_.exit;
    if (fails(0)) {
      fmt::print("bisect: it fails without any optional step; the fault is in what always runs\n");
      return code;
    }
    return find(code);
  }

 private:
  static constexpr int64_t kAll = int64_t{1} << 32;  // more than any graph has

  // It fails with all steps, by `code`, and not without them.
  int find(int code) {
    int64_t good = 0, bad = 1;
    while (!fails(bad)) {
      good = bad;
      if (bad > kAll / 2) throw UserError("the failure comes and goes", "--bisect auto", "find out what it depends on");
      bad *= 2;
    }
    while (bad - good > 1) {
      const int64_t middle = good + (bad - good) / 2;
      (fails(middle) ? bad : good) = middle;
    }
    fails(good);
    const std::string step = behind(end_.err, "; the next: ");
    fmt::print("bisect: step {}, {}, is the first with which it fails\n", bad, step.empty() ? "?" : step);
    fmt::print("  succeeds: {}\n  fails:    {}\n", shell_line(limited(args_, good)), shell_line(limited(args_, bad)));
    return code;
  }

  // A missing part is no failure; an error of the user's is one where it is not there without optional steps.
  bool fails(int64_t limit) {
    end_ = run_process(limited(args_, limit), kSecondsPerTrial);
    const bool failed = end_.timed_out || (end_.exit != 0 && (end_.exit != kUsersMistake || mistakes_fail_) &&
                                           end_.exit != kMissing && end_.exit != kUndecided);
    const std::string shown = limit == kAll ? "all optional steps" : fmt::format("--bisect {}", limit);
    fmt::print("bisect: {}: {}\n", shown, end_.timed_out ? "does not end" : fmt::format("exit code {}", end_.exit));
    std::fflush(stdout);
    return failed;
  }

  const Arguments& args_;
  ProcessEnd end_;
  bool mistakes_fail_ = false;
};

}  // namespace

std::shared_ptr<PassControl> make_pass_control(const Arguments& args) {
  if (!args.list_passes && args.bisect.empty() && args.watch.empty()) return nullptr;
  auto out = std::make_shared<PassControl>();
  if (!args.bisect.empty()) out->bisect = read_limit(args.bisect);
  out->trace = args.list_passes;
  for (const std::string& name : args.watch) out->watch.push_back(name.substr(name.rfind('%', 0) == 0 ? 1 : 0));
  if (!silent())
    out->say = [](const std::string& line) {
      fmt::print("{}", line);
      std::fflush(stdout);
    };
  return out;
}

void report_passes(const Arguments& args, bool well) {
  if (!args.passes || silent()) return;
  const PassControl& control = *args.passes;
  std::fflush(stdout);
  if (args.list_passes) print_records(control);
  if (control.bisect) print_limit(control);
  std::fflush(stdout);
  if (!well || control.records.empty()) return;
  for (const std::string& name : control.watch)
    if (!control.matched.count(name))
      throw UserError(fmt::format("no pass saw a tensor `{}`", name), "--watch",
                      suggestion(name, {control.tensors.begin(), control.tensors.end()}));
}

int bisect_command(const Arguments& args) {
  if (job_processes(args.comm))
    throw UserError("--bisect auto starts the command anew, and this one is a process of a job", "--bisect auto",
                    "bisect with --comm local, or give numbers to plait launch");
  return Bisection(args).run();
}

}  // namespace plait::tool
