// needs logistic
// x / (1 + exp(-x)).
__device__ __forceinline__ float silu(float x) { return x * logistic2(x * -1.44269504f); }
__device__ __forceinline__ double silu(double x) { return x / (1.0 + exp(-x)); }
