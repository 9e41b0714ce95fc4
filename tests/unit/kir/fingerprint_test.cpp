// Whether verify() may be left out behind a pass is asked of a fingerprint: it stays where nothing changed, and every
// change that a text shows changes it.
#include "kir/fingerprint.h"

#include <gtest/gtest.h>

#include "kir/parse.h"
#include "support/mutations.h"
#include "support/thread_kernels.h"

namespace plait::kir {
namespace {

TEST(KirFingerprint, ChangesWithTheKernel) {
  size_t changed = 0;
  for (const testing::ThreadKernel& each : testing::thread_kernels()) {
    const Kernel kernel = parse(each.text);
    EXPECT_EQ(fingerprint(kernel), fingerprint(parse(each.text))) << each.name;
    const std::vector<testing::Mutation> all = testing::mutations(kernel);
    for (const size_t which : testing::draw_mutations(all, 10, 1)) {
      Kernel mutated = parse(each.text);
      const std::string before = print(mutated);
      const uint64_t mark = fingerprint(mutated);
      testing::mutate(mutated, which);
      EXPECT_EQ(fingerprint(mutated) == mark, print(mutated) == before) << each.name << ": " << all[which].kind;
      changed += fingerprint(mutated) != mark;
    }
  }
  EXPECT_GT(changed, 200u);
}

TEST(KirFingerprint, ChangesWithTheHead) {
  Kernel kernel = parse(testing::thread_kernels().front().text);
  const uint64_t mark = fingerprint(kernel);
  const auto changes = [&](auto&& edit, auto&& undo) {
    edit();
    const bool out = fingerprint(kernel) != mark;
    undo();
    return out && fingerprint(kernel) == mark;
  };
  Buffer& buffer = kernel.buffers[0];
  const Buffer was = buffer;
  const auto restore = [&] { buffer = was; };
  EXPECT_TRUE(changes([&] { buffer.name += "_"; }, restore));
  EXPECT_TRUE(changes([&] { buffer.extent = kernel.pool->constant(12345); }, restore));
  EXPECT_TRUE(changes([&] { buffer.dtype = DType::i64; }, restore));
  EXPECT_TRUE(changes([&] { buffer.written = !buffer.written; }, restore));
  EXPECT_TRUE(changes([&] { buffer.updated = !buffer.updated; }, restore));
  EXPECT_TRUE(changes([&] { buffer.replaced = !buffer.replaced; }, restore));
  EXPECT_TRUE(changes([&] { buffer.space = Space::counter; }, restore));
  EXPECT_TRUE(changes([&] { buffer.turned = 64; }, restore));
  EXPECT_TRUE(changes([&] { kernel.narrow = !kernel.narrow; }, [&] { kernel.narrow = !kernel.narrow; }));
  EXPECT_TRUE(changes([&] { kernel.phases.emplace_back(); }, [&] { kernel.phases.pop_back(); }));
  EXPECT_TRUE(
      changes([&] { kernel.integers.push_back(kernel.pool->constant(1)); }, [&] { kernel.integers.pop_back(); }));
}

}  // namespace
}  // namespace plait::kir
