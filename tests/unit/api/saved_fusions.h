#pragma once
// Fusions that programs of which something is kept are made of, and inputs for them.
#include "ir/fusion.h"
#include "plait.h"
#include "reference/draw_inputs.h"

namespace plait {

inline constexpr const char* kSoftmax = R"(let rows = 6, n = 40
fusion @softmax (%x: f32[rows, n]) -> (%y) {
  %y = softmax(%x, dim = 1)
}
)";
inline constexpr const char* kSharded = R"(let b = 3, h = 10, T = f32
mesh @m (tp = t)
fusion @mlp on @m (%x: T[b, 4], param %w: T[h, 4] {0: tp}, param %v: T[4, h] {1: tp}, %seed: u64[]) -> (%y) {
  %y = dropout(linear(gelu(linear(%x, %w)), %v), p = 0.25, seed = %seed)
}
)";
inline constexpr const char* kLookup = R"(let n = 5, v = 7
fusion @rows (%i: i64[n], %t: f32[v, 3]) -> (%y) {
  %y = mul(embedding(%i, %t), 2.0)
}
)";

inline Tensors inputs_of(const Fusion& fusion, const Sizes& sizes = {}) {
  reference::DrawOptions draw;
  draw.sizes = {sizes.begin(), sizes.end()};
  const auto drawn = reference::draw_inputs(fusion, draw);
  return {drawn.begin(), drawn.end()};
}

}  // namespace plait
