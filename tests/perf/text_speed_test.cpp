// Reading, checking and writing the text of a large graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "ir/fusion.h"

namespace plait {
namespace {

constexpr int kOps = 2000;
constexpr double kMostMilliseconds = 100;

// Products, elementwise ops, constants and random numbers over symbolic sizes, on a mesh.
std::string large_text() {
  std::string out =
      "let b = 64, h = 1024, T = bf16\nmesh @m (dp = 2, tp = 4)\n"
      "fusion @large on @m (%x: T[b, 4*h] {0: dp}, param %w: T[4*h, 4*h] {0: tp}, %seed: u64[]) -> (%t1999) {\n"
      "  %t0 = exp(%x)\n";
  for (int i = 1; i < kOps; ++i) {
    const std::string name = "%t" + std::to_string(i), before = "%t" + std::to_string(i - 1);
    switch (i % 8) {
      case 1:
        out += "  " + name + ": T[b, 4*h] {0: dp} = linear(" + before + ", %w)\n";
        break;
      case 3:
        out += "  " + name + ": T[b, 4*h] = dropout(" + before + ", p = 0.1, seed = %seed)\n";
        break;
      case 5:
        out += "  " + name + " = add(" + before + ", %t" + std::to_string(i - 3) + ")\n";
        break;
      case 6:
        out += "  " + name + " = gelu(" + before + ", approx = tanh)\n";
        break;
      default:
        out += "  " + name + " = mul(" + before + ", %x)\n";
    }
  }
  return out + "}\n";
}

double cpu_ms() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

TEST(TextSpeed, TwoThousandOpsInATenthOfASecond) {
  set_verify_hook(nullptr);  // what it does takes time of its own
  const std::string text = large_text();
  double best = 1e9, parts[3] = {};
  for (int repeat = 0; repeat < 7; ++repeat) {
    const double begin = cpu_ms();
    const auto fusion = parse_fusion(text);
    const double parsed = cpu_ms();
    verify(*fusion);
    const double verified = cpu_ms();
    const std::string printed = print(*fusion);
    const double end = cpu_ms();
    ASSERT_EQ(fusion->ops().size(), size_t(kOps));
    ASSERT_GT(printed.size(), text.size());
    if (end - begin > best) continue;
    best = end - begin;
    parts[0] = parsed - begin;
    parts[1] = verified - parsed;
    parts[2] = end - verified;
  }
  std::printf("2,000 ops: %.2f ms; parse %.2f, verify %.2f, print %.2f\n", best, parts[0], parts[1], parts[2]);
  RecordProperty("milliseconds", std::to_string(best));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's time is not the program's";
#endif
  EXPECT_LT(best, kMostMilliseconds);
}

}  // namespace
}  // namespace plait
