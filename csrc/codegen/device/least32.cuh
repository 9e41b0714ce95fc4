// Right as `int`; `unsigned`, so that sums and products of several are.
__device__ __forceinline__ unsigned least32(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ unsigned most32(int a, int b) { return a > b ? a : b; }
