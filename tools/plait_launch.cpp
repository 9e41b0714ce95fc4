// plait launch: starts the processes of a job, shows what rank 0 prints, ends all when one fails.
#include "plait_launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/environment.h"
#include "base/error.h"
#include "base/suggest.h"
#include "comm/mpi/mpi.h"
#include "comm/status.h"
#include "plait_command.h"

namespace plait::tool {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct LaunchWords {
  int64_t processes = 0, timeout_seconds = 60;
  std::vector<std::string> run;  // plait's own arguments, or a program and its
  bool program = false;
};

// A program by its path, or by its name in PATH.
std::optional<std::string> find_program(const std::string& name, bool absolute = false) {
  const auto runs = [absolute](const fs::path& path) {
    std::error_code error;
    return (path.is_absolute() || !absolute) && fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != name.npos) return runs(name) ? std::optional(name) : std::nullopt;
  const std::string path = environment("PATH").value_or("/usr/bin");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const fs::path candidate = fs::path(path.substr(begin, end - begin)) / name;
    if (runs(candidate)) return candidate.string();
    begin = end + 1;
  }
  return std::nullopt;
}

int64_t whole_number(const std::string& text, const std::string& flag) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 100'000)
    throw UserError(fmt::format("`{}` is no number for {}", text, flag), flag, "give a whole number from 1");
  return value;
}

LaunchWords parse_launch(const std::vector<std::string>& words) {
  LaunchWords out;
  size_t i = 0;
  for (; i < words.size() && words[i] != "--"; ++i) {
    std::string flag = words[i];
    std::optional<std::string> value;
    if (const size_t at = flag.find('='); flag.rfind("--", 0) == 0 && at != flag.npos) {
      value = flag.substr(at + 1);
      flag.resize(at);
    }
    if (flag != "-n" && flag != "--timeout")
      throw UserError(
          flag.starts_with('-') ? fmt::format("there is no flag `{}`", flag) : fmt::format("unexpected `{}`", flag),
          "plait launch", flag.starts_with('-') ? suggestion(flag, {"-n", "--timeout"}) : kLaunchUsage);
    if (!value && i + 1 < words.size()) value = words[++i];
    if (!value) throw UserError(fmt::format("{} needs a number", flag), "plait launch", kLaunchUsage);
    (flag == "-n" ? out.processes : out.timeout_seconds) = whole_number(*value, flag);
  }
  if (out.processes == 0) throw UserError("how many processes?", "plait launch", kLaunchUsage);
  if (i < words.size()) out.run.assign(words.begin() + int64_t(i) + 1, words.end());
  if (out.run.empty()) throw UserError("nothing to run", "plait launch", kLaunchUsage);
  out.program = out.run[0] != "run";
  for (const char* own :
       {"opt", "compile", "explain", "view", "import", "reduce", "launch", "comm-diff", "doctor", "cache"})
    if (out.run[0] == own)
      throw UserError(fmt::format("`{}` does not run on several processes", own), "plait launch", kLaunchUsage);
  if (out.program && !find_program(out.run[0]))
    throw UserError(fmt::format("`{}` is neither `run` nor a program", out.run[0]), "plait launch", kLaunchUsage);
  return out;
}

bool has_flag(const std::vector<std::string>& words, const std::string& flag, const std::string& start = "") {
  for (size_t i = 0; i < words.size(); ++i) {
    const bool inside = words[i].rfind(flag + "=", 0) == 0;
    const std::string value =
        inside ? words[i].substr(flag.size() + 1) : (words[i] == flag && i + 1 < words.size() ? words[i + 1] : "");
    if ((inside || words[i] == flag) && value.rfind(start, 0) == 0) return true;
  }
  return false;
}

std::string find_mpirun() {
  if (const auto found = find_program("mpirun", true)) return *found;
  throw MissingError("there is no mpirun", "plait launch", "install the package openmpi-bin");
}

