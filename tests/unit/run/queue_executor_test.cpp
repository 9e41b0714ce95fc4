// Programs on GPUs, as the executors queue them: on fake ones, whose streams run their work in any order that events
// allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "unit/program/samples.h"

namespace plait {
namespace {

using test::Builder;
using test::Failing;
using test::FakeGpu;
using test::FakeNccl;
using test::tensor;
using test::text_of;
using test::Tour;

struct GpuRunner {
  FakeGpu gpu;
  std::shared_ptr<FakeNccl> comms;
  BoundProgram bound;
  GpuRunner(std::shared_ptr<const Program> program, const sym::Environment& sizes, ExecutorOptions options = {},
            uint64_t seed = 1, int count = 1)
      : gpu(seed, count),
        comms(std::make_shared<FakeNccl>(gpu.engine())),
        bound(std::move(program), sizes, gpu, comms, std::move(options)) {}
};

// The bytes of a tensor, which a fake GPU has in host memory.
std::vector<double> values(const Tensor& tensor) {
  return Tensor::wrap(tensor.dtype, tensor.shape, tensor.data()).to_doubles();
}

Tensor on_gpu(test::FakeAllocator& allocator, const Tensor& host) {
  Tensor out = host;
  out.memory = allocator.allocate(host.bytes());
  std::memcpy(out.memory->data(), host.data(), host.bytes());
  return out;
}

bool tour_is_right(const std::vector<RankTensors>& outputs, int64_t n) {
  bool right = true;
  std::vector<double> scattered;
  for (const RankTensors& rank : outputs) {
    for (double v : values(rank[0])) scattered.push_back(v);
    const auto whole = values(rank[1]);
    for (int64_t i = 0; i < n; ++i) right = right && whole[size_t(i)] == 3 * double(i + 1);
  }
  for (int64_t i = 0; i < n; ++i) right = right && scattered[size_t(i)] == 3 * double(i + 1) * double(outputs.size());
  return right;
}

TEST(QueueExecutor, EveryOrderOfTheStreamsGivesTheSame) {
  for (int64_t ranks : {1, 2, 3, 4}) {
    for (int64_t n : {0, 1, 5, 32}) {
      auto program = Tour(ranks).done();
      for (uint64_t seed = 1; seed <= 12; ++seed) {
        for (RankDrive drive : {RankDrive::stepped, RankDrive::threads}) {
          GpuRunner runner(program, {{"n", n}}, {.drive = drive, .poison = seed % 2 == 0}, seed, seed % 3 == 0 ? 2 : 1);
          for (uint64_t run = 0; run < 3; ++run) {
            const auto outputs = runner.bound.run(Tour::inputs(n, ranks), {.seed = run});
            ASSERT_TRUE(tour_is_right(outputs, n)) << ranks << " ranks, " << n << ", seed " << seed;
            for (const RankTensors& rank : outputs) ASSERT_FALSE(rank[0].on_host());
          }
          const int64_t bytes = 3 * (ranks - 1) * n * 4 * (1 + 1 + 2);
          ASSERT_EQ(runner.comms->traffic(), (CommTraffic{bytes, bytes}));
        }
      }
    }
  }
}

// The fake shows what it is for: without one of its waits the program goes wrong in some order.
TEST(QueueExecutor, AMissingWaitShows) {
  const size_t waits = Tour(2).done()->count(StepKind::WaitStep);
  ASSERT_EQ(waits, 3u);
  for (size_t drop = 0; drop < waits; ++drop) {
    auto program = std::const_pointer_cast<Program>(Tour(2).done());
    size_t seen = 0;
    std::erase_if(program->steps, [&](const auto& step) { return step->kind == StepKind::WaitStep && seen++ == drop; });
    ASSERT_TRUE(find_problem(*program));
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      GpuRunner runner(program, {{"n", 32}}, {.poison = true}, seed);
      wrong += !tour_is_right(runner.bound.run(Tour::inputs(32, 2), {}), 32);
    }
    EXPECT_GT(wrong, 0) << "wait " << drop;
  }
}

TEST(QueueExecutor, UsesTensorsOfTheDeviceInPlaceAndUploadsOthers) {
  GpuRunner runner(Tour(2).done(), {{"n", 6}}, {}, 3, 2);
  const auto host = Tour::inputs(6, 2);
  std::vector<RankTensors> inputs = {{on_gpu(runner.gpu.allocator(0), host[0][0])}, host[1]};
  std::vector<RankTensors> outputs;
  runner.bound.run(inputs, outputs);
  EXPECT_TRUE(tour_is_right(outputs, 6));
  EXPECT_EQ(runner.bound.value(0, runner.bound.program().inputs[0]).data(), inputs[0][0].data());
  EXPECT_NE(runner.bound.value(1, runner.bound.program().inputs[0]).data(), inputs[1][0].data());
  EXPECT_EQ(outputs[1][0].memory->location(), (Location{false, 1}));
  // Again: nothing is allocated, with the outputs given.
  const int64_t before = runner.gpu.allocator(0).allocations + runner.gpu.allocator(1).allocations;
  const void* place = outputs[1][1].data();
  runner.bound.run(inputs, outputs);
  EXPECT_TRUE(tour_is_right(outputs, 6));
  EXPECT_EQ(outputs[1][1].data(), place);
  EXPECT_EQ(runner.gpu.allocator(0).allocations + runner.gpu.allocator(1).allocations, before);
  // Memory of the other device is copied; so is what is not aligned.
  inputs[0][0] = on_gpu(runner.gpu.allocator(1), host[0][0]);
  Tensor shifted = tensor({20}, std::vector<double>(20, 9));
  for (int i = 0; i < 3; ++i) static_cast<float*>(shifted.data())[i + 1] = float(3 + i);
  inputs[1][0] = on_gpu(runner.gpu.allocator(1), shifted);
  inputs[1][0].shape = {3};
  inputs[1][0].byte_offset = 4;
  EXPECT_TRUE(tour_is_right(runner.bound.run(inputs, {}), 6));
}

TEST(QueueExecutor, RefusesTensorsOfTheWrongPlace) {
  GpuRunner runner(Tour(2).done(), {{"n", 6}}, {}, 3, 2);
  const auto inputs = Tour::inputs(6, 2);
  std::vector<RankTensors> outputs;
  runner.bound.run(inputs, outputs);
  const auto good = outputs;
  outputs[0][1] = tensor({6}, std::vector<double>(6, 0));
  EXPECT_NE(text_of([&] { runner.bound.run(inputs, outputs); }).find("the tensor is in host memory\n  at: output `r`"),
            std::string::npos);
  outputs = good;
  outputs[0][1].memory = runner.gpu.allocator(1).allocate(24);
  EXPECT_NE(text_of([&] { runner.bound.run(inputs, outputs); }).find("of another device\n  at: output `r` of rank 0"),
            std::string::npos);
  auto strided = inputs;
  strided[0][0] = on_gpu(runner.gpu.allocator(0), tensor({6}, {0, 9, 1, 9, 2, 9}));
  strided[0][0].shape = {3};
  strided[0][0].strides = {2};
  EXPECT_NE(text_of([&] { runner.bound.run(strided, {}); }).find("the tensor is strided"), std::string::npos);
  strided[0][0] = tensor({6}, {0, 9, 1, 9, 2, 9});
  strided[0][0].shape = {3};
  strided[0][0].strides = {2};
  EXPECT_TRUE(tour_is_right(runner.bound.run(strided, {}), 6)) << "on the host it is made dense first";
  HostAllocator host;
  EXPECT_NE(text_of([&] { runner.bound.run(inputs, {.allocator = &host}); }).find("memory of the host, not of GPU 0"),
            std::string::npos);
  test::TestDevice cpu;
  BoundProgram on_host(Tour(2).done(), {{"n", 6}}, cpu, std::make_shared<LocalCommunicators>());
  EXPECT_THROW(on_host.run(good, {}), UserError) << "tensors of a GPU on the host";
  int stream = 0;
  EXPECT_THROW(on_host.run(inputs, {.stream = &stream}), UserError);
  EXPECT_THROW(runner.bound.run(inputs, {.stream = &stream}), UserError) << "two ranks";
}

// y = (x + 1) + 2 (x + 1)
std::shared_ptr<const Program> plain() {
  Builder b;
  const ValueId x = b.input("x", {"n"}), h = b.alloc("h", {"n"}), y = b.output("y", {"n"});
  b.combine({x}, h, "n", 1);
  b.combine({h, h}, y, "n", 0);
  return b.done();
}

TEST(QueueExecutor, AGuestTouchesTheCallersStreamAndAllocatorOnly) {
  GpuRunner runner(plain(), {{"n", 4}});
  test::FakeAllocator mine;
  const Tensor x = on_gpu(mine, tensor({4}, {1, 2, 3, 4}));
  test::FakeStream stream(runner.gpu.engine(), 0);
  const int64_t before = mine.allocations;
  std::vector<RankTensors> inputs = {{x}}, outputs;
  for (int run = 0; run < 2; ++run) {
    outputs.clear();
    runner.bound.run(inputs, outputs, {.allocator = &mine, .stream = stream.native()});
    EXPECT_NE(values(outputs[0][0]), (std::vector<double>{6, 9, 12, 15})) << "run() does not wait";
    stream.synchronize();
    EXPECT_EQ(values(outputs[0][0]), (std::vector<double>{6, 9, 12, 15}));
  }
  EXPECT_EQ(mine.allocations - before, 4) << "arena and output, twice";
  EXPECT_EQ(*mine.live, 2) << "x and the output";
  for (size_t i = size_t(before); i < mine.streams.size(); ++i) {
    ASSERT_NE(mine.streams[i], nullptr);
    EXPECT_EQ(mine.streams[i]->native(), stream.native());
  }
  EXPECT_EQ(runner.gpu.allocator().allocations, 0);
  EXPECT_EQ(runner.gpu.streams_made, 0);
  EXPECT_EQ(runner.gpu.streams_adopted, 1);
  EXPECT_EQ(runner.gpu.engine()->queues(), 1);
}

TEST(QueueExecutor, AGuestWithCollectivesForksFromTheCallersStreamAndJoinsIt) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    GpuRunner runner(Tour(1).done(), {{"n", 8}}, {}, seed);
    test::FakeAllocator mine;
    test::FakeStream stream(runner.gpu.engine(), 0);
    Tensor x = on_gpu(mine, tensor({8}, std::vector<double>(8, -1)));
    const Tensor ready = tensor({8}, {0, 1, 2, 3, 4, 5, 6, 7});
    stream.copy(x.data(), ready.data(), 32);  // the input is ready behind this
    std::vector<RankTensors> inputs = {{x}}, outputs;
    runner.bound.run(inputs, outputs, {.allocator = &mine, .stream = stream.native()});
    Tensor seen = tensor({8}, std::vector<double>(8, 0));
    stream.copy(seen.data(), outputs[0][1].data(), 32);  // and the output here
    stream.synchronize();
    EXPECT_EQ(seen.to_doubles(), (std::vector<double>{3, 6, 9, 12, 15, 18, 21, 24})) << seed;
    EXPECT_EQ(runner.gpu.streams_made, 1) << "comm";
  }
}

