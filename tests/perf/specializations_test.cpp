// Few specializations serve all sizes, and each size is right.
#include <gtest/gtest.h>

#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"
#include "session/bind_inputs.h"

namespace plait {
namespace {

struct Case {
  const char* name;
  const char* text;
};

const Case kCases[] = {
    {"pointwise",
     "let n = 4\nfusion @f (%x: f32[n], %w: bf16[3, n]) -> (%y) {\n  %e = exp(%x)\n  %y = add(%e, %w)\n}\n"},
    {"broadcast", "let n = 4\nfusion @f (%x: f32[n, 5], %w: f32[n, 1]) -> (%y) {\n  %y = mul(%x, %w)\n}\n"},
    {"reductions",
     "let n = 4\nfusion @f (%x: f32[n, 5], %w: f32[6, n]) -> (%y, %z, %m) {\n  %y = sum(%x, dims = [0])\n"
     "  %z = sum(%w, dims = [1])\n  %m = mean(%x, dims = [1])\n}\n"},
    {"normalised",
     "let n = 4\nfusion @f (%x: f32[3, n], %w: f32[n]) -> (%y, %z) {\n  %y = softmax(%x, dim = 1)\n"
     "  %z = rms_norm(%x, %w)\n}\n"},
    {"contractions",
     "let n = 4\nfusion @f (%x: f32[n, 7], param %w: f32[5, 7], %v: f32[6, n], %u: f32[3, n]) -> (%y, %z) {\n"
     "  %y = linear(%x, %w)\n  %z = linear(%v, %u)\n}\n"},
    {"moves",
     "let n = 4\nfusion @f (%x: f32[n, 5], %w: f32[n, 5]) -> (%y, %z) {\n  %t = permute(%x, dims = [1, 0])\n"
     "  %y = exp(%t)\n  %z = cat(%x, %w, dim = 0)\n}\n"},
    {"random",
     "let n = 4\nfusion @f (%x: f32[n, 3], %seed: u64[]) -> (%y) {\n  %y = dropout(%x, p = 0.3, seed = %seed)\n}\n"},
};

class Specializations : public ::testing::TestWithParam<std::tuple<Case, const char*>> {};

TEST_P(Specializations, EverySizeIsRightAndFourServeAll) {
  const auto& [which, contractions] = GetParam();
  auto fusion = parse_fusion(which.text);
  CompileOptions how;
  how.device = "cpu";
  how.options.contractions = contractions;
  Compiled program = compile(*fusion, how);
  for (int64_t n = 0; n < 40; ++n) {
    reference::DrawOptions draw;
    draw.sizes["n"] = n;
    const auto drawn = reference::draw_inputs(*fusion, draw);
    const Tensors got = program.run(Tensors(drawn.begin(), drawn.end()));
    const auto check = reference::compare(reference::evaluate(*fusion, drawn), {got.begin(), got.end()});
    EXPECT_TRUE(check.outcome() != reference::Outcome::wrong) << "n = " << n << ": " << check.message;
  }
  EXPECT_EQ(program.classes(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Specializations,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Values("auto", "nest")),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param));
                         });

size_t keys_of(int sizes, const std::vector<int64_t>& divisors) {
  std::set<std::string> keys;
  for (int64_t n = 0; n < 40; ++n)
    for (int64_t m = 0; m < (sizes > 1 ? 40 : 1); ++m)
      keys.insert(specialize(sizes > 1 ? Sizes{{"m", m}, {"n", n}} : Sizes{{"n", n}}, {}, divisors).key);
  return keys.size();
}

TEST(Specialize, AsManyAsTheGraphNeeds) {
  const auto plain = parse_fusion("fusion @f (%x: f32[n, m]) -> (%y) {\n  %y = exp(%x)\n}\n");
  const auto divided = parse_fusion(
      "fusion @f (%x: f32[2*n, m]) -> (%y) {\n  %s = slice(%x, dim = 0, start = 0, stop = n, step = 3)\n  %y = "
      "exp(%s)\n}\n");
  const DeviceMesh one, four({4});
  EXPECT_EQ(class_divisors(*plain, one, Target()), (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(class_divisors(*plain, four, Target()), (std::vector<int64_t>{2, 4, 8, 16}));
  EXPECT_EQ(class_divisors(*plain, one, target_named("sm_80")), (std::vector<int64_t>{4, 8, 16}));
  EXPECT_EQ(class_divisors(*divided, one, Target()), (std::vector<int64_t>{2, 4, 8, 16}));
  EXPECT_EQ(keys_of(1, {8, 16}), 4u);
  EXPECT_EQ(keys_of(2, {8, 16}), 16u);
}

}  // namespace
}  // namespace plait
