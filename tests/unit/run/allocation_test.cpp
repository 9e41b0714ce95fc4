// A second run takes nothing from the system but its outputs: counted at the allocator and at malloc itself.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include "device/memory_pool.h"
#include "unit/program/build.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLAIT_MALLOC_HOOK 0
#else
#define PLAIT_MALLOC_HOOK 1
#endif

namespace {

bool counting = false;
int64_t calls = 0, large_calls = 0;  // large: above 4 KiB

[[maybe_unused]] void note(size_t bytes) {
  if (!counting) return;
  ++calls;
  if (bytes > 4096) ++large_calls;
}

}  // namespace

#if PLAIT_MALLOC_HOOK
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  note(bytes);
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  note(count * bytes);
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  note(bytes);
  return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  note(bytes);
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
}
#endif

namespace plait {
namespace {

using test::Builder;
using test::Runner;
using test::tensor;

struct Counted {
  Counted() {
    calls = large_calls = 0;
    counting = true;
  }
  ~Counted() { counting = false; }
};

// Every kind of step on pieces of at least 2500 floats.
std::shared_ptr<const Program> sample() {
  Builder b = Builder::tp(4);
  const std::string piece = "chunk(n, t, rank.tp)";
  const ValueId x = b.input("x", {piece}), h = b.alloc("h", {piece});
  b.combine({x}, h, piece, 1);
  const ValueId g = b.alloc("g", {"n"});
  b.pieces(CollectiveKind::all_gather, h, g, {"1", piece, "n", "1"});
  const ValueId r = b.output("r", {"n"});
  b.all_reduce(g, r);
  const ValueId s = b.alloc("s", {piece});
  b.slice(r, s, {"1", "chunk_start(n, t, rank.tp)", piece, "n", "1"});
  const ValueId q = b.output("q", {piece});
  b.combine({s, h}, q, piece, 1);
  const ValueId c = b.output("c", {piece});
  b.pieces(CollectiveKind::reduce_scatter, r, c, {"1", piece, "n", "1"});
  return b.done();
}

TEST(Allocation, TheHookCounts) {
#if !PLAIT_MALLOC_HOOK
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  HostAllocator allocator;
  Counted count;
  auto small = allocator.allocate(100);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(large_calls, 0);
  auto large = allocator.allocate(5000);
  EXPECT_EQ(large_calls, 1);
  std::free(std::malloc(5000));
  EXPECT_EQ(large_calls, 2);
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
  }
  EXPECT_EQ(runner.allocator.allocations(), 2 * (4 + 3 * 4));
  if (PLAIT_MALLOC_HOOK) {
    EXPECT_EQ(large_calls, 4 + 3 * 4);
  }
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
  }
  if (PLAIT_MALLOC_HOOK) {
    EXPECT_EQ(calls, 0) << "outputs were given";
  }
  {
    Counted count;
    bound.run(inputs, {});
  }
  if (PLAIT_MALLOC_HOOK) {
    EXPECT_EQ(large_calls, 0) << "outputs that were dropped come back";
  }
  EXPECT_EQ(device.allocator().counts().misses, before.misses);
  EXPECT_EQ(device.allocator().counts().hits, before.hits + 3 * 4 + 3 * 4);
}

}  // namespace
}  // namespace plait
