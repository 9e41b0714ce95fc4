// plait fmt.
#include <sys/stat.h>

#include "command/shell_test.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoose = "# Of one.\nlet n=4\n\n\n\nfusion @f(%x:f32[n])->(%y){ %y=neg( %x )# minus\n}";
constexpr const char* kNeat = "# Of one.\nlet n = 4\n\nfusion @f (%x: f32[n]) -> (%y) {\n  %y = neg(%x)  # minus\n}\n";

class Fmt : public ShellTest {
 protected:
  std::string in(const std::string& name) const { return read_file(scratch_ / name); }
  static int mode(const std::string& path) {
    struct stat facts = {};
    return stat(path.c_str(), &facts) == 0 ? int(facts.st_mode & 0777) : -1;
  }
};

TEST_F(Fmt, FilesInPlace) {
  const std::string a = scratch_.file("a.plait", kLoose), b = scratch_.file("b.plait", kNeat);
  fs::permissions(a, fs::perms(0640));
  const auto before = fs::last_write_time(b);
  const CommandResult result = shell("$plait fmt a.plait b.plait");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(result.out, "formatted a.plait\n");
  EXPECT_EQ(in("a.plait"), kNeat);
  EXPECT_EQ(mode(a), 0640);
  EXPECT_EQ(fs::last_write_time(b), before);
  EXPECT_EQ(shell("$plait fmt a.plait b.plait").out, "");
}

TEST_F(Fmt, LinksLeadToTheFile) {
  fs::create_directory(scratch_.path() / "far");
  scratch_.file("far/a.plait", kLoose);
  fs::create_symlink("far/a.plait", scratch_.path() / "link.plait");
  EXPECT_EQ(shell("$plait fmt link.plait").exit, 0);
  EXPECT_TRUE(fs::is_symlink(scratch_.path() / "link.plait"));
  EXPECT_EQ(in("far/a.plait"), kNeat);
}

TEST_F(Fmt, StreamsGoToStandardOutput) {
  scratch_.file("a.plait", kLoose);
  for (const char* line : {"$plait fmt - < a.plait", "cat a.plait | $plait fmt -", "$plait fmt /dev/stdin < a.plait",
                           "cat a.plait | $plait fmt /dev/stdin", "$plait fmt <(cat a.plait)"}) {
    SCOPED_TRACE(line);
    const CommandResult result = shell(line);
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_EQ(result.out, kNeat);
  }
  EXPECT_EQ(in("a.plait"), kLoose);
  expect_refuses("$plait fmt - a.plait < a.plait", "a stream is given beside other files");
  expect_says("$plait fmt --check - < a.plait", "-\n", true, 1);
  EXPECT_EQ(shell("$plait fmt - < a.plait | $plait fmt --check -").exit, 0);
}

TEST_F(Fmt, CheckAndDiffWriteNothing) {
  scratch_.file("a.plait", kLoose);
  scratch_.file("b.plait", kNeat);
  const CommandResult check = shell("$plait fmt --check a.plait b.plait");
  EXPECT_EQ(check.exit, 1);
  EXPECT_EQ(check.out, "a.plait\n");
  const CommandResult diff = shell("$plait fmt --diff a.plait b.plait");
  EXPECT_EQ(diff.exit, 0) << diff.err;
  EXPECT_EQ(diff.out,
            "--- a.plait\n+++ a.plait\n@@ -1,7 +1,6 @@\n # Of one.\n-let n=4\n+let n = 4\n \n-\n-\n"
            "-fusion @f(%x:f32[n])->(%y){ %y=neg( %x )# minus\n-}\n\\ No newline at end of file\n"
            "+fusion @f (%x: f32[n]) -> (%y) {\n+  %y = neg(%x)  # minus\n+}\n");
  EXPECT_EQ(shell("$plait fmt --check --diff a.plait").exit, 1);
  EXPECT_EQ(in("a.plait"), kLoose);
}

