#include "reference/tile.h"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plait::reference {
namespace {

void portable(const double* a, const double* b, int64_t depth, Tile& result) {
  Tile tile = result;  // which a and b cannot be parts of
  for (int64_t k = 0; k < depth; ++k, a += kTile, b += kTile) {
    for (int64_t i = 0; i < kTile; ++i) {
      for (int64_t j = 0; j < kTile; ++j) {
        const double term = a[i] * b[j];
        tile.sum[i][j] += term;
        tile.absolute[i][j] += std::abs(term);
      }
    }
  }
  result = tile;
}

#if defined(__x86_64__)
// Sums in registers by name: of an array of them the compiler makes memory.
__attribute__((target("avx"))) void avx(const double* a, const double* b, int64_t depth, Tile& tile) {
  const __m256d sign = _mm256_set1_pd(-0.0);
  __m256d s0 = _mm256_loadu_pd(tile.sum[0]), t0 = _mm256_loadu_pd(tile.absolute[0]);
  __m256d s1 = _mm256_loadu_pd(tile.sum[1]), t1 = _mm256_loadu_pd(tile.absolute[1]);
  __m256d s2 = _mm256_loadu_pd(tile.sum[2]), t2 = _mm256_loadu_pd(tile.absolute[2]);
  __m256d s3 = _mm256_loadu_pd(tile.sum[3]), t3 = _mm256_loadu_pd(tile.absolute[3]);
  for (int64_t k = 0; k < depth; ++k, a += kTile, b += kTile) {
    const __m256d row = _mm256_loadu_pd(b);
    const __m256d p0 = _mm256_mul_pd(_mm256_broadcast_sd(a), row);
    s0 = _mm256_add_pd(s0, p0), t0 = _mm256_add_pd(t0, _mm256_andnot_pd(sign, p0));
    const __m256d p1 = _mm256_mul_pd(_mm256_broadcast_sd(a + 1), row);
    s1 = _mm256_add_pd(s1, p1), t1 = _mm256_add_pd(t1, _mm256_andnot_pd(sign, p1));
    const __m256d p2 = _mm256_mul_pd(_mm256_broadcast_sd(a + 2), row);
    s2 = _mm256_add_pd(s2, p2), t2 = _mm256_add_pd(t2, _mm256_andnot_pd(sign, p2));
    const __m256d p3 = _mm256_mul_pd(_mm256_broadcast_sd(a + 3), row);
    s3 = _mm256_add_pd(s3, p3), t3 = _mm256_add_pd(t3, _mm256_andnot_pd(sign, p3));
  }
  _mm256_storeu_pd(tile.sum[0], s0), _mm256_storeu_pd(tile.absolute[0], t0);
  _mm256_storeu_pd(tile.sum[1], s1), _mm256_storeu_pd(tile.absolute[1], t1);
  _mm256_storeu_pd(tile.sum[2], s2), _mm256_storeu_pd(tile.absolute[2], t2);
  _mm256_storeu_pd(tile.sum[3], s3), _mm256_storeu_pd(tile.absolute[3], t3);
}
#endif

}  // namespace

TileProduct fastest_tile() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) return avx;
#endif
  return portable;
}

TileProduct portable_tile() { return portable; }

}  // namespace plait::reference
