// A second run of the same sizes allocates nothing but outputs.
#include <gtest/gtest.h>

#include "plait.h"
#include "reference/draw_inputs.h"
#include "support/allocation_counter.h"
#include "support/examples.h"

namespace plait {
namespace {

struct Program {
  const char* name;
  int64_t ranks;
  const char* dtype;
};

class SteadyState : public ::testing::TestWithParam<Program> {};

INSTANTIATE_TEST_SUITE_P(Examples, SteadyState,
                         ::testing::Values(Program{"mlp_block", 1, "f32"}, Program{"tp_mlp", 1, "f32"},
                                           Program{"tp_mlp", 4, "f32"}, Program{"tp_mlp", 3, "bf16"},
                                           Program{"tp_mlp", 2, "f64"}, Program{"sp_toy", 3, "f32"},
                                           Program{"mlp_2d", 4, "f32"}),
                         [](const auto& info) {
                           return std::string(info.param.name) + "_" + std::to_string(info.param.ranks) + "_" +
                                  info.param.dtype;
                         });

TEST_P(SteadyState, AllocatesOnlyOutputs) {
  ParseOptions parse;
  parse.set["T"] = GetParam().dtype;
  auto fusion = parse_fusion(testing::example(GetParam().name), parse);
  CompileOptions how;
  how.device = "cpu";
  how.ranks = GetParam().ranks;
  const bool narrow = std::string_view(GetParam().dtype) == "bf16";
  if (!(narrow ? __builtin_cpu_supports("avx512bf16") : __builtin_cpu_supports("avx512f")))
    how.options.contractions = "nest";  // oneDNN's older kernels allocate in every run, as operands do that are widened
  Compiled p = compile(*fusion, how);
  auto drawn = reference::draw_inputs(*fusion, {});
  Tensors inputs{drawn.begin(), drawn.end()};
  HostAllocator counted;
  RunOptions run;
  run.allocator = &counted;
  for (int i = 0; i < 3; ++i) p.run(inputs, run);  // libraries keep scratch of their own from the first runs
  // One buffer for each global output; pieces of cut tensors are kept from run to run. A library whose team of threads
  // stalls takes one thread for a while, with scratch for that: one run of several is as good as all.
  int64_t more = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const int64_t buffers = counted.allocations(), large = test::large_allocations();
    const Tensors outputs = p.run(inputs, run);
    int64_t allowed = 0, large_allowed = 0;
    for (const auto& [name, t] : outputs) {
      allowed += 1;
      large_allowed += t.bytes() > 4096;
    }
    EXPECT_EQ(counted.allocations() - buffers, allowed);
    more = test::large_allocations() - large - large_allowed;
    if (!test::counts_allocations() || more <= 0) return;
  }
  ADD_FAILURE() << more << " large allocations more than outputs";
}

}  // namespace
}  // namespace plait
