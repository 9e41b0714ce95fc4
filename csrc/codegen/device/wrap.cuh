// Signed arithmetic modulo 2^32 and 2^64.
__device__ __forceinline__ long long wrap_add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
__device__ __forceinline__ long long wrap_sub(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
__device__ __forceinline__ long long wrap_mul(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
__device__ __forceinline__ long long wrap_neg(long long a) { return (long long)(0ull - (unsigned long long)a); }
__device__ __forceinline__ long long wrap_abs(long long a) { return a < 0 ? wrap_neg(a) : a; }
__device__ __forceinline__ int wrap_add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
__device__ __forceinline__ int wrap_sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
__device__ __forceinline__ int wrap_mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
__device__ __forceinline__ int wrap_neg(int a) { return (int)(0u - (unsigned)a); }
__device__ __forceinline__ int wrap_abs(int a) { return a < 0 ? wrap_neg(a) : a; }
