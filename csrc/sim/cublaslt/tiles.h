#pragma once
// The inner loops of products: tiles of packed operands.
#include <cstdint>

namespace plait::sim::cublaslt {

template <class T>
inline constexpr int kTileRows = 64 / sizeof(T);  // of A and D
inline constexpr int kTileColumns = 4;            // of B and D

// sums[c * rows + r] = fma(a[p * rows + r], b[p * columns + c], sums[c * rows + r]) for p in 0 .. k, in this order.
// Every implementation gives the same bits.
template <class T>
using Tile = void (*)(const T* a, const T* b, int64_t k, T* sums);

// The fastest implementation that this processor runs.
Tile<float> float_tile();
Tile<double> double_tile();
// Any processor's.
Tile<float> portable_float_tile();
Tile<double> portable_double_tile();

}  // namespace plait::sim::cublaslt
