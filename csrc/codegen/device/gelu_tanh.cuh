// needs logistic
// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
__device__ __forceinline__ float gelu_tanh(float x) {
  return x * logistic2(x * (-0.102943242f * (x * x) - 2.30220819f));  // -2 sqrt(2/pi) log2(e) (0.044715, 1)
}

__device__ __forceinline__ double gelu_tanh(double x) {
  return x / (1.0 + exp(-2.0 * 0.7978845608028654 * (x * (1.0 + 0.044715 * (x * x)))));
}
