#include "base/pass.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>

#include "base/error.h"

namespace plait {

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Calls fn with every line, without its end.
template <class Fn>
void for_each_line(std::string_view text, Fn&& fn) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    fn(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::map<std::string, std::string, std::less<>> defining_lines(std::string_view text) {
  std::map<std::string, std::string, std::less<>> out;
  for_each_line(text, [&](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::string_view rest = line;
    constexpr std::string_view kParameter = "param ";
    if (rest.substr(0, kParameter.size()) == kParameter) rest.remove_prefix(kParameter.size());
    if (rest.empty() || rest[0] != '%') return;
    size_t end = 1;
    while (end < rest.size() && is_word(rest[end])) ++end;
    const std::string_view behind = rest.substr(end, 2);
    if (end == 1 || (behind.substr(0, 1) != ":" && behind != " =")) return;
    if (line.back() == ',') line.remove_suffix(1);
    out.emplace(rest.substr(1, end - 1), line);
  });
  return out;
}

PassDriver::PassDriver(Settings settings) : settings_(std::move(settings)) {
  if (PassControl* control = settings_.control) {
    control->records.clear();
    control->applications = 0;
    control->last_run = control->first_left = "";
  }
}

void PassDriver::keep(PassRecord record) {
  if (settings_.control) settings_.control->records.push_back(record);
  records_.push_back(std::move(record));
}

// Whether anybody asks what passes change.
bool PassDriver::looks() const {
  const PassControl* control = settings_.control;
  return (settings_.dumps && settings_.dumps->wants("timings")) ||
         (control && (control->trace || !control->watch.empty()));
}

void PassDriver::watch(std::string_view where, const std::string& text) {
  PassControl* control = settings_.control;
  if (!control || control->watch.empty()) return;
  std::map<std::string, std::string, std::less<>> now;
  for (auto& [name, line] : defining_lines(text)) {
    control->tensors.insert(name);
    for (const auto& pattern : control->watch)
      if (glob_match(pattern, name)) {
        control->matched.insert(pattern);
        now.emplace(name, line);
      }
  }
  for (const auto& [name, line] : now)
    if (auto before = seen_.find(name); (before == seen_.end() || before->second != line) && control->say)
      control->say(fmt::format("{}: {}\n", where, line));
  for (const auto& [name, line] : seen_)
    if (!now.count(name) && control->say) control->say(fmt::format("{}: %{} is gone\n", where, name));
  seen_ = std::move(now);
}

// Compares with the text before.
void PassDriver::look(PassRecord& record, const std::string& text) {
  record.changed = text != text_;
  if (!record.changed) return;
  std::map<std::string_view, int64_t> lines;
  for_each_line(text, [&](std::string_view line) { ++lines[line]; });
  for_each_line(text_, [&](std::string_view line) { --lines[line]; });
  for (const auto& [line, count] : lines) (count > 0 ? record.added : record.removed) += std::abs(count);
  watch(record.stage + "/" + record.name, text);
  text_ = text;
}

void PassDriver::show(std::string_view stage, const std::function<std::string()>& print) {
  if (!looks()) return;
  text_ = print();
  watch(stage, text_);
}

bool PassDriver::decide(std::string_view stage, std::string_view what) {
  PassControl* control = settings_.control;
  if (!control) return true;
  const bool run = !control->bisect || control->applications < *control->bisect;
  ++control->applications;
  if (run)
    control->last_run = fmt::format("{}/{}", stage, what);
  else if (control->first_left.empty())
    control->first_left = fmt::format("{}/{}", stage, what);
  return run;
}

void PassDriver::timed(std::string_view stage, std::string_view name, const std::function<void()>& work) {
  PassRecord record{std::string(stage), std::string(name)};
  where_ = fmt::format("{}/{}", stage, name);
  double begin = now_ms();
  try {
    work();
  } catch (const InternalError& e) {
    throw InternalError(e.message(), fmt::format("{} in {}", e.where(), where_), e.remedy());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::filesystem::filesystem_error&) {  // of dumps and caches: the user's
    throw;
  } catch (const std::exception& e) {
    throw InternalError(e.what(), where_, "");
  }
  record.ms = now_ms() - begin;
  keep(std::move(record));
}

void PassDriver::run(std::string_view stage, std::string_view name, const View& view, const std::function<void()>& pass,
                     bool optional) {
  const bool named = std::find(settings_.skip.begin(), settings_.skip.end(), name) != settings_.skip.end();
  if (named || (optional && !decide(stage, name))) {
    keep({.stage = std::string(stage), .name = std::string(name), .skipped = true, .optional = optional});
  } else {
    timed(stage, name, [&] {
      pass();
      offer(stage, name, view.subject ? view.subject() : PassSubject());
      if (settings_.verify && view.verify) view.verify();
    });
    PassRecord& record = records_.back();
    record.optional = optional;
    record.text = view.print != nullptr;
    if (view.print && looks()) look(record, view.print());
    if (settings_.control) settings_.control->records.back() = record;
  }
  if (settings_.until == name) throw StoppedAt{std::string(name), view.print ? view.print() : ""};
}

void PassDriver::offer(std::string_view stage, std::string_view name, const PassSubject& subject) {
  if (settings_.hook) settings_.hook(stage, name, subject);
}

void PassDriver::end_stage(std::string_view stage, std::string_view name, const std::function<std::string()>& print) {
  if (settings_.dumps && settings_.dumps->wants(stage)) settings_.dumps->put(stage, name, print());
  if (settings_.until == stage) throw StoppedAt{std::string(stage), print()};
}

std::string PassDriver::timings() const {
  std::string out;
  double total = 0;
  for (const auto& r : records_) {
    out += fmt::format("{:<10} {:<24} {:>9.3f} ms{}\n", r.stage, r.name, r.ms,
                       r.skipped ? "  skipped" : (r.changed ? "  changed" : ""));
    total += r.ms;
  }
  return out + fmt::format("{:<10} {:<24} {:>9.3f} ms\n", "", "total", total);
}

}  // namespace plait
