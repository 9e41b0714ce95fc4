// softmax_s3: nest(threads = 256)
__device__ __forceinline__ long long least(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long most(long long a, long long b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(256) softmax_s3(
    const float* __restrict__ b0, float* __restrict__ b1, long long n0, long long n1) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  const long long k0 = 256 * bx + tx;
  if (k0 < n0) {
    float v0 = 0.0f;
    float v1 = 0.0f;
    const long long k1 = (n1 + 1023) / 1024;
    for (long long i0 = 0; i0 < k1; ++i0) {
      float v2 = 0.0f;
      float v3 = 0.0f;
      const long long k2 = least(32, (n1 + 31) / 32 - 32 * i0);
      for (long long i1 = 0; i1 < k2; ++i1) {
        float v4 = 0.0f;
        const long long k3 = least(32, n1 - 1024 * i0 - 32 * i1);
        for (long long i2 = 0; i2 < k3; ++i2) {
          const long long k4 = 256 * bx * n1 + tx * n1 + 1024 * i0 + 32 * i1 + i2;
          const float v5 = b0[k4];
          const float v6 = v4 + v5;
          v4 = v6;
        }
        const float v7 = v2 + v4;
        const float v8 = v7 - v2;
        const float v9 = v7 - v8;
        const float v10 = v2 - v9;
        const float v11 = v4 - v8;
        const float v12 = v10 + v11;
        const bool v14 = v12 == v12;
        const float v15 = v14 ? v12 : 0.0f;
        const float v16 = v3 + v15;
        v3 = v16;
        v2 = v7;
      }
      const float v17 = v1 + v3;
      v1 = v17;
      const float v18 = v0 + v2;
      const float v19 = v18 - v0;
      const float v20 = v18 - v19;
      const float v21 = v0 - v20;
      const float v22 = v2 - v19;
      const float v23 = v21 + v22;
      const bool v25 = v23 == v23;
      const float v26 = v25 ? v23 : 0.0f;
      const float v27 = v1 + v26;
      v1 = v27;
      v0 = v18;
    }
    const float v28 = v0 + v1;
    b1[k0] = v28;
  }
}
