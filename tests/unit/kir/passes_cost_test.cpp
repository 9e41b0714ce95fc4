// The work of a pass, counted in allocations, grows as the statements do.
#include <gtest/gtest.h>

#include "kir/passes/passes.h"
#include "kir/statements.h"
#include "support/allocation_counter.h"
#include "support/kernel_builder.h"

namespace plait::kir {
namespace {

using test::KernelBuilder;

size_t statements(const Block& block) {
  size_t count = block.size();
  for (const auto& stmt : block)
    if (const Block* body = body_of(*stmt)) count += statements(*body);
  return count;
}

// One after another: reductions of a row, and elements that are computed in several steps, read in part and gathered.
Kernel kernel_of(int rounds) {
  KernelBuilder b("many");
  const sym::Expr m = b.integer("m"), n = b.integer("n");
  const auto x = b.reads("x", DType::f32, m * n), j = b.reads("j", DType::i64, n), s = b.reads("s", DType::f32, m);
  const auto y = b.writes("y", DType::f32, m * n);
  const sym::Expr i = b.loop("i", m, LoopKind::cpu_thread);
  const auto columns = [&](int round, const char* name) {
    const sym::Expr k = b.loop(fmt::format("{}{}", name, round), sym::ceildiv(n, 8));
    const sym::Expr at = 8 * k + b.loop(fmt::format("{}{}l", name, round), b.number(8), LoopKind::lanes);
    b.branch(sym::lt(at, n));
    return at;
  };
  for (int round = 0; round < rounds; ++round) {
    const auto sum = b.start(Combine::sum, {DType::f32});
    const sym::Expr at = columns(round, "a");
    b.accumulate(Combine::sum, sum, {b.load(x, i * n + at, 1, Access::contiguous)});
    for (int open = 0; open < 3; ++open) b.end();
    Value v = b.fold(Combine::sum, sum)[0];
    const sym::Expr to = columns(round, "b");
    for (int step = 0; step < 4; ++step)
      v = b.compute(Pointwise::add,
                    {v, b.load(step % 2 == 0 ? s : x, step % 2 == 0 ? i : i * n + to, 1, Access::contiguous)});
    const sym::Expr q = b.bind(fmt::format("q{}", round), b.load(j, to, 1, Access::contiguous));
    const Value g = b.variable(DType::f32, 0, 1);
    b.branch(sym::logical_and(sym::ge(q, 0), sym::lt(q, n)));
    b.assign(g, b.load(x, i * n + q, 1, Access::contiguous));
    b.end();
    b.store(y, i * n + to, b.compute(Pointwise::mul, {v, g}), Access::contiguous);
    for (int open = 0; open < 3; ++open) b.end();
  }
  return std::move(b.kernel);
}

TEST(KirPassCost, IsNearLinear) {
  if (!test::counts_allocations()) GTEST_SKIP() << "this build does not count allocations";
  Kernel small = kernel_of(20), large = kernel_of(160);
  const double growth = double(statements(large.phases[0].body)) / double(statements(small.phases[0].body));
  EXPECT_GT(statements(small.phases[0].body), 450u);
  EXPECT_GT(statements(large.phases[0].body), 3600u);
  for (const KernelPass& pass : kernel_passes()) {
    const int64_t begin = test::allocations();
    pass.run(small);
    const int64_t middle = test::allocations();
    pass.run(large);
    const int64_t end = test::allocations();
    EXPECT_LT(double(end - middle), 1.25 * growth * double(middle - begin) + 1000) << pass.name;
    verify(large);
  }
}

}  // namespace
}  // namespace plait::kir
