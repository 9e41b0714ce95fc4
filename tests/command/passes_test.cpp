// --passes, --bisect and --watch.
#include <gtest/gtest.h>

#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

const std::string kExamples = (fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples").string() + "/";
const std::string kTpMlp = kExamples + "tp_mlp.plait";

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

class PassesOf : public ::testing::Test {
 protected:
  CommandResult run(std::vector<std::string> words) {  // with the bug of PlantedBug, else as it is
    words.insert(words.begin(), (fs::path(PLAIT_BINARY_DIR) / "plait_with_bugs").string());
    return run_words(words, folder_.path());
  }
  std::vector<std::string> small(const std::string& command) const {
    return {command, kTpMlp, "--set", "sb=8", "--set", "h=4", "--ranks", "3", "--device", "reference"};
  }
  CommandResult run_small(const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> words = small(command);
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  ScratchFolder folder_;
};

TEST_F(PassesOf, ListsThem) {
  for (const char* command : {"run", "compile", "opt", "explain"}) {
    std::vector<std::string> more = {"--passes"};
    if (std::string(command) == "explain") more.push_back("--shard");
    const CommandResult result = run_small(command, more);
    EXPECT_EQ(0, result.exit) << result.err;
    std::istringstream lines(result.out.substr(result.out.find("stage      pass")));
    std::vector<std::string> order;
    for (std::string line, stage, pass; std::getline(lines, line);)
      if (std::istringstream words(line); words >> stage >> pass) order.push_back(stage + "/" + pass);
    const auto at = [&](const char* pass) { return std::find(order.begin(), order.end(), pass) - order.begin(); };
    EXPECT_LT(at("graph/expand"), at("sharded/propagate"));
    EXPECT_LT(at("sharded/propagate"), at("localized/localize"));
    EXPECT_LT(at("localized/localize"), at("segments/segment"));
    EXPECT_LT(at("segments/segment"), static_cast<long>(order.size())) << result.out;
    EXPECT_TRUE(has(result.out, "remove_dead_code    yes       unchanged")) << result.out;
    EXPECT_TRUE(has(result.out, "changed: +")) << result.out;
    EXPECT_TRUE(has(result.out, "optional steps: ")) << result.out;
  }
}

TEST_F(PassesOf, ListComesWithAnError) {
  const PlantedBug bug("internal_error_segment");
  const CommandResult result = run_small("run", {"--passes"});
  EXPECT_EQ(2, result.exit);
  EXPECT_TRUE(has(result.out, "localize ")) << result.out;
  EXPECT_FALSE(has(result.out, "build_program")) << result.out;
}

// However many optional steps run, the results are right.
TEST_F(PassesOf, BisectLimitsOptionalSteps) {
  int64_t steps = 0;
  for (int64_t limit = 0;; ++limit) {
    const CommandResult result = run_small("run", {"--check", "--bisect", std::to_string(limit)});
    ASSERT_EQ(0, result.exit) << limit << result.err;
    EXPECT_TRUE(has(result.out, "check ok")) << result.out;
    if (has(result.err, "bisect: there are " + std::to_string(limit) + " optional steps")) {
      steps = limit;
      break;
    }
    EXPECT_TRUE(has(result.err, "bisect: " + std::to_string(limit) + " optional steps ran")) << result.err;
    EXPECT_TRUE(has(result.err, "; the next: ")) << result.err;
    ASSERT_LT(limit, 40);
  }
  EXPECT_GE(steps, 4) << "three passes and the merges";
  const CommandResult more = run_small("compile", {"--bisect", "1000"});
  EXPECT_EQ(0, more.exit);
  EXPECT_TRUE(has(more.err, "bisect: there are " + std::to_string(steps) + " optional steps, and all ran")) << more.err;
  for (const char* wrong : {"-1", "x", "1.5", "99999999999999999999"}) {
    const CommandResult refused = run_small("opt", {std::string("--bisect=") + wrong});
    EXPECT_EQ(1, refused.exit) << wrong;
    EXPECT_TRUE(has(refused.err, "--bisect")) << refused.err;
  }
}

TEST_F(PassesOf, BisectAutoFindsTheStep) {
  auto bug = std::make_unique<PlantedBug>("subtracting_pass");
  const CommandResult found = run_small("run", {"--check", "--bisect=auto"});
  EXPECT_EQ(2, found.exit) << found.out << found.err;
  EXPECT_TRUE(has(found.out, "localized/remove_unread, is the first with which it fails")) << found.out;
  EXPECT_TRUE(has(found.out, "  fails:    plait run ")) << found.out;
  EXPECT_TRUE(has(found.out, "--bisect=5")) << found.out;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(has(entry.path().filename().string(), "plait_repro")) << entry.path();

  bug = nullptr;
  bug = std::make_unique<PlantedBug>("dropped_bias");
  const CommandResult always = run_small("run", {"--check", "--bisect", "auto"});
  EXPECT_EQ(2, always.exit);
  EXPECT_TRUE(has(always.out, "the fault is in what always runs")) << always.out;
  bug = nullptr;
  const CommandResult good = run_small("run", {"--check", "--bisect", "auto"});
  EXPECT_EQ(0, good.exit);
  EXPECT_TRUE(has(good.out, "there is nothing to find")) << good.out;
  const CommandResult refused = run({"run", "none.plait", "--bisect", "auto"});
  EXPECT_EQ(1, refused.exit);
  EXPECT_TRUE(has(refused.err, "cannot read `none.plait`")) << refused.err;
}

TEST_F(PassesOf, WatchFollowsATensor) {
  const CommandResult result = run_small("compile", {"--watch", "%linear2", "--watch", "drop*"});
  EXPECT_EQ(0, result.exit) << result.err;
  EXPECT_TRUE(has(result.out, "fusion: %linear2: T[sb, h] = linear(%gelu, %w1, %b1)\n")) << result.out;
  EXPECT_TRUE(has(result.out, "graph/split_bias: %linear2: T[sb, h] = add(")) << result.out;
  EXPECT_TRUE(has(result.out, "graph/expand: %dropout")) << result.out;
  const CommandResult none = run_small("compile", {"--watch", "lniear2"});
  EXPECT_EQ(1, none.exit);
  EXPECT_TRUE(has(none.err, "no pass saw a tensor `lniear2`")) << none.err;
  EXPECT_TRUE(has(none.err, "did you mean `linear2`?")) << none.err;
}

TEST_F(PassesOf, ValuesOfPassesHaveTexts) {
  for (const char* pass : {"state_facts", "localize", "build_program"}) {
    const CommandResult result = run_small("opt", {"--until", pass});
    EXPECT_EQ(0, result.exit) << result.err;
    EXPECT_TRUE(has(result.out, "@tp_mlp")) << result.out;
  }
}

}  // namespace
}  // namespace plait::testing
