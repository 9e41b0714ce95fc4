// 1 / (1 + 2^t) for a factor of a product: its absolute error is a few times 2^-24.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float logistic2(float t) {
  float power, y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + power));
  return y;
}
#endif
