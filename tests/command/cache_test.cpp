// Kernels on disk: what a second process finds there.
#include "command/shell_test.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

class KernelsOnDisk : public ShellTest {
 protected:
  // $run is a checked run of the program.
  CommandResult shell(const std::string& line) { return ShellTest::shell(run() + line); }
  void expect_says(const std::string& line, const std::string& text, bool says = true) {
    ShellTest::expect_says(run() + line, text, says);
  }

 private:
  static std::string run() { return "run=\"$plait run $mlp --device cpu --check --times\"; "; }
};

TEST_F(KernelsOnDisk, ServeTheNextProcess) {
  expect_says("$run", "from disk", false);
  expect_says("$run", ", 2 of 2 kernels from disk");
  expect_says("LD_DEBUG=files $run 2>&1", "libLLVM", false);  // objects are linked without it
  expect_says("LD_DEBUG=files $run --option disk_cache=false 2>&1", "libLLVM");
  expect_says("$plait compile $mlp --device cpu", ", 2 of 2 kernels from disk");
  expect_says("$plait compile $mlp --device cpu --json - | grep -c '\"from_disk\": true'", "2");
  expect_says("$plait compile $mlp --device cpu --option disk_cache=false", "from disk", false);
  expect_says("$plait compile $mlp --device cpu --option cpu_lanes=1", "from disk", false);
  expect_says("$plait cache", cache() + ": 5 entries, ");
  expect_says("$plait doctor | grep 'kernels on disk'", "of at most 2048.0 MiB; " + cache());
  expect_says("$plait cache --verify", "0 damaged");
  expect_says("PLAIT_CACHE_MIB=0 $run", "from disk", false);
  expect_says("PLAIT_CACHE_MIB=1.5 $plait cache 2>&1",
              "PLAIT_CACHE_MIB is `1.5`, no whole number of MiB: 2048 is taken");
  expect_says("$plait cache --clear", ": 0 entries, 0.0 MiB");
  expect_says("$run", "from disk", false);
}

TEST_F(KernelsOnDisk, DamageCostsTimeAlone) {
  expect_says("$run", "check ok");
  for (const auto& file : fs::directory_iterator(cache())) {
    std::string bytes = read_file(file.path());
    bytes[bytes.size() - 100] ^= 1;
    write_file(file.path(), bytes);
  }
  expect_says("cp -r $PLAIT_CACHE_DIR damaged; $run", "from disk", false);
  expect_says("$run", "check ok");
  expect_says("$run", ", 2 of 2 kernels from disk");
  expect_says("chmod 700 damaged; PLAIT_CACHE_DIR=$PWD/damaged $plait cache --verify", "3 damaged, removed");
}

TEST_F(KernelsOnDisk, WithoutAFolderEverythingWorks) {
  expect_says("mkdir -m 777 $PLAIT_CACHE_DIR; $run", "check ok");
  expect_says("$plait doctor | grep 'kernels on disk'", "can be written by others");
  expect_says("$plait tune $mlp --device cpu > tuned; ls -A $PLAIT_CACHE_DIR | wc -l", "0");
  EXPECT_TRUE(fs::is_empty(cache()));
  expect_says("PLAIT_CACHE_DIR=/dev/null/no $run", "check ok");
  expect_says("PLAIT_CACHE_DIR=here $run && test ! -e here", "check ok");
  expect_says("unset PLAIT_CACHE_DIR XDG_CACHE_HOME HOME; $run", "check ok");
  const CommandResult refused = shell("$plait cache");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_NE(refused.err.find("nothing is kept on disk: " + cache() + " can be written by others"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("set PLAIT_CACHE_DIR to a folder"), std::string::npos) << refused.err;
  const CommandResult none = shell("PLAIT_CACHE_DIR=$PWD/c PLAIT_CACHE_MIB=0 $plait cache");
  EXPECT_NE(none.err.find("PLAIT_CACHE_MIB is 0"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("help: unset PLAIT_CACHE_MIB"), std::string::npos) << none.err;
  EXPECT_EQ(shell("PLAIT_CACHE_DIR=$PWD/c $plait cache --clear --verify").exit, 1);
}

TEST_F(KernelsOnDisk, AReadOnlyDiskServes) {
  const auto on_read_only = [](const std::string& words) {
    return "unshare -m bash -c 'mount --bind $PLAIT_CACHE_DIR $PLAIT_CACHE_DIR && "
           "mount -o remount,ro,bind $PLAIT_CACHE_DIR $PLAIT_CACHE_DIR && " +
           words + "'";
  };
  expect_says("$run", "check ok");
  if (shell(on_read_only("true")).exit != 0) GTEST_SKIP() << "no folder can be mounted read-only here";
  expect_says(on_read_only("'\"$run\"'"), ", 2 of 2 kernels from disk");
  expect_says(on_read_only("'\"$run\"' --set h=64 --set h4=128"), "check ok");
  const std::string said = "they serve, and no more are kept";
  expect_says(on_read_only("'$plait' doctor | grep \"kernels on disk\""),
              said + ": " + cache() + ": Read-only file system");
  expect_says(on_read_only("'$plait' cache"), said + " or removed: " + cache() + ": Read-only file system");
  expect_says("$plait cache", said, false);
  const CommandResult refused = shell(on_read_only("'$plait' cache --clear"));
  EXPECT_EQ(refused.exit, 1);
  EXPECT_NE(refused.err.find("was not removed: " + cache() + ": Read-only file system"), std::string::npos)
      << refused.err;
  EXPECT_EQ(shell(on_read_only("'$plait' cache --prune")).exit, 0);  // below its limit
  expect_says(on_read_only("PLAIT_CACHE_DIR=$PLAIT_CACHE_DIR/none '$plait' doctor | grep \"kernels on disk\""),
              cache() + "/none cannot be made: Read-only file system");
}

}  // namespace
}  // namespace plait::testing
