// The line of progress, on a terminal and elsewhere.
#include "base/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace plait {
namespace {

// What the work writes to a terminal.
std::string on_terminal(const std::function<void(int)>& work) {
  int outer = -1, inner = -1;
  EXPECT_EQ(openpty(&outer, &inner, nullptr, nullptr, nullptr), 0);
  work(inner);
  close(inner);
  std::string out;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(outer, buffer, sizeof buffer)) > 0;) out.append(buffer, size_t(got));
  close(outer);
  return out;
}

class Progress : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TERM", "xterm", 1);
    show_progress(true);
  }
  void TearDown() override { show_progress(false); }
  static ProgressLine::Where at_once(int file) { return {file, std::chrono::milliseconds(0)}; }
};

TEST_F(Progress, IsWrittenAfterEachStepAndWipedOut) {
  const std::string text = on_terminal([](int file) {
    ProgressLine line("compiling @f", 3, "kernels", at_once(file));
    for (int i = 0; i < 3; ++i) line.step();
  });
  EXPECT_EQ(text, "\rcompiling @f: 1 of 3 kernels\x1b[K\rcompiling @f: 2 of 3 kernels\x1b[K\r\x1b[K");
}

TEST_F(Progress, IsSilentWhereNobodyWantsIt) {
  const auto steps = [](ProgressLine::Where where, size_t total) {
    ProgressLine line("work", total, "parts", where);
    for (size_t i = 0; i < total; ++i) line.step();
  };
  EXPECT_EQ(on_terminal([&](int file) { steps({file, std::chrono::hours(1)}, 9); }), "") << "it did not take long";
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