TEST(QueueExecutor, HostInputsOfAGuest) {
  GpuRunner runner(plain(), {{"n", 4}});
  test::FakeAllocator mine;
  test::FakeStream stream(runner.gpu.engine(), 0);
  std::vector<RankTensors> inputs = {{tensor({4}, {1, 2, 3, 4})}}, outputs;
  runner.bound.run(inputs, outputs, {.allocator = &mine, .stream = stream.native()});
  stream.synchronize();
  EXPECT_EQ(values(outputs[0][0]), (std::vector<double>{6, 9, 12, 15}));
  EXPECT_EQ(runner.gpu.allocator().allocations, 0);
  inputs[0][0] = tensor({8}, {1, 0, 2, 0, 3, 0, 4, 0});
  inputs[0][0].shape = {4};
  inputs[0][0].strides = {2};
  outputs.clear();
  EXPECT_THROW(runner.bound.run(inputs, outputs, {.allocator = &mine, .stream = stream.native()}), UserError);
}

TEST(QueueExecutor, GraphsRunAgainWhileTensorsStay) {
  GpuRunner runner(Tour(1).done(), {{"n", 8}}, {.graph = true});
  const auto& engine = *runner.gpu.engine();
  std::vector<RankTensors> inputs = Tour::inputs(8, 1), outputs;
  runner.bound.run(inputs, outputs);
  EXPECT_TRUE(tour_is_right(outputs, 8));
  EXPECT_EQ(engine.capture_begins, 1);
  EXPECT_EQ(runner.comms->capturing, (std::vector<bool>{true, false}));
  for (int run = 0; run < 3; ++run) {
    static_cast<float*>(inputs[0][0].data())[0] = float(run);
    const int64_t before = engine.enqueued;
    runner.bound.run(inputs, outputs);
    EXPECT_EQ(engine.enqueued - before, 2) << "an upload and the graph";
    EXPECT_EQ(values(outputs[0][1])[0], 3 * double(run + 1));
  }
  EXPECT_EQ(engine.capture_begins, 1);
  // Elsewhere: as steps, then a graph again.
  outputs[0][1].memory = runner.gpu.allocator().allocate(32);
  for (int run = 0; run < 3; ++run) {
    std::memset(outputs[0][1].data(), 0, 32);
    static_cast<float*>(inputs[0][0].data())[0] = float(run);
    runner.bound.run(inputs, outputs);
    EXPECT_EQ(values(outputs[0][1])[0], 3 * double(run + 1));
    EXPECT_EQ(engine.capture_begins, run == 0 ? 1 : 2);
  }
}

