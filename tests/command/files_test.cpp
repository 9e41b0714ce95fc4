// Files that the command reads and writes: streams, full disks, and outputs in each other's place.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

const std::string kPlait = (fs::path(PLAIT_BINARY_DIR) / "plait").string();
const std::string kAdd = (fs::path(PLAIT_SOURCE_DIR) / "docs/examples/simple_add.plait").string();
const std::string kTwo = "fusion @two(%a: f32[4]) -> (%b, %c) {\n  %b = neg(%a)\n  %c = exp(%a)\n}\n";

class Files : public ::testing::Test {
 protected:
  CommandResult run(std::vector<std::string> words) {
    words.insert(words.begin(), kPlait);
    return run_words(words, folder_.path());
  }
  CommandResult shell(const std::string& line) {
    return run_words({"/bin/bash", "-c", "set -o pipefail; plait=" + kPlait + "; add=" + kAdd + "; " + line},
                     folder_.path());
  }
  void expect_refused(const CommandResult& result, const std::string& part) {
    EXPECT_EQ(result.exit, 1) << result.out << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("help: "), std::string::npos) << result.err;
  }
  std::string in(const std::string& name) const { return read_file(folder_.path() / name); }
  ScratchFolder folder_;
};

constexpr const char* kRun = "$plait run $add --device reference --input 'a=[1,2,3,4]' --input 'b=[5,6,7,8]' ";

TEST_F(Files, AFullStandardOutputIsAnError) {
  for (const char* line :
       {"run $add --device reference", "opt $add --device reference", "opt $add --dump graph",
        "explain $add --device reference --cache", "doctor --options", "doctor", "--help",
        "run $add --device reference --out c=-", "run $add --device reference --json /dev/full",
        "explain $add --device reference --shard --svg /dev/full", "explain $add --device reference --shard --svg -",
        "explain $add --device reference --memory --svg -", "launch -n 1 -- run $add --device reference"}) {
    SCOPED_TRACE(line);
    const CommandResult result = shell(std::string("$plait ") + line + " > /dev/full");
    expect_refused(result, "No space left");
    EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
  }
  expect_refused(shell("$plait doctor >&-"), "standard output cannot be written");
}

TEST_F(Files, OutputsDoNotTakeThePlaceOfInputs) {
  const std::string two = folder_.file("two.plait", kTwo);
  ASSERT_EQ(run({"run", two, "--device", "reference", "--out", "b=x.npy"}).exit, 0);
  const std::string before = in("x.npy");
  fs::create_symlink("x.npy", folder_.path() / "link.npy");
  fs::create_directory_symlink(".", folder_.path() / "here");
  for (const char* path : {"x.npy", "./x.npy", "here/x.npy"})
    for (const char* input : {"a=x.npy", "a=link.npy"})
      expect_refused(run({"run", two, "--input", input, "--out", std::string("c=") + path}), "would be overwritten");
  expect_refused(run({"run", two, "--json", "two.plait"}), "would be overwritten");
  expect_refused(run({"explain", two, "--shard", "--svg", "two.plait"}), "would be overwritten");
  expect_refused(run({"explain", two, "--shard", "--svg", "x", "--json", "x"}), "two outputs");
  expect_refused(run({"run", two, "--out", "c=two.plait"}), "would be overwritten");
  expect_refused(run({"reduce", two, "--out", two, "--", "false"}), "would be overwritten");
  EXPECT_EQ(in("two.plait"), kTwo);
  EXPECT_EQ(in("x.npy"), before);
  fs::create_directory(folder_.path() / "dumps");
  const std::string first = folder_.file("dumps/01_fusion_two.txt", kTwo);
  expect_refused(run({"opt", first, "--dump", "fusion@dumps"}), "would be overwritten");
  EXPECT_EQ(in("dumps/01_fusion_two.txt"), kTwo);
}

TEST_F(Files, ALinkIsNoWayIntoAnotherFile) {
  const std::string two = folder_.file("two.plait", kTwo);
  folder_.file("precious", "kept");
  fs::create_symlink("precious", folder_.path() / "link.npy");
  ASSERT_EQ(run({"run", two, "--device", "reference", "--out", "b=link.npy"}).exit, 0);
  EXPECT_EQ(in("precious"), "kept");
  EXPECT_EQ(in("link.npy").substr(1, 5), "NUMPY");
}

TEST_F(Files, OnePathHoldsOneOutput) {
  const std::string two = folder_.file("two.plait", kTwo);
  expect_refused(run({"run", two, "--out", "b=y.npy", "--out", "c=./y.npy"}), "two outputs");
  expect_refused(run({"run", two, "--out", "b=y.npy", "--json", "y.npy"}), "two outputs");
  expect_refused(run({"run", two, "--out", "b=-", "--json", "-"}), "two outputs");
  EXPECT_FALSE(fs::exists(folder_.path() / "y.npy"));
}

