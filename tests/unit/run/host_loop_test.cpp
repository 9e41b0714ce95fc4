// What the executors cost by themselves: programs of steps that do nothing.
#include <gtest/gtest.h>

#include <chrono>

#include "comm/threads/threads.h"
#include "unit/program/build.h"

namespace plait {
namespace {

// A chain of launches with a collective, and so two events, at every tenth.
std::shared_ptr<const Program> chain(int64_t ranks, int steps) {
  test::Builder b = test::Builder::tp(ranks);
  ValueId last = b.input("x", {"1"});
  for (int i = 0; i < steps; ++i) {
    const std::string name = fmt::format("v{}", i);
    const ValueId next = i + 1 == steps ? b.output(name, {"1"}) : b.alloc(name, {"1"});
    if (i % 10 == 9)
      b.all_reduce(last, next);
    else
      b.launch(fmt::format("k{}", i), {last}, {next}, {}, [](const LaunchArguments&) {});
    last = next;
  }
  return b.done();
}

// Least microseconds of a step of one rank in some runs.
double cost(BoundProgram& bound) {
  const std::vector<RankTensors> inputs(bound.held().size(), RankTensors{test::tensor({1}, {1})});
  std::vector<RankTensors> outputs;
  const double steps =
      double(bound.held().size()) * double(bound.program().steps.size() - bound.program().count(StepKind::AllocStep));
  double best = 1e9;
  for (int run = 0; run < 10; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    bound.run(inputs, outputs, {.seed = uint64_t(run)});
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return best / steps;
}

TEST(HostLoop, TakesLessThanTwoMicrosecondsAStep) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's time is not the program's";
#endif
  test::TestDevice device;
  for (int64_t ranks : {1, 4}) {
    BoundProgram stepped(chain(ranks, 1000), {}, device, std::make_shared<LocalCommunicators>());
    const double microseconds = cost(stepped);
    std::printf("stepped, %d ranks: %.3f us a step\n", int(ranks), microseconds);
    EXPECT_LT(microseconds, 2);
  }
  BoundProgram one(chain(1, 1000), {}, device, std::make_shared<ThreadCommunicators>(), {.drive = RankDrive::threads});
  const double microseconds = cost(one);
  std::printf("in order, 1 rank: %.3f us a step\n", microseconds);
  EXPECT_LT(microseconds, 2);
}

}  // namespace
}  // namespace plait