// A folder for the status file, what ranks print, and MPI's shared memory; gone with the object.
class JobFolder {
 public:
  JobFolder() {
    for (const fs::path& place : {fs::path("/dev/shm"), fs::temp_directory_path()}) {
      std::string name = (place / fmt::format("plait_launch_{}_XXXXXX", getpid())).string();
      if (mkdtemp(name.data()) == nullptr) continue;
      path_ = name;
      return;
    }
    throw MissingError("no folder can be made for the job", "/dev/shm", "make it, or TMPDIR, writable");
  }
  ~JobFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  JobFolder(const JobFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Passes on what is appended to a file, until it cannot be written.
class Tail {
 public:
  Tail(std::string path, int to) : path_(std::move(path)), to_(to) {}
  ~Tail() {
    if (file_ >= 0) close(file_);
  }
  Tail(const Tail&) = delete;
  int error() const { return error_; }  // of writing; 0: none
  void pass() {
    if (error_ != 0) return;
    if (file_ < 0) file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    char buffer[1 << 14];
    for (ssize_t count; file_ >= 0 && (count = read(file_, buffer, sizeof(buffer))) > 0;) {
      for (ssize_t done = 0; done < count;) {
        const ssize_t written = ::write(to_, buffer + done, size_t(count - done));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
          error_ = errno;
          return;
        }
        done += written;
      }
    }
  }

 private:
  std::string path_;
  int to_, file_ = -1, error_ = 0;
};

std::atomic<int> interrupted = 0;

// The signals that end the launcher end the job while the object lives.
class SignalGuard {
 public:
  SignalGuard() {
    struct sigaction action = {};
    action.sa_handler = [](int number) { interrupted = number; };
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~SignalGuard() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[3] = {};
};

class Job {
 public:
  explicit Job(const LaunchWords& words);
  ~Job() { kill_all(); }
  int run();

 private:
  std::vector<std::string> command(const LaunchWords& words) const;
  void start(const std::vector<std::string>& command);
  bool mpirun_runs();
  void watch();
  void look_for_hangs();
  void end_slowly(Clock::duration since);
  void kill_all();
  static void kill_children();
  int verdict();
  int report_rank(int64_t rank);
  void report_stuck(int64_t rank) const;
  int64_t lost_rank() const;