TEST_F(Fmt, DiffsArePatches) {
  const CommandResult which = shell("command -v patch");
  if (which.exit != 0) GTEST_SKIP() << "no patch here";
  scratch_.file("a.plait", kLoose);
  std::string many = "fusion @f(%x0:f32[4])->(%x60){\r\n";
  for (int i = 0; i < 60; ++i)
    many += (i % 7 == 0 ? "%x" : "  %x") + std::to_string(i + 1) + " = neg(%x" + std::to_string(i) + ")\n\n" +
            (i % 11 == 0 ? "\n" : "");
  scratch_.file("b.plait", many + "}");
  EXPECT_EQ(shell("cp b.plait c.plait; $plait fmt c.plait; $plait fmt --diff a.plait b.plait > all.diff; patch -p0 < "
                  "all.diff && cmp b.plait c.plait && $plait fmt --check a.plait b.plait")
                .exit,
            0);
}

TEST_F(Fmt, WhatDoesNotParseStays) {
  const std::string bad = "fusion @f (%x: f32[4]) -> (%y) {\n  %y = nag(%x)\n}\n";
  scratch_.file("bad.plait", bad);
  scratch_.file("a.plait", kLoose);
  const CommandResult result = shell("$plait fmt bad.plait nowhere.plait a.plait");
  EXPECT_EQ(result.exit, 1);
  EXPECT_NE(
      result.err.find("there is no op `nag`\n  at: bad.plait:2:8\n  help: did you mean `neg`?\n  |   %y = nag(%x)"),
      std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("cannot read `nowhere.plait`"), std::string::npos) << result.err;
  EXPECT_EQ(in("bad.plait"), bad);
  EXPECT_EQ(in("a.plait"), kNeat);
  for (const char* text : {"", "# only a comment\n", "\n", "\xff\xfe"}) {
    scratch_.file("odd.plait", text);
    expect_refuses("$plait fmt odd.plait", "odd.plait:");
    EXPECT_EQ(in("odd.plait"), text);
  }
  expect_refuses("$plait fmt", "plait fmt needs a file");
  expect_refuses("$plait fmt --chek a.plait", "did you mean `--check`?");
}

TEST_F(Fmt, LineEndsTabsAndBytes) {
  scratch_.file(
      "a.plait",
      "# \xe4 byte\r\nlet n = 4\r\n\r\nfusion @f (\r\n\t%x: f32[n]\r\n) -> (%y) {\r\n\t%y = neg(%x)\t# t\t\r\n}\r\n");
  ASSERT_EQ(shell("$plait fmt a.plait").exit, 0);
  EXPECT_EQ(in("a.plait"),
            "# \xe4 byte\nlet n = 4\n\nfusion @f (\n  %x: f32[n]\n) -> (%y) {\n  %y = neg(%x)  # t\n}\n");
}

TEST_F(Fmt, FoldersAreTheirFiles) {
  for (const char* folder : {"t", "t/u", "t/.hidden"}) fs::create_directory(scratch_.path() / folder);
  for (const char* name : {"t/b.plait", "t/u/a.plait", "t/.hidden/a.plait", "t/text.txt"}) scratch_.file(name, kLoose);
  fs::create_directory_symlink("..", scratch_.path() / "t/u/up");
  EXPECT_EQ(shell("$plait fmt --check t").out, "t/b.plait\nt/u/a.plait\n");
  EXPECT_EQ(shell("$plait fmt t").exit, 0);
  EXPECT_EQ(shell("$plait fmt --check t").exit, 0);
  EXPECT_EQ(in("t/text.txt"), kLoose);
  EXPECT_EQ(in("t/.hidden/a.plait"), kLoose);
}

