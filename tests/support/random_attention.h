#pragma once
// Random attentions and their gradients, of sizes around the tiles of schedule `attention`: heads that share keys,
// masks of every kind, windows, biases by broadcast and by position, capped scores, dropout with one mask in both
// directions, statistics, few and many queries and keys, narrow types, moves on both sides.
#include <cstdint>
#include <string>

namespace plait::testing {

// Of about `most` multiplications at most, which the reference computes one by one.
std::string random_attention(uint64_t seed, int64_t most = 6000000);
// Of bf16 or f16 with scores and sums in f32, as kernels of GPUs take them.
std::string random_narrow_attention(uint64_t seed, int64_t most = 1500000);

}  // namespace plait::testing
