// softmax_s3: nest(threads = 256, target = cuda)
__device__ __forceinline__ long long least(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long most(long long a, long long b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(256) softmax_s3(
    const float* __restrict__ b0, float* __restrict__ b1, long long n0, long long n1) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  const long long k0 = 256 * bx + tx;
  if (k0 < n0) {
    float v0 = 0.0f;
    const long long k1 = (n1 + 1023) / 1024;
    for (long long i0 = 0; i0 < k1; ++i0) {
      float v1 = 0.0f;
      const long long k2 = least(32, (n1 + 31) / 32 - 32 * i0);
      for (long long i1 = 0; i1 < k2; ++i1) {
        float v2 = 0.0f;
        const long long k3 = least(32, n1 - 1024 * i0 - 32 * i1);
        for (long long i2 = 0; i2 < k3; ++i2) {
          const long long k4 = 256 * bx * n1 + tx * n1 + 1024 * i0 + 32 * i1 + i2;
          const float v3 = b0[k4];
          const float v4 = v2 + v3;
          v2 = v4;
        }
        const float v5 = v1 + v2;
        v1 = v5;
      }
      const float v6 = v0 + v1;
      v0 = v6;
    }
    b1[k0] = v0;
  }
}
