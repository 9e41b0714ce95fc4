#include "comm/flight_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/file_writer.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

int64_t nanoseconds(auto time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::string numbers(std::span<const int64_t> values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
  return text + "]";
}

}  // namespace

std::string_view name(FlightState state) {
  switch (state) {
    case FlightState::queued:
      return "queued";
    case FlightState::started:
      return "started";
    case FlightState::done:
      return "done";
    case FlightState::failed:
      return "failed";
  }
  __builtin_unreachable();
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += char(c);
    } else if (c < 0x20 || c >= 0x7f) {
      out += fmt::format("\\u{:04x}", unsigned(c));
    } else {
      out += char(c);
    }
  }
  return out + "\"";
}

// Held for some ten nanoseconds while recording, longer only while somebody dumps.
class FlightRecorder::Lock {
 public:
  explicit Lock(std::atomic_flag& busy) : busy_(busy) {
    while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Lock() { busy_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;

 private:
  std::atomic_flag& busy_;
};

FlightRecorder::FlightRecorder(int64_t rank, std::string_view transport)
    : rank_(rank),
      transport_(transport),
      clock_offset_(nanoseconds(std::chrono::system_clock::now()) - now()),
      entries_(std::make_unique_for_overwrite<Entry[]>(size_t(kCapacity))) {}

uint32_t FlightRecorder::team(std::span<const int64_t> ranks) {
  const Lock lock(busy_);
  for (size_t i = 0; i < teams_.size(); ++i)
    if (std::equal(ranks.begin(), ranks.end(), teams_[i].ranks.begin(), teams_[i].ranks.end())) return uint32_t(i);
  teams_.push_back({{ranks.begin(), ranks.end()}});
  return uint32_t(teams_.size() - 1);
}

void FlightRecorder::set_step(std::string_view step) {
  const Lock lock(busy_);
  const size_t length = std::min(step.size(), kStepBytes - 1);
  std::memcpy(step_.data(), step.data(), length);
  step_[length] = '\0';
}

std::string FlightRecorder::step() const {
  const Lock lock(busy_);
  return step_.data();
}

int64_t FlightRecorder::now() { return nanoseconds(std::chrono::steady_clock::now()); }

int64_t FlightRecorder::begin(uint32_t team, const CommCall& call, int64_t time) {
  const Lock lock(busy_);
  Entry& entry = entries_[size_t(issued_ % kCapacity)];
  entry.issue = issued_++;
  entry.team_issue = teams_[team].issued++;
  entry.team = team;
  entry.kind = call.kind;
  entry.reduce = call.reduce;
  entry.state = FlightState::queued;
  if (info(call.kind).exchanges()) {
    const std::span<const CommBlock> taken = call.blocks.taken;
    entry.dtype = call.blocks.dtype;
    entry.outer = entry.inner = 1;
    entry.total = 0;
    entry.members = uint32_t(taken.size());
    for (const CommBlock& block : taken) entry.total += call.blocks.elements(block);
    for (size_t i = 0; i < std::min(taken.size(), kCounts); ++i) entry.counts[i] = call.blocks.elements(taken[i]);
  } else {
    entry.dtype = call.pieces.dtype;
    entry.outer = call.pieces.outer;
    entry.inner = call.pieces.inner;
    entry.total = call.pieces.total();
    entry.members = uint32_t(call.pieces.counts.size());
    std::copy_n(call.pieces.counts.begin(), std::min(call.pieces.counts.size(), kCounts), entry.counts.begin());
  }
  entry.queued = time;
  entry.started = entry.ended = 0;
  entry.step = step_;
  return entry.issue;
}

void FlightRecorder::mark(int64_t issue, FlightState state, int64_t time) {
  const Lock lock(busy_);
  Entry& entry = entries_[size_t(issue % kCapacity)];
  if (entry.issue != issue) return;
  entry.state = state;
  (state == FlightState::started ? entry.started : entry.ended) = time;
}

std::string FlightRecorder::describe(const Entry& entry) const {
  const std::span<const int64_t> counts(entry.counts.data(), std::min<size_t>(entry.members, kCounts));
  const std::string call =
      info(entry.kind).exchanges()
          ? describe_exchange(entry.dtype, counts)
          : plait::describe(CommCall{entry.kind, entry.reduce, {entry.dtype, entry.outer, entry.inner, counts}});
  std::string text = fmt::format("operation {}, {} of {}", entry.issue, call, rank_list(teams_[entry.team].ranks));
  if (entry.step[0] != '\0') text += fmt::format(", in {}", entry.step.data());
  return text;
}

std::string FlightRecorder::describe(int64_t issue) const {
  const Lock lock(busy_);
  PLAIT_CHECK(issue < issued_ && issue + kCapacity >= issued_, "operation {} is not kept", issue);
  return describe(entries_[size_t(issue % kCapacity)]);
}

std::string FlightRecorder::entry_json(const Entry& entry) const {
  const std::span<const int64_t> counts(entry.counts.data(), std::min<size_t>(entry.members, kCounts));
  const int64_t bytes = entry.outer * entry.total * entry.inner * int64_t(size_of(entry.dtype));
  auto time = [&](int64_t at) { return at == 0 ? std::string("null") : std::to_string((at + clock_offset_) / 1000); };
  const std::string reduce = !info(entry.kind).reduces ? "null" : fmt::format("\"{}\"", plait::name(entry.reduce));
  return fmt::format(
      "{{\"issue\": {}, \"team\": {}, \"team_issue\": {}, \"kind\": \"{}\", \"op\": {}, \"dtype\": \"{}\", "
      "\"outer\": {}, \"counts\": {}, \"members\": {}, \"total\": {}, \"inner\": {}, \"bytes\": {}, \"state\": \"{}\", "
      "\"queued_us\": {}, \"started_us\": {}, \"ended_us\": {}, \"step\": {}}}",
      entry.issue, entry.team, entry.team_issue, plait::name(entry.kind), reduce, plait::name(entry.dtype), entry.outer,
      numbers(counts), entry.members, entry.total, entry.inner, bytes, plait::name(entry.state), time(entry.queued),
      time(entry.started), time(entry.ended), json_text(entry.step.data()));
}

std::string FlightRecorder::json(std::string_view reason) const {
  const Lock lock(busy_);
  std::string out = fmt::format(
      "{{\n \"format\": \"plait flight 1\",\n \"rank\": {},\n \"transport\": {},\n \"process\": {},\n \"reason\": {},\n"
      " \"time_us\": {},\n \"step\": {},\n \"issued\": {},\n \"teams\": [",
      rank_, json_text(transport_), getpid(), json_text(reason), (now() + clock_offset_) / 1000,
      json_text(step_.data()), issued_);
  for (size_t i = 0; i < teams_.size(); ++i)
    out += fmt::format("{}\n  {{\"id\": {}, \"ranks\": {}, \"issued\": {}}}", i == 0 ? "" : ",", i,
                       numbers(teams_[i].ranks), teams_[i].issued);
  out += "],\n \"operations\": [";
  const int64_t first = std::max<int64_t>(0, issued_ - kCapacity);
  for (int64_t issue = first; issue < issued_; ++issue)
    out += (issue == first ? "\n  " : ",\n  ") + entry_json(entries_[size_t(issue % kCapacity)]);
  return out + "]\n}\n";
}

void FlightRecorder::dump(const std::string& folder, std::string_view reason) const {
  const fs::path file = fs::path(folder) / fmt::format("rank_{}.json", rank_);
  std::error_code error;
  fs::create_directories(folder, error);
  write_whole_file(file.string(), json(reason), "the flight recorder");
}

FlightRecorder& FlightRecorders::of(int64_t rank) {
  const std::lock_guard lock(mutex_);
  auto& slot = by_rank_[rank];
  if (!slot) slot = std::make_unique<FlightRecorder>(rank, transport_);
  return *slot;
}

FlightRecorder* FlightRecorders::find(int64_t rank) const {
  const std::lock_guard lock(mutex_);
  const auto at = by_rank_.find(rank);
  return at == by_rank_.end() ? nullptr : at->second.get();
}

void FlightRecorders::dump(const std::string& folder, std::string_view reason) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, recorder] : by_rank_) recorder->dump(folder, reason);
}

void FlightRecorders::dump_on_failure(const std::string& folder, std::string_view reason) const {
  if (folder.empty()) return;
  try {
    dump(folder, reason);
  } catch (const std::exception&) {  // the error on its way says more
  }
}

}  // namespace plait
