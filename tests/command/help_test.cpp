// plait help, its examples, and the manual page.
#include <regex>
#include <set>

#include "comm/flight_recorder.h"
#include "command/shell_test.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches_of(const std::string& text, const std::string& pattern) {
  std::vector<std::string> out;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) out.push_back((*at)[1]);
  return out;
}

class Help : public ShellTest {
 protected:
  std::string printed(const std::string& words) {
    const CommandResult result = shell("$plait " + words);
    EXPECT_EQ(result.exit, 0) << words << '\n' << result.err;
    EXPECT_EQ(result.err, "") << words;
    return result.out;
  }
  // In the order of `plait --help`.
  std::vector<std::string> commands() { return matches_of(printed("--help"), "\n  ([a-z][a-z-]*) {2,}"); }
};

TEST_F(Help, EveryCommandIsInTheOverviewWithAnExample) {
  const std::string overview = printed("help");
  const std::vector<std::string> all = commands();
  EXPECT_GE(all.size(), 13u);
  for (const std::string& command : all) {
    EXPECT_NE(overview.find("\n  " + command + " "), std::string::npos) << command;
    EXPECT_NE(overview.find("\n               $ plait " + command), std::string::npos) << command;
    const std::string help = printed("help " + command);
    EXPECT_EQ(help.rfind(printed(command + " --help"), 0), 0u) << help;
    EXPECT_NE(help.find("\nExamples:\n  # "), std::string::npos) << help;
  }
}

TEST_F(Help, ExamplesRun) {
  const fs::path docs = fs::path(PLAIT_SOURCE_DIR) / "docs/examples";
  fs::copy(docs / "simple_add.plait", scratch_.path() / "add.plait");
  fs::copy(docs / "tp_mlp.plait", scratch_.path() / "mlp.plait");
  fs::copy(fs::path(PLAIT_SOURCE_DIR) / "tests/unit/import/stablehlo/examples/mlp.mlir", scratch_.path() / "mlp.mlir");
  std::set<std::string> lines;
  for (const std::string& command : commands())
    for (const std::string& line : matches_of(printed("help " + command), "\n  \\$ ([^\n]*)")) lines.insert(line);
  EXPECT_GE(lines.size(), 25u);
  FlightRecorder recorder(0, "local");
  recorder.dump(scratch_ / "flights", "asked");
  for (const std::string& line : lines) {
    const CommandResult result = shell("PATH=$(dirname $plait):$PATH; " + line);
    if (result.exit == 3 && line.find("launch") != line.npos) continue;  // no mpirun here
    EXPECT_EQ(result.exit, 0) << line << '\n' << result.out << result.err;
  }
}

TEST_F(Help, Topics) {
  const std::vector<std::string> topics =
      matches_of(printed("help").substr(printed("help").find("\nTopics:")), "\n  ([a-z-]+) +");
  EXPECT_EQ(topics, (std::vector<std::string>{"text", "devices", "options", "environment", "exit-codes", "ops"}));
  for (const std::string& topic : topics) EXPECT_GT(printed("help " + topic).size(), 200u);
  EXPECT_EQ(printed("help options"), printed("doctor --options"));
  expect_says("$plait help text | sed -n 's/^    //p' > x.plait; $plait run x.plait --ranks 4 --check", "check ok");
  expect_says("$plait help text | sed -n 's/^    //p' | $plait run - --set n=8 --device reference", "y: f32[8, 8]");
}

TEST_F(Help, DevicesOfTheTopicAreKnown) {
  for (const std::string& device : matches_of(printed("help devices"), "\n  ([a-z]+[:a-z0-9_]*)  ")) {
    const CommandResult result = shell("$plait explain $mlp --device " + device);
    EXPECT_TRUE(result.exit == 0 || result.exit == 3) << device << result.err;
  }
}

