#pragma once
// Runs the built command in a folder of its own.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/scratch_folder.h"

namespace plait::testing {

// What a command left: its exit code (-1: killed by a signal, -2: past its time) and its texts.
struct CommandResult {
  int exit = 0;
  std::string out, err;
};

// This process's environment for a command. Open MPI leaves memory behind: processes of a job are not searched for
// leaks.
inline std::vector<std::string> environment_for(const std::vector<std::string>& words) {
  bool job = false;
  for (const auto& word : words)  // a line of the shell is one word
    job = job || word == "launch" || word.find(" launch ") != word.npos ||
          std::filesystem::path(word).filename() == "mpirun";
  std::vector<std::string> out;
  std::string sanitizer = "ASAN_OPTIONS=";
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string one = *at;
    if (job && one.rfind("ASAN_OPTIONS=", 0) == 0)
      sanitizer = one + ":";
    else
      out.push_back(one);
  }
  if (job) out.push_back(sanitizer + "detect_leaks=0");
  return out;
}

// While it lives, programs that are started and are `plait_with_bugs` have the bug (support/planted_bugs.h).
class PlantedBug {
 public:
  explicit PlantedBug(const std::string& name) { setenv("PLAIT_TEST_BUG", name.c_str(), 1); }
  ~PlantedBug() { unsetenv("PLAIT_TEST_BUG"); }
  PlantedBug(const PlantedBug&) = delete;
};

// Runs `words` (the first is the program) in `folder`, at most 120 s.
inline CommandResult run_words(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  const auto out = folder / ".out", err = folder / ".err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  std::vector<std::string> variables = environment_for(words);
  std::vector<char*> environment;
  for (auto& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(words[0] + ": " + std::strerror(error));
  constexpr auto kLimit = std::chrono::seconds(120);
  const auto begin = std::chrono::steady_clock::now();
  CommandResult result;
  for (int status = 0;;) {
    if (waitpid(child, &status, WNOHANG) == child) {
      result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      break;
    }
    if (std::chrono::steady_clock::now() - begin > kLimit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      result.exit = -2;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  result.out = read_file(out);
  result.err = read_file(err);
  return result;
}

}  // namespace plait::testing
