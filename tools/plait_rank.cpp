#include "plait_rank.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "base/environment.h"
#include "base/error.h"
#include "comm/process_place.h"
#include "comm/status.h"
#include "plait_launch.h"

namespace plait::tool {

namespace {

struct Fault {
  int64_t rank = 0, step = 0;
  std::string what;
};

struct Rank {
  std::unique_ptr<StatusBoard> board;  // null: not started by `plait launch`
  std::optional<Fault> fault;
};

Rank& self() {
  static Rank rank;
  return rank;
}

std::optional<Fault> read_fault() {
  const auto text = environment("PLAIT_FAULT");
  if (!text) return std::nullopt;
  Fault out;
  const char *at = text->data(), *end = at + text->size();
  const auto rank = std::from_chars(at, end, out.rank);
  const bool first = rank.ec == std::errc() && rank.ptr != end && *rank.ptr == ':';
  const auto step = first ? std::from_chars(rank.ptr + 1, end, out.step) : rank;
  if (first && step.ec == std::errc() && step.ptr != end && *step.ptr == ':') out.what.assign(step.ptr + 1, end);
  if (out.what != "kill" && out.what != "hang" && out.what != "throw")
    throw UserError(fmt::format("PLAIT_FAULT is `{}`", *text), "environment",
                    "write RANK:STEP:kill, RANK:STEP:hang or RANK:STEP:throw");
  return out;
}

void act(const Fault& fault, int64_t step) {
  if (fault.what == "kill") kill(getpid(), SIGKILL);
  if (fault.what == "throw")
    throw CommError(fmt::format("a fault at step {}, as PLAIT_FAULT asks", step), "", "unset PLAIT_FAULT");
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void redirect(const std::string& path, int to) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file >= 0) dup2(file, to);
  if (file > to) close(file);
}

// ---- The keeper: stays outside of everything that can go wrong in a rank.

pid_t kept = 0;
std::atomic<bool> called_off = false;

void pass_on(int number) {
  called_off = true;
  kill(kept, number);
}

[[noreturn]] void keep(int64_t rank, StatusBoard& board) {
  struct sigaction action = {};
  action.sa_handler = pass_on;
  for (int number : {SIGTERM, SIGINT, SIGHUP}) sigaction(number, &action, nullptr);
  int status = 0;
  while (waitpid(kept, &status, 0) < 0 && errno == EINTR) {}
  RankEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit = WEXITSTATUS(status);
  }
  board.end(rank, end, called_off);
  // mpirun ends all others as soon as it hears of this one; the launcher has heard of it now.
  for (int i = 0; i < kLastWords / 10 + 20 && end.failed() && !called_off; ++i) usleep(10'000);
  _exit(end.signal ? 128 + end.signal : end.exit);
}

void split(int64_t rank, const std::string& folder) {
  auto board = StatusBoard::open(folder + "/" + kStatusFile);
  redirect(folder + "/" + rank_file(rank, "out"), STDOUT_FILENO);
  redirect(folder + "/" + rank_file(rank, "err"), STDERR_FILENO);
  const pid_t keeper = getpid();
  kept = fork();
  if (kept < 0) throw MissingError("no process can be started", "plait launch", "end other processes");
  if (kept > 0) {
    board->start(rank, kept);
    keep(rank, *board);
  }
  // The rank dies with its keeper, so that nothing is left whoever is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(1);
  setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  board->start(rank, getpid());
  self().board = std::move(board);
}

}  // namespace

std::string rank_file(int64_t rank, const char* which) { return fmt::format("rank_{}.{}", rank, which); }

void become_rank() {
  self().fault = read_fault();
  const auto folder = environment(kLaunchFolder);
  const auto place = process_place();
  if (folder && place) split(place->rank, *folder);
}

void become_program(char* const* words) {
  unsetenv(kLaunchFolder);  // what it starts are no ranks of the job
  if (words[0] != nullptr) execvp(words[0], words);
  throw UserError(fmt::format("`{}` cannot be started: {}", words[0] ? words[0] : "", std::strerror(errno)),
                  "plait launch", "give a program and its arguments");
}

bool watches_steps() { return self().board || self().fault; }

void enter_step(int64_t rank, int64_t step, std::string_view text) {
  const Rank& me = self();
  if (me.board) me.board->set_step(rank, step, text);
  if (me.fault && me.fault->rank == rank && step >= me.fault->step) act(*me.fault, step);
}

void leave_steps(int64_t rank, std::string_view what) {
  if (self().board) self().board->set_step(rank, -1, what);
}

}  // namespace plait::tool
