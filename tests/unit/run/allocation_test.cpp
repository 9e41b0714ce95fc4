// A second run takes nothing from the system but its outputs: counted at the allocator and at malloc itself.
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/memory_pool.h"
#include "support/allocation_counter.h"
#include "unit/program/build.h"

namespace plait {
namespace {

using test::Builder;
using test::Runner;
using test::tensor;

// What this process allocated since it was made.
struct Counted {
  int64_t calls() const { return test::allocations() - calls_; }
  int64_t large_calls() const { return test::large_allocations() - large_; }  // above 4 KiB

 private:
  const int64_t calls_ = test::allocations(), large_ = test::large_allocations();
};

// Every kind of step on pieces of at least 2500 floats.
std::shared_ptr<const Program> sample() {
  Builder b = Builder::tp(4);
  const std::string piece = "chunk(n, t, rank.tp)";
  const ValueId x = b.input("x", {piece}), h = b.alloc("h", {piece});
  b.combine({x}, h, piece, 1);
  const ValueId g = b.alloc("g", {"n"});
  b.pieces(Collective::all_gather, h, g, {"1", piece, "n", "1"});
  const ValueId r = b.output("r", {"n"});
  b.all_reduce(g, r);
  const ValueId s = b.alloc("s", {piece});
  b.slice(r, s, {"1", "chunk_start(n, t, rank.tp)", piece, "n", "1"});
  const ValueId q = b.output("q", {piece});
  b.combine({s, h}, q, piece, 1);
  const ValueId c = b.output("c", {piece});
  b.pieces(Collective::reduce_scatter, r, c, {"1", piece, "n", "1"});
  return b.done();
}

TEST(Allocation, TheHookCounts) {
  if (!test::counts_allocations()) GTEST_SKIP() << "the sanitizer owns malloc";
  HostAllocator allocator;
  Counted count;
  auto small = allocator.allocate(100);
  EXPECT_GT(count.calls(), 0);
  EXPECT_EQ(count.large_calls(), 0);
  auto large = allocator.allocate(5000);
  EXPECT_EQ(count.large_calls(), 1);
  void* volatile own = std::malloc(5000);
  std::free(own);
  EXPECT_EQ(count.large_calls(), 2);
}

std::vector<RankTensors> sample_inputs() {
  std::vector<RankTensors> inputs;
  for (int64_t count : {2501, 2501, 2501, 2499})
    inputs.push_back({tensor({count}, std::vector<double>(size_t(count), 0.5))});
  return inputs;
}

TEST(Allocation, RunsAllocateArenasAndOutputsOnly) {
  Runner runner(sample(), {{"n", 10002}});
  const std::vector<RankTensors> inputs = sample_inputs();
  EXPECT_EQ(runner.allocator.allocations(), 0) << "arenas are those of runs";
  runner.bound.run(inputs, {});
  EXPECT_EQ(runner.allocator.allocations(), 4 + 3 * 4) << "an arena for each rank";
  std::vector<RankTensors> outputs;
  {
    Counted count;
    runner.bound.run(inputs, outputs, {.seed = 3});
    if (test::counts_allocations()) {
      EXPECT_EQ(count.large_calls(), 4 + 3 * 4);
    }
  }
  EXPECT_EQ(runner.allocator.allocations(), 2 * (4 + 3 * 4));
  runner.bound.run(inputs, outputs, {.seed = 7});
  EXPECT_EQ(runner.allocator.allocations(), 2 * (4 + 3 * 4) + 4) << "outputs were given";
}

// Host memory from a pool, as that of the CPU.
class PooledDevice : public Device {
 public:
  std::string name() const override { return "pooled"; }
  MemoryPool& allocator(int = 0) override { return pool_; }
  std::shared_ptr<Executable> compile(const KernelText&, KernelFacts*) override { return nullptr; }
  std::shared_ptr<Executable> library(const LibraryContraction&, std::string*) override { return nullptr; }
  const Target& target() const override { return target_; }

 private:
  const Target target_;
  MemoryPool pool_;
};

TEST(Allocation, LaterRunsTakeNothingFromTheSystem) {
  PooledDevice device;
  BoundProgram bound(sample(), {{"n", 10002}}, device, std::make_shared<LocalCommunicators>());
  const std::vector<RankTensors> inputs = sample_inputs();
  std::vector<RankTensors> outputs;
  bound.run(inputs, outputs);
  bound.run(inputs, {});
  const MemoryCounts before = device.allocator().counts();
  EXPECT_EQ(before.misses, 4 + 2 * 3 * 4) << "arenas once, outputs of two runs";
  {
    Counted count;
    bound.run(inputs, outputs);
    bound.run(inputs, outputs, {.seed = 7});
    if (test::counts_allocations()) {
      EXPECT_EQ(count.calls(), 0) << "outputs were given";
    }
  }
  {
    Counted count;
    bound.run(inputs, {});
    if (test::counts_allocations()) {
      EXPECT_EQ(count.large_calls(), 0) << "outputs that were dropped come back";
    }
  }
  EXPECT_EQ(device.allocator().counts().misses, before.misses);
  EXPECT_EQ(device.allocator().counts().hits, before.hits + 3 * 4 + 3 * 4);
}

}  // namespace
}  // namespace plait
