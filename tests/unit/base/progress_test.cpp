// The line of progress, on a terminal and elsewhere.
#include "base/progress.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "base/dump.h"
#include "base/log.h"
#include "support/on_terminal.h"

namespace plait {
namespace {

using testing::on_terminal;

class Progress : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TERM", "xterm", 1);
    show_progress(true);
  }
  void TearDown() override { show_progress(false); }
  // Of steps alone.
  static ProgressWhere at_once(int file) { return {file, std::chrono::milliseconds(0), std::chrono::hours(1)}; }
};

TEST_F(Progress, IsWrittenAfterEachStepAndWipedOut) {
  const std::string text = on_terminal([](int file) {
    ProgressLine line("compiling @f", 3, "kernels", at_once(file));
    for (int i = 0; i < 3; ++i) line.step();
  });
  EXPECT_EQ(text, "\rcompiling @f: 1 of 3 kernels\x1b[K\rcompiling @f: 2 of 3 kernels\x1b[K\r\x1b[K");
}

TEST_F(Progress, IsSilentWhereNobodyWantsIt) {
  const auto steps = [](ProgressWhere where, size_t total) {
    ProgressLine line("work", total, "parts", where);
    for (size_t i = 0; i < total; ++i) line.step();
  };
  EXPECT_EQ(on_terminal([&](int file) { steps({file, std::chrono::hours(1), std::chrono::hours(1)}, 9); }), "")
      << "it did not take long";
  EXPECT_EQ(on_terminal([&](int file) { steps(at_once(file), 1); }), "") << "one part has no middle";
  EXPECT_EQ(on_terminal([&](int file) { ProgressLine line("work", 5, "parts", at_once(file)); }), "");
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(on_terminal([&](int file) { steps(at_once(file), 9); }), "");
  setenv("TERM", "xterm", 1);
  show_progress(false);
  EXPECT_EQ(on_terminal([&](int file) { steps(at_once(file), 9); }), "");
  show_progress(true);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  steps(at_once(ends[1]), 9);
  close(ends[1]);
  char one;
  EXPECT_EQ(read(ends[0], &one, 1), 0) << "a pipe is no terminal";
  close(ends[0]);
}

// Work without steps: of one part, or in a single call.
TEST_F(Progress, IsWrittenWhereNoStepComes) {
  using std::chrono::milliseconds;
  const auto waits = [](size_t total, milliseconds after) {
    return on_terminal([&](int file) {
      ProgressLine line("checking @f", total, "parts", {file, after, milliseconds(1)});
      std::this_thread::sleep_for(milliseconds(100));
    });
  };
  for (size_t total : {0, 1})
    EXPECT_TRUE(waits(total, milliseconds(0)).starts_with("\rchecking @f\x1b[K\rchecking @f")) << total;
  const std::string counted = waits(7, milliseconds(0));
  EXPECT_TRUE(counted.starts_with("\rchecking @f: 0 of 7 parts\x1b[K")) << counted;
  EXPECT_TRUE(counted.ends_with("\r\x1b[K")) << "it is wiped out";
  EXPECT_EQ(waits(0, std::chrono::hours(1)), "") << "it did not take long";
}

TEST_F(Progress, OfSeveralTheLastIsShown) {
  const std::string text = on_terminal([](int file) {
    ProgressLine outer("outer", 9, "parts", at_once(file));
    outer.step();
    {
      ProgressLine inner("inner", 9, "parts", at_once(file));
      outer.step();
      inner.step();
    }
    outer.step();
  });
  EXPECT_EQ(text, "\router: 1 of 9 parts\x1b[K\rinner: 1 of 9 parts\x1b[K\r\x1b[K\router: 3 of 9 parts\x1b[K\r\x1b[K");
}

TEST_F(Progress, StatusesAreWrittenAtOnceAndWipedOut) {
  const auto shown = [](bool on) {
    return on_terminal([&](int file) {
      show_progress(on, {.file = file});
      StatusLine line;
      line.show("one");
      line.show("two");
    });
  };
  EXPECT_EQ(shown(true), "\rone\x1b[K\rtwo\x1b[K\r\x1b[K");
  EXPECT_EQ(shown(false), "");
}

TEST_F(Progress, AStatusGivesWayToWorkThatBeganLater) {
  const std::string text = on_terminal([](int file) {
    show_progress(true, {.file = file});
    StatusLine status;
    status.show("one");
    {
      ProgressLine work("work", 9, "parts", at_once(file));
      work.step();
      status.show("two");
    }
    status.show("three");
  });
  EXPECT_EQ(text, "\rone\x1b[K\rwork: 1 of 9 parts\x1b[K\r\x1b[K\rthree\x1b[K\r\x1b[K");
}

// What `work` writes while a line stands, both on one terminal.
std::string beside_a_line(int standard, const std::function<void()>& work) {
  return on_terminal([&](int file) {
    const int before = dup(standard);
    dup2(file, standard);
    {
      ProgressLine line("work", 9, "parts", {file, std::chrono::milliseconds(0), std::chrono::hours(1)});
      line.step();
      work();
      line.step();
    }
    dup2(before, standard);
    close(before);
  });
}

TEST_F(Progress, OtherLinesStandAlone) {
  const std::string begin = "\rwork: 1 of 9 parts\x1b[K\r\x1b[K", end = "\rwork: 2 of 9 parts\x1b[K\r\x1b[K";
  EXPECT_EQ(beside_a_line(STDERR_FILENO, [] { log(LogComponent::run, LogLevel::warn, "slow"); }),
            begin + "warning: slow\r\n" + end);
  EXPECT_EQ(beside_a_line(STDOUT_FILENO,
                          [] {
                            DumpSink sink;
                            sink.request("graph");
                            sink.put("graph", "f", "text\n");
                          }),
            begin + "---- graph f\r\ntext\r\n" + end);
}

// Ends by the signal, with a line on the terminal.
TEST_F(Progress, AnEndBySignalLeavesNoLine) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string text = on_terminal([&](int file) {
      const pid_t child = fork();
      if (child == 0) {
        show_progress(true, {.file = file});
        StatusLine line;
        line.show("work");
        raise(signal);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    });
    EXPECT_EQ(text, "\rwork\x1b[K\r\x1b[K");
  }
}

TEST_F(Progress, HandlersOfOthersStayAndDefaultsComeBack) {
  const auto handler = [](int signal) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    return now.sa_handler;
  };
  const auto others = ::signal(SIGTERM, SIG_IGN);
  on_terminal([&](int file) {
    ProgressLine line("work", 9, "parts", at_once(file));
    EXPECT_NE(handler(SIGINT), SIG_DFL);
    EXPECT_EQ(handler(SIGTERM), SIG_IGN);
  });
  EXPECT_EQ(handler(SIGINT), SIG_DFL);
  EXPECT_EQ(handler(SIGTERM), SIG_IGN);
  ::signal(SIGTERM, others);
}

TEST_F(Progress, ManyThreadsWriteWholeLines) {
  const std::string text = on_terminal([](int file) {
    ProgressLine line("w", 41, "parts", at_once(file));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) line.step();
      });
    for (std::thread& thread : threads) thread.join();
  });
  std::string want;
  for (int i = 1; i <= 40; ++i) want += "\rw: " + std::to_string(i) + " of 41 parts\x1b[K";
  EXPECT_EQ(text, want + "\r\x1b[K");
}

}  // namespace
}  // namespace plait
