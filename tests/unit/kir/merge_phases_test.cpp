// Phases of GPUs that are beside each other: one launch where their blocks have the same threads, else one behind the
// other; what they compute stays.
#include "kir/merge_phases.h"

#include <gtest/gtest.h>

#include "kir/interpret.h"
#include "kir/parse.h"

namespace plait::kir {
namespace {

// Phases of which all but the first stand beside it.
Kernel beside(const std::string& phases, const std::string& head) {
  Kernel out = parse("kernel @k(" + head + ") target cuda {\n" + phases + "}\n");
  for (Phase& phase : out.phases) phase.beside = &phase != &out.phases.front();
  return out;
}

const std::string kHead =
    "%x: f32[n] read, %y: f32[m] read, %u: f32[n] write, %v: f32[m] write, %w: f32[m] write; n, m, k";

std::string chain(const std::string& from, const std::string& to, const std::string& size, int threads) {
  const std::string t = std::to_string(threads);
  static int value = 0;
  const std::string a = "%" + std::to_string(value++), b = "%" + std::to_string(value++);
  const std::string i = "i" + std::to_string(value), q = t + "*" + i + " + t" + t;
  return "phase {\n for " + i + " in 0..ceildiv(" + size + ", " + t + ") on block_x {\n for t" + t + " in 0.." + t +
         " on thread_x {\n if " + q + " < " + size + " {\n " + a + ": f32 = load %" + from + "[" + q + "] lanewise\n " +
         b + ": f32 = neg(" + a + ")\n store %" + to + "[" + q + "] = " + b + " lanewise\n }\n }\n }\n}\n";
}

// The written buffers; complaints of the checker are failures.
std::vector<std::vector<float>> run(const Kernel& kernel, int64_t n, int64_t m, int64_t k) {
  std::vector<std::vector<float>> memory(5);
  for (size_t i = 0; i < 5; ++i) memory[i].assign(static_cast<size_t>(i == 0 || i == 2 ? n : m), 0);
  for (size_t i = 0; i < 2; ++i)
    for (size_t e = 0; e < memory[i].size(); ++e) memory[i][e] = static_cast<float>(e + 100 * i + 1);
  std::vector<void*> arguments;
  for (auto& values : memory) arguments.push_back(values.data());
  AccessChecker checker(kernel);
  interpret(kernel, {n, m, k}, arguments, checker);
  checker.finish(buffer_extents(kernel, {n, m, k}));
  EXPECT_EQ(checker.problems(), std::vector<std::string>{}) << print(kernel);
  return memory;
}

TEST(MergePhases, SameThreadsAreOneLaunch) {
  const std::string grid =
      "phase {\n for q in 0..k on block_y {\n for i in 0..ceildiv(m, 32*k) on block_x {\n for t in 0..32 on thread_x "
      "{\n"
      " if 32*(i*k + q) + t < m {\n %100: f32 = load %y[32*(i*k + q) + t] lanewise\n"
      " store %w[32*(i*k + q) + t] = %100 lanewise\n }\n }\n }\n }\n}\n";
  Kernel kernel = beside(chain("x", "u", "n", 32) + chain("y", "v", "m", 32) + grid, kHead);
  merge_phases(kernel);
  verify(kernel);
  ASSERT_EQ(kernel.phases.size(), 1u) << print(kernel);
  for (const auto& [n, m, k] : std::vector<std::array<int64_t, 3>>{{100, 70, 2}, {1, 1, 1}, {0, 33, 3}, {64, 0, 1}}) {
    const auto memory = run(kernel, n, m, k);
    for (size_t e = 0; e < memory[0].size(); ++e) EXPECT_EQ(memory[2][e], -memory[0][e]);
    for (size_t e = 0; e < memory[1].size(); ++e) {
      EXPECT_EQ(memory[3][e], -memory[1][e]);
      EXPECT_EQ(memory[4][e], memory[1][e]);
    }
  }
}

TEST(MergePhases, OthersFollowEachOther) {
  Kernel kernel = beside(chain("x", "u", "n", 32) + chain("y", "v", "m", 64) + chain("y", "w", "m", 32), kHead);
  merge_phases(kernel);
  verify(kernel);
  ASSERT_EQ(kernel.phases.size(), 2u) << print(kernel);
  EXPECT_EQ(launch_extents(kernel, 0).block[0].value(), 32);
  EXPECT_EQ(launch_extents(kernel, 1).block[0].value(), 64);
  const auto memory = run(kernel, 50, 90, 1);
  for (size_t e = 0; e < 90; ++e) EXPECT_EQ(memory[4][e], -memory[1][e]);
}

// Two buffers of 32 KiB are more than any block has.
TEST(MergePhases, SharedMemoryIsNoMoreThanABlockHas) {
  const auto phase = [](const std::string& to, const std::string& size, int value) {
    const std::string id = "%" + std::to_string(value);
    return "phase {\n for i" + id.substr(1) + " in 0.." + size +
           " on block_x {\n for t in 0..32 on thread_x {\n alloc %s" + std::to_string(value) + ": f32[8192] shared\n " +
           id + ": f32 = literal 1\n store %s" + std::to_string(value) + "[t] = " + id +
           " lanewise\n if t == 0 {\n store %" + to + "[i" + id.substr(1) + "] = " + id + " lanewise\n }\n }\n }\n}\n";
  };
  Kernel kernel = beside(phase("u", "n", 200) + phase("v", "m", 201), kHead);
  merge_phases(kernel);
  verify(kernel);
  EXPECT_EQ(kernel.phases.size(), 2u) << print(kernel);
}

}  // namespace
}  // namespace plait::kir
