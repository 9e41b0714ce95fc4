// Compiled programs as files: plait compile --save, plait run FILE.plaitc, plait opt FILE.plaitc.
#include "command/shell_test.h"

namespace plait::testing {
namespace {

using SavedFiles = ShellTest;

TEST_F(SavedFiles, RunWithoutACompiler) {
  expect_says("$plait compile $mlp --ranks 4 --device cpu --save mlp.plaitc", "2 launches of 2 kernels");
  expect_says("$plait run mlp.plaitc --check --times", ", 2 of 2 kernels from disk");
  expect_says("$plait run mlp.plaitc --check", "check ok");
  expect_says("$plait run mlp.plaitc", "4 ranks on cpu: 2 launches of 2 kernels");
  const CommandResult loads = shell("LD_DEBUG=files PLAIT_CACHE_MIB=0 $plait run mlp.plaitc 2>&1");
  EXPECT_EQ(loads.exit, 0);
  EXPECT_EQ(loads.out.find("libLLVM"), std::string::npos);
  expect_says("$plait run mlp.plaitc --set sb=7 --check", "check ok");
  expect_says("cat mlp.plaitc | $plait run - --check", "check ok");
  expect_says("$plait compile $mlp --ranks 4 --device cpu --save - 2>table | $plait run - && cat table",
              "2 launches of 2 kernels");
}

// Sizes that inputs tell choose what is compiled, and others run too.
TEST_F(SavedFiles, TakeOtherSizesThanTheyWereCompiledFor) {
  expect_says("$plait compile $mlp --device cpu --ranks 2 --set sb=64 --save mlp.plaitc", "kernel");
  expect_says("$plait run mlp.plaitc --check", "check ok");
  expect_says("$plait run mlp.plaitc --set sb=64 --times", ", 2 of 2 kernels from disk");
  expect_says("$plait run mlp.plaitc --set sb=32 --check", "check ok");
  expect_refuses("$plait run mlp.plaitc --set t=4", "--set t is settled");
}

TEST_F(SavedFiles, ShowTheirTexts) {
  expect_says("$plait compile $mlp --device cpu --save mlp.plaitc", "kernel");
  expect_says("$plait opt mlp.plaitc", "program @tp_mlp");
  expect_says("$plait opt mlp.plaitc --until kir", "kernel @tp_mlp_");
  expect_says("$plait opt mlp.plaitc --until llvm", "define void @tp_mlp_");
  expect_refuses("$plait opt mlp.plaitc --until cuda", "holds no text of stage `cuda`");
}

TEST_F(SavedFiles, SayWhatIsSettled) {
  expect_says("$plait compile $mlp --ranks 4 --device cpu --save mlp.plaitc", "kernel");
  expect_refuses("$plait run mlp.plaitc --ranks 2", "--ranks is settled: the program is compiled");
  expect_refuses("$plait run mlp.plaitc --device reference", "--device is settled");
  expect_refuses("$plait run mlp.plaitc --option poison=true", "--option is settled");
  expect_refuses("$plait run mlp.plaitc --dump kir", "--dump is settled");
  expect_refuses("$plait run mlp.plaitc --comm local:threads", "--comm is settled");
  expect_refuses("$plait run mlp.plaitc --set T=bf16", "--set T is settled");
  expect_refuses("$plait run mlp.plaitc --bisect 1", "--bisect is settled");
  expect_refuses("$plait opt mlp.plaitc --ranks 4", "--ranks is settled");
  expect_refuses("$plait opt mlp.plaitc --set sb=4", "--set is settled");
  expect_says(
      "echo 'fusion @f () -> (%y) { %y = iota(shape = [n], dim = 0) }' > i.plait; "
      "$plait compile i.plait --device cpu --set n=8 --save i.plaitc && $plait run i.plaitc",
      "y: i64[8]");
  expect_refuses("$plait run i.plaitc --set n=5", "--set n is settled");
  expect_refuses("$plait run mlp.plaitc --set nothing=1", "there is no size or dtype `nothing`");
  expect_refuses("$plait explain mlp.plaitc --shard", "`mlp.plaitc` is a compiled program, plait explain takes texts");
  expect_refuses("$plait compile mlp.plaitc", "plait view mlp.plaitc, or plait opt mlp.plaitc --until STAGE");
  expect_refuses("$plait compile $mlp --arch sm_80 --save x", "saved for one device");
  expect_refuses("$plait compile $mlp --device reference --save x", "this device has no machine code");
}

TEST_F(SavedFiles, AreWrittenWholeOrNotAtAll) {
  expect_refuses("cp $mlp m.plait; $plait compile m.plait --device cpu --save m.plait", "would be overwritten");
  expect_refuses("$plait compile $mlp --device cpu --save nowhere/x", "cannot write `nowhere/x`");
  expect_refuses("$plait compile $mlp --device cpu --save /dev/full", "cannot write `/dev/full`");
  expect_refuses("$plait compile $mlp --device cpu --save a --json a", "is to hold two outputs");
  expect_refuses("$plait compile $mlp --device cpu --save a && head -c 3000 a > b; $plait run b", "`b` is cut");
}

}  // namespace
}  // namespace plait::testing
