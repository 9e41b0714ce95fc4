// The log: levels by words, sinks and what they may not do.
#include "base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"

namespace plait {
namespace {

// Collects entries, and puts everything back.
class Log : public ::testing::Test {
 protected:
  Log() {
    set_log_sink([this](const LogEntry& entry) {
      const std::lock_guard lock(mutex_);
      entries_.push_back(std::string(name(entry.level)) + " " + std::string(name(entry.component)) + " " + entry.text);
    });
  }
  ~Log() override {
    set_log_sink({});
    set_log_levels(before_);
  }
  std::vector<std::string> entries() {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  const LogLevels before_ = log_levels();
  std::mutex mutex_;
  std::vector<std::string> entries_;
};

TEST_F(Log, WordsSetLevels) {
  using enum LogLevel;
  const auto parsed = [](std::string_view words) { return parse_log_levels(words); };
  EXPECT_EQ(parsed(""), (LogLevels{warn, warn, warn, warn, warn}));
  EXPECT_EQ(parsed("info"), (LogLevels{info, info, info, info, info}));
  EXPECT_EQ(parsed("compile=debug,cache=info"), (LogLevels{debug, info, warn, warn, warn}));
  EXPECT_EQ(parsed("run=off,error"), (LogLevels{error, error, off, error, error})) << "whatever their order";
  for (const auto& [words, what, remedy] : {std::tuple{"inof", "no `inof`", "did you mean `info`"},
                                            {"compil=info", "no `compil`", "did you mean `compile`"},
                                            {"run=loud", "no `loud`", "known: debug, info"},
                                            {"info,", "", ""},
                                            {"=info", "no ``", ""},
                                            {"run=", "no ``", ""}}) {
    try {
      parse_log_levels(words);
      EXPECT_EQ(std::string(what), "") << words;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(what), "") << words;
      EXPECT_NE(e.message().find(what), std::string::npos) << e.message();
      EXPECT_NE(e.remedy().find(remedy), std::string::npos) << e.remedy();
    }
  }
}

TEST_F(Log, EntriesOfTheirLevelsComeAlone) {
  set_log_levels(parse_log_levels("compile=debug"));
  for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error}) {
    log(LogComponent::compile, level, "{} of {}", 1, 2);
    log(LogComponent::run, level, "{}", 3);
  }
  EXPECT_EQ(entries(), (std::vector<std::string>{"debug compile 1 of 2", "info compile 1 of 2", "warn compile 1 of 2",
                                                 "warn run 3", "error compile 1 of 2", "error run 3"}));
  set_log_levels(parse_log_levels("off"));
  log(LogComponent::run, LogLevel::error, "unheard");
  EXPECT_EQ(entries().size(), 6u);
}

TEST_F(Log, SinksThatThrowOrLogDoNoHarm) {
  set_log_levels(parse_log_levels("info"));
  int calls = 0;
  set_log_sink([&](const LogEntry&) {
    ++calls;
    log(LogComponent::run, LogLevel::info, "from within");
    EXPECT_THROW(set_log_sink({}), UserError);
    throw std::runtime_error("the sink's own");
  });
  for (int i = 0; i < 3; ++i) log(LogComponent::cache, LogLevel::info, "entry");
  EXPECT_EQ(calls, 3);
}

TEST_F(Log, ASinkThatIsReplacedIsCalledNoMore) {
  set_log_levels(parse_log_levels("info"));
  std::atomic<bool> go = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (go) {
        log(LogComponent::run, LogLevel::info, "busy");
        std::this_thread::yield();
      }
    });
  for (int i = 0; i < 10; ++i) {
    auto alive = std::make_unique<std::atomic<int>>(0);
    set_log_sink([in = alive.get()](const LogEntry&) { ++*in; });
    while (*alive == 0) std::this_thread::yield();
    set_log_sink([](const LogEntry&) {});
    alive.reset();  // what the sink used is gone
  }
  go = false;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace plait
