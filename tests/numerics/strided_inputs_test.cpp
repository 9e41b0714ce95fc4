// Inputs whose dims lie in another order, read where they lie: no run copies them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"

namespace plait {
namespace {

// The same elements with dims in memory in this order, outermost first.
Tensor lying(const Tensor& t, const std::vector<int>& order) {
  HostAllocator host;
  return t.in_order(order, host);
}

class LaidInputs : public ::testing::TestWithParam<const char*> {
 protected:
  static Tensors draw(const Fusion& f, const Sizes& sizes) {
    reference::DrawOptions how;
    for (const auto& [name, value] : sizes) how.sizes[name] = value;
    const auto inputs = reference::draw_inputs(f, how);
    return {inputs.begin(), inputs.end()};
  }
  void check(Compiled& p, const Fusion& f, const Tensors& inputs, int64_t copied) {
    const Tensors out = p.run(inputs);
    for (const auto& [name, want] : reference::evaluate(f, {inputs.begin(), inputs.end()}, {})) {
      const reference::CheckResult result = reference::compare(name, want, out.at(name));
      EXPECT_TRUE(result.ok) << GetParam() << ": " << result.message << "\n" << print(f);
    }
    EXPECT_EQ(p.report().bytes_copied, copied) << print(f);
  }
};

INSTANTIATE_TEST_SUITE_P(All, LaidInputs, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(LaidInputs, Transposed) {
  for (const std::string body : {"%y = add(%x, %b)", "%y = softmax(%x, dim = -1)", "%y = softmax(%x, dim = 0)",
                                 "%y = sum(%x, dims = [0])", "%h = permute(%x, dims = [1, 0])\n %y = gelu(%h)",
                                 "%y = reshape(%x, shape = [m * n])", "%y = cumsum(%x, dim = 1)",
                                 "%y = flip(%x, dims = [0])", "%y = argmax(%x, dims = [1])", "%y = matmul(%x, %w)"}) {
    const auto f = parse_fusion("fusion @f (%x: f32[m, n], %b: f32[n], %w: f32[n, 5]) -> (%y) {\n " + body + "\n}\n");
    auto p = compile(*f, {.device = GetParam()});
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{6, 24}, {33, 17}, {1, 8}, {8, 1}, {0, 4}}) {
      Tensors inputs = draw(*f, {{"m", m}, {"n", n}});
      check(p, *f, inputs, 0);
      inputs["x"] = lying(inputs.at("x"), {1, 0});
      inputs["w"] = lying(inputs.at("w"), {1, 0});
      check(p, *f, inputs, 0);
    }
  }
}

TEST_P(LaidInputs, EveryOrderOfThreeDims) {
  const auto f = parse_fusion(
      "fusion @f (%x: bf16[a, b, c], %y: bf16[a, b, c]) -> (%z, %s) {\n  %z = mul(%x, %y)\n"
      "  %s = sum(%x, dims = [1])\n}\n");
  auto p = compile(*f, {.device = GetParam()});
  const Tensors dense = draw(*f, {{"a", 3}, {"b", 5}, {"c", 16}});
  std::vector<int> order = {0, 1, 2};
  do {
    check(p, *f, {{"x", lying(dense.at("x"), order)}, {"y", dense.at("y")}}, 0);
    check(p, *f, {{"x", lying(dense.at("x"), order)}, {"y", lying(dense.at("y"), {2, 0, 1})}}, 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Gaps, repeated elements and unaligned ones are copied as before; so is what an output aliases.
TEST_P(LaidInputs, WhatIsCopied) {
  const auto f = parse_fusion("fusion @f (%x: f32[m, n]) -> (%y) {\n  %y = neg(%x)\n}\n");
  auto p = compile(*f, {.device = GetParam()});
  Tensor room = Tensor::from_doubles(f32, {100}, std::vector<double>(100, 3));
  const auto at = [&](std::vector<int64_t> strides) {
    Tensor t = room;
    t.shape = {4, 6}, t.strides = std::move(strides);
    return t;
  };
  check(p, *f, {{"x", at({1, 4})}}, 0);
  check(p, *f, {{"x", at({1, 5})}}, 96);
  check(p, *f, {{"x", at({8, 1})}}, 96);
  check(p, *f, {{"x", at({0, 1})}}, 96);
  check(p, *f, {{"x", at({1, 4})}}, 0);
  Tensor odd = Tensor::empty(DType::u8, {97});
  std::memset(odd.data(), 0, 97);
  odd.dtype = f32, odd.shape = {4, 6}, odd.strides = {1, 4}, odd.byte_offset = 1;
  check(p, *f, {{"x", odd}}, 96);
}

// An input with an allocation, one that is an output, an index that is outside by the user's names.
TEST_P(LaidInputs, NamesAndAllocations) {
  const auto f = parse_fusion(
      "fusion @f (%x: f32[4, 6] allocation (1, 0), %i: i64[3]) -> (%y, %x) {\n"
      "  %y = index_select(%x, %i, dim = 1)\n}\n");
  auto p = compile(*f, {.device = GetParam()});
  Tensors inputs = draw(*f, {});
  check(p, *f, inputs, 96 + 96);
  const auto g =
      parse_fusion("fusion @g (%x: f32[4, 6], %i: i64[3]) -> (%y) {\n  %y = index_select(%x, %i, dim = 1)\n}\n");
  auto q = compile(*g, {.device = GetParam()});
  check(q, *g, inputs, 0);
  inputs["i"] = Tensor::from_doubles(DType::i64, {3}, {0, 6, 1});
  try {
    q.run(inputs);
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("dim 1 of %x"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace plait
