// needs vector
// Vectors of bool, one byte each: any nonzero byte reads as true, true is written as 1.
template <int N>
__device__ __forceinline__ void load_vector(Vec<bool, N>& out, const unsigned char* in, bool when = true) {
  Vec<unsigned char, N> bytes;
  load_vector(bytes, in, when);
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = bytes[i] != 0;
}

template <int N>
__device__ __forceinline__ void store_vector(unsigned char* out, const Vec<bool, N>& in) {
  if constexpr (N % 4 == 0) {
    Vec<unsigned, N / 4> words;
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      words[i / 4] = 0;
      for (int j = 0; j < 4; ++j) words[i / 4] |= in[i + j] ? 1u << 8 * j : 0u;
    }
    store_vector(reinterpret_cast<unsigned*>(out), words);
  } else if constexpr (N == 2) {
    *reinterpret_cast<unsigned short*>(out) = (in[0] ? 1 : 0) | (in[1] ? 1 << 8 : 0);
  } else {
    Vec<unsigned char, N> bytes;
#pragma unroll
    for (int i = 0; i < N; ++i) bytes[i] = in[i] ? 1 : 0;
    store_vector(out, bytes);
  }
}
