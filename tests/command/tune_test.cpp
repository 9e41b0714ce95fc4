// plait tune: measures, prints, keeps.
#include "command/shell_test.h"
#include "compile/measured_schedules.h"
#include "plait.h"
#include "support/child.h"

namespace plait::testing {
namespace {

class TuneCommand : public ShellTest {
 protected:
  TuneCommand() { shell("echo 'fusion @f (%x: f32[3, 300]) -> (%y) { %y = exp(%x) }' > exp.plait"); }
};

TEST_F(TuneCommand, PrintsWhatItFound) {
  const CommandResult result = shell("$plait tune $mlp --device cpu --seconds 2 --rounds 2 --check");
  EXPECT_EQ(result.exit, 0) << result.err;
  for (const char* text : {"launch ", "tried", "schedules are better; a run takes ", "check ok"})
    EXPECT_NE(result.out.find(text), std::string::npos) << result.out;
  // No progress where nobody looks.
  EXPECT_TRUE(result.err.empty() || result.err.starts_with("warning: others use the machine (load ")) << result.err;
}

TEST_F(TuneCommand, ShowsCandidatesAndWritesJson) {
  const CommandResult result =
      shell("$plait tune exp.plait --device cpu --seconds 2 --rounds 1 --no-keep --candidates --json tuned.json");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_NE(result.out.find("best then"), std::string::npos) << result.out;
  expect_says(
      "python3 -c 'import json; t = json.load(open(\"tuned.json\"))[\"tune\"]; s = t[\"schedules\"][0]; "
      "print(s[\"tried\"] >= len(s[\"candidates\"]) > 0, s[\"candidates\"][0][\"ms\"] > 0, t[\"programs\"] > 1)'",
      "True True True");
}

TEST_F(TuneCommand, WritesATextThatStatesSchedules) {
  expect_says("$plait tune exp.plait --device cpu --seconds 1 --rounds 1 --no-keep --out tuned.plait",
              "schedules are better");
  expect_says("cat tuned.plait", "schedule pointwise(vector = ");
  expect_says("$plait run tuned.plait --device cpu --check", "check ok");
  expect_says(
      "$plait tune exp.plait --device cpu --seconds 1 --rounds 1 --no-keep --out - | $plait run - --device cpu --check",
      "check ok");
  expect_says("test ! -e $PLAIT_CACHE_DIR/schedules && echo none", "none");
}

TEST_F(TuneCommand, Forgets) {
  expect_says("$plait tune --forget", "schedules of 0 computations forgotten");
  expect_says("$plait tune --forget exp.plait; test $? = 1 && echo refused", "refused");
}

// What lies in the folder of kernels says that a kernel without vectors is the fastest: every search finds a better
// one.
TEST_F(TuneCommand, InterruptedKeepsWhatItFound) {
  const char* const text = "fusion @f (%x: f32[512, 4096]) -> (%y) {\n  %y = exp(%x)\n}\n";
  write_file(scratch_ / "wide.plait", text);
  const std::string slow = "pointwise(vector = 1, unroll = 1, split = 0, block = 0)";
  const std::string kept = in_child(60, [&] {
    setenv("PLAIT_CACHE_DIR", cache().c_str(), 1);
    const auto fusion = parse_fusion(text);
    CompileOptions options{.device = "cpu"};
    options.measured = [&](const std::string& key, const std::string&) {
      keep_schedule(key, {{}, parse_schedule(slow), "by hand"});
      return std::vector<MeasuredSchedule>();
    };
    compile(*fusion, options).prepare({{"x", {DType::f32, {512, 4096}}}});
    return fmt::format("{}", count_schedules_on_disk());
  });
  ASSERT_EQ(kept, "1");
  expect_says("$plait explain wide.plait --device cpu --schedule", "vector = 1,");
  // On a terminal, where it shows that the first generation is over.
  const CommandResult result = shell(
      "export TERM=xterm; echo 'echo $$ > pid; exec '$plait' tune wide.plait --device cpu --rounds 40 >out' > go.sh;"
      "script -qefc 'bash go.sh' shown >/dev/null & "
      "for i in $(seq 900); do grep -q 'generation 2: ' shown && break; sleep 0.1; done;"
      "kill -INT $(cat pid); wait $!; status=$?; cat out; exit $status");
  EXPECT_EQ(result.exit, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("1 of 1 schedules are better"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(", and more could be tried"), std::string::npos) << result.out;
  expect_says("$plait explain wide.plait --device cpu --schedule", "vector = 1,", false);
  expect_says("$plait explain wide.plait --device cpu --segments", " was measured: ");
  expect_says("$plait tune --forget", "schedules of 1 computation forgotten");
}

TEST_F(TuneCommand, RefusesWhatDoesNotFit) {
  const auto refused = [&](const std::string& words, const std::string& text) {
    const CommandResult result = shell("$plait tune " + words);
    EXPECT_EQ(result.exit, 1) << words;
    EXPECT_NE(result.err.find(text), std::string::npos) << words << ": " << result.err;
  };
  refused("$mlp --device reference", "the reference device has no kernels");
  refused("$mlp --device sim:sm_80", "times on a simulated GPU are those of the simulator");
  refused("$mlp --device cpu --rounds 0", "0 rounds");
  refused("$mlp --device cpu --seconds -1", "-1 seconds");
  refused("", "plait tune needs a file");
  refused("exp.plait --device cpu --out exp.plait", "would be overwritten");
  shell("$plait compile $mlp --device cpu --save mlp.plaitc");
  refused("mlp.plaitc", "is a compiled program, plait tune takes texts");
}

}  // namespace
}  // namespace plait::testing