  const LaunchWords words_;
  JobFolder folder_;
  std::unique_ptr<StatusBoard> board_;
  Tail out_, err_;
  pid_t mpirun_ = 0;
  std::optional<int> status_;                // of mpirun
  std::optional<Clock::time_point> ending_;  // since when the job is being ended
  std::vector<RankStatus> at_end_;           // of all ranks, before the others are ended
  int64_t end_time_ = 0;                     // and when that was
  int64_t hung_ = -1;                        // a rank that did not go on
  int signals_sent_ = 0;
};

Job::Job(const LaunchWords& words)
    : words_(words),
      board_(StatusBoard::create(folder_ / kStatusFile, words.processes)),
      out_(folder_ / rank_file(0, "out"), STDOUT_FILENO),
      err_(folder_ / rank_file(0, "err"), STDERR_FILENO) {
  start(command(words));
}

std::vector<std::string> Job::command(const LaunchWords& words) const {
  std::vector<std::string> out = {find_mpirun(), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-q",
                                  // Shared memory lies where it goes with the job.
                                  "--mca", "btl_vader_backing_directory", folder_.path(), "--mca", "orte_tmpdir_base",
                                  folder_.path(), "-x", fmt::format("{}={}", kLaunchFolder, folder_.path()), "-n",
                                  std::to_string(words.processes)};
  const int64_t cores = std::max<int64_t>(1, int64_t(std::thread::hardware_concurrency()) / words.processes);
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  if (words.program) {
    if (!environment("OMP_NUM_THREADS")) out.insert(out.end() - 2, {"-x", fmt::format("OMP_NUM_THREADS={}", cores)});
    out.insert(out.end(), {self, kRankProgram});
    out.insert(out.end(), words.run.begin(), words.run.end());
    return out;
  }
  out.push_back(self);
  out.insert(out.end(), words.run.begin(), words.run.end());
  if (!has_flag(words.run, "--comm")) out.insert(out.end(), {"--comm", "mpi"});
  if (!has_flag(words.run, "--option", "comm_timeout="))
    out.insert(out.end(), {"--option", fmt::format("comm_timeout={}", words.timeout_seconds)});
  if (!has_flag(words.run, "--option", "cpu_threads="))
    out.insert(out.end(), {"--option", fmt::format("cpu_threads={}", cores)});
  return out;
}

void Job::start(const std::vector<std::string>& command) {
  const std::string log = folder_ / "mpirun.log";
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t launcher = getpid();
  mpirun_ = fork();
  if (mpirun_ < 0) throw MissingError("no process can be started", "plait launch", "end other processes");
  if (mpirun_ > 0) return;
  // A group of its own: the terminal's ctrl-C comes to the launcher alone, which then ends the others. It ends with
  // the launcher.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file >= 0) dup2(file, STDOUT_FILENO);
  if (file >= 0) dup2(file, STDERR_FILENO);
  if (getppid() == launcher) execv(arguments[0], arguments.data());
  _exit(127);
}

bool Job::mpirun_runs() {
  if (status_ || mpirun_ == 0) return false;
  int status = 0;
  if (waitpid(mpirun_, &status, WNOHANG) != mpirun_) return true;
  status_ = status;
  return false;
}

// Kills mpirun, and then whatever it leaves: orphans of the job become children of the launcher.
void Job::kill_all() {
  if (mpirun_runs()) {
    kill(-mpirun_, SIGKILL);
    int status = 0;
    waitpid(mpirun_, &status, 0);
    status_ = status;
  }
  const Clock::time_point begin = Clock::now();
  for (;;) {
    const pid_t child = waitpid(-1, nullptr, WNOHANG);
    if (child < 0) return;  // none is left
    if (child > 0) continue;
    const Clock::duration waited = Clock::now() - begin;
    if (waited > std::chrono::seconds(2)) return;
    if (waited > milliseconds(100)) kill_children();
    std::this_thread::sleep_for(milliseconds(2));
  }
}

void Job::kill_children() {
  std::ifstream children(fmt::format("/proc/self/task/{}/children", getpid()));
  for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
}

// A rank that stays in a step, or in a wait for others, ends by itself with an error after the time limit; one that
// does not is ended here, a little later.
void Job::look_for_hangs() {
  constexpr int64_t kGrace = 1'500'000'000;
  const int64_t now = StatusBoard::now(), limit = words_.timeout_seconds * 1'000'000'000 + kGrace;
  int64_t behind = -1;
  bool late = false;
  for (int64_t rank = 0; rank < words_.processes; ++rank) {
    const RankStatus status = board_->read(rank);
    if (status.state != RankState::running || status.step < 0) continue;
    late = late || now - status.since > limit;
    if (behind < 0 || status.step < board_->read(behind).step) behind = rank;
  }
  if (late) hung_ = behind;
}

void Job::watch() {
  if (!ending_) {
    if (board_->first_failed() < 0) look_for_hangs();
    if (board_->first_failed() < 0 && hung_ < 0 && interrupted == 0) return;
    ending_ = Clock::now();
  }
  end_slowly(Clock::now() - *ending_);
}

// The other ranks get a moment to say what they know (keepers hold back the end of a rank from mpirun for as long);
// then mpirun is asked to end them, then killed.
void Job::end_slowly(Clock::duration since) {
  const milliseconds first(interrupted ? 0 : kLastWords), second = first + milliseconds(1200);
  if (signals_sent_ == 0 && since >= first) {
    ++signals_sent_;
    for (int64_t rank = 0; rank < words_.processes; ++rank) at_end_.push_back(board_->read(rank));
    end_time_ = StatusBoard::now();
    kill(mpirun_, SIGTERM);
  } else if (signals_sent_ == 1 && since >= second) {
    ++signals_sent_;
    kill_all();
  }
}

int Job::run() {
  while (mpirun_runs()) {
    out_.pass();
    err_.pass();
    watch();
    std::this_thread::sleep_for(milliseconds(5));
  }
  kill_all();
  out_.pass();
  err_.pass();
  return verdict();
}

// A rank whose keeper was killed says nothing: it is the one that did not end.
int64_t Job::lost_rank() const {
  for (int64_t rank = 0; rank < words_.processes; ++rank)
    if (board_->read(rank).state == RankState::running) return rank;
  return -1;
}

std::string place_of(const RankStatus& status) {
  if (status.step < 0) return status.text;
  return fmt::format("step {} ({})", status.step, status.text);
}

// Ranks that are no further, are still there, and have been in their step for about as long as others may wait.
void Job::report_stuck(int64_t rank) const {
  const double limit = double(words_.timeout_seconds) * 0.9;
  for (int64_t other = 0; other < int64_t(at_end_.size()); ++other) {
    const RankStatus& status = at_end_[size_t(other)];
    const double seconds = double(end_time_ - status.since) * 1e-9;
    if (other == rank || status.state != RankState::running || status.step < 0 || seconds < limit) continue;
    if (status.step > at_end_[size_t(rank)].step) continue;
    fmt::print(stderr, "  rank {} did not go on: for {:.1f} s at {}\n", other, seconds, place_of(status));
  }
}

int Job::report_rank(int64_t rank) {
  const RankStatus status = board_->read(rank);
  if (status.end.signal == 0 && status.end.exit == kUndecided) return kUndecided;  // rank 0 has said why
  const std::string text = rank == 0 ? "" : read_text(folder_ / rank_file(rank, "err"));
  const bool known = rank != 0 && text == read_text(folder_ / rank_file(0, "err"));
  if (!known) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      fmt::print(stderr, "[rank {}] {}\n", rank, text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (status.end.signal != 0) {
    fmt::print(stderr, "error: rank {} of {} was ended by signal {} ({})\n  at: {}\n", rank, words_.processes,
               status.end.signal, strsignal(status.end.signal), place_of(status));
  } else if (status.step >= 0) {
    fmt::print(stderr, "error: rank {} of {} failed with exit code {}\n  at: {}\n", rank, words_.processes,
               status.end.exit, place_of(status));
  } else if (rank != 0 && !known) {
    fmt::print(stderr, "error: rank {} of {} failed with exit code {}\n", rank, words_.processes, status.end.exit);
  }
  report_stuck(rank);
  return status.end.signal == 0 && status.end.exit <= kUndecided ? status.end.exit : 2;
}

int Job::verdict() {
  if (interrupted) {
    fmt::print(stderr, "error: ended by signal {} ({})\n", int(interrupted), strsignal(interrupted));
    return 128 + interrupted;
  }
  if (board_->first_failed() >= 0 && hung_ < 0) return report_rank(board_->first_failed());
  if (hung_ >= 0) {
    const RankStatus status = at_end_.empty() ? board_->read(hung_) : at_end_[size_t(hung_)];
    fmt::print(stderr, "error: rank {} of {} did not go on: for {:.1f} s\n  at: {}\n", hung_, words_.processes,
               double(end_time_ - status.since) * 1e-9, place_of(status));
    report_stuck(hung_);
    return 2;
  }
  if (status_ && WIFSIGNALED(*status_)) {
    fmt::print(stderr, "error: mpirun was ended by signal {} ({})\n", WTERMSIG(*status_),
               strsignal(WTERMSIG(*status_)));
    return 2;
  }
  const bool ok = status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
  const int64_t lost = lost_rank();
  if (ok && lost < 0) return out_.error() == 0 ? 0 : output_failed(std::strerror(out_.error()));
  if (lost >= 0) {
    fmt::print(stderr, "error: the process of rank {} of {} was killed\n  at: {}\n", lost, words_.processes,
               place_of(board_->read(lost)));
    return 2;
  }
  throw MissingError("mpirun failed: " + read_text(folder_ / "mpirun.log"), "plait launch",
                     "try mpirun with another program, for instance: mpirun -n 2 hostname");
}

}  // namespace

int launch_command(const std::vector<std::string>& words) {
  const LaunchWords parsed = parse_launch(words);
  if (!parsed.program && (!has_flag(parsed.run, "--comm") || has_flag(parsed.run, "--comm", "mpi"))) mpi_version();
  interrupted = 0;
  const SignalGuard guard;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Job job(parsed);
  return job.run();
}

}  // namespace plait::tool
