// Random programs with shared memory, poison and every interleaving against a plain interpreter in which every value
// has memory of its own.
#include <gtest/gtest.h>

#include "comm/threads/threads.h"
#include "unit/program/random_program.h"

namespace plait {
namespace {

using test::FakeGpu;
using test::FakeNccl;
using test::RandomProgram;
using test::Runner;

// Whether the outputs are those that the program must give.
void expect_outputs(const RandomProgram& sample, const Program& program, const std::vector<RankTensors>& outputs) {
  for (int64_t rank = 0; rank < sample.ranks; ++rank)
    for (size_t i = 0; i < outputs[rank].size(); ++i) {
      const Tensor& out = outputs[rank][i];
      ASSERT_EQ(Tensor::wrap(out.dtype, out.shape, out.data()).to_doubles(), sample.expected(rank, program.outputs[i]))
          << "rank " << rank << "\n"
          << print(program);
    }
}

TEST(RandomProgram, EqualsThePlainInterpreter) {
  int64_t arena = 0, separate = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomProgram sample(seed, 1 + seed % 4, int64_t(seed * 7 % 41));
    auto program = sample.builder.done();
    Runner runner(program, {{"n", sample.n}}, {.poison = true});
    for (int64_t rank = 0; rank < sample.ranks; ++rank) {
      arena += runner.bound.binding(rank).memory.arena_bytes;
      for (const ProgramValue& value : program->values)
        if (value.kind == ProgramValueKind::temporary)
          separate += (value.shape[0].is_symbol() ? sample.n : sample.n / sample.ranks) * 4;
    }
    for (uint64_t order = 0; order < 4; ++order) {
      SCOPED_TRACE(fmt::format("program {}, order {}", seed, order));
      expect_outputs(sample, *program, runner.bound.run(sample.inputs(), {.seed = order}));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(separate, 0);
  EXPECT_LT(arena, separate) << "memory is not shared";
}

TEST(RandomProgram, OnThreads) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RandomProgram sample(seed, 2 + seed % 3, int64_t(seed * 7 % 41));
    auto program = sample.builder.done();
    test::TestDevice device;
    BoundProgram bound(program, {{"n", sample.n}}, device, std::make_shared<ThreadCommunicators>(),
                       {.drive = RankDrive::threads, .poison = true});
    for (int run = 0; run < 3; ++run) {
      SCOPED_TRACE(fmt::format("program {}", seed));
      expect_outputs(sample, *program, bound.run(sample.inputs(), {}));
      if (HasFatalFailure()) return;
    }
  }
}

// Every order that the events allow gives the same, on as many GPUs as ranks or fewer.
TEST(RandomProgram, OnFakeGpus) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomProgram sample(seed, 1 + seed % 4, int64_t(seed * 7 % 41));
    auto program = sample.builder.done();
    for (RankDrive drive : {RankDrive::stepped, RankDrive::threads}) {
      FakeGpu gpu(seed + 1, 1 + int(seed % 3));
      BoundProgram bound(program, {{"n", sample.n}}, gpu, std::make_shared<FakeNccl>(gpu.engine()),
                         {.drive = drive, .poison = true});
      for (uint64_t order = 0; order < 2; ++order) {
        SCOPED_TRACE(fmt::format("program {}, order {}", seed, order));
        expect_outputs(sample, *program, bound.run(sample.inputs(), {.seed = order}));
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace plait
