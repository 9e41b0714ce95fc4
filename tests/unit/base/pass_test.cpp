#include "base/pass.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "command/run_command.h"

namespace plait {
namespace {

PassDriver::View view(std::string& ir, int* verified = nullptr) {
  return {[&ir] { return ir; },
          [verified] {
            if (verified) ++*verified;
          }};
}

TEST(Pass, RunsVerifiesAndCountsChanges) {
  DumpSink dumps;
  dumps.request("timings");
  PassDriver driver({{}, "", true, &dumps});
  std::string ir = "a";
  int verified = 0;
  driver.run("graph", "grow", view(ir, &verified), [&] { ir += "b"; });
  driver.run("graph", "rest", view(ir, &verified), [] {});
  EXPECT_EQ(ir, "ab");
  EXPECT_EQ(verified, 2);
  EXPECT_TRUE(driver.records()[0].changed);
  EXPECT_FALSE(driver.records()[1].changed);
}

TEST(Pass, SkipsAndStops) {
  PassDriver driver({{"grow"}, "rest", true, nullptr});
  std::string ir = "a";
  driver.run("graph", "grow", view(ir), [&] { ir += "b"; });
  EXPECT_EQ(ir, "a");
  EXPECT_TRUE(driver.records()[0].skipped);
  try {
    driver.run("graph", "rest", view(ir), [&] { ir += "c"; });
    FAIL();
  } catch (const StoppedAt& stop) {
    EXPECT_EQ(stop.text, "ac");
  }
}

TEST(Pass, LimitCountsOptionalPassesAndSteps) {
  for (int64_t limit = 0; limit <= 4; ++limit) {
    PassControl control;
    control.bisect = limit;
    PassDriver driver({.skip = {"named"}, .control = &control});
    std::string ir;
    const auto pass = [&](const char* name, bool optional) {
      driver.run("graph", name, view(ir), [&ir, name] { ir += name; }, optional);
    };
    pass("a", true);
    pass("R", false);     // always runs
    pass("named", true);  // left out by name: not counted
    if (driver.decide("graph", "step")) ir += "s";
    pass("b", true);
    const char* expected[] = {"R", "aR", "aRs", "aRsb", "aRsb"};
    EXPECT_EQ(ir, expected[limit]);
    EXPECT_EQ(control.applications, 3);
    const char* last[] = {"", "graph/a", "graph/step", "graph/b", "graph/b"};
    const char* next[] = {"graph/a", "graph/step", "graph/b", "", ""};
    EXPECT_EQ(control.last_run, last[limit]);
    EXPECT_EQ(control.first_left, next[limit]);
    ASSERT_EQ(control.records.size(), 4u);
    EXPECT_EQ(control.records[0].skipped, limit == 0);
    EXPECT_TRUE(control.records[0].optional && !control.records[1].optional);
  }
}

TEST(Pass, RecordsSayHowManyLinesChanged) {
  PassControl control;
  control.trace = true;
  PassDriver driver({.control = &control});
  std::string ir = "a\nb\nb\n";
  driver.show("fusion", [&] { return ir; });
  driver.run("graph", "one", view(ir), [&] { ir = "b\na\nc\nc\n"; });
  driver.run("graph", "two", view(ir), [] {});
  driver.timed("graph", "work", [] {});
  ASSERT_EQ(control.records.size(), 3u);
  EXPECT_TRUE(control.records[0].changed);
  EXPECT_EQ(control.records[0].added, 2);
  EXPECT_EQ(control.records[0].removed, 1);
  EXPECT_FALSE(control.records[1].changed);
  EXPECT_TRUE(control.records[1].text);
  EXPECT_FALSE(control.records[2].text);
}

TEST(Pass, DefiningLines) {
  const auto lines = defining_lines(
      "fusion @f (\n  %x: f32[4],\n  param %w: f32[4]\n) -> (%y) {\n  %y = add(%x, %w)\n  %yy: f32[4] = neg(%y)\n}\n"
      "%\n%a\n%b=c\nlaunch %x: \n");
  const std::map<std::string, std::string, std::less<>> expected = {
      {"x", "%x: f32[4]"}, {"w", "param %w: f32[4]"}, {"y", "%y = add(%x, %w)"}, {"yy", "%yy: f32[4] = neg(%y)"}};
  EXPECT_EQ(lines, expected);
  EXPECT_TRUE(defining_lines("").empty());
}

TEST(Pass, WatchTellsOfEveryChangeOnce) {
  PassControl control;
  control.watch = {"y*", "none"};
  std::string said;
  control.say = [&](const std::string& line) { said += line; };
  PassDriver driver({.control = &control});
  std::string ir = "%x: f32[4]\n%y = neg(%x)\n";
  driver.show("fusion", [&] { return ir; });
  driver.run("graph", "same", view(ir), [] {});
  driver.run("graph", "other", view(ir), [&] { ir += "%z = neg(%y)\n"; });
  driver.run("graph", "more", view(ir), [&] { ir += "%y2 = neg(%y)\n"; });
  driver.run("graph", "change", view(ir), [&] { ir = "%y = abs(%x)\n%y2 = neg(%y)\n"; });
  driver.run("graph", "drop", view(ir), [&] { ir = "%y = abs(%x)\n"; });
  EXPECT_EQ(said,
            "fusion: %y = neg(%x)\n"
            "graph/more: %y2 = neg(%y)\n"
            "graph/change: %y = abs(%x)\n"
            "graph/drop: %y2 is gone\n");
  EXPECT_EQ(control.matched, (std::set<std::string, std::less<>>{"y*"}));
  EXPECT_TRUE(control.tensors.count("z") && control.tensors.count("x"));
}

TEST(Pass, OtherExceptionsAreInternalErrors) {
  PassDriver driver({});
  try {
    driver.timed("graph", "broken", [] { throw std::out_of_range("vector"); });
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_EQ(e.message(), "vector");
    EXPECT_EQ(e.where(), "graph/broken");
  }
  EXPECT_THROW(driver.timed("graph", "w", [] { throw UserError("u", "", ""); }), UserError);
  EXPECT_THROW(driver.timed("graph", "w", [] { throw std::bad_alloc(); }), std::bad_alloc);
}

// What the hook does to a value is verified and printed, by its type; what it throws is the pass's.
TEST(Pass, HooksEditWhatPassesLeave) {
  std::string text = "a", seen;
  PassDriver driver({.until = "second", .hook = [&](auto stage, auto pass, const PassSubject& subject) {
                       seen += fmt::format("{}/{} ", stage, pass);
                       EXPECT_EQ(subject.as<int>(), nullptr);
                       if (auto* it = subject.as<std::string>()) *it += "+" + std::string(pass);
                       if (pass == "bad") throw InternalError("planted", "a test", "");
                     }});
  std::string verified;
  const PassDriver::View view{[&] { return text; }, [&] { verified = text; }, [&] { return PassSubject(text); }};
  driver.run("graph", "first", view, [&] { text = "b"; });
  EXPECT_EQ(verified, "b+first");
  driver.run("graph", "plain", {}, [] {});  // without a value
  driver.timed("kir", "work", [&] { driver.offer("kir", "work", PassSubject(text)); });
  EXPECT_EQ(text, "b+first+work");
  try {
    driver.run("graph", "second", view, [&] { text = "c"; });
    FAIL();
  } catch (const StoppedAt& stop) {
    EXPECT_EQ(stop.text, "c+second");
  }
  EXPECT_EQ(seen, "graph/first graph/plain kir/work graph/second ");
  try {
    driver.run("graph", "bad", view, [] {});
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_EQ(e.message(), "planted");
    EXPECT_EQ(e.where(), "a test in graph/bad");
  }
}

TEST(Pass, InternalErrorNamesThePass) {
  PassDriver driver({{}, "", true, nullptr});
  try {
    driver.timed("graph", "broken", [] { PLAIT_CHECK(false, "broken"); });
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_NE(e.where().find("in graph/broken"), std::string::npos);
  }
}

TEST(Dump, ListensAndMatches) {
  DumpSink dumps;
  EXPECT_FALSE(dumps.wants("kir"));
  dumps.request("kir:k*");
  EXPECT_TRUE(dumps.wants("kir"));
  EXPECT_THROW(dumps.request("kirr"), UserError);
  const testing::ScratchFolder folder;
  dumps.request(fmt::format("graph,llvm:k*@{}/new,", folder.path().string()));
  EXPECT_TRUE(dumps.wants("graph") && dumps.wants("llvm") && !dumps.wants("cuda"));
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "new"));
  EXPECT_THROW(dumps.request("graph@/proc/no/such"), UserError);
  std::filesystem::remove_all(folder.path());
  dumps.put("llvm", "k1", "text");  // gone meanwhile
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "new"));
  EXPECT_THROW(dumps.request("cuda,kirr"), UserError);
  EXPECT_TRUE(glob_match("k*_s?", "kernel_s1"));
  EXPECT_FALSE(glob_match("k*_s?", "kernel_s12"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_FALSE(glob_match("", "x"));
}

}  // namespace
}  // namespace plait