TEST(QueueExecutor, WithoutCapturingGraphsAreSteps) {
  GpuRunner runner(Tour(1).done(), {{"n", 8}}, {.graph = true});
  runner.gpu.engine()->can_capture = false;
  std::vector<RankTensors> outputs;
  for (int run = 0; run < 3; ++run) {
    runner.bound.run(Tour::inputs(8, 1), outputs);
    EXPECT_TRUE(tour_is_right(outputs, 8));
  }
  EXPECT_EQ(runner.gpu.engine()->capture_begins, 1);
}

TEST(QueueExecutor, ErrorsOfQueuedWorkNameTheRank) {
  for (RankDrive drive : {RankDrive::stepped, RankDrive::threads}) {
    GpuRunner runner(Failing([] { throw InternalError("fault", "kernel", ""); }).done(), {}, {.drive = drive});
    EXPECT_THROW(
        {
          try {
            runner.bound.run(Failing::inputs(-1), {});
          } catch (const Error& e) {
            EXPECT_EQ(e.message(), "fault");
            EXPECT_NE(e.where().find("rank"), std::string::npos) << e.what();
            throw;
          }
        },
        InternalError);
    EXPECT_NE(runner.comms->aborted.find("fault"), std::string::npos) << "the others are told";
  }
}

TEST(QueueExecutor, AHangingCollectiveNamesRanksAndStep) {
  for (RankDrive drive : {RankDrive::stepped, RankDrive::threads}) {
    GpuRunner runner(Failing([] {}).done(), {}, {.drive = drive});
    runner.comms->lost[1] = 0;
    runner.comms->checks_until_timeout = 50;
    const std::string text = text_of([&] { runner.bound.run(Failing::inputs(1), {}); });
    EXPECT_EQ(text.substr(0, 19), "a collective hangs\n") << text;
    EXPECT_NE(text.find(", step 5 (all_reduce %h -> %y (op = sum, team = tp) on comm)"), std::string::npos) << text;
    EXPECT_NE(text.find("  at: rank"), std::string::npos) << text;
    EXPECT_NE(runner.comms->aborted.find("hangs"), std::string::npos);
  }
}

