// Work of giving layouts, counted in allocations: near-linear in the ops, with choices by cost too.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ir/fusion.h"
#include "shard/propagate.h"
#include "support/allocation_counter.h"

namespace plait {
namespace {

// Layers on a stream to which each adds: a norm, a product whose weight is cut by columns and one by rows, whose sum is
// pending.
std::string stream(int layers, const std::string& weights, const std::string& last) {
  std::string out =
      "mesh @m (dp = 2, tp = 4)\nfusion @f on @m (%t0: f32[256, 512] {0: dp}, " + weights + ") -> (%y) {\n";
  for (int i = 0; i < layers; ++i)
    out += fmt::format(
        "  %s{0} = mul(%t{0}, %t{0})\n  %m{0} = sum(%s{0}, dims = [1], keepdim = true)\n  %r{0} = rsqrt(%m{0})\n"
        "  %n{0} = mul(%t{0}, %r{0})\n  %u{0} = linear(%n{0}, %w)\n  %g{0} = relu(%u{0})\n  %p{0} = linear(%g{0}, %v)\n"
        "  %t{1} = add(%p{0}, %t{0})\n",
        i, i + 1);
  return out + fmt::format("  %y = {}\n}}\n", fmt::format(fmt::runtime(last), layers));
}

int64_t work(const std::string& text, bool by_cost) {
  auto f = parse_fusion(text);
  const int64_t before = test::allocations();
  propagate(*f, by_cost);
  return test::allocations() - before;
}

// `most`: times what layouts of ops one by one take.
void expect_little(const std::string& weights, const std::string& last, int64_t most) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations are the sanitizer's";
  const std::string text = stream(500, weights, last);
  work(text, true);  // what is made once in a process
  const int64_t few = work(stream(62, weights, last), true), many = work(text, true), plain = work(text, false);
  EXPECT_LE(many, few * 10) << few << " allocations of 500 ops, " << many << " of 4,000";
  EXPECT_LE(many, plain * most) << plain << " without choices by cost";
}

TEST(ShardWork, OfAStreamOfPendingSums) {
  expect_little("param %w: f32[2048, 512] {0: tp}, param %v: f32[512, 2048] {1: tp}", "relu(%t{})", 3);
}

TEST(ShardWork, OfAStreamThatIsReduced) {
  expect_little("param %w: f32[2048, 512] {0: tp}, param %v: f32[512, 2048] {1: tp}", "sum(relu(%t{}))", 3);
}

// Something is chosen in each layer.
TEST(ShardWork, OfAStreamInConflict) {
  expect_little("param %w: f32[2048, 512] {0: dp}, param %v: f32[512, 2048] {0: tp}", "relu(%t{})", 6);
}

}  // namespace
}  // namespace plait
