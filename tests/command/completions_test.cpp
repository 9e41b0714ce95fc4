// plait completions: what a shell makes of a line.
#include <regex>

#include "command/shell_test.h"

namespace plait::testing {
namespace {

class Completions : public ShellTest {
 protected:
  // What bash offers at the end of the line, in its order, with blanks between.
  std::string offered(const std::string& line) {
    const CommandResult result = shell("source <($plait completions bash); COMP_LINE='" + line +
                                       "'; COMP_POINT=${#COMP_LINE}; _plait; echo \"${COMPREPLY[*]}\"");
    EXPECT_EQ(result.exit, 0) << line << result.err;
    EXPECT_EQ(result.err, "") << line;
    return result.out.substr(0, result.out.size() - 1);
  }
  bool offers(const std::string& line, const std::string& word) {
    return (" " + offered(line) + " ").find(" " + word + " ") != std::string::npos;
  }
  // Every command's flags in the script, each as `before` and its name without dashes.
  void expect_has_all(const std::string& script, const std::string& before) {
    const std::regex name("\n  ([a-z][a-z-]*) {2,}"), flag("\n  (?:-[a-z],)?--([a-z-]+)");
    const std::string help = shell("$plait --help").out;
    int flags = 0;
    for (std::sregex_iterator at(help.begin(), help.end(), name), end; at != end; ++at) {
      const std::string command = (*at)[1];
      EXPECT_NE(script.find(command), std::string::npos) << command;
      const std::string own = shell("$plait " + command + " --help").out;
      for (std::sregex_iterator word(own.begin(), own.end(), flag); word != end; ++word, ++flags)
        EXPECT_NE(script.find(before + (*word)[1].str()), std::string::npos) << command << " " << (*word)[1];
    }
    EXPECT_GE(flags, 70);
  }
};

TEST_F(Completions, CommandsAndFlags) {
  EXPECT_EQ(offered("plait ru"), "run");
  EXPECT_EQ(offered("plait run --de"), "--device");
  EXPECT_EQ(offered("plait run x.plait --che"), "--check");
  EXPECT_EQ(offered("plait reduce --max"), "--max-runs");
  EXPECT_EQ(offered("plait nothing "), "");
  EXPECT_TRUE(offers("plait ", "comm-diff"));
  EXPECT_TRUE(offers("plait --", "--version"));
  EXPECT_TRUE(offers("plait view -", "-o"));
  EXPECT_TRUE(offers("  plait   fmt  --", "--diff"));
  expect_has_all(shell("$plait completions bash").out, "--");
}

TEST_F(Completions, Values) {
  EXPECT_EQ(offered("plait opt --until segm"), "segments segment");  // the stage, and a pass
  EXPECT_EQ(offered("plait opt --until propa"), "propagate");
  EXPECT_EQ(offered("plait opt --until=shar"), "sharded");
  EXPECT_EQ(offered("plait run --device cp"), "cpu");
  EXPECT_EQ(offered("plait run --device sim:sm_8"), "sm_80");  // readline keeps what is before the colon
  EXPECT_EQ(offered("plait run --option strict"), "strict_rounding=");
  EXPECT_EQ(offered("plait run --option=strict"), "strict_rounding=");
  EXPECT_EQ(offered("plait run --dump graph --comm local:th"), "threads");
  EXPECT_EQ(offered("plait help softm"), "softmax");
  EXPECT_EQ(offered("plait help exit"), "exit-codes");
  EXPECT_EQ(offered("plait completions f"), "fish");
  EXPECT_EQ(offered("plait run --ranks 4"), "");
}

TEST_F(Completions, Files) {
  scratch_.file("some.plait", "");
  scratch_.file("with blank.plait", "");
  EXPECT_EQ(offered("plait run so"), "some.plait");
  EXPECT_EQ(offered("plait run some.plait --json so"), "some.plait");
  EXPECT_EQ(offered("plait run --json=so"), "some.plait");
  EXPECT_EQ(offered("plait fmt some.plait so"), "some.plait");
  EXPECT_EQ(offered("plait fmt wi"), "with blank.plait");
  EXPECT_EQ(offered("plait comm-diff so"), "some.plait");
}

// Words that the shell unquotes are readline's; without it, as here, nothing is offered.
TEST_F(Completions, QuotedWords) {
  scratch_.file("with blank.plait", "");
  const std::string start = "source <($plait completions bash); ";
  for (const char* line : {"plait fmt \"with b", "plait fmt with\\ b", "plait run 'with blank.plait' --de"}) {
    scratch_.file("line", line);
    const CommandResult result =
        shell(start + "COMP_LINE=$(< line); COMP_POINT=${#COMP_LINE}; COMPREPLY=(x); _plait; echo ${#COMPREPLY[@]}");
    EXPECT_EQ(result.out, "0\n") << line;
    EXPECT_EQ(result.err, "") << line;
  }
  expect_says(start + "COMP_LINE='plait ru \"x'; COMP_POINT=8; _plait; echo \"${COMPREPLY[*]}\"", "run");
}

TEST_F(Completions, StagesAndPassesAreThoseThatExist) {
  for (const char* name : {"segment", "propagate", "merge_equal"})
    EXPECT_EQ(shell(std::string("$plait opt $mlp --until ") + name).exit, 0) << name;
  for (const char* name : {"fusion", "sharded", "program", "merge_equal", "llvm"})
    EXPECT_TRUE(offers("plait opt --until ", name)) << name;
  EXPECT_FALSE(offers("plait opt --dump ", "merge_equal"));
}

TEST_F(Completions, Zsh) {
  const CommandResult script = shell("$plait completions zsh");
  EXPECT_EQ(script.exit, 0) << script.err;
  EXPECT_EQ(script.out.rfind("#compdef plait\n", 0), 0u);
  expect_has_all(script.out, "--");
  if (shell("command -v zsh").exit != 0) GTEST_SKIP() << "no zsh here: its syntax is not tried";
  EXPECT_EQ(shell("$plait completions zsh > _plait; zsh -n _plait").exit, 0);
}

TEST_F(Completions, Fish) {
  const CommandResult script = shell("$plait completions fish");
  EXPECT_EQ(script.exit, 0) << script.err;
  expect_has_all(script.out, "-l ");
  if (shell("command -v fish").exit != 0) GTEST_SKIP() << "no fish here: its syntax is not tried";
  EXPECT_EQ(shell("$plait completions fish > plait.fish; fish -n plait.fish").exit, 0);
}

TEST_F(Completions, OtherShells) {
  expect_refuses("$plait completions", "for which shell?");
  expect_refuses("$plait completions fishy",
                 "there are no completions for `fishy`\n  at: plait completions\n  help: did you mean `fish`?");
}

// Those of commands that read their words themselves stand in the definition for help alone.
TEST_F(Completions, FlagsOfTheDefinitionAreTaken) {
  const std::regex flag("\n  (-[a-z-]+)");
  for (const char* command : {"reduce", "launch"}) {
    const std::string help = shell(std::string("$plait ") + command + " --help").out;
    for (std::sregex_iterator at(help.begin(), help.end(), flag), end; at != end; ++at) {
      if ((*at)[1] == "-h") continue;
      const CommandResult result = shell(std::string("$plait ") + command + " " + (*at)[1].str());
      EXPECT_EQ(result.exit, 1);
      EXPECT_NE(result.err.find((*at)[1].str() + " needs a"), std::string::npos) << result.err;
    }
  }
}

}  // namespace
}  // namespace plait::testing
