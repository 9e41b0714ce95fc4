#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "base/error.h"
#include "unit/program/samples.h"

namespace plait {
namespace {

using test::Builder;
using test::Failing;
using test::Runner;
using test::tensor;
using test::text_of;
using test::Tour;

TEST(SteppedExecutor, WalksAllStepsOnUnevenAndEmptyPieces) {
  for (int64_t ranks : {1, 2, 3, 4, 5}) {
    for (int64_t n : {0, 1, 4, 5, 7, 32}) {
      Runner runner(Tour(ranks).done(), {{"n", n}}, {.poison = true});
      const auto outputs = runner.bound.run(Tour::inputs(n, ranks), {});
      std::vector<double> scattered;
      for (const RankTensors& rank : outputs) {
        for (double v : rank[0].to_doubles()) scattered.push_back(v);
        for (int64_t i = 0; i < n; ++i) ASSERT_EQ(rank[1].at(i), 3 * double(i + 1));
      }
      ASSERT_EQ(int64_t(scattered.size()), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(scattered[size_t(i)], 3 * double(i + 1) * double(ranks));
      const int64_t bytes = (ranks - 1) * n * 4 * (1 + 1 + 2);
      EXPECT_EQ(runner.comms->traffic(), (CommTraffic{bytes, bytes}));
    }
  }
}

TEST(SteppedExecutor, TeamsOfAMeshOfTwoAxes) {
  for (int axis : {0, 1}) {
    Builder b({{"dp", 2, ""}, {"tp", 3, ""}}, {2, 3});
    const ValueId x = b.input("x", {"1"}), y = b.output("y", {"1"});
    b.all_reduce(x, y, CommReduce::sum, axis);
    Runner runner(b.done(), {});
    std::vector<RankTensors> inputs;
    for (int rank = 0; rank < 6; ++rank) inputs.push_back({tensor({1}, {double(1 << rank)})});
    const auto outputs = runner.bound.run(inputs, {});
    for (int rank = 0; rank < 6; ++rank)
      EXPECT_EQ(outputs[rank][0].at(0), axis == 1 ? (rank < 3 ? 7 : 56) : 9 << (rank % 3)) << axis << " " << rank;
  }
}

TEST(SteppedExecutor, EverySeedGivesTheSameBits) {
  const int64_t ranks = 4, n = 37;
  Runner runner(Tour(ranks).done(), {{"n", n}}, {.poison = true});
  auto inputs = Tour::inputs(n, ranks);
  for (RankTensors& rank : inputs)
    for (int64_t i = 0; i < rank[0].elements(); ++i)
      static_cast<float*>(rank[0].data())[i] = std::sin(float(i) * 1.7f) * 1e3f;
  const auto expected = runner.bound.run(inputs, {});
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto outputs = runner.bound.run(inputs, {.seed = seed});
    for (int64_t rank = 0; rank < ranks; ++rank)
      for (int i : {0, 1})
        ASSERT_EQ(std::memcmp(outputs[rank][i].data(), expected[rank][i].data(), expected[rank][i].bytes()), 0);
  }
}

TEST(SteppedExecutor, CopiesSlices) {
  Builder b = Builder::tp(2);
  const ValueId x = b.input("x", {"2", "5", "3"}, DType::i64);
  const ValueId y = b.output("y", {"2", "chunk(5, t, rank.tp)", "3"}, DType::i64);
  b.slice(x, y, {"2", "chunk_start(5, t, rank.tp)", "chunk(5, t, rank.tp)", "5", "3"});
  Runner runner(b.done(), {}, {.poison = true});
  std::vector<double> values(30);
  for (size_t i = 0; i < 30; ++i) values[i] = double(i);
  const Tensor whole = tensor({2, 5, 3}, values, DType::i64);
  const auto outputs = runner.bound.run(std::vector<RankTensors>{{whole}, {whole}}, {});
  EXPECT_EQ(outputs[0][0].to_doubles(),
            (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(outputs[1][0].to_doubles(), (std::vector<double>{9, 10, 11, 12, 13, 14, 24, 25, 26, 27, 28, 29}));
}

// y = x w^T by a "library" that fails on zero extents.
struct Contraction : Builder {
  Contraction() {
    const ValueId x = input("x", {"m", "k"}), w = input("w", {"n", "k"}), y = output("y", {"m", "n"});
    LibrarySlot slot;
    slot.executable = std::make_shared<test::LambdaExecutable>([](const LaunchArguments& args) {
      const ContractionArguments all(args.integers);
      const int64_t m = all.m, n = all.n, k = all.k;
      if (!all.batch.empty() || m * n * k == 0) throw InternalError("bad extents", "library", "");
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (int64_t l = 0; l < k; ++l)
            sum += static_cast<float*>(args.buffers[0])[i * k + l] * static_cast<float*>(args.buffers[1])[j * k + l];
          static_cast<float*>(args.buffers[2])[i * n + j] = sum;
        }
    });
    contraction(x, transposed(w, "n", "k"), y);
    program.libraries.back() = slot;
  }
};

TEST(SteppedExecutor, LibrariesNeverSeeZeroExtents) {
  auto program = Contraction().done();
  for (int64_t m : {0, 2})
    for (int64_t n : {0, 3})
      for (int64_t k : {0, 2}) {
        Runner runner(program, {{"m", m}, {"n", n}, {"k", k}}, {.poison = true});
        const Tensor x = tensor({m, k}, std::vector<double>(size_t(m * k), 2));
        const Tensor w = tensor({n, k}, std::vector<double>(size_t(n * k), 3));
        const auto outputs = runner.bound.run(std::vector<RankTensors>{{x, w}}, {});
        EXPECT_EQ(outputs[0][0].to_doubles(), std::vector<double>(size_t(m * n), 6 * double(k)));
      }
}

// A kernel of two phases with a workspace, which has the same bytes as a temporary that is dead by then.
TEST(SteppedExecutor, WorkspacesStandBehindTheOutputsAndPhasesHaveExtents) {
  Builder b;
  const ValueId x = b.input("x", {"n"}), h = b.alloc("h", {"n"});
  b.combine({x}, h, "n", 1);
  const ValueId g = b.alloc("g", {"n"});
  b.combine({h}, g, "n", 1);
  const ValueId y = b.output("y", {"n"}), parts = b.alloc("parts", {"n"});
  std::vector<int64_t> extents;
  auto& step = b.launch("k", {g}, {y}, {"n"}, [&](const LaunchArguments& args) {
    ASSERT_EQ(args.buffers.size(), 3u);
    const auto* in = static_cast<const float*>(args.buffers[0]);
    auto *out = static_cast<float*>(args.buffers[1]), *own = static_cast<float*>(args.buffers[2]);
    for (int64_t i = 0; i < args.integers[0]; ++i) own[i] = 2 * in[i];
    for (int64_t i = 0; i < args.integers[0]; ++i) out[i] = own[i] + 1;
    extents = {args.thread_extent};
    extents.insert(extents.end(), args.later_extents.begin(), args.later_extents.end());
  });
  step.workspaces = {parts};
  step.threads.phases = {b.expr("n"), {}, b.expr("2*n")};
  b.program.kernels.back().code.buffers = 3;
  b.program.kernels.back().code.workspaces = 1;
  b.program.kernels.back().code.waves = {1, 1, 1};
  auto program = b.done();
  Runner runner(program, {{"n", 3}}, {.poison = true});
  const auto outputs = runner.bound.run(std::vector<RankTensors>{{tensor({3}, {1, 2, 3})}}, {});
  EXPECT_EQ(outputs[0][0].to_doubles(), (std::vector<double>{7, 9, 11}));
  EXPECT_EQ(extents, (std::vector<int64_t>{3, 1, 6}));
  const RankBinding bound = bind(*program, {{"n", 3}})[0];
  EXPECT_EQ(bound.memory.offsets[parts.index], bound.memory.offsets[h.index]);
  EXPECT_NE(bound.memory.offsets[parts.index], bound.memory.offsets[g.index]);
}

TEST(SteppedExecutor, LaunchesOfZeroExtentAreSkipped) {
  Builder b;
  const ValueId x = b.input("x", {"n"}), y = b.output("y", {"n"});
  int launched = 0;
  auto& step = b.launch("k", {x}, {y}, {"n"}, [&](const LaunchArguments& args) {
    EXPECT_EQ(args.thread_extent, 1);
    EXPECT_EQ(args.grid[1], args.integers[0]);
    EXPECT_EQ(args.block[2], 1);
    ++launched;
  });
  step.grid[1] = b.expr("n");
  auto program = b.done();
  Runner none(program, {{"n", 0}}), some(program, {{"n", 3}});
  none.bound.run(std::vector<RankTensors>{{tensor({0}, {})}}, {});
  EXPECT_EQ(launched, 0);
  some.bound.run(std::vector<RankTensors>{{tensor({3}, {1, 2, 3})}}, {});
  EXPECT_EQ(launched, 1);
}

TEST(SteppedExecutor, PoisonShowsWhatIsNotWritten) {
  Builder b;
  const ValueId x = b.input("x", {"4"}), h = b.alloc("h", {"4"}), y = b.output("y", {"4"});
  b.combine({x}, h, "3", 0);  // leaves the last element
  b.combine({h}, y, "4", 0);
  auto program = b.done();
  Runner runner(program, {}, {.poison = true});
  for (int i = 0; i < 2; ++i) {
    const auto outputs = runner.bound.run(std::vector<RankTensors>{{tensor({4}, {1, 2, 3, 4})}}, {});
    EXPECT_EQ(outputs[0][0].at(2), 3);
    EXPECT_TRUE(std::isnan(outputs[0][0].at(3)));
  }
}

TEST(SteppedExecutor, StridedInputsAreCopiedAndOffsetOnesReadInPlace) {
  auto program = Tour(1).done();
  Runner runner(program, {{"n", 3}});
  auto copies = [&](const Tensor& input) {
    const int64_t before = runner.allocator.allocations();
    std::vector<RankTensors> outputs;
    runner.bound.run(std::vector<RankTensors>{{input}}, outputs);
    return runner.allocator.allocations() - before - 1 - int64_t(outputs[0].size());  // less arena and outputs
  };
  Tensor strided = tensor({6}, {1, 9, 2, 9, 3, 9});
  strided.shape = {3};
  strided.strides = {2};
  EXPECT_EQ(runner.bound.run(std::vector<RankTensors>{{strided}}, {})[0][1].to_doubles(),
            (std::vector<double>{6, 9, 12}));
  Tensor shifted = tensor({6}, {9, 1, 2, 3, 9, 9});
  shifted.shape = {3};
  shifted.byte_offset = 4;
  EXPECT_EQ(runner.bound.run(std::vector<RankTensors>{{shifted}}, {})[0][1].to_doubles(),
            (std::vector<double>{6, 9, 12}));
  EXPECT_EQ(copies(strided), 1);
  EXPECT_EQ(copies(shifted), 0);
  Tensor torn = shifted;  // not even its elements are aligned
  torn.byte_offset = 5;
  std::memmove(torn.data(), shifted.data(), 12);
  EXPECT_EQ(copies(torn), 1);
  EXPECT_EQ(runner.bound.run(std::vector<RankTensors>{{torn}}, {})[0][1].to_doubles(), (std::vector<double>{6, 9, 12}));
}

TEST(SteppedExecutor, WritesGivenOutputsInPlace) {
  auto program = Tour(2).done();
  Runner runner(program, {{"n", 3}});
  auto inputs = Tour::inputs(3, 2);
  std::vector<RankTensors> outputs;
  runner.bound.run(inputs, outputs);
  const void* first = outputs[1][1].data();
  const int64_t before = runner.allocator.allocations();
  std::memset(outputs[1][1].data(), 0, 12);
  runner.bound.run(inputs, outputs);
  EXPECT_EQ(outputs[1][1].data(), first);
  EXPECT_EQ(outputs[1][1].to_doubles(), (std::vector<double>{3, 6, 9}));
  EXPECT_EQ(runner.allocator.allocations(), before + 2) << "an arena for each rank";
  outputs[0][0].memory.reset();
  HostAllocator other;
  runner.bound.run(inputs, outputs, {.allocator = &other});
  EXPECT_EQ(other.allocations(), 1);
  EXPECT_EQ(runner.allocator.allocations(), before + 4);
}

TEST(SteppedExecutor, RefusesWrongTensors) {
  auto program = Tour(2).done();
  Runner runner(program, {{"n", 3}});
  auto error = [&](const std::function<void(std::vector<RankTensors>&, std::vector<RankTensors>&)>& spoil) {
    auto inputs = Tour::inputs(3, 2);
    std::vector<RankTensors> outputs;
    runner.bound.run(inputs, outputs);
    spoil(inputs, outputs);
    EXPECT_THROW(runner.bound.run(inputs, outputs), UserError);
    return text_of([&] { runner.bound.run(inputs, outputs); });
  };
  using Ranks = std::vector<RankTensors>;
  EXPECT_EQ(error([](Ranks& in, Ranks&) { in[1][0] = tensor({2}, {1, 2}); }),
            "shape is [2], not [1]\n  at: input `x` of rank 1\n  help: give the rank's piece of the tensor");
  EXPECT_EQ(error([](Ranks& in, Ranks&) { in[0][0] = tensor({2}, {1, 2}, DType::f64); }),
            "dtype is f64, not f32\n  at: input `x` of rank 0\n  help: convert the tensor");
  EXPECT_NE(error([](Ranks& in, Ranks&) { in[0][0] = tensor({2, 1}, {1, 2}); }).find("shape is [2, 1], not [2]"),
            std::string::npos);
  EXPECT_NE(error([](Ranks& in, Ranks&) { in[0][0].memory.reset(); }).find("no memory"), std::string::npos);
  EXPECT_NE(error([](Ranks& in, Ranks&) { in.pop_back(); }).find("inputs of 1 ranks for a program of 2"),
            std::string::npos);
  EXPECT_NE(error([](Ranks& in, Ranks&) { in[1].clear(); }).find("rank 1"), std::string::npos);
  EXPECT_NE(error([](Ranks&, Ranks& out) { out[0][1] = tensor({2}, {1, 2}); }).find("output `r` of rank 0"),
            std::string::npos);
  EXPECT_NE(error([](Ranks&, Ranks& out) { out[0][1].byte_offset = 2; }).find("aligned to 4"), std::string::npos);
  EXPECT_NE(error([](Ranks&, Ranks& out) { out[0][1] = out[1][1]; }).find("shares memory"), std::string::npos);
  EXPECT_NE(error([](Ranks& in, Ranks& out) { out[1][0] = in[1][0]; }).find("shares memory"), std::string::npos);
}

TEST(SteppedExecutor, SharedInputsAreNoOverlap) {
  Builder b = Builder::tp(2);
  const ValueId x = b.input("x", {"2"}), y = b.output("y", {"2"});
  b.all_reduce(x, y);
  Runner runner(b.done(), {});
  const Tensor shared = tensor({2}, {1, 2});
  std::vector<RankTensors> outputs, inputs{{shared}, {shared}};
  for (int i = 0; i < 2; ++i) runner.bound.run(inputs, outputs);
  EXPECT_EQ(outputs[1][0].to_doubles(), (std::vector<double>{2, 4}));
}

TEST(SteppedExecutor, ErrorsNameRankAndStepAndKeepTheirType) {
  const std::string place = "rank 1, step 2 (launch @bad(%x) -> (%h) on compute)";
  Runner user(Failing([] { throw UserError("broken", "deep", "mend it"); }).done(), {});
  EXPECT_THROW(user.bound.run(Failing::inputs(-1), {}), UserError);
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_EQ(text_of([&] { user.bound.run(Failing::inputs(-1), {.seed = seed}); }),
              "broken\n  at: " + place + "; deep\n  help: mend it");
  EXPECT_EQ(user.bound.run(Failing::inputs(2), {})[0][0].at(0), 6) << "the next run starts afresh";
  Runner internal(Failing([] { throw InternalError("broken", "", ""); }).done(), {});
  EXPECT_THROW(internal.bound.run(Failing::inputs(-1), {}), InternalError);
  EXPECT_EQ(text_of([&] { internal.bound.run(Failing::inputs(-1), {}); }), "broken\n  at: " + place);
  Runner missing(Failing([] { throw MissingError("gone", "", ""); }).done(), {});
  EXPECT_THROW(missing.bound.run(Failing::inputs(-1), {}), MissingError);
  Runner comm(Failing([] { throw CommError("lost", "", ""); }).done(), {});
  EXPECT_THROW(comm.bound.run(Failing::inputs(-1), {}), CommError);
  Runner foreign(Failing([] { throw std::runtime_error("odd"); }).done(), {});
  EXPECT_THROW(foreign.bound.run(Failing::inputs(-1), {}), CommError);
  EXPECT_EQ(text_of([&] { foreign.bound.run(Failing::inputs(-1), {}); }), "a step failed: odd\n  at: " + place);
}

// Communicators whose collectives fail.
class BrokenCommunicator : public Communicator {
 public:
  int64_t size() const override { return 3; }
  void all_reduce(DType, CommReduce, int64_t, std::span<const CommMember>) override {
    throw CommError("link down", "", "");
  }
  void all_gather(const CommPieces&, std::span<const CommMember>) override {}
  void reduce_scatter(const CommPieces&, CommReduce, std::span<const CommMember>) override {}
  void all_to_all(const CommBlocks&, std::span<const CommMember>) override {}
};
class BrokenCommunicators : public Communicators {
 public:
  Communicator& team(std::span<const int64_t>) override { return comm_; }
  CommTraffic traffic() const override { return {}; }
  void reset_traffic() override {}

 private:
  BrokenCommunicator comm_;
};

TEST(SteppedExecutor, ErrorsOfCollectivesNameTheTeamAndStep) {
  test::TestDevice device;
  BoundProgram bound(Failing([] {}).done(), {}, device, std::make_shared<BrokenCommunicators>());
  EXPECT_EQ(text_of([&] { bound.run(Failing::inputs(2), {}); }),
            "link down\n  at: ranks 0, 1, 2, step 5 (all_reduce %h -> %y (op = sum, team = tp) on comm)");
}

TEST(SteppedExecutor, NeedsExecutables) {
  Failing failing([] {});
  failing.program.kernels[0].executable = nullptr;
  EXPECT_THROW(Runner(failing.done(), {}), InternalError);
}

TEST(SteppedExecutor, TimesStepsAndShowsThemToAnObserver) {
  std::multiset<std::pair<int64_t, size_t>> seen;
  std::vector<double> h;
  BoundProgram* bound = nullptr;
  auto program = Failing([] {}).done();
  ExecutorOptions options;
  options.timing = true;
  options.observer = [&](int64_t rank, size_t step) {
    seen.insert({rank, step});
    if (step == 2) h.push_back(bound->value(rank, {1}).at(0));
  };
  Runner runner(program, {}, options);
  bound = &runner.bound;
  runner.bound.run(Failing::inputs(2), {});
  EXPECT_EQ(seen, (std::multiset<std::pair<int64_t, size_t>>{{0, 2}, {1, 2}, {2, 2}, {0, 5}, {1, 5}, {2, 5}}));
  EXPECT_EQ(h, (std::vector<double>{1, 2, 3}));
  runner.bound.run(Failing::inputs(2), {});
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(runner.bound.step_times(rank)[2].count, 2);
    EXPECT_EQ(runner.bound.step_times(rank)[5].count, 2);
    EXPECT_EQ(runner.bound.step_times(rank)[0].count, 0);
  }
  EXPECT_GT(runner.bound.step_times(0)[2].nanoseconds, 0);
  EXPECT_NE(runner.bound.print_timings().find("all_reduce %h -> %y"), std::string::npos);
  EXPECT_EQ(Runner(program, {}).bound.print_timings(), "");
}

}  // namespace
}  // namespace plait
