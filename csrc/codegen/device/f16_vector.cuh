// needs vector f16
// Vectors of an even number of f16, two in a word, the lower half first.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ unsigned f16_pair(float lower, float upper) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
  return pair;
}
#endif

template <int N>
__device__ __forceinline__ void load_vector(Vec<float, N>& out, const f16* in, bool when = true) {
  Vec<unsigned, N / 2> pairs;
  load_vector(pairs, reinterpret_cast<const unsigned*>(in), when);
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    out[i] = f16_value((unsigned short)pairs[i / 2]);
    out[i + 1] = f16_value((unsigned short)(pairs[i / 2] >> 16));
  }
}

template <int N>
__device__ __forceinline__ void store_vector(f16* out, const Vec<float, N>& in) {
  Vec<unsigned, N / 2> pairs;
#pragma unroll
  for (int i = 0; i < N; i += 2) pairs[i / 2] = f16_pair(in[i], in[i + 1]);
  store_vector(reinterpret_cast<unsigned*>(out), pairs);
}
