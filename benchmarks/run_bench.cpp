// Host time of cached runs, and cold compiles.
#include <benchmark/benchmark.h>

#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "bench.h"

namespace plait::bench {
namespace {

void run_cached(benchmark::State& state, const Fusion& fusion, int64_t ranks) {
  CompileOptions how;
  how.device = "cpu";
  how.ranks = ranks;
  Compiled program = compile(fusion, how);
  const Tensors inputs = inputs_of(fusion);
  program.run(inputs);
  for (auto _ : state) benchmark::DoNotOptimize(program.run(inputs));
}

// Four additions: what remains is the host's part of a run, its output's allocation included.
void cached_run_simple_add(benchmark::State& state) { run_cached(state, *example("simple_add"), 1); }
BENCHMARK(cached_run_simple_add)->Unit(benchmark::kMicrosecond);

// All ranks in one process, one after another; cutting of inputs and gathering of outputs included.
void cached_run_tp_mlp(benchmark::State& state) {
  const auto fusion = example("tp_mlp", {{"sb", "16"}, {"h", "64"}, {"h4", "256"}});
  run_cached(state, *fusion, state.range(0));
}
BENCHMARK(cached_run_tp_mlp)->ArgName("ranks")->Arg(1)->Arg(2)->Arg(4)->Unit(benchmark::kMicrosecond);

// A chain of products of 4 x 4: each is a step of its own, which takes next to no time. A long chain against a short
// one leaves the host's part of a step.
Compiled chain(int64_t length, Tensors& inputs) {
  Fusion fusion({}, "chain");
  TensorView* x = fusion.input("x", {1, 4}, DType::f32);
  TensorView* w = fusion.parameter("w", {4, 4}, DType::f32);
  for (int64_t i = 0; i < length; ++i) x = linear(x, w);
  fusion.output("y", x);
  CompileOptions how;
  how.device = "cpu";
  how.options.contractions = "nest";
  how.options.cpu_threads = 1;
  inputs = inputs_of(fusion);
  Compiled out = compile(fusion, how);
  out.run(inputs);
  return out;
}

void host_time_per_step(benchmark::State& state) {
  constexpr int64_t kShort = 16, kLong = 256;
  Tensors inputs;
  Compiled few = chain(kShort, inputs), many = chain(kLong, inputs);
  const auto launches = [](const Compiled& program) { return program.program().count(StepKind::LaunchStep); };
  PLAIT_CHECK(launches(few) == kShort && launches(many) == kLong, "the chain's products are not a step each");
  std::vector<double> short_times, long_times;
  for (auto _ : state) {
    short_times.push_back(seconds_of([&] { few.run(inputs); }));
    long_times.push_back(seconds_of([&] { many.run(inputs); }));
    state.SetIterationTime(long_times.back());
  }
  state.counters["step_us"] = 1e6 * (median(long_times) - median(short_times)) / (kLong - kShort);
}
BENCHMARK(host_time_per_step)->UseManualTime()->Unit(benchmark::kMicrosecond);

// Text to machine code with libraries loaded and nothing cached: every iteration has a device of its own, with an empty
// kernel cache. Outside of the time: parsing, drawing of inputs, the first load of LLVM and oneDNN.
void cold_compile_tp_mlp(benchmark::State& state) {
  const auto fusion = example("tp_mlp", {{"T", state.range(0) == 32 ? "f32" : "bf16"}});
  const Metadata metadata = metadata_of(inputs_of(*fusion));
  CompileOptions how;
  how.ranks = 4;
  const auto keeps_libraries = make_cpu_device();
  how.device_override = keeps_libraries.get();
  compile(*fusion, how).prepare(metadata);
  for (auto _ : state) {
    state.PauseTiming();
    {
      const auto device = make_cpu_device();
      how.device_override = device.get();
      state.ResumeTiming();
      Compiled program = compile(*fusion, how);
      program.prepare(metadata);
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
}
BENCHMARK(cold_compile_tp_mlp)->ArgName("bits")->Arg(32)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace plait::bench
