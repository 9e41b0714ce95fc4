#include "reference/tile.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plait::reference {
namespace {

using Two = double __attribute__((vector_size(16)));
using Bits = int64_t __attribute__((vector_size(16)));

Two load(const double* from) {
  Two two;
  std::memcpy(&two, from, sizeof(two));
  return two;
}
void store(Two two, double* to) { std::memcpy(to, &two, sizeof(two)); }
Two magnitude(Two two) { return Two(Bits(two) & INT64_MAX); }

// Two columns at a time: as many sums as most processors have registers for.
void portable(const double* a, const double* b, int64_t depth, Tile& tile) {
  for (int64_t j = 0; j < kTile; j += 2) {
    Two s0 = load(&tile.sum[0][j]), s1 = load(&tile.sum[1][j]), s2 = load(&tile.sum[2][j]), s3 = load(&tile.sum[3][j]);
    Two t0 = load(&tile.absolute[0][j]), t1 = load(&tile.absolute[1][j]);
    Two t2 = load(&tile.absolute[2][j]), t3 = load(&tile.absolute[3][j]);
    for (int64_t k = 0; k < depth * kTile; k += kTile) {
      const Two columns = load(b + k + j);
      const Two p0 = a[k] * columns, p1 = a[k + 1] * columns, p2 = a[k + 2] * columns, p3 = a[k + 3] * columns;
      s0 += p0, t0 += magnitude(p0);
      s1 += p1, t1 += magnitude(p1);
      s2 += p2, t2 += magnitude(p2);
      s3 += p3, t3 += magnitude(p3);
    }
    store(s0, &tile.sum[0][j]), store(t0, &tile.absolute[0][j]);
    store(s1, &tile.sum[1][j]), store(t1, &tile.absolute[1][j]);
    store(s2, &tile.sum[2][j]), store(t2, &tile.absolute[2][j]);
    store(s3, &tile.sum[3][j]), store(t3, &tile.absolute[3][j]);
  }
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