TEST(QueueExecutor, WatchesSteps) {
  for (RankDrive drive : {RankDrive::stepped, RankDrive::threads}) {
    std::vector<double> seen;
    BoundProgram* bound = nullptr;
    ExecutorOptions options;
    options.drive = drive;
    options.timing = true;
    options.observer = [&](int64_t rank, size_t step) {
      if (step == 2) seen.push_back(values(bound->value(rank, {1}))[0]);
    };
    GpuRunner runner(Failing([] {}).done(), {}, options);
    bound = &runner.bound;
    runner.bound.run(Failing::inputs(2), {});
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<double>{1, 2, 3})) << "the step was done when it was seen";
    for (int64_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(runner.bound.step_times(rank)[2].count, 1);
      EXPECT_EQ(runner.bound.step_times(rank)[5].count, 1);
    }
  }
}

// Steps of one stream in their order, one behind the other; where events allow it, beside those of the other stream.
TEST(QueueExecutor, TimesAreWhenTheStreamsWereThere) {
  Tour tour(2);
  const std::string piece = "chunk(n, t, rank.tp)";
  tour.combine({tour.h}, tour.output("z", {piece}), piece, 0);  // waits for no collective
  const auto program = tour.done();
  int beside = 0;
  const auto works = std::ranges::count_if(program->steps, [](const auto& step) {
    return step->kind != StepKind::AllocStep && step->kind != StepKind::RecordStep && step->kind != StepKind::WaitStep;
  });
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    for (RankDrive drive : {RankDrive::stepped, RankDrive::threads}) {
      GpuRunner runner(program, {{"n", 32}}, {.drive = drive, .timing = true}, seed);
      for (int run = 1; run <= 2; ++run) {
        ASSERT_TRUE(tour_is_right(runner.bound.run(Tour::inputs(32, 2), {}), 32));
        for (int64_t rank = 0; rank < 2; ++rank) {
          std::map<ProgramStream, StepSpan> last;
          int64_t timed = 0;
          for (const StepSpan& span : runner.bound.step_spans(rank)) {
            EXPECT_LE(span.begin, span.end);
            EXPECT_EQ(runner.bound.step_times(rank)[span.step].count, run);
            const ProgramStream stream = program->steps[span.step]->stream;
            for (const auto& [other, before] : last) {
              if (other == stream) EXPECT_LE(before.end, span.begin);
              if (other != stream && span.begin < before.end) ++beside;
            }
            last[stream] = span;
            ++timed;
          }
          EXPECT_EQ(timed, works);
        }
      }
    }
  }
  EXPECT_GT(beside, 0) << "the host waits for no step";
}

