// Larger and smaller of two numbers; a NaN operand gives NaN.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float max_nan(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

__device__ __forceinline__ float min_nan(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
#endif

__device__ __forceinline__ double max_nan(double a, double b) { return a > b || a != a ? a : b; }
__device__ __forceinline__ double min_nan(double a, double b) { return a < b || a != a ? a : b; }
