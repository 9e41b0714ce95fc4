#include "sim/cublaslt/tiles.h"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plait::sim::cublaslt {
namespace {

template <class T>
void portable(const T* a, const T* b, int64_t k, T* sums) {
  constexpr int kRows = kTileRows<T>;
  for (int64_t p = 0; p < k; ++p) {
    for (int c = 0; c < kTileColumns; ++c) {
      for (int r = 0; r < kRows; ++r) {
        sums[c * kRows + r] = std::fma(a[p * kRows + r], b[p * kTileColumns + c], sums[c * kRows + r]);
      }
    }
  }
}

#if defined(__x86_64__)
// Sums in eight registers by name: without optimization of loops an array of them lies in memory.
__attribute__((target("avx2,fma"))) void avx_float(const float* a, const float* b, int64_t k, float* sums) {
  __m256 s00 = _mm256_loadu_ps(sums), s01 = _mm256_loadu_ps(sums + 8);
  __m256 s10 = _mm256_loadu_ps(sums + 16), s11 = _mm256_loadu_ps(sums + 24);
  __m256 s20 = _mm256_loadu_ps(sums + 32), s21 = _mm256_loadu_ps(sums + 40);
  __m256 s30 = _mm256_loadu_ps(sums + 48), s31 = _mm256_loadu_ps(sums + 56);
  for (int64_t p = 0; p < k; ++p, a += 16, b += 4) {
    const __m256 low = _mm256_loadu_ps(a), high = _mm256_loadu_ps(a + 8);
    __m256 factor = _mm256_broadcast_ss(b);
    s00 = _mm256_fmadd_ps(low, factor, s00), s01 = _mm256_fmadd_ps(high, factor, s01);
    factor = _mm256_broadcast_ss(b + 1);
    s10 = _mm256_fmadd_ps(low, factor, s10), s11 = _mm256_fmadd_ps(high, factor, s11);
    factor = _mm256_broadcast_ss(b + 2);
    s20 = _mm256_fmadd_ps(low, factor, s20), s21 = _mm256_fmadd_ps(high, factor, s21);
    factor = _mm256_broadcast_ss(b + 3);
    s30 = _mm256_fmadd_ps(low, factor, s30), s31 = _mm256_fmadd_ps(high, factor, s31);
  }
  _mm256_storeu_ps(sums, s00), _mm256_storeu_ps(sums + 8, s01);
  _mm256_storeu_ps(sums + 16, s10), _mm256_storeu_ps(sums + 24, s11);
  _mm256_storeu_ps(sums + 32, s20), _mm256_storeu_ps(sums + 40, s21);
  _mm256_storeu_ps(sums + 48, s30), _mm256_storeu_ps(sums + 56, s31);
}

__attribute__((target("avx2,fma"))) void avx_double(const double* a, const double* b, int64_t k, double* sums) {
  __m256d s00 = _mm256_loadu_pd(sums), s01 = _mm256_loadu_pd(sums + 4);
  __m256d s10 = _mm256_loadu_pd(sums + 8), s11 = _mm256_loadu_pd(sums + 12);
  __m256d s20 = _mm256_loadu_pd(sums + 16), s21 = _mm256_loadu_pd(sums + 20);
  __m256d s30 = _mm256_loadu_pd(sums + 24), s31 = _mm256_loadu_pd(sums + 28);
  for (int64_t p = 0; p < k; ++p, a += 8, b += 4) {
    const __m256d low = _mm256_loadu_pd(a), high = _mm256_loadu_pd(a + 4);
    __m256d factor = _mm256_broadcast_sd(b);
    s00 = _mm256_fmadd_pd(low, factor, s00), s01 = _mm256_fmadd_pd(high, factor, s01);
    factor = _mm256_broadcast_sd(b + 1);
    s10 = _mm256_fmadd_pd(low, factor, s10), s11 = _mm256_fmadd_pd(high, factor, s11);
    factor = _mm256_broadcast_sd(b + 2);
    s20 = _mm256_fmadd_pd(low, factor, s20), s21 = _mm256_fmadd_pd(high, factor, s21);
    factor = _mm256_broadcast_sd(b + 3);
    s30 = _mm256_fmadd_pd(low, factor, s30), s31 = _mm256_fmadd_pd(high, factor, s31);
  }
  _mm256_storeu_pd(sums, s00), _mm256_storeu_pd(sums + 4, s01);
  _mm256_storeu_pd(sums + 8, s10), _mm256_storeu_pd(sums + 12, s11);
  _mm256_storeu_pd(sums + 16, s20), _mm256_storeu_pd(sums + 20, s21);
  _mm256_storeu_pd(sums + 24, s30), _mm256_storeu_pd(sums + 28, s31);
}

bool has_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

}  // namespace

Tile<float> portable_float_tile() { return portable<float>; }
Tile<double> portable_double_tile() { return portable<double>; }

Tile<float> float_tile() {
#if defined(__x86_64__)
  if (has_fma()) return avx_float;
#endif
  return portable<float>;
}
Tile<double> double_tile() {
#if defined(__x86_64__)
  if (has_fma()) return avx_double;
#endif
  return portable<double>;
}

}  // namespace plait::sim::cublaslt
