// 1 / (1 + exp(-x)); the exponential never overflows, so that small results keep their digits.
__device__ __forceinline__ float sigmoid(float x) {
  const float e = expf(-fabsf(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

__device__ __forceinline__ double sigmoid(double x) {
  const double e = exp(-fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
