// Random kernels give the same values whether passes ran or not, as compiled for the CPU.
#include <gtest/gtest.h>

#include "kir/expand_functions.h"
#include "kir/passes/expand_reductions.h"
#include "kir/passes/passes.h"
#include "kir/statements.h"
#include "support/kernel_run.h"
#include "support/random_kernel.h"

namespace plait::kir {
namespace {

// Loops as they are for those who know no lanes.
void make_serial(Block& block) {
  for (auto& stmt : block) {
    if (Block* body = body_of(*stmt)) make_serial(*body);
    if (stmt->kind != StmtKind::For) continue;
    auto& loop = static_cast<For&>(*stmt);
    if (loop.loop == LoopKind::lanes) loop.loop = LoopKind::serial;
    loop.unroll = false;
  }
}

std::shared_ptr<Executable> compiled(const Kernel& kernel) {
  Kernel plain = clone(kernel);
  for (Phase& phase : plain.phases) make_serial(phase.body);
  expand_reductions(plain);
  expand_functions(plain);
  verify(plain);
  return test::shared_cpu().compile(
      {plain.name, codegen::write_llvm(plain), passed_buffers(plain), plain.integers.size()}, nullptr);
}

std::vector<Tensor> results(const Executable& executable, const Kernel& kernel, int64_t rows, int64_t columns) {
  std::vector<Tensor> tensors = test::random_kernel_tensors(rows, columns, 3);
  test::launch(executable, kernel, tensors, {rows, columns});
  return tensors;
}

int64_t multiple(const Kernel& kernel) { return kernel.pool->info(kernel.integers[1]).multiple_of; }

void check_compiled(uint64_t seed) {
  test::RandomKernel random = test::random_kernel(seed);
  Kernel& kernel = random.kernel;
  std::string text = print(kernel);
  verify(kernel);
  const auto reference = compiled(kernel);
  for (const KernelPass& pass : kernel_passes()) {
    pass.run(kernel);
    std::string now = print(kernel);
    if (now == text) continue;
    SCOPED_TRACE(fmt::format("seed {}, behind {}:\n{}\nfrom\n{}", seed, pass.name, now, text));
    text = std::move(now);
    ASSERT_NO_THROW(verify(kernel));
    const auto executable = compiled(kernel);
    for (int64_t rows : {1, 3})
      for (int64_t columns : {0, 1, 5, 16, 37, 64, 100, 131}) {
        if (columns % multiple(kernel) != 0) continue;
        SCOPED_TRACE(fmt::format("{} x {}", rows, columns));
        const auto a = results(*reference, kernel, rows, columns), b = results(*executable, kernel, rows, columns);
        for (size_t i = a.size() - 2; i < a.size(); ++i)
          EXPECT_TRUE(test::results_agree(a[i], b[i], random.exact)) << i;
        if (::testing::Test::HasFailure()) return;
      }
  }
}

TEST(KirPassValues, RandomKernels) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    check_compiled(seed);
    if (HasFailure()) return;
  }
}

TEST(KirPassValues, RandomKernelsLongRun) {
  for (uint64_t seed = 24; seed < 1500; ++seed) {
    check_compiled(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace plait::kir
