// transformer_block_s2: nest(threads = 256, target = cuda)
extern "C" __global__ void __launch_bounds__(256) transformer_block_s2(
    const float* __restrict__ b0, float* __restrict__ b1, long long n0, long long n1, long long n2) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  const long long k0 = 256 * bx + tx;
  if (k0 < n0 * n1) {
    float v0 = 0.0f;
    for (long long i0 = 0; i0 < n2; ++i0) {
      const long long k1 = 256 * bx * n2 + tx * n2 + i0;
      const float v1 = b0[k1];
      const float v2 = v0 + v1;
      v0 = v2;
    }
    b1[k0] = v0;
  }
}
