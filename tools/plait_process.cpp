#include "plait_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace plait::tool {

namespace {

namespace fs = std::filesystem;

std::string this_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

std::string read_start(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out(kMostPrinted, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<size_t>(in.gcount()));
  return out;
}

class SpawnSettings {
 public:
  SpawnSettings(const std::string& out, const std::string& err) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // its own group, so that all of it can be ended
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

pid_t start(const std::vector<std::string>& words, const SpawnSettings& settings) {
  std::vector<std::string> all = words;
  if (all[0] == "plait") all[0] = this_program();
  std::vector<char*> arguments;
  for (auto& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string quiet = std::string(kNoReproducer) + "=1";
  std::vector<char*> environment;
  for (char** at = environ; *at != nullptr; ++at) environment.push_back(*at);
  environment.push_back(quiet.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawnp(&child, arguments[0], &settings.actions, &settings.attributes, arguments.data(),
                                     environment.data());
      error != 0)
    throw UserError(fmt::format("cannot run `{}`: {}", words[0], std::strerror(error)), "command",
                    "give a program and its words, e.g. plait run {} --check");
  return child;
}

}  // namespace

ProcessEnd run_process(const std::vector<std::string>& words, double seconds) {
  const TemporaryFolder folder("plait_process_");
  const std::string out = folder.path() + "/out", err = folder.path() + "/err";
  const SpawnSettings settings(out, err);
  const pid_t child = start(words, settings);
  const auto begin = std::chrono::steady_clock::now();
  ProcessEnd end;
  for (int status = 0;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      end.exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      break;
    }
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      end.timed_out = true;
      end.exit = 128 + SIGKILL;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(-child, SIGKILL);  // whatever it left behind
  end.out = read_start(out);
  end.err = read_start(err);
  return end;
}

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : place) / (prefix + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr)
    throw MissingError("no temporary folder can be made", name, "make TMPDIR, or /tmp, writable");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace plait::tool
