// Kernels against what the machine can do. Both sides of a comparison run in turns, so that other work on the machine
// hits both, and their medians are compared.
#include <benchmark/benchmark.h>

#include <cstring>
#include <thread>

#include "bench.h"

namespace plait::bench {
namespace {

// f32 product [m, k] x [n, k] by the generated nest and by oneDNN, on all cores.
void product_nest_against_onednn(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  Fusion fusion({}, "product");
  fusion.output("y", linear(fusion.input("x", {m, k}, DType::f32), fusion.parameter("w", {n, k}, DType::f32)));
  Options nest_options, library_options;
  nest_options.contractions = "nest";
  library_options.contractions = "library";
  const Launch nest(fusion, nest_options), library(fusion, library_options);
  nest();
  library();
  std::vector<double> ours, theirs;
  for (auto _ : state) {
    ours.push_back(seconds_of(nest));
    theirs.push_back(seconds_of(library));
    state.SetIterationTime(ours.back());
  }
  const double flops = 2.0 * double(m) * double(n) * double(k);
  state.counters["nest_gflops"] = flops / median(ours) * 1e-9;
  state.counters["onednn_gflops"] = flops / median(theirs) * 1e-9;
  state.counters["speed_of_onednn"] = median(theirs) / median(ours);
  state.SetLabel(nest.schedule());
}
BENCHMARK(product_nest_against_onednn)
    ->ArgNames({"m", "n", "k"})
    ->Args({64, 512, 128})
    ->Args({512, 1024, 1024})
    ->Args({512, 4096, 1024})
    ->MinTime(4)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void copy_in_parallel(char* to, const char* from, size_t bytes) {
  const size_t parts = std::max(1u, std::thread::hardware_concurrency()), part = bytes / parts;
  std::vector<std::thread> threads;
  for (size_t i = 1; i < parts; ++i)
    threads.emplace_back(
        [=] { std::memcpy(to + i * part, from + i * part, i + 1 == parts ? bytes - i * part : part); });
  std::memcpy(to, from, part);
  for (auto& thread : threads) thread.join();
}

// gelu (tanh) of a large tensor against memcpy of the same bytes, on all cores and on one.
void gelu_against_memcpy(benchmark::State& state) {
  const DType dtype = state.range(0) == 32 ? DType::f32 : DType::bf16;
  const int64_t n = int64_t{1} << 25;
  Fusion fusion({}, "bandwidth");
  fusion.output("y", gelu(fusion.input("x", {n}, dtype), Gelu::tanh));
  const Launch kernel(fusion);
  const size_t bytes = size_t(n) * size_of(dtype);
  const Tensor from = inputs_of(fusion).at("x"), to = Tensor::empty(dtype, {n});
  const auto copy = [&] { copy_in_parallel(static_cast<char*>(to.data()), static_cast<char*>(from.data()), bytes); };
  const auto copy_alone = [&] { std::memcpy(to.data(), from.data(), bytes); };
  kernel();
  copy();
  std::vector<double> ours, theirs, alone;
  for (auto _ : state) {
    ours.push_back(seconds_of(kernel));
    theirs.push_back(seconds_of(copy));
    alone.push_back(seconds_of(copy_alone));
    state.SetIterationTime(ours.back());
  }
  const double moved = 2e-9 * double(bytes);
  state.counters["gelu_gb_s"] = moved / median(ours);
  state.counters["memcpy_gb_s"] = moved / median(theirs);
  state.counters["memcpy_one_core_gb_s"] = moved / median(alone);
  state.counters["speed_of_memcpy"] = median(theirs) / median(ours);
  state.SetLabel(kernel.schedule());
}
BENCHMARK(gelu_against_memcpy)->ArgName("bits")->Arg(32)->Arg(16)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plait::bench
