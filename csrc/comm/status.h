#pragma once
// What the ranks of a job on one host are at: a small file that their processes and their launcher map.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace plait {

// How a rank's process ended: by exit status, or by a signal (then not 0).
struct RankEnd {
  int exit = 0, signal = 0;
  bool failed() const { return exit != 0 || signal != 0; }
};

enum class RankState : uint8_t { absent, running, ended };

struct RankStatus {
  RankState state = RankState::absent;
  int64_t process = 0;  // id
  int64_t step = -1;    // of the program; -1: not in a step
  std::string text;     // of the step
  int64_t since = 0;    // when it came to the step (now())
  RankEnd end;
};

// The board: one place per rank, written by the rank's process, read by the launcher at any time. Writing a step takes
// some ten nanoseconds and allocates nothing. Texts are cut to kTextBytes.
class StatusBoard {
 public:
  static constexpr size_t kTextBytes = 160;

  // Makes the file for that many ranks, or maps one that is there. UserError naming the file if that cannot be.
  static std::unique_ptr<StatusBoard> create(const std::string& path, int64_t ranks);
  static std::unique_ptr<StatusBoard> open(const std::string& path);
  ~StatusBoard();
  StatusBoard(const StatusBoard&) = delete;

  int64_t ranks() const { return ranks_; }
  static int64_t now();  // nanoseconds of a clock that all processes of the host share

  void start(int64_t rank, int64_t process);
  // The rank comes to a step; -1 with a text is what it does between steps.
  void set_step(int64_t rank, int64_t step, std::string_view text);
  // The process ended; `called_off` where it was ended from outside because another had failed. The first rank that
  // fails otherwise is kept.
  void end(int64_t rank, RankEnd how, bool called_off);

  RankStatus read(int64_t rank) const;
  int64_t first_failed() const;  // -1: none

 private:
  struct Header;
  struct Place;
  StatusBoard(void* memory, size_t bytes);
  static size_t bytes_for(int64_t ranks);
  Header& header() const;
  Place& place(int64_t rank) const;

  void* memory_;
  size_t bytes_;
  int64_t ranks_ = 0;
};

}  // namespace plait
