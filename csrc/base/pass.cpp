#include "base/pass.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace plait {

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void PassDriver::timed(std::string_view stage, std::string_view name, const std::function<void()>& work) {
  PassRecord record{std::string(stage), std::string(name)};
  where_ = fmt::format("{}/{}", stage, name);
  double begin = now_ms();
  try {
    work();
  } catch (const InternalError& e) {
    throw InternalError(e.message(), fmt::format("{} in {}", e.where(), where_), e.remedy());
  }
  record.ms = now_ms() - begin;
  records_.push_back(std::move(record));
}

void PassDriver::run(std::string_view stage, std::string_view name, const View& view,
                     const std::function<void()>& pass) {
  if (std::find(settings_.skip.begin(), settings_.skip.end(), name) != settings_.skip.end()) {
    records_.push_back({std::string(stage), std::string(name), 0, true, false});
  } else {
    bool watch = settings_.dumps && settings_.dumps->wants("timings");
    std::string before = watch && view.print ? view.print() : "";
    timed(stage, name, [&] {
      pass();
      if (settings_.verify && view.verify) view.verify();
    });
    if (watch && view.print) records_.back().changed = view.print() != before;
  }
  if (settings_.until == name) throw StoppedAt{std::string(name), view.print ? view.print() : ""};
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
