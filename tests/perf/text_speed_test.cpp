// Reading, checking and writing the text of a large graph.
#include <gtest/gtest.h>

#include <array>
#include <iterator>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/allocation_counter.h"

namespace plait {
namespace {

constexpr int64_t kMostAllocations = 100;  // an op

// One layer of a graph of all kinds of ops, over symbolic sizes, on a mesh. `%x#` is its operand, `%y` its result, `#`
// its number.
constexpr const char* kLayer[] = {
    "%h#: T[b, 4*h] {0: dp} = linear(%x#, %w)",
    "%g# = gelu(%h#, approx = tanh)",
    "%d#: T[b, 4*h] = dropout(%g#, p = 0.1, seed = %seed)",
    "%q# = matmul(%d#, %w)",
    "%sum# = sum(%q#, dims = [1], keepdim = true)",
    "%most# = amax(%q#, dims = [-1], keepdim = true)",
    "%spread# = var(%q#, dims = [0], correction = 0)",
    "%run# = cumsum(%q#, dim = 1)",
    "%at# = argmax(%run#, dims = [1])",
    "%rows# = index_select(%q#, %at#, dim = 0)",
    "%four# = reshape(%rows#, shape = [b, 4, h])",
    "%turn# = permute(%four#, dims = [1, 2, 0])",
    "%flat# = reshape(%turn#, shape = [-1, b])",
    "%back#: T[b, 4*h] = permute(%flat#, dims = [1, 0])",
    "%part# = slice(%back#, dim = 1, start = 1, stop = -1, step = 2)",
    "%pad# = pad(%back#, low = [1, 0], high = [0, 2], value = -inf)",
    "%two# = cat(%back#, %q#, dim = 0)",
    "%both# = reshape(%two#, shape = [2, b, 4*h])",
    "%half# = amin(%both#, dims = [0])",
    "%wide# = broadcast(%spread#, shape = [b, 4*h], dims = [1])",
    "%soft# = softmax(%half#, dim = 1)",
    "%norm# = layer_norm(%soft#, %v, %v)",
    "%a# = clamp(%norm#, %sum#, %most#)",
    "%c# = ge(%a#, %wide#)",
    "%y = where(%c#, %a#, %d#)",
};

std::string replaced(std::string line, const std::string& what, const std::string& with) {
  for (size_t at; (at = line.find(what)) != line.npos;) line.replace(at, what.size(), with);
  return line;
}

std::string large_text(int ops) {
  const int layers = ops / static_cast<int>(std::size(kLayer));
  std::string out = fmt::format(
      "let b = 64, h = 1024, T = bf16\nmesh @m (dp = 2, tp = 4)\n"
      "fusion @large on @m (%x0: T[b, 4*h] {{0: dp}}, param %w: T[4*h, 4*h] {{0: tp}}, param %v: T[4*h], %seed: u64[]) "
      "-> (%x{}) {{\n",
      layers);
  for (int layer = 0; layer < layers; ++layer)
    for (const char* line : kLayer)
      out += "  " + replaced(replaced(line, "%y", fmt::format("%x{}", layer + 1)), "#", std::to_string(layer)) + "\n";
  return out + "}\n";
}

// Allocations of reading, verifying and writing a text of some ops.
std::array<int64_t, 3> work(int ops) {
  const std::string text = large_text(ops);
  const int64_t begin = test::allocations();
  const auto fusion = parse_fusion(text);
  const int64_t parsed = test::allocations();
  verify(*fusion);
  const int64_t verified = test::allocations();
  const std::string printed = print(*fusion);
  const int64_t end = test::allocations();
  EXPECT_EQ(fusion->ops().size(), size_t(ops));
  EXPECT_GT(printed.size(), text.size());
  return {parsed - begin, verified - parsed, end - verified};
}

TEST(TextWork, GrowsWithTheOps) {
  if (!test::counts_allocations()) GTEST_SKIP() << "a sanitizer has the allocator";
  set_verify_hook(nullptr);  // it has work of its own
  const std::array<int64_t, 3> once = work(2000), twice = work(4000);
  const char* what[] = {"parse", "verify", "print"};
  for (int i = 0; i < 3; ++i) {
    std::printf("%s: %.1f allocations an op, %.1f of twice as many\n", what[i], double(once[i]) / 2000,
                double(twice[i]) / 4000);
    EXPECT_LT(twice[i], 2.2 * double(once[i])) << what[i];
    EXPECT_LT(once[i], kMostAllocations * 2000) << what[i];
  }
}

}  // namespace
}  // namespace plait
