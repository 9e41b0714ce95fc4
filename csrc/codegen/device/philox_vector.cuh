// needs philox vector
// N numbers from a multiple of 4 on; N is a multiple of 4.
template <int N>
__device__ __forceinline__ void uniform_vector(Vec<float, N>& out, unsigned long long seed, unsigned long long index,
                                               unsigned long long offset) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const Philox c = philox(seed, index / 4 + i / 4, offset);
    out[i] = unit_f32(c.w0);
    out[i + 1] = unit_f32(c.w1);
    out[i + 2] = unit_f32(c.w2);
    out[i + 3] = unit_f32(c.w3);
  }
}