TEST_F(Files, AFailedWriteLeavesWhatWasThere) {
  folder_.file("long.plait", "fusion @long(%a: f32[4096]) -> (%b) { %b = neg(%a) }\n");
  folder_.file("y.npy", "old");
  // A limit of the size of files stands for a full disk.
  expect_refused(shell("trap '' XFSZ; ulimit -f 1; $plait run long.plait --device reference --out b=y.npy"),
                 "too large");
  EXPECT_EQ(in("y.npy"), "old");
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find(".draft"), std::string::npos) << entry.path();
}

TEST_F(Files, FilesComeThroughPipes) {
  const std::string want = shell(kRun).out;
  ASSERT_NE(want.find("[6, 8, 10, 12]"), std::string::npos) << want;
  const std::string rest = " --device reference --input 'a=[1,2,3,4]' --input 'b=[5,6,7,8]'";
  for (const std::string& line : {"cat $add | $plait run -" + rest, "cat $add | $plait run /dev/stdin" + rest,
                                  "$plait run /dev/stdin" + rest + " < $add", "$plait run - " + rest + " < $add",
                                  "$plait run <(cat $add)" + rest}) {
    const CommandResult result = shell(line);
    EXPECT_EQ(result.exit, 0) << line << result.err;
    EXPECT_EQ(result.out, want) << line;
  }
  EXPECT_EQ(shell("cat $add | $plait opt - --until graph").out, shell("$plait opt $add --until graph").out);
  EXPECT_EQ(shell("cat $add | $plait opt - | $plait opt -").out, shell("$plait opt $add").out);
  expect_refused(shell("cat $add | $plait run - --bisect auto"), "can be read once");
  expect_refused(shell("$plait run - --input a=- < $add"), "more than once");
}

TEST_F(Files, TensorsComeThroughPipes) {
  const std::string two = folder_.file("two.plait", kTwo), rest = " run two.plait --device reference ";
  ASSERT_EQ(shell("$plait" + rest + "--out c=x.npy").exit, 0);
  const std::string want = shell("$plait" + rest + "--input a=x.npy").out;
  for (const std::string& line : {"cat x.npy | $plait" + rest + "--input a=-",
                                  "$plait" + rest + "--input a=<(cat x.npy)", "$plait" + rest + "--input a=- < x.npy",
                                  "$plait" + rest + "--out c=- 2>/dev/null | $plait" + rest + "--input a=-"}) {
    const CommandResult result = shell(line);
    EXPECT_EQ(result.exit, 0) << line << result.err;
    EXPECT_EQ(result.out, want) << line;
  }
  expect_refused(shell("head -c 100 x.npy | $plait" + rest + "--input a=-"), "ends early");
  expect_refused(shell("cat x.npy x.npy | $plait" + rest + "--input a=-"), "more behind");
  expect_refused(shell("$plait" + rest + "--input a=- < /dev/zero"), "not .npy");
}

TEST_F(Files, StandardOutputIsForWhatIsAskedFor) {
  const CommandResult result = shell(std::string(kRun) + "--json -");
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out).at("ok"), true);
  EXPECT_NE(result.err.find("[6, 8, 10, 12]"), std::string::npos) << result.err;
  const CommandResult failed = shell("$plait run $add --set nothing=1 --json -");
  EXPECT_EQ(failed.exit, 1);
  EXPECT_EQ(nlohmann::json::parse(failed.out).at("ok"), false);
}

// As many empty lists as dims say would be gigabytes.
TEST_F(Files, TensorsOfNothingPrintAsTheirHead) {
  folder_.file("none.plait",
               "fusion @none(%a: f32[3000000000, 0], %b: f32[2, 0, 3000000000], %c: f32[0, 9]) -> (%x, %y, %z) {\n"
               "  %x = neg(%a)\n  %y = neg(%b)\n  %z = neg(%c)\n}\n");
  const CommandResult result = run({"run", "none.plait", "--device", "reference"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_LT(result.out.size(), 1000u);
  for (const char* line : {"x: f32[3000000000, 0] = [[], [], [], [], [], [], ...]\n",
                           "y: f32[2, 0, 3000000000] = [[], []]\n", "z: f32[0, 9] = []\n"})
    EXPECT_NE(result.out.find(line), std::string::npos) << result.out;
}

TEST_F(Files, GraphsAreReducedFromPipes) {
  const CommandResult reduced = shell("cat $add | $plait reduce - --out - -- $plait run {} --device nothing");
  ASSERT_EQ(reduced.exit, 0) << reduced.err;
  EXPECT_EQ(reduced.out.rfind("fusion", 0), 0u) << reduced.out;
  EXPECT_FALSE(fs::exists(folder_.path() / "-"));
}

}  // namespace
}  // namespace plait::testing
