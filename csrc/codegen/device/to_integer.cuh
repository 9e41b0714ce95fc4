// Floats to integers: truncated toward zero, saturating, NaN becomes 0.
template <class F>
__device__ __forceinline__ long long to_i64(F x) {
  if (x >= (F)0x1p63) return 0x7fffffffffffffffll;
  if (x < (F)-0x1p63) return -0x7fffffffffffffffll - 1;
  return x == x ? (long long)x : 0;
}

template <class F>
__device__ __forceinline__ unsigned long long to_u64(F x) {
  if (x >= (F)0x1p64) return 0xffffffffffffffffull;
  return x > 0 ? (unsigned long long)x : 0;
}

template <class F>
__device__ __forceinline__ int to_i32(F x) {
  if (x >= (F)0x1p31) return 0x7fffffff;
  if (x < (F)-0x1p31) return -0x7fffffff - 1;
  return x == x ? (int)x : 0;
}

template <class F>
__device__ __forceinline__ unsigned to_u32(F x) {
  if (x >= (F)0x1p32) return 0xffffffffu;
  return x > 0 ? (unsigned)x : 0;
}