TEST_F(Help, Ops) {
  const std::string gelu = printed("help gelu");
  EXPECT_EQ(gelu.rfind("gelu(%x, [approx = none])\n", 0), 0u) << gelu;
  EXPECT_NE(gelu.find("\n  gelu(x, approx = tanh)\n"), std::string::npos) << gelu;
  EXPECT_NE(printed("help norm").find("sum |x|^p"), std::string::npos);
  EXPECT_NE(printed("help topk").find("%values, %indices = topk(%in, k, [dim = -1], [largest = true])"),
            std::string::npos);
  std::string names = printed("help ops");
  names = names.substr(0, names.find("plait help OP"));
  const std::vector<std::string> ops = matches_of(names, "([a-z_0-9]+) ?(?![a-z_0-9 ,]*:\n)");
  EXPECT_GE(ops.size(), 150u);
  for (const char* op : {"add", "softmax", "scatter", "all_gather", "where", "split", "cast", "einsum"}) {
    EXPECT_NE(names.find(std::string(" ") + op), std::string::npos) << op;
    EXPECT_NE(printed(std::string("help ") + op).find("\n\n  "), std::string::npos) << op;
  }
}

TEST_F(Help, ExitCodesInShort) {
  EXPECT_NE(printed("--help").find("2 an internal error, a wrong result, or a rank gone, 3 something missing here, 4 "),
            std::string::npos);
}

TEST_F(Help, UnknownWords) {
  expect_refuses("$plait help sofmax",
                 "there is no help on `sofmax`\n  at: plait help\n  help: did you mean `softmax`?");
  expect_refuses("$plait help rum", "did you mean `run`?");
  expect_refuses("$plait help enviroment", "did you mean `environment`?");
  expect_refuses("$plait help run opt", "unexpected `opt`");
  expect_refuses("$plait help --mna", "there is no flag `--mna`");
  expect_refuses("$plait hepl", "did you mean `help`?");
}

TEST_F(Help, VariablesThatAreReadAreInTheTable) {
  const std::string table = printed("help environment");
  int found = 0;
  for (const char* folder : {"csrc", "tools", "python_bindings/src"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PLAIT_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".cpp")
        for (const std::string& name : matches_of(read_file(entry.path()), "\\benvironment\\(\"([A-Z0-9_]+)\"\\)")) {
          EXPECT_NE(table.find("\n" + name + " "), std::string::npos) << name << " of " << entry.path();
          ++found;
        }
  EXPECT_GE(found, 10);
  // Those that another library reads, and Python.
  for (const char* name : {"TORCH_LOGS", "NVTX_INJECTION64_PATH", "PLAIT_LOG", "PLAIT_DUMP"})
    EXPECT_NE(table.find(std::string("\n") + name + " "), std::string::npos) << name;
}

TEST_F(Help, TheManualPageHasAllCommandsAndFlags) {
  std::string page = printed("help --man");
  EXPECT_EQ(page.rfind(".TH PLAIT 1 ", 0), 0u);
  page = std::regex_replace(page, std::regex("\\\\-"), "-");
  for (const std::string& command : commands()) {
    EXPECT_NE(page.find(".SS \\fBplait " + command + "\\fR\n"), std::string::npos) << command;
    for (const std::string& flag : matches_of(printed(command + " --help"), "\n  (?:-[a-z],)?(--?[a-z-]+)"))
      EXPECT_NE(page.find("\\fB" + flag + "\\fR"), std::string::npos) << command << ' ' << flag;
  }
  for (const char* word : {"PLAIT_CACHE_DIR", "\\fB4\\fR", "plait help text"})
    EXPECT_NE(page.find(word), std::string::npos) << word;
  for (const std::string& line : matches_of(page, "\n([.'][^\n]*)"))
    EXPECT_TRUE(std::regex_match(line, std::regex("\\.(TH|SH|SS|TP|PP|nf|fi)( .*)?"))) << line;
}

TEST_F(Help, TheManualPageIsRoff) {
  if (shell("command -v groff").exit != 0) GTEST_SKIP() << "no groff here";
  const CommandResult result = shell("$plait help --man | groff -ww -man -Tascii -P-cbou");
  EXPECT_EQ(result.exit, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("EXIT STATUS"), std::string::npos);
  EXPECT_NE(result.out.find("plait run mlp.plait --ranks 4 --check"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace plait::testing
