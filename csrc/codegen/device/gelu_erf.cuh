// x (1 + erf(x / sqrt(2))) / 2.
__device__ __forceinline__ float gelu_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.707106769f)); }
__device__ __forceinline__ double gelu_erf(double x) { return 0.5 * x * (1.0 + erf(x * 0.7071067811865476)); }