// A link that leads to itself, one that leads nowhere, and a pipe: each at the place of a file.
TEST_F(Fmt, WhatIsNoFileBelowAFolder) {
  for (const char* folder : {"t", "t/u"}) fs::create_directory(scratch_.path() / folder);
  for (const char* name : {"t/a.plait", "t/u/z.plait", "far"}) scratch_.file(name, kLoose);
  fs::create_symlink("loop.plait", scratch_.path() / "t/loop.plait");
  fs::create_symlink("nowhere", scratch_.path() / "t/gone.plait");
  fs::create_symlink("../far", scratch_.path() / "t/link.plait");
  ASSERT_EQ(mkfifo((scratch_ / "t/pipe.plait").c_str(), 0600), 0);
  const CommandResult result = shell("$plait fmt t");
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(result.out, "formatted t/a.plait\nformatted t/link.plait\nformatted t/u/z.plait\n");
  EXPECT_NE(result.err.find("cannot read `t/loop.plait`"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("cannot read `t/gone.plait`"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("pipe.plait"), std::string::npos) << result.err;
  EXPECT_EQ(in("far"), kNeat);
}

TEST_F(Fmt, FilesBelowDevAreFiles) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm here";
  scratch_.file("a.plait", kLoose);
  expect_says(
      "f=$(mktemp -p /dev/shm); cp a.plait $f; $plait fmt $f a.plait; code=$?; cp $f b.plait; "
      "rm $f; exit $code",
      "formatted a.plait");
  EXPECT_EQ(in("b.plait"), kNeat);
  scratch_.file("a.plait", kLoose);
  for (const char* path : {"/dev/fd/3", "/proc/self/fd/3", "/proc/$BASHPID/fd/3", "/dev/../dev/fd/3"}) {
    EXPECT_EQ(shell(std::string("exec 3< a.plait; $plait fmt ") + path).out, kNeat) << path;
    EXPECT_EQ(in("a.plait"), kLoose) << path;
  }
}

// The command stands still from when it has read the file until another has written it.
TEST_F(Fmt, AFileThatChangesMeanwhileStays) {
  std::string text = "fusion @f(%x0:f32[4])->(%x40000){\n";
  for (int i = 0; i < 40000; ++i) text += "%x" + std::to_string(i + 1) + "=neg(%x" + std::to_string(i) + ")";
  text += "}";
  for (const char* edit : {"echo '# new' >> a.plait", "cp a.plait b; mv b a.plait", "sleep 0.02; touch a.plait"}) {
    SCOPED_TRACE(edit);
    scratch_.file("a.plait", text);
    scratch_.file("z.plait", kLoose);
    const CommandResult result = shell(
        "$plait fmt a.plait z.plait & pid=$!; size=$(stat -c %s a.plait); read_all() { local count; count=$(sed -n "
        "'s/rchar: //p' /proc/$pid/io) || exit 77; ((count >= size)); }; until read_all; do :; done; "
        "kill -STOP $pid; " +
        std::string(edit) + "; cp a.plait kept; kill -CONT $pid; wait $pid");
    if (result.exit == 77) GTEST_SKIP() << "what a process reads is not told here";
    EXPECT_EQ(result.exit, 1);
    EXPECT_NE(result.err.find("`a.plait` changed meanwhile"), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "formatted z.plait\n");
    EXPECT_EQ(in("a.plait"), in("kept"));
    EXPECT_EQ(shell("ls -A | grep draft").out, "");
  }
}

TEST_F(Fmt, OwnersModesAndNamesStay) {
  scratch_.file("a.plait", kLoose);
  if (shell("chown 12:34 a.plait && chmod 6640 a.plait").exit == 0) {
    EXPECT_EQ(shell("$plait fmt a.plait && stat -c '%u %g %a' a.plait").out, "formatted a.plait\n12 34 6640\n");
    EXPECT_EQ(in("a.plait"), kNeat);
    const std::string other = "chmod 777 .; setpriv --reuid 65534 --regid 65534 --clear-groups $plait ";
    scratch_.file("a.plait", kLoose);
    shell("chmod 666 a.plait");
    if (shell(other + "--version").exit == 0) {
      expect_refuses(other + "fmt a.plait", "cannot write `a.plait`: it would lose its owner, group or mode");
      EXPECT_EQ(in("a.plait"), kLoose);
    }
  }
  scratch_.file("b.plait", kLoose);
  fs::create_hard_link(scratch_ / "b.plait", scratch_ / "c.plait");
  expect_refuses("$plait fmt b.plait", "cannot write `b.plait`: it has 2 names");
  EXPECT_EQ(in("b.plait"), kLoose);
  EXPECT_EQ(shell("$plait fmt - < b.plait > new && cat new > b.plait").exit, 0);  // as the help says
  EXPECT_EQ(in("c.plait"), kNeat);
}

TEST_F(Fmt, WordsBehindTwoDashesAreFiles) {
  scratch_.file("-dash.plait", kLoose);
  scratch_.file("--check", kLoose);
  EXPECT_EQ(shell("$plait fmt -- -dash.plait --check").out, "formatted -dash.plait\nformatted --check\n");
  EXPECT_EQ(in("-dash.plait"), kNeat);
  EXPECT_EQ(shell("$plait fmt --check -- -dash.plait").exit, 0);
  expect_refuses("$plait explain $mlp -- --set", "unexpected `--set`");
  expect_refuses("$plait fmt --chek -- a", "there is no flag `--chek`");
  expect_refuses("$plait --quiet fmt a", "there is no flag `--quiet`");
  expect_refuses("$plait --", "plait needs a command");
}

TEST_F(Fmt, TextsOverTheLimitAreRefusedByName) {
  shell("head -c 17000000 /dev/zero | tr '\\0' '\\n' > big.plait");
  expect_refuses("$plait fmt big.plait", "`big.plait` has more than 16777216 bytes");
  expect_refuses("$plait fmt - < big.plait", "`-` has more than 16777216 bytes");
  expect_refuses("$plait reduce big.plait -- false", "`big.plait` has more than 16777216 bytes");
}

TEST_F(Fmt, WhatMayNotBeReadOrWritten) {
  const std::string a = scratch_.file("a.plait", kLoose), b = scratch_.file("b.plait", kLoose);
  fs::permissions(a, fs::perms(0444));
  fs::permissions(b, fs::perms(0));
  const bool root = geteuid() == 0;  // whom no mode stops
  EXPECT_EQ(shell("$plait fmt a.plait").exit, root ? 0 : 1);
  EXPECT_EQ(in("a.plait"), root ? kNeat : kLoose);
  EXPECT_EQ(mode(a), 0444);
  if (!root) expect_refuses("$plait fmt b.plait", "cannot read `b.plait`");
  scratch_.file("c.plait", kLoose);
  expect_refuses("trap '' XFSZ; ulimit -f 0; $plait fmt c.plait 2>&1 | cat; exit ${PIPESTATUS[0]}", "");
  EXPECT_EQ(in("c.plait"), kLoose);
}

TEST_F(Fmt, OtherTexts) {
  shell("$plait opt $mlp > p.plait; cp p.plait q.plait; sed -i 's/ = /=/; s/^  //' q.plait");
  EXPECT_EQ(shell("$plait fmt --check p.plait").exit, 0);
  EXPECT_EQ(shell("$plait fmt q.plait && cmp p.plait q.plait").exit, 0);
  shell("$plait opt $mlp --until kir > k.kir");
  expect_refuses("$plait fmt k.kir", "holds kernels");
}

TEST_F(Fmt, ManyOps) {
  std::string text = "fusion @f(%x0:f32[4])->(%x5000){\n";
  for (int i = 0; i < 5000; ++i) text += "%x" + std::to_string(i + 1) + "=neg(%x" + std::to_string(i) + ")";
  scratch_.file("a.plait", text + "}");
  ASSERT_EQ(shell("$plait fmt a.plait && $plait fmt --check a.plait").exit, 0);
  EXPECT_NE(in("a.plait").find("\n  %x5000 = neg(%x4999)\n}\n"), std::string::npos);
  EXPECT_NE(shell("sed -i 's/^  //' a.plait; $plait fmt --diff a.plait").out.find("\n+  %x5000 = neg(%x4999)\n }\n"),
            std::string::npos);
}

// As what everyone copies from.
TEST_F(Fmt, ExamplesAndFusionsOfTheTree) {
  const CommandResult result =
      shell(std::string("cd ") + PLAIT_SOURCE_DIR + "; $plait fmt --check docs/examples tests/fusions");
  EXPECT_EQ(result.exit, 0) << "plait fmt docs/examples tests/fusions rewrites\n" << result.out << result.err;
}

}  // namespace
}  // namespace plait::testing
