#pragma once
// Work in a process of its own, which may crash or not end.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include "base/error.h"

namespace plait::testing {

// What `work` returns, of a child process; "signal 11" where that is how it ended, "an exit" where it said nothing,
// what it threw where it did.
// SIGXCPU ends one that takes more seconds of a processor than given.
inline std::string in_child(int seconds, const std::function<std::string()>& work) {
  int pipes[2];
  PLAIT_CHECK(pipe(pipes) == 0, "no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  PLAIT_CHECK(child >= 0, "no process");
  if (child == 0) {
    const auto most = static_cast<rlim_t>(seconds);
    const rlimit limit{most, most + 5};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(static_cast<unsigned>(seconds) * 10);  // threads that are not there would be waited for without end
    std::string text;
    try {
      text = work();
    } catch (const std::exception& error) {
      text = error.what();
    }
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(pipes[1], text.data() + at, text.size() - at);
      if (n <= 0) _exit(1);
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(pipes[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<size_t>(n));
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return out.empty() ? "an exit" : out;
}

}  // namespace plait::testing
