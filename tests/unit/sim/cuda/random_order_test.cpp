// Random work on streams, events and waits: a report if, and only if, a plain search of the graph of orders finds two
// unordered accesses.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>

#include "unit/sim/cuda/driver_fixture.h"

namespace plait::sim {
namespace {

constexpr int kStreams = 4, kEvents = 3, kBuffers = 4, kCount = 8;

// What a program does, one call each.
struct Step {
  enum Kind { fill, add, record, wait, synchronize } kind = fill;
  int stream = 0, event = 0;
  int out = 0, a = 0, b = 0;  // buffers
  float value = 0;
};

std::vector<Step> draw_program(std::mt19937_64& random, int steps) {
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<uint64_t>(below)); };
  std::vector<Step> program;
  for (int i = 0; i < steps; ++i) {
    const int kind = draw(12);
    Step step;
    step.kind = kind < 2    ? Step::fill
                : kind < 5  ? Step::add
                : kind < 8  ? Step::record
                : kind < 11 ? Step::wait
                            : Step::synchronize;
    step.stream = draw(kStreams);
    step.event = draw(kEvents);
    step.out = draw(kBuffers);
    step.a = draw(kBuffers);
    step.b = draw(kBuffers);
    step.value = static_cast<float>(draw(5));
    program.push_back(step);
  }
  return program;
}

// The oracle: node i is step i, an edge is an order, reached[i] are all nodes before i.
struct Oracle {
  std::vector<std::vector<bool>> before;

  explicit Oracle(const std::vector<Step>& program) {
    std::vector<std::optional<size_t>> last(kStreams), recorded(kEvents);
    std::vector<size_t> host;  // what the host knows
    for (size_t i = 0; i < program.size(); ++i) {
      std::vector<bool> known(program.size(), false);
      const auto join = [&](size_t node) {
        known[node] = true;
        for (size_t j = 0; j < node; ++j) {
          if (before[node][j]) known[j] = true;
        }
      };
      for (size_t node : host) join(node);
      const Step& step = program[i];
      if (last[step.stream]) join(*last[step.stream]);
      if (step.kind == Step::wait && recorded[step.event]) join(*recorded[step.event]);
      before.push_back(std::move(known));
      last[step.stream] = i;
      if (step.kind == Step::record) recorded[step.event] = i;
      if (step.kind == Step::synchronize) host.push_back(i);
    }
  }

  static bool conflict(const Step& x, const Step& y) {
    if (x.kind > Step::add || y.kind > Step::add) return false;
    const auto reads = [](const Step& step, int buffer) {
      return step.kind == Step::add && (step.a == buffer || step.b == buffer);
    };
    return x.out == y.out || reads(x, y.out) || reads(y, x.out);
  }
  bool race(const std::vector<Step>& program) const {
    for (size_t i = 0; i < program.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!before[i][j] && conflict(program[i], program[j])) return true;
      }
    }
    return false;
  }
};

class RandomOrderTest : public DriverTest {
 protected:
  // Number of programs with a race.
  int compare(uint64_t first, int programs) {
    int races = 0;
    for (uint64_t seed = first; seed < first + static_cast<uint64_t>(programs); ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937_64 random(seed);
      const std::vector<Step> program = draw_program(random, 6 + static_cast<int>(random() % 20));
      const bool race = Oracle(program).race(program);
      races += race;
      plait_sim_set_seed(seed % 7);
      run(program, race);
      if (HasFailure()) break;
    }
    plait_sim_set_seed(0);
    return races;
  }

 private:
  void run(const std::vector<Step>& program, bool race) {
    std::vector<float> expected(kBuffers, 1);
    std::vector<CUdeviceptr> memory;
    std::vector<CUstream> on;
    std::vector<CUevent> marks;
    for (const char* name : {"fill", "add"}) kernel(name);
    for (int i = 0; i < kBuffers; ++i) memory.push_back(allocate(kCount * 4));
    for (int i = 0; i < kStreams; ++i) on.push_back(stream());
    for (int i = 0; i < kEvents; ++i) marks.push_back(event());
    for (CUdeviceptr each : memory) EXPECT_OK(cu.cuMemsetD32(each, 0x3f800000, kCount));
    EXPECT_OK(cu.cuCtxSynchronize());
    for (const Step& step : program) {
      const CUstream at = on[step.stream];
      switch (step.kind) {  // after a race the rest may be refused
        case Step::fill:
          fill(at, memory[step.out], step.value, kCount);
          expected[step.out] = step.value;
          break;
        case Step::add:
          add(at, memory[step.out], memory[step.a], memory[step.b], kCount);
          expected[step.out] = expected[step.a] + expected[step.b];
          break;
        case Step::record:
          cu.cuEventRecord(marks[step.event], at);
          break;
        case Step::wait:
          cu.cuStreamWaitEvent(at, marks[step.event], 0);
          break;
        case Step::synchronize:
          cu.cuStreamSynchronize(at);
          break;
      }
    }
    const CUresult result = cu.cuCtxSynchronize();
    const std::string found = findings();
    EXPECT_EQ(result, race ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS) << found;
    EXPECT_EQ(found.find("not ordered") != found.npos, race) << found;
    if (race) return reset();
    for (int i = 0; i < kBuffers; ++i) EXPECT_EQ(read(memory[i], kCount), std::vector<float>(kCount, expected[i]));
    free_all();
  }
};

TEST_F(RandomOrderTest, ReportsExactlyTheRaces) {
  SIMULATED_ONLY();
  const int races = compare(1, 400);
  EXPECT_GT(races, 40);
  EXPECT_LT(races, 360);
}

TEST_F(RandomOrderTest, ReportsExactlyTheRacesLongRun) {
  SIMULATED_ONLY();
  std::random_device device;
  const uint64_t first = device();
  RecordProperty("first_seed", std::to_string(first));
  compare(first, 50000);
}

}  // namespace
}  // namespace plait::sim
