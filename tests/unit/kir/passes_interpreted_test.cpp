// Random kernels give the same values before and after each pass as the interpreter runs them, and meet memory as
// kernels may.
#include <gtest/gtest.h>

#include "kir/interpret.h"
#include "kir/passes/passes.h"
#include "support/random_kernel.h"

namespace plait::kir {
namespace {

std::vector<Tensor> interpreted(const Kernel& kernel, int64_t rows, int64_t columns) {
  std::vector<Tensor> tensors = test::random_kernel_tensors(rows, columns, 3);
  std::vector<void*> arguments;
  for (const Tensor& t : tensors) arguments.push_back(t.data());
  AccessChecker checker(kernel);
  interpret(kernel, {rows, columns}, arguments, checker);
  for (const std::string& problem : checker.problems()) ADD_FAILURE() << problem;
  return tensors;
}

void check_interpreted(uint64_t seed) {
  test::RandomKernel random = test::random_kernel(seed);
  Kernel& kernel = random.kernel;
  const int64_t multiple = kernel.pool->info(kernel.integers[1]).multiple_of;
  const std::vector<std::pair<int64_t, int64_t>> sizes = {
      {1, multiple}, {2, std::max<int64_t>(16, multiple)}, {3, 37 / multiple * multiple}};
  std::vector<std::vector<Tensor>> before;
  for (const auto& [rows, columns] : sizes) before.push_back(interpreted(kernel, rows, columns));
  for (const KernelPass& pass : kernel_passes()) {
    const std::string text = print(kernel);
    pass.run(kernel);
    const std::string now = print(kernel);
    if (now == text) continue;
    SCOPED_TRACE(fmt::format("seed {}, behind {}:\n{}\nfrom\n{}", seed, pass.name, now, text));
    for (size_t k = 0; k < sizes.size(); ++k) {
      SCOPED_TRACE(fmt::format("{} x {}", sizes[k].first, sizes[k].second));
      const std::vector<Tensor> after = interpreted(kernel, sizes[k].first, sizes[k].second);
      for (size_t i = after.size() - 2; i < after.size(); ++i)
        EXPECT_TRUE(test::results_agree(before[k][i], after[i], random.exact)) << i;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(KirPassInterpreted, RandomKernels) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    check_interpreted(seed);
    if (HasFailure()) return;
  }
}

TEST(KirPassInterpreted, RandomKernelsLongRun) {
  for (uint64_t seed = 30; seed < 1000; ++seed) {
    check_interpreted(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace plait::kir