TEST(QueueExecutor, PoisonShowsWhatIsNotWritten) {
  Builder b;
  const ValueId x = b.input("x", {"4"}), h = b.alloc("h", {"4"}), y = b.output("y", {"4"});
  b.combine({x}, h, "3", 0);  // leaves the last element
  b.combine({h}, y, "4", 0);
  GpuRunner runner(b.done(), {}, {.poison = true});
  for (int i = 0; i < 2; ++i) {
    const auto outputs = runner.bound.run(std::vector<RankTensors>{{tensor({4}, {1, 2, 3, 4})}}, {});
    EXPECT_EQ(values(outputs[0][0])[2], 3);
    EXPECT_TRUE(std::isnan(values(outputs[0][0])[3]));
  }
}

TEST(QueueExecutor, CopiesAndEmptySums) {
  Builder b = Builder::tp(2);
  const ValueId x = b.input("x", {"2", "5", "3"}, DType::i64);
  const ValueId y = b.output("y", {"2", "chunk(5, t, rank.tp)", "3"}, DType::i64);
  b.slice(x, y, {"2", "chunk_start(5, t, rank.tp)", "chunk(5, t, rank.tp)", "5", "3"});
  const ValueId a = b.input("a", {"2", "0"}), w = b.input("w", {"3", "0"}), z = b.output("z", {"2", "3"});
  b.contraction(a, b.transposed(w, "3", "0"), z);
  GpuRunner runner(b.done(), {}, {.poison = true});
  std::vector<double> all(30);
  for (size_t i = 0; i < 30; ++i) all[i] = double(i);
  const RankTensors mine = {tensor({2, 5, 3}, all, DType::i64), tensor({2, 0}, {}), tensor({3, 0}, {})};
  const auto outputs = runner.bound.run(std::vector<RankTensors>{mine, mine}, {});
  EXPECT_EQ(values(outputs[1][0]), (std::vector<double>{9, 10, 11, 12, 13, 14, 24, 25, 26, 27, 28, 29}));
  EXPECT_EQ(values(outputs[0][1]), std::vector<double>(6, 0));
}

}  // namespace
}  // namespace plait
