// What the executors cost by themselves: programs of steps that do nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "comm/threads/threads.h"
#include "support/allocation_counter.h"
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

// Least allocations of some runs, warm.
int64_t allocations(BoundProgram& bound) {
  const std::vector<RankTensors> inputs(bound.held().size(), RankTensors{test::tensor({1}, {1})});
  std::vector<RankTensors> outputs;
  int64_t least = INT64_MAX;
  for (int run = 0; run < 10; ++run) {
    const int64_t before = test::allocations();
    bound.run(inputs, outputs, {.seed = uint64_t(run)});
    least = std::min(least, test::allocations() - before);
  }
  return least;
}

TEST(HostLoop, AStepAllocatesNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "a sanitizer has the allocator";
  test::TestDevice device;
  for (int64_t ranks : {1, 4}) {
    const auto stepped = [&](int steps) {
      BoundProgram bound(chain(ranks, steps), {}, device, std::make_shared<LocalCommunicators>());
      return allocations(bound);
    };
    const int64_t few = stepped(100), many = stepped(1000);
    std::printf("stepped, %d ranks: %lld allocations a run\n", int(ranks), static_cast<long long>(many));
    EXPECT_EQ(few, many) << ranks;
  }
  const auto in_order = [&](int steps) {
    BoundProgram bound(chain(1, steps), {}, device, std::make_shared<ThreadCommunicators>(),
                       {.drive = RankDrive::threads});
    return allocations(bound);
  };
  EXPECT_EQ(in_order(100), in_order(1000));
}

}  // namespace
}  // namespace plait
