#pragma once
// The last operations of a rank, for whoever must find out why ranks wait for each other: `plait comm-diff`.
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm_call.h"

namespace plait {

// How far an operation got: its rank came to it; all members were there, or the work before it on its stream was done;
// it ended; it ended with an error.
enum class FlightState : uint8_t { queued, started, done, failed };
std::string_view name(FlightState state);

// Keeps the last kCapacity operations of one rank. Recording one takes under 100 ns and allocates nothing. One thread
// records; any thread may dump meanwhile.
class FlightRecorder {
 public:
  static constexpr int64_t kCapacity = 2000;
  // Counts kept of an operation; of larger teams the first ones.
  static constexpr size_t kCounts = 16;
  static constexpr size_t kStepBytes = 112;

  FlightRecorder(int64_t rank, std::string_view transport);
  FlightRecorder(const FlightRecorder&) = delete;

  // A number for a team, to be given to begin(); the same ranks give the same number.
  uint32_t team(std::span<const int64_t> ranks);
  // Names the step of the program in which later operations are; cut to kStepBytes - 1 bytes.
  void set_step(std::string_view step);
  std::string step() const;

  // Nanoseconds of the clock that the times below are given in.
  static int64_t now();
  // Records an operation as queued and returns its issue number, counted from 0 per rank.
  int64_t begin(uint32_t team, const CommCall& call, int64_t time);
  // Sets the state of an operation that is still kept.
  void mark(int64_t issue, FlightState state, int64_t time);
  // "operation 17, all_reduce(f32, sum, 12 elements) of ranks 0, 1"; for one that is still kept.
  std::string describe(int64_t issue) const;

  // The recorder as JSON; docs/faults.md describes the fields.
  std::string json(std::string_view reason) const;
  // Writes json() to rank_N.json in the folder, which is made, by one rename. UserError naming the file if it cannot.
  void dump(const std::string& folder, std::string_view reason) const;

 private:
  struct Entry {
    int64_t issue, team_issue;
    uint32_t team;
    Collective kind;
    CommReduce reduce;
    DType dtype;
    FlightState state;
    int64_t outer, inner, total;
    uint32_t members;
    std::array<int64_t, kCounts> counts;
    int64_t queued, started, ended;  // 0: not yet
    std::array<char, kStepBytes> step;
  };
  struct Team {
    std::vector<int64_t> ranks;
    int64_t issued = 0;
  };
  class Lock;
  std::string entry_json(const Entry& entry) const;
  std::string describe(const Entry& entry) const;

  const int64_t rank_;
  const std::string transport_;
  const int64_t clock_offset_;  // what turns now() into nanoseconds since 1970
  mutable std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::unique_ptr<Entry[]> entries_;  // entry of an issue number: at its remainder by kCapacity
  int64_t issued_ = 0;
  std::vector<Team> teams_;
  std::array<char, kStepBytes> step_{};
};

// The recorders of the ranks of a process.
class FlightRecorders {
 public:
  explicit FlightRecorders(std::string transport) : transport_(std::move(transport)) {}
  // The recorder of a rank, made at the first call.
  FlightRecorder& of(int64_t rank);
  FlightRecorder* find(int64_t rank) const;
  void dump(const std::string& folder, std::string_view reason) const;
  // The same where a folder is given, without errors: for use while another error is on its way.
  void dump_on_failure(const std::string& folder, std::string_view reason) const;

 private:
  const std::string transport_;
  mutable std::mutex mutex_;
  std::map<int64_t, std::unique_ptr<FlightRecorder>> by_rank_;
};

// A string as JSON text, quotes included.
std::string json_text(std::string_view text);

}  // namespace plait
